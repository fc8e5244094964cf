"""Values that list labels: however lists are written, cells without a value, and what is refused."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from datasets.reads import failure, warned
from datasets.texts.test_read_texts import parquet

from xmlcore.datasets import (
    DatasetFormatError,
    TextVectorizer,
    read_dataset,
    read_matrix,
    read_text_dataset,
    read_texts,
)

DOCS = Path(__file__).parents[2].joinpath("docs/text.md").read_text("utf-8")
RULES = DOCS.partition("## Labels in a cell")[2].partition("\n## ")[0]
ROWS = [line.rsplit(" |", 2)[:2] for line in RULES.splitlines() if line.startswith("| `")]
READ = [(cell, re.findall("`([^`]+)`", labels)) for cells, labels in ROWS for cell in re.findall("`([^`]+)`", cells)
        if labels != " refused"]  # fmt: skip
REFUSED = [cell for cells, labels in ROWS for cell in re.findall("`([^`]+)`", cells) if labels == " refused"]


def table(*cells):
    return pd.DataFrame({"size": 1, "tags": cells}).to_csv(index=False).encode()


def listed(*cells):
    """Return the labels of each cell of a table, in alphabetical order."""
    _, Y, _, names = read_matrix(table(*cells), labels="tags")
    return [[names[j] for j in Y[[i]].indices] for i in range(Y.shape[0])]


def in_texts(*cells, content=None):
    rows = read_texts(table(*cells).replace(b"size,", b"text,") if content is None else content, labels="tags")[1]
    return [sorted(row) for row in rows]


def in_json(*values):
    lines = (json.dumps({"text": "a", "tags": each}) for each in values)
    return in_texts(content="\n".join(lines).encode())


def in_parquet(*values):
    return in_texts(content=parquet(pd.DataFrame({"text": "a", "tags": values})))


READERS = [listed, in_texts, in_json, in_parquet]
quiet = pytest.mark.filterwarnings("ignore::xmlcore.datasets.DatasetWarning")


@quiet
@pytest.mark.parametrize("read", READERS)
def test_a_value_has_the_labels_that_the_rules_say(read):
    assert len(READ) > 30
    for cell, labels in READ:
        assert (cell, *read(cell, *["x"] * (not labels))) == (cell, sorted(labels), *[["x"]] * (not labels))


@quiet
@pytest.mark.parametrize("read", READERS)
def test_what_the_rules_refuse_has_line_column_and_remedy(read):
    assert len(REFUSED) > 15
    for cell in REFUSED:
        with pytest.raises(DatasetFormatError, match=r"(line|row) [12]\b") as error:
            read(cell)
        assert error.value.remedy and "column 'tags'" in error.value.found


@quiet
@pytest.mark.parametrize("read", READERS)
def test_each_value_is_read_by_itself(read):
    assert read("['a', 'b']", "NA", "c; d", "e", None) == [["a", "b"], [], ["c", "d"], ["e"], []]
    assert read("[a]", "b;c", "x [y]", "[z] w") == [["[a]"], ["b", "c"], ["x [y]"], ["[z] w"]]
    assert read("['a, b', 'c']", "[]", r"['it\'s', 'd']") == [["a, b", "c"], [], ["d", "it's"]]
    assert read("<i>mer</i>", "List<int>") == [["<i>mer</i>"], ["List<int>"]]
    assert read("<c><List<int>>", "<c>") == [["List<int>", "c"], ["c"]]
    assert read("<c#>, <.net>", "<a>b</a><c>", "<java>") == [[".net", "c#"], ["<a>b</a><c>"], ["java"]]
    same = ({"id": 1, "name": "a"}, {"name": "a"}, {"id": "1", "name": "a"}, {"id": None, "name": "a"})
    assert read(*(f"[{each}]" for each in same)) == [["a"]] * 4
    assert read("f([x])", "g(a)", "h (a) b") == [["f([x])"], ["g(a)"], ["h (a) b"]]


@pytest.mark.parametrize("cell", ["[x]", "[None]", "[['a']]", "[" * 5000 + "]" * 5000, "['a' * 9]", "[x, y]",
    "[1, 2", "('a', 'b'", "{'a', 'b'", "'a', 'b']", "a, b]", "['x'];['y']"])  # fmt: skip
def test_brackets_that_are_no_list_are_refused_with_their_line(cell):
    error = failure(f'size,tags\n1,"[\'a\']"\n2,"{cell}"\n'.encode(), labels="tags")
    assert error.line == 3 and "in column 'tags' is" in error.found


@quiet
def test_numbers_0_and_1_are_ids_where_they_are_no_vectors():
    for cells in (["[0,1]", "[1]"], ["[0, 1]", "[1, 5]"], ["{0, 1}", "{0, 1}"], ["0", "1"], ["0;1", "1"]):
        assert in_texts(*cells) == listed(*cells) == [re.findall(r"\d", each) for each in cells]


@quiet
@pytest.mark.parametrize("content", [b"__label__0 __label__1 foo\n" * 3,
    b'{"text": "a", "labels": ["0", "1"]}\n' * 3, b"text,labels\na,__label__0 __label__1\n"])  # fmt: skip
def test_names_0_and_1_are_no_vector(content):
    assert all(sorted(row) == ["0", "1"] for row in read_texts(content)[1])


def test_names_0_and_1_in_files_beside_documents_are_no_vector(tmp_path):
    for name, content in (("a.txt", "foo"), ("a.key", "0\n1\n")):
        (tmp_path / name).write_text(content)
    assert read_texts(tmp_path)[1] == [["0", "1"]]


@quiet
@pytest.mark.parametrize("odd", ["art", "[0, 1, 0]", ""])
def test_a_column_of_vectors_with_one_other_cell_is_refused(odd):
    cells = ["[0, 1, 0, 1]", "[1, 1, 0, 0]", "[0, 0, 0, 1]"] * 3
    with pytest.raises(DatasetFormatError, match="0 or 1 for each label") as error:
        listed(odd, *cells)
    assert error.value.line == (3 if odd != "[0, 1, 0]" else 2)
    assert listed("art", "0;1", "1;0")[1:] == [["0", "1"]] * 2


@pytest.mark.parametrize("cells", [["true,false", "false,true"], ["yes;no", "no;yes"], ["0.0,1.0", "1.0,0.0"],
    ["+1,-1", "-1,+1"], ["True;False;True", "False;True;True"]])  # fmt: skip
@pytest.mark.parametrize("read", READERS)
def test_words_of_yes_and_no_are_a_vector_as_0_and_1_are(read, cells):
    with pytest.raises(DatasetFormatError, match="0 or 1 for each label"):
        read(*cells)


def test_blanks_separate_numbers_and_belong_to_names():
    assert listed("3 7", "7", "") == [["3", "7"], ["7"], []]
    assert listed("red wine", "7 8") == [["red wine"], ["7 8"]]


def test_cells_without_a_value_have_no_labels_and_this_is_said():
    content = b"size,tags\n1,red\n2,NA\n3,nan\n"
    assert warned(read_matrix, content, labels="tags") == [
        "data: 2 cells are missing in column 'tags', first 'NA' in line 3: read as no labels"
    ]
    with pytest.warns(UserWarning, match="missing"):
        assert listed("red", "NA") == [["red"], []]
    assert listed("NA;US", "NA", "US") == in_texts("NA;US", "NA", "US") == [["NA", "US"], ["NA"], ["US"]]  # Namibia


@quiet
@pytest.mark.parametrize(
    "train, test, labels",
    [
        (["NA;US", "NA", "FR"], ["NA", "FR"], [["NA"], ["FR"]]),
        (["0;5", "1;7", "0;1"], ["0;1"], [["0", "1"]]),
        (["Smith, J.;Doe, A."], ["Smith, J."], [["Smith, J."]]),
        (["a,b", "c"], ["c;d,a"], [["a", "c;d"]]),
        (["a", "b"], ["a;b", "['b']"], [["a", "b"], ["b"]]),
    ],
)
def test_test_cells_are_read_as_training_cells_are(train, test, labels):
    files = table(*train), table(*test)
    in_words = [file.replace(b"size,", b"text,") for file in files]
    words = {"vectorizer": TextVectorizer(min_df=1, pattern=".")}
    for data in (read_dataset(*files, labels="tags"), read_text_dataset(*in_words, labels="tags", **words)):
        assert [[data.label_names[j] for j in data.Y_test[[i]].indices] for i in range(len(test))] == labels


def test_a_list_in_a_test_file_is_no_name():
    with pytest.raises(DatasetFormatError, match="in column 'tags' is no list of names") as error:
        read_dataset(table("['a', 'b']"), table("b", "[a]"), labels="tags")
    assert error.value.line == 3 and "test" in error.value.source
