"""Columns of a user's table stay with its rows, and are groups of them."""

import json

import numpy as np
import pandas as pd
import pytest

from xmlcore import review
from xmlcore.datasets import Dataset, load_saved, read_text_dataset, save_dataset, split_again

LANGUAGES, N = ("en", "de", "fr"), 60


def rows():
    """Documents with columns that make groups, and with columns that do not."""
    for i in range(N):
        yield {
            "text": f"word{i % 7} row{i}", "labels": "a;b" if i % 2 else "a", "Language": LANGUAGES[i % 3],
            "year": "" if i == 5 else str(1990 + i // 2), "link": f"http://x/{i}", "id": str(i), "same": "x",
            "body": "long " * 50, "stars": str(i % 5) + ".5", "draft": i % 4 == 0,
        }  # fmt: skip


def table(kind):
    every = list(rows())
    if kind == "jsonl":
        return "\n".join(map(json.dumps, every)).encode()
    return pd.DataFrame(every).to_csv(index=False, sep="\t" if kind == "tsv" else ",").encode()


def number(text):
    return int(text.rpartition("row")[2])


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl"])
def test_columns_that_make_groups_stay_with_their_rows(kind):
    data = read_text_dataset(table(kind))
    assert [*data.columns] == ["Language", "year", "stars", "draft"]
    numbers = [number(text) for text in data.texts_train + data.texts_test]
    assert data.columns["Language"].tolist() == [LANGUAGES[i % 3] for i in numbers]
    years = [np.nan if i == 5 else 1990.0 + i // 2 for i in numbers]
    np.testing.assert_array_equal(data.columns["year"], years)
    assert data.columns["stars"].tolist() == [i % 5 + 0.5 for i in numbers]
    assert data.columns["draft"].tolist() == [str(i % 4 == 0) for i in numbers]
    notes = " ".join(data.notes)
    assert "4 columns kept for groups of rows: Language, year, stars" in notes
    for out in ("link (nearly as many", "id (a name of each", "same (fewer than two", "body (lists, or values of more"):
        assert out in notes


def test_columns_of_two_files_are_those_of_both():
    test = b"text,labels,Language\nword1 row99,a,it\nword2 row98,a,en\n"
    data = read_text_dataset(table("csv"), test)
    assert [*data.columns] == ["Language"] and data.columns["Language"].tolist()[-2:] == ["it", "en"]
    assert "year" in data.notes[-2] and "not in both files" in data.notes[-2]


def test_a_table_without_further_columns_has_none():
    assert read_text_dataset(b"text,labels\ncat dog,a\ncat,b\ncat dog,a\ncat,b\n").columns is None


def test_another_split_takes_the_columns_along():
    data = split_again(read_text_dataset(table("csv")), "random", random_state=3)
    numbers = [number(text) for text in data.texts_train + data.texts_test]
    assert data.columns["Language"].tolist() == [LANGUAGES[i % 3] for i in numbers]
    back = load_saved(save_dataset(data))
    pd.testing.assert_frame_equal(back.columns, data.columns)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"a": [1, 2]}, "columns has 2 rows, but there are 3"),
        (pd.DataFrame([[1, 2]] * 3, columns=["a", "a"]), "names that are strings, each once"),
        ({1: [1, 2, 3]}, "names that are strings"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns, said):
    with pytest.raises(ValueError, match=said):
        Dataset("d", np.eye(2), [[0], [0]], np.eye(2)[:1], [[0]], columns=columns)


def test_rows_of_a_value_and_parts_of_numbers_are_groups():
    rng, n = np.random.default_rng(0), 200
    columns = {
        "kind": ["train"] * n + ["bad"] * 50 + ["good"] * 149 + [None],
        "grade": [0] * n + [1, 2] * 100, "price": np.r_[np.zeros(n), np.arange(n) * 1.5],
    }  # fmt: skip
    data = Dataset("d", rng.random((n, 3)), [[0]] * n, rng.random((n, 3)), [[0]] * n, columns=columns)
    found = review.slices(data, np.r_[np.full(50, -1), np.zeros(150, int)][:, None], k=1, least=1).set_index("group")
    assert found.index[0] == "kind = bad" and found["significant"].iloc[0] and found["kind"].iloc[0] == "column"
    assert found.loc["kind = bad", "members"].tolist() == [*range(50)]
    assert found.loc["kind without a value", "members"].tolist() == [199]
    assert found.loc["grade = 1", "members"].tolist() == [*range(0, n, 2)]
    assert found.loc["price = 0–73.5", "members"].tolist() == [*range(50)]
