"""XMLC text in two files, and headers that promise other numbers than the data have."""

import gzip
import warnings

import pytest
from datasets.reads import advised, failure, read, warned

from xmlcore.datasets import read_dataset, read_matrix

FEATURES = b"3 4\n0:1 3:0.5\n1:2\n\n"
LABELS = b"3 3\n0:1 2:1\n\n1:1\n"
EXPECTED = ([[1, 0, 0, 0.5], [0, 2, 0, 0], [0, 0, 0, 0]], [[1, 0, 1], [0, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize(("features", "labels"), [
    (FEATURES, LABELS),
    (FEATURES, b"3 3\r\n0,2\r\n\r\n1\r\n"),
    (FEATURES, b"3 3\n0:1.0 2:1.00000\n\n1:1"),
    (FEATURES, b"# labels\n0,2\n\n1\n\n"),
    (b"3 4\n 0:1 3:0.5 \n1:2\n", LABELS),
])  # fmt: skip
def test_features_and_labels_in_two_files(features, labels):
    if features.count(b"\n") == 3:
        features += b"\n"
    assert read(features, labels=labels) == EXPECTED
    assert read(features, format="xmlc", labels=labels) == EXPECTED


def test_files_without_headers_take_the_largest_ids():
    assert read(b"0:1 1:2\n1:1\n", labels=b"1:1\n0:1\n") == ([[1, 2], [0, 1]], [[0, 1], [1, 0]])
    assert read(b"1:1 2:2\n2:1\n", labels=b"2\n1\n", first_index=1) == ([[1, 2], [0, 1]], [[0, 1], [1, 0]])
    made = read_dataset(b"0:1\n", b"1:1\n", labels=b"2:1\n", test_labels=b"1 7\n3:1\n")
    assert (made.n_features, made.n_labels) == (2, 7)


@pytest.mark.parametrize(("features", "labels", "message"), [
    (b"2 4\n0 1:1\n1 2:1\n", LABELS, "data, line 2, column 1: '0 1:1' where a row of features belongs"),
    (b"3 4 3\n0 1:1\n", LABELS, "data, line 1, column 1: '3 4 3' where a row of features belongs"),
    (FEATURES, b"3 3\n0:1\n\n3:1\n", "labels, line 4, column 1: label id 3 but the header states 3 labels"),
    (FEATURES, b"3 3\n0,3\n\n1\n", "labels, line 2, column 3: label id 3 but the header states 3 labels"),
    (FEATURES, b"3 3\n0:1 x\n\n1\n", "labels, line 2, column 5: 'x' where a label (id:value) belongs. A row of a"),
    (FEATURES, b"cat\ndog\ncow\n", "labels, line 1, column 1: 'cat' where a label belongs"),
    (FEATURES, b"3 3\n0:-1\n\n\n", "labels: a label has the value -1"),
    (FEATURES, b"4 3\n0\n\n1\n2\n", "labels, line 1: the header states 4 rows, but the file of features has 3"),
    (FEATURES, b"0\n\n1\n2\n", "labels, line 4: the file of features has 3 rows, but this file of labels has more"),
    (FEATURES, b"0:1\n1:1", "this file of labels has only 2"),
    (FEATURES, b"3 0\n\n\n\n", "labels, line 1, column 3: the header states 0 labels"),
    (b"4 4\n0:1\n1:1\n", LABELS, "the file ends after 2 rows but the header states 4"),
])  # fmt: skip
def test_parts_that_cannot_be_read_say_where_and_why(features, labels, message):
    assert message in str(failure(features, labels=labels))


def test_a_file_of_features_alone_asks_for_the_labels():
    assert advised(FEATURES) == ("labels", None)


def test_values_of_labels_other_than_one_are_said():
    said = warned(read_matrix, FEATURES, labels=b"3 3\n0:0.5 2:1\n\n1:1\n")
    assert said == ["labels: 1 of 3 labels have a value other than 1: each counts as one label."]
    said = warned(read_matrix, b"0:1\n1:1\n", labels=b"0:0.5\n1:0.25\n")
    assert said[0].endswith("Did features and labels change places?")


LYING = {
    "features": (b"2 3 2\n0 0:1\n1 4:2\n", (2, 5, 2), "the header states 3 features, but there are 5"),
    "labels": (b"2 3 1\n0 0:1\n1 2:2\n", (2, 3, 2), "the header states 1 labels, but there are 2"),
    "fewer rows": (b"3 3 2\n0 0:1\n1 2:2\n", (2, 3, 2), "the header states 3 rows, but there are 2"),
    "more rows": (b"1 3 2\n0 0:1\n1 2:2\n\n\n", (2, 3, 2), "the header states 1 rows, but there are 2"),
    "all": (b"9 1 1\n0 0:1\n1 2:2\n", (2, 3, 2), "9 rows, but there are 2; 1 features, but there are 3; 1 labels, but"),
}


@pytest.mark.parametrize("case", LYING)
def test_counts_from_the_data_read_files_whose_header_lies(case):
    content, shape, message = LYING[case]
    assert advised(content) == ("counts", "data")
    (said,) = warned(read_matrix, content, counts="data")
    assert message in said
    with warnings.catch_warnings(action="ignore"):
        X, Y, _, _ = read_matrix(content, counts="data")
    assert (*X.shape, Y.shape[1]) == shape


def test_counts_from_the_data_keep_a_right_header():
    content = b"3 9 9\n0 0:1\n\n\n"
    assert warned(read_matrix, content, counts="data") == []
    assert read(content, counts="data") == read(content)


def test_counts_from_the_data_work_for_two_files():
    with warnings.catch_warnings(record=True, action="always") as caught:
        X, Y, _, _ = read_matrix(b"9 1\n0:1\n3:1\n", labels=b"9 1\n1:1\n\n", counts="data")
    assert (X.shape, Y.shape) == ((2, 4), (2, 2))
    assert "the header states 9 rows, but there are 2; 1 features, but there are 4" in str(caught[0].message)


def test_errors_of_counts_name_the_greatest_id():
    assert "The greatest feature id in the file is 7. Put 8 in the header" in failure(b"2 3 2\n0 5:1\n1 7:2\n").remedy
    assert "The greatest label id in the file is 6. Put 7 in the header" in failure(b"2 3 2\n4 1:1\n6 0:2\n").remedy
    assert "The file has 4 rows." in failure(b"2 3 2\n" + b"0 0:1\n" * 4).remedy
    with pytest.raises(ValueError, match="counts must be"):
        read_matrix(FEATURES, counts="no")


def test_xmlc_with_odd_blanks_is_read():
    assert read(b"3 4 3 \r\n 0:1\r\n\r\n0,2 1:1  \t\r\n") == read(b"3 4 3\n 0:1\n\n0,2 1:1\n")


@pytest.mark.parametrize(
    "content", [b"20000000 0:1\n", b"0 20000000:1\n", b"1 20000001 5\n0 0:1\n", b"1 5 20000001\n0 0:1\n"]
)
def test_a_small_file_with_very_many_columns_is_refused(content):
    error = failure(content)
    assert "20,000,001" in error.found and "only 1 " in error.found
    assert error.fault[-2:] == ("max_columns", 20_000_001)
    X, Y, *_ = read_matrix(content, max_columns=20_000_001)
    assert max(X.shape[1], Y.shape[1]) == 20_000_001
    with pytest.raises(ValueError, match="max_columns=20000001"):
        read_dataset(content, content, max_columns=100)
    assert read_dataset(content, content, max_columns=1 << 25).n_train == 1


@pytest.mark.parametrize(("head", "tail", "options"), [
    (b"1500001 1 1\n", b"", {}),
    (b"1500001 1 1\n", b"", {"counts": "data"}),
    (b"1 1 1\n0 0:1\n", b"0 0:1\n", {"counts": "data"}),
    (b"0:1\n", b"0:1\n", {"labels": b"0\n"}),
    (b"1 1\n0:1\n", b"0:1\n", {"labels": b"0\n", "counts": "data"}),
    (b"1500001 1\n", b"0:1\n", {"labels": b"0\n"}),
])  # fmt: skip
def test_millions_of_blank_rows_are_refused_however_they_come(head, tail, options):
    for blank in (b"\n", b"  \t  \r\n"):
        assert "are not blank" in failure(gzip.compress(head + blank * 1_500_000 + tail, 1), **options).found


def test_files_that_have_values_for_many_columns_may_have_them():
    ids = b",".join(b"%d" % i for i in range(0, 20_000_000, 1000))
    assert read_matrix(b"%s 0:1\n" % ids)[1].shape == (1, 19_999_001)
