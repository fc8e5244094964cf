"""Tables of rows, labels and features."""

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


def test_cells_of_several_names_show_all_and_long_tables_scroll():
    def script():
        import pandas as pd

        from pages.shared import tables

        for lines in (2, 100):
            frame = pd.DataFrame({"name": [("red", "apple")] * lines})
            tables.show(frame, f"names {lines}", {"name": tables.text("Name")}, most=400)

    short, long = AppTest.from_function(script).run().dataframe
    assert short.value["name"].tolist() == ["red, apple"] * 2 and len(long.value) == 100
    assert tables.height(2, 400) == "content" and tables.height(100, 400) == 400


def test_rows_are_found_by_names_or_ids(data):
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


def test_minus_signs_and_names_that_a_spreadsheet_would_run():
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
def test_numbers_of_a_column_have_the_same_decimals(decimals, values, shown):
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
