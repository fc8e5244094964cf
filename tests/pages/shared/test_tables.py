"""Tables of rows, labels and features."""

import re
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from pages.shared import tables
from pages.shared.figures import charts
from xmlcore.datasets import Dataset
from xmlcore.wording import csv_safe


@pytest.mark.parametrize("n", [3, 100_000])
def test_a_row_with_very_many_negative_values_is_shown_too(n):
    tables.show_features(
        pd.DataFrame({"feature": ["a"] * n, "id": range(n), "value": [-0.5] * n}), f"features {n}", 300
    )


def test_a_table_that_lacks_room_for_no_more_than_the_padding_of_a_cell_is_not_said_to_scroll():
    def script():
        import pandas as pd

        from pages.shared import tables

        tables.show(pd.DataFrame({"name": [1]}), "narrow", {"name": tables.number("Name", 298)})

    (hint,) = (one.proto.body for one in AppTest.from_function(script).run().get("html"))
    assert "sideways" in hint and "(min-width: 292px)" in hint


@pytest.mark.parametrize(("names", "shown"), [
    (["a name of several words", "enable_cython_pairwise_dist", "enable_cython_pairwise_list"],
     ["a name of several words", "enable_cyth…rwise_dist", "enable_cyth…rwise_list"]),
    (["Donaudampfschifffahrtsgesellschaft Wien"], ["Donaudampfs…chaft Wien"]),  # a word that is longer than the cell
    ([f"history of the united states navy {year}" for year in (1776, 1898)],
     ["history of t…s navy 1776", "history of t…s navy 1898"]),
])  # fmt: skip
def test_names_that_do_not_fit_into_a_cell_are_cut_in_the_middle_and_stay_different(names, shown):
    columns = {"name": tables.text("Name", 170)}
    frame, line = tables._fitted(pd.DataFrame({"name": names + ["a"] * 9}), columns, ["name"])
    assert frame["name"].tolist()[: len(names)] == shown and line == tables.LINE


def test_a_text_of_long_words_has_no_more_lines_than_its_cell():
    names = [", ".join(f"✓\u00a0convert_{word}" for word in ("dates", "categoricals", "missing", "types", "rows"))]
    frame, line = tables._fitted(pd.DataFrame({"name": names}), {"name": tables.text("Name", 220)}, ["name"])
    assert line == tables.TALL and len(textwrap.wrap(frame["name"][0], 26)) <= tables.LINES


@pytest.mark.parametrize("often", [1, 9])
def test_cells_of_several_names_have_the_first_of_them_whole_and_say_how_many_others_there_are(often):
    names = ("compression", "✓\u00a0convert_categoricals", "mode", "preserve_dtypes", "version", "x" * 99)
    columns = {"name": tables.text("Name", 220), "short": tables.text("Short", 220)}
    texts = [", ".join(names)] * often + ["a"] * 9
    lists = {"name": [names] * often + [("a",)] * 9}
    frame, line = tables._fitted(pd.DataFrame({"name": texts, "short": "a"}), columns, ["name", "short"], lists)
    *shown, others = frame["name"][0].split(", ")
    assert shown == [*names[: len(shown)]] and int(others) == 6 - len(shown) and frame["name"].iloc[-1] == "a"
    assert len(shown) >= (1 if line == tables.LINE else 3)
    long = pd.DataFrame({"name": ["x" * 99 + ", b"]})
    cut = tables._fitted(long, columns, ["name"], {"name": [("x" * 99, "b")]})[0]["name"][0]
    assert cut.startswith("x") and cut.endswith(", b")


def test_of_many_labels_of_a_row_the_first_ones_are_whole_in_the_table_of_rows():
    def script():
        from dataclasses import replace

        import numpy as np
        from scipy.sparse import csr_array

        from pages.shared import tables
        from tests.pages.small import small_data

        names, few = [f"games and patterns {j}" for j in range(8)], small_data()
        data = replace(few, label_names=names, Y_train=csr_array(np.ones(few.Y_train.shape, bool)))
        tables.show(tables.rows(data, "training", [0, 1]), "rows", {"labels": tables.text("Labels", 270)}, most=400)

    (shown,) = AppTest.from_function(script).run().dataframe
    *whole, others = shown.value["labels"][0].split(", ")
    assert whole == [f"games and patterns {j}" for j in range(len(whole))] and int(others) == 8 - len(whole) < 8


def test_columns_are_as_wide_as_their_texts_and_titles_and_a_page_has_room_for_them():
    frame = pd.DataFrame({"name": ["ab", None], "text": ["word " * 99] * 2, "n": [1, 2]})
    columns = {"name": tables.text("A", 220), "text": tables.text("Text", 800), "n": tables.number("PLT is better")}
    found = tables.widths(frame, columns | {"wide": tables.number("Wide", 300)}, [*columns, "wide"])
    assert found["name"] == tables.NARROWEST and 90 < found["n"] < 110
    assert sum(found.values()) == tables.PAGE and found["wide"] == 300


@pytest.mark.parametrize("name", ["apricot orchard 18", "a label whose name is longer than half of a page"])
def test_a_table_of_labels_fits_into_half_of_the_page_with_all_its_columns(name):
    def script(name):
        import pandas as pd

        from pages.shared.rows import explaining

        frame = pd.DataFrame({"rank": [1], "name": [name], "correct": ["✗ wrong"], "decided": ["yes"]})
        explaining.show_labels(frame.assign(score=0.123, cut=0.09, label=12345), "log_score", "labels", 12345)

    page = AppTest.from_function(script, args=(name,)).run()
    assert [*page.dataframe[0].value] == ["rank", "name", "score", "correct", "decided", "label"]
    (hint,) = (one.proto.body for one in page.get("html"))
    assert int(re.search(r"min-width: (\d+)px", hint)[1]) <= 506 - tables.PADDING
    assert not re.search(r"\d columns", hint), "how many of them are in view depends on the window"
    assert page.dataframe[0].value["name"].iloc[0] == f"→ {name}", "in lines of its own where it is long"


def test_rows_are_found_by_names_or_ids_and_their_features_ordered_by_size(data):
    frame = tables.features(data, data.X_train, 0)
    assert frame["feature"].tolist() == ["cat", "bee", "bear"]
    assert frame["value"].tolist() == [-3, 2, 1]
    assert tables.features(data, data.X_train, 2).empty
    bare = Dataset("bare", data.X_train, data.Y_train, data.X_test, data.Y_test)
    assert tables.find_rows(bare, "training", "label 2").tolist() == [0, 1]
    assert tables.find_rows(bare, "test", "feature 1").tolist() == [0]
    assert tables.find_rows(bare, "test", "1").tolist() == [0]
    frame = tables.per_row(data, "labels")
    assert frame.values.tolist() == [[part, n, 1] for part in ("training", "test") for n in range(3)]


@pytest.mark.parametrize(("query", "rows"), [("", [0, 1, 2]), ("BEE", [0]), ("ant", [1]), ("south", [0, 1]), ("x", [])])
def test_rows_are_found_by_label_or_feature_in_any_case(data, query, rows):
    assert tables.find_rows(data, "training", query).tolist() == rows


def test_the_chosen_row_is_listed_first_and_none_is_lost():
    found = np.arange(0, 1000, 2)
    assert tables.listed_rows(found, None, 3).tolist() == [0, 2, 4]
    assert tables.listed_rows(found, 900, 3).tolist() == [900, 0, 2]
    assert tables.listed_rows(found, 2, 3).tolist() == [2, 0, 4]
    assert tables.listed_rows(found, 3, 3).tolist() == [0, 2, 4]  # not among those found
    assert sorted(tables.listed_rows(found[:3], 4, 3)) == [0, 2, 4]


def test_numbers_have_their_minus_and_names_that_a_spreadsheet_would_run_an_apostrophe():
    frame = pd.DataFrame(
        {"name": ["=1+1", "+SUM(1)", "-cmd", "@x", "\tx", "-5", "-1e-05", "a=b", ""], "value": [-1.0] * 9}
    )
    safe = csv_safe(frame)
    expected = ["'=1+1", "'+SUM(1)", "'-cmd", "'@x", "'\tx", "-5", "-1e-05", "a=b", ""]
    assert safe["name"].tolist() == expected
    assert safe["value"].tolist() == [-1.0] * 9
    assert csv_safe(safe)["name"].tolist() == expected
    assert csv_safe(frame.astype({"name": "category"}))["name"].tolist() == expected
    assert frame["name"][0] == "=1+1"  # the table shown is not changed
    assert charts.csv_bytes(frame[:1]) == b"name,value\n'=1+1,-1.0\n", "whatever is downloaded"
    write = tables._signed("{:+.2f}")
    assert [write(value) for value in (-1.234, 0.5, float("nan"))] == ["−1.23", "+0.50", ""]


@pytest.mark.parametrize(("decimals", "values", "shown"), [
    (tables.value_format, [1, 300], ["1", "300"]),
    (tables.value_format, [0.5, 2], ["0.5000", "2.0000"]),
    (tables.value_format, [np.nan, 12.5], ["nan", "12.50"]),
    (tables.value_format, [1e4, 0.5], ["10000", "0"]),
    (tables.value_format, [0.002], ["0.002000"]),
    (tables.percent_format, [100, 43.4, 19, 0.938], ["100.0", "43.4", "19.0", "0.9"]),
    (tables.percent_format, [97.0, 0.03, np.nan], ["97.00", "0.03", "nan"]),
    (tables.percent_format, [99.97, 50], ["99.97", "50.00"]),  # not "100.0", which would be certain
    (tables.percent_format, [1e-7, 2], ["0.000", "2.000"]),
    (tables.percent_format, [99.9999994, 50], ["99.999999", "50.000000"]),
    (tables.percent_format, [100 * float(np.nextafter(np.float32(1), np.float32(0))), 1], ["99.99999", "1.00000"]),
    (tables.percent_format, [0, 100], ["0.0", "100.0"]),
    (tables.percent_format, [[60, 5], [0.01, np.nan]], ["60.00", "5.00", "0.01", "nan"]),  # of two columns
    (tables.score_format, [0.99996, 0.5, 1], ["0.99996", "0.50000", "1.00000"]),
    (tables.amount_format, [0.14, 12.3], ["0.14", "12.30"]),
    (tables.amount_format, [7.1, 80], ["7.1", "80.0"]),
    (tables.amount_format, [44], ["44"]),
    (tables.amount_format, [2e-4], ["0.000"]),
])  # fmt: skip
def test_numbers_of_a_column_have_the_same_decimals_which_mean_something(decimals, values, shown):
    assert [decimals(values) % value for value in np.ravel(values)] == shown


@pytest.mark.parametrize(("values", "said"), [
    ([3, 1], "2 features of this row, largest value first."),
    ([-3, 1], "2 features of this row, largest absolute value first."),
    ([1, 1], "2 features of this row, each with the value 1."),
    ([1], "1 feature of this row, with the value 1."),
])  # fmt: skip
def test_an_order_is_only_spoken_of_where_there_is_one(values, said):
    assert tables.about_features(pd.DataFrame({"value": np.array(values, float)})) == said


def test_labels_are_found_by_their_id_and_exact_names_come_first():
    labels = pd.DataFrame({"label": [7, 3, 1, 0], "name": ["bc", "C", "31", "a c"]})
    assert tables.find_labels(labels, " c ")["label"].tolist() == [3, 7, 0]
    assert tables.find_labels(labels, "3")["label"].tolist() == [3, 1]
    assert tables.find_labels(labels, "31").head(1)["label"].tolist() == [1]
    assert tables.find_labels(labels.assign(name=["bc", "C", "7", "a c"]), "7")["label"].tolist() == [1, 7]
    assert tables.find_labels(labels, "9" * 5000).empty
    assert tables.find_labels(labels, "")["label"].tolist() == [7, 3, 1, 0]


@pytest.mark.parametrize("page", ["data", "train", "compare", "predict"])
def test_every_table_of_a_page_says_where_it_is_to_be_scrolled(page):
    folder = Path(__file__).parents[3] / "pages" / page
    bare = [path.name for path in folder.glob("*.py") if "st.dataframe(" in path.read_text()]
    assert not bare, "tables.show has the line about scrolling sideways"


def test_many_names_wider_than_their_cell_have_three_lines_and_are_cut_in_the_middle():
    def script():
        import pandas as pd

        from pages.shared import tables

        columns = {"name": tables.text("Name", 150), "n": tables.number("Rows", 60)}
        for key, names in {"short": ["x", "83.21 (81.9 to 84.4)"], "long": ["red apple, " * 12, "x" * 60, "x"],
                           "rare": ["x" * 60, *["x"] * 20],
                           "many": [("red apple",) * 12, ("x",), ("x",)] * 9}.items():  # fmt: skip
            tables.show(pd.DataFrame({"name": names, "n": 1}), key, columns, most=400)

    short, long, rare, many = AppTest.from_function(script).run().dataframe
    assert short.value["name"].tolist() == ["x", "83.21 (81.9 to 84.4)"] and short.proto.row_height == 35
    words, middle, same = long.value["name"]
    assert words.startswith("red apple, red") and words.endswith("apple, ") and "…" in words
    assert set(middle) == {"x", "…"} and len(middle) < 60 and same == "x"
    assert long.proto.row_height == 66, "below 65 pixels, Streamlit breaks no text"
    assert rare.proto.row_height == 35 and len(rare.value["name"][0]) < 20, "one long name makes not all lines high"
    assert many.proto.row_height == 35, "a third of the lists do not, where the table would scroll"
