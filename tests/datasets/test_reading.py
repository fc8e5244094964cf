"""Reading of matrices: all allowed layouts, and errors with place and remedy."""

import gzip
import io
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from datasets.reads import EXPECTED, TEXT, advised, failure, read, warned

from xmlcore.datasets import DatasetFormatError, DatasetWarning, read_dataset, read_matrix


@pytest.mark.parametrize("content", [
    TEXT,
    TEXT.rstrip(b"\n"),
    TEXT.replace(b"\n", b"\r\n"),
    TEXT.replace(b" 1:2", b"\t1:2").replace(b"2 0:1 3", b"2\t0:1  3"),
    TEXT.replace(b"\n", b"  \n"),
    b"\xef\xbb\xbf" + TEXT,
    TEXT + b"\n\n  \n",
    b"# made by hand\n" + TEXT.replace(b"\n", b" # comment 7:7\n"),
    b"3 4 3\n2,0 3:.5 0:1e0\n1:2.0\n1 \n",
    b"3 4 3\n0 , 2 0:1 3:0.5\n1:2\n1 2:0\n",
])  # fmt: skip
def test_all_layouts_of_a_file_read_the_same(content):
    assert read(content) == EXPECTED


def test_blank_lines_are_rows_while_the_header_promises_more():
    X, Y = read(b"4 2 2\n\n0 1:1\n\r\n  \n\n\n")
    assert X == [[0, 0], [0, 1], [0, 0], [0, 0]]
    assert Y == [[0, 0], [1, 0], [0, 0], [0, 0]]


def test_svmlight_takes_largest_ids_and_skips_blank_lines():
    X, Y = read(b"0,2 0:1 3:0.5\n\n# nothing\n 1:2\n1\n")
    assert (X, Y) == EXPECTED


def test_ids_may_start_at_one():
    assert read(b"3 4 3\n1,3 1:1 4:0.5\n 2:2\n2\n", first_index=1) == EXPECTED
    assert advised(b"1 4 3\n1 0:1\n", first_index=1) == ("first_index", 0)


def test_ids_that_seem_to_start_at_one_give_one_warning():
    assert warned(read_matrix, b"1,3 1:1 4:0.5\n 2:2\n2\n", name="f.txt") == [
        "f.txt: the smallest feature id is 1 and the smallest label id is 1, so feature 0 and label 0 stay unused. "
        "Do ids start at 1? (first_index=1)"
    ]
    said = warned(read_matrix, b"0,3 1:1\n2\n", name="f.txt")
    assert said == ["f.txt: the smallest feature id is 1, so no row has feature 0. New rows keep the ids of the file."]
    for quiet in (b"0,3 2:1\n2\n", b"1,3 1:1 0:0.5\n", b"1 0:0\n", b"1 4 4\n1,3 1:1\n"):
        assert warned(read_matrix, quiet) == []
    assert warned(read_matrix, b"2,3 2:1\n", first_index=1) == []


def test_ids_from_one_are_checked_in_both_files_together():
    one, two = b"1 1:1\n2 2:1\n", b"3 3:1\n"
    (said,) = warned(read_dataset, one, two, name="d")
    assert said.startswith("data (training) and data (test): the smallest feature id is 1")
    assert "first_index=1" in said
    assert warned(read_dataset, one, b"0 3:1\n 0:1\n") == []
    assert warned(read_dataset, one, b"3 0:1\n") == []
    assert warned(read_dataset, one, b" 3:1\n") != []
    assert warned(read_dataset, b"2 4 4\n" + one, two) == []
    assert warned(read_dataset, one, two, first_index=1) == []


@pytest.mark.parametrize("content", [
    b"2,4,3\n0,2 0:1 3:0.5\n 1:2\n",
    b"# comment\n\n2, 4 ,3 \r\n0,2 0:1 3:0.5\r\n\r\n",
    b"2,4,3\n1,3 1:1 4:0.5\n 1:2\n",  # its ids start at 1
])  # fmt: skip
def test_a_header_with_commas_is_an_error_when_it_fits_the_file(content):
    error = failure(content, name="f.txt")
    assert "is separated by commas, but fits the file as its header" in error.found
    assert error.fault[-4:] == (3 if b"#" in content else 1, 1, "format", "svmlight")
    with warnings.catch_warnings(action="ignore", category=DatasetWarning):  # of ids from 1
        _, Y, _, _ = read_matrix(content, format="svmlight")
    assert Y[[0]].indices.tolist() == [2, 3, 4]
    spaced = content.replace(b"2,4,3", b"2 4 3").replace(b"2, 4 ,3", b"2 4 3")
    assert read_matrix(spaced, first_index=int(b"4:" in content))[0].shape == (2, 4)


@pytest.mark.parametrize("content", [
    b"2,4,3\n0,2 0:1 3:0.5\n",  # one row, not two
    b"1,4,3\n0,2 0:1 3:0.5\n 1:2\n",  # two, not one
    b"2,4,3\n0,2 0:1 5:0.5\n 1:2\n",  # feature 5 of 4
    b"2,4,3\n0,9 0:1 3:0.5\n 1:2\n",  # label 9 of 3
    b"2,0,3\n0\n1\n4 0:1",
    b"1,4\n0 0:1\n",
    b"1,4,3,2\n0 0:1\n",
    b"1,4,3 0:1\n0 0:1\n",
])  # fmt: skip
def test_a_first_row_that_fits_as_no_header_is_a_row(content):
    X, Y, _, _ = read_matrix(content)
    assert Y[[0]].indices.tolist() == sorted(int(label) for label in content.split()[0].split(b","))
    assert X.shape[0] == content.strip().count(b"\n") + 1


def test_three_labels_alone_are_a_row_not_a_header_without_rows():
    dataset = read_dataset(b"0,3 0:1\n2 1:1\n", b"0,2,3\n")
    assert dataset.Y_test.indices.tolist() == [0, 2, 3]


def test_a_header_with_commas_is_named_when_the_format_is_xmlc():
    assert "'9,4,3' where the header belongs" in failure(b"9,4,3\n0 0:1\n", format="xmlc").found


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("content", [TEXT, b"0 1:1\n1 2:1\n", b"# made by hand\n1 2 2\n0 1:1\n"])
def test_lines_that_end_with_cr_alone_are_an_error(content, pack):
    error = failure(pack(content.replace(b"\n", b"\r")), name="f.txt")
    assert "carriage return (CR) alone" in error.found
    assert "LF or CRLF" in error.remedy


def test_cr_at_the_end_of_a_single_line_is_no_error():
    for content in (b"0 0:1\r", b"0 0:1 \r\r ", b"0 0:1\r\n"):
        assert read(content) == ([[1]], [[1]])
    assert "holds no rows" in failure(b"\r\r").found
    with pytest.raises(DatasetFormatError, match="names.txt: its lines end with a carriage return"):
        read_dataset(b"0 0:1\n1 1:1\n", b"0 1:1\n", label_names=named(b"a\rb\r", "names.txt"))


def named(content, name):
    stream = io.BytesIO(content)
    stream.name = name
    return stream


def test_repeats_are_merged_with_one_warning():
    with pytest.warns(DatasetWarning) as caught:
        X, Y = read(b"3 4 3\n0 1:1\n2,0,2 3:1 1:1 3:2\n1 2:1 2:-1\n", name="f.txt")
    assert X == [[0, 1, 0, 0], [0, 1, 0, 3], [0, 0, 0, 0]]
    assert Y[1] == [1, 0, 1]
    assert [str(w.message) for w in caught] == [
        "f.txt: 2 rows name a feature more than once (first in line 3): values were summed; "
        "1 row names a label more than once (first in line 3): label counts once"
    ]


def test_unsorted_ids_and_zeros_give_no_warning():
    with warnings.catch_warnings(action="error"):
        X, _ = read(b"1 4 3\n2,0 3:1 2:0 1:-0.0 0:7")
    assert X == [[7, 0, 0, 1]]


@pytest.mark.parametrize("content, line, column, found, remedy", [
    (b"2 4 3\n0 1:1\n1 2:2 4:1\n", 3, 7, "feature id 4 but the header states 4 features (ids 0 to 3)", "Put 5"),
    (b"1 4 3\n0 0:1 4:1\n", 2, 7, "feature id 4 but", "Put 5 in the header"),
    (b"1 4 3\n1,3 1:1\n", 2, 3, "label id 3 but the header states 3 labels (ids 0 to 2)", "start at 1"),
    (b"0 99999999999999999999999:1\n", 1, 3, "feature id 99999999999999999999999", "At most 2147483647"),
    (b"1 4 3\n0 1:\n", 2, 5, "a feature without a value", ""),
    (b"1 4 3\n0 1:abc\n", 2, 5, "'abc' where a number belongs", ""),
    (b"1 4 3\n0 1:nan\n", 2, 5, "'nan' where a number belongs", "finite"),
    (b"1 4 3\n0 1:1e39\n", 2, 5, "the value '1e39' is too large for float32", ""),
    (b"1 4 3\n0 1:3e38 1:3e38\n", 2, 1, "add up to more than float32 holds", ""),
    (b"1 4 3\n-1:2\n", 2, 1, "the feature id in '-1:2' is not a whole number from 0", ""),
    (b"1 4 3\ncat 1:2\n", 2, 1, "'cat' where a label belongs", ""),
    (b"1 4 3\n,1 1:2\n", 2, 1, "a label is missing beside a comma", ""),
    (b"1 4 3\n 1,2 1:2\n", 2, 2, "'1,2' where a feature (id:value) belongs", "starts with a blank has no labels"),
    (b"1 4 3\n1 cat:2\n", 2, 3, "the feature id in 'cat:2' is not a whole number", "names"),
    (b"1 4 3\n1 qid:3 1:2\n", 2, 3, "the query id 'qid:3'", "remove the qid"),
    (b"1 4 3\n1 1:2\n\n2 1:3\n", 4, 1, "a row after the 1 that the header states", ""),
    (b"3 4 3\n1 1:2\n2 1:3", 3, None, "the file ends after 2 rows but the header states 3", "cut off"),
    (b"3 5 2147483648\n", 1, 5, "the header states 2147483648 labels", "At most 2147483647"),
    (b"1" * 9000 + b" 5 5\n", 1, 1, "the header states 1111111111", "At most"),
    (b"3 0 3\n", 1, 3, "the header states 0 features", ""),
    (b"4880 1836\n1 2:1\n", 1, 6, "'1836' where a feature", "three whole numbers"),
    (b"1 4 3\n1 1:\xff\xfe", 2, 5, "'\\xff\\xfe' where a number belongs", ""),
    (b"", None, None, "it is empty", ""),
    (b" \n\n# c", None, None, "it holds no rows", ""),
    (b"a\x00b", 1, 2, "it holds binary data", ""),
    (b"\x89PNG\r\n\x1a\n\x00", None, None, "it is a PNG image", ""),
    ("1 2 3".encode("utf-16"), None, None, "it is UTF-16 text", ""),
    (b"<!DOCTYPE html><html>", None, None, "web page", ""),
])  # fmt: skip
def test_errors_have_line_column_and_remedy(content, line, column, found, remedy):
    error = failure(content, name="train.txt")
    assert isinstance(error, ValueError)
    assert (error.source, error.line, error.column) == ("train.txt", line, column)
    assert found in error.found
    assert remedy in error.remedy
    assert str(error).startswith("train.txt")
    assert len(str(error)) < 600


def test_format_errors_survive_a_trip_between_processes():
    error = DatasetFormatError("f.txt", "odd", "Mend it.", 3, 7, argument="labels", value=-2)
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) == "f.txt, line 3, column 7: odd. Mend it (labels=-2)."
    assert copy.fault == error.fault == ("odd", "Mend it.", "f.txt", 3, 7, "labels", -2)
    assert (copy.source, copy.found, copy.remedy, copy.line, copy.column) == ("f.txt", "odd", "Mend it.", 3, 7)
    assert copy.fault.text(lambda argument, value: f"--{argument} {value}").endswith("Mend it (--labels -2).")


def test_a_file_of_the_other_format_says_so():
    with pytest.raises(ValueError, match='"xmlc", "svmlight"'):
        read_matrix(TEXT, format="parquet")
    assert advised(TEXT, format="svmlight") == ("format", "xmlc")
    assert advised(b"0 1:1\n", format="xmlc") == ("format", "svmlight")


def test_headers_do_not_decide_how_much_memory_is_used():
    X, Y, _, _ = read_matrix(b"0 4 3\n")
    assert (X.shape, Y.shape) == ((0, 4), (0, 3))
    error = failure(b"1000000000000 2147483647 2147483647\n0 1:1\n")
    assert "ends after 1 row" in error.found
    X, Y, _, _ = read_matrix(b"1 2147483647 2147483647\n0 1:1\n", max_columns=2147483647)
    assert X.shape == Y.shape == (1, 2147483647)


@pytest.mark.parametrize("content, what", [(b"0,1\n", "feature"), (b" 1:1\n", "label")])
def test_svmlight_without_any_id_asks_for_a_header(content, what):
    assert f"no row has a {what}" in failure(content).found


@pytest.mark.parametrize("options", [{"format": "table"}, {"format": None}, {"labels": 3}, {"first_index": 2}])
def test_arguments_that_cannot_be_used_are_errors(options):
    with pytest.raises(ValueError):
        read_matrix(TEXT, **options)


# Rows, test rows, features, labels, mean features and mean labels of training rows
STATISTICS = {
    "bibtex": (4880, 2515, 1836, 159, 68.5, 2.38),
    "delicious": (12920, 3185, 500, 983, 18.5, 19.0),
    "wordnet-hyper": (65687, 16422, 36865, 15952, 11.3, 8.06),
    "eurlex4k-dev": (987, 329, 5000, 3993, 236, 5.31),
    "scene": (1211, 1196, 294, 6, 290, 1.06),
}


@pytest.mark.real_data
@pytest.mark.parametrize("name", STATISTICS)
def test_real_files_have_their_published_statistics(real_data, name):
    folder = real_data / name
    dataset = read_dataset(folder / "train.txt.gz", folder / "test.txt.gz")
    *sizes, nonzeros, labels = STATISTICS[name]
    assert (dataset.n_train, dataset.n_test, dataset.n_features, dataset.n_labels) == tuple(sizes)
    assert dataset.X_train.nnz / dataset.n_train == pytest.approx(nonzeros, rel=0.003)
    assert dataset.Y_train.nnz / dataset.n_train == pytest.approx(labels, rel=0.003)


@pytest.mark.real_data
@pytest.mark.parametrize("name", STATISTICS)
def test_real_files_read_as_scikit_learn_reads_them(real_data, name):
    from sklearn.datasets import load_svmlight_file

    content = gzip.decompress((real_data / name / "test.txt.gz").read_bytes())
    X, Y, _, _ = read_matrix(content)
    header, body = content.split(b"\n", 1)
    lines = [line for line in body.split(b"\n") if line.strip()]
    expected_X, expected_Y = load_svmlight_file(
        io.BytesIO(b"\n".join(lines)), n_features=X.shape[1], multilabel=True, zero_based=True, dtype=np.float32
    )
    filled = np.flatnonzero((np.diff(X.indptr) > 0) | (np.diff(Y.indptr) > 0))
    if len(lines) == X.shape[0]:
        filled = np.arange(X.shape[0])
    assert (X[filled] != sp.csr_array(expected_X)).nnz == 0
    assert [Y.indices[Y.indptr[i] : Y.indptr[i + 1]].tolist() for i in filled] == [
        sorted(int(label) for label in labels) for labels in expected_Y
    ]
