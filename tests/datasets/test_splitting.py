"""Splits of rows, and data sets of one or two files."""

import io

import numpy as np
import pytest
from datasets.reads import TEXT, random_matrices

from xmlcore.datasets import DatasetFormatError, read_dataset, split_rows, write_matrix


def test_a_split_has_each_row_once_and_depends_on_the_seed():
    train, test = split_rows(100, 0.2, 3)
    assert sorted([*train, *test]) == list(range(100))
    assert len(test) == 20
    assert test.tolist() == sorted(test.tolist()) == split_rows(100, 20, 3)[1].tolist()
    assert test.tolist() != split_rows(100, 0.2, 4)[1].tolist()


@pytest.mark.parametrize("n, size", [(1, 0.5), (10, 0.01), (10, 0.99), (10, 10), (10, 0.0), (10, 1.5), (10, -1)])
def test_a_split_with_an_empty_side_is_an_error(n, size):
    with pytest.raises(ValueError):
        split_rows(n, size)


@pytest.mark.parametrize("size", ["0.2", True, None])
def test_a_split_size_must_be_a_number(size):
    with pytest.raises((TypeError, ValueError)):
        split_rows(10, size)


def test_one_file_is_split_and_the_split_is_noted(tmp_path):
    X, Y = random_matrices(np.random.default_rng(8))
    write_matrix(tmp_path / "my.data.txt.gz", X, Y)
    dataset = read_dataset(tmp_path / "my.data.txt.gz", random_state=5)
    train, test = split_rows(200, 0.2, 5)
    assert dataset.name == "my.data"
    assert (dataset.X_train != X[train]).nnz == (dataset.Y_test != Y[test]).nnz == 0
    assert "40 of the 200 rows of my.data.txt.gz" in dataset.notes[0]
    assert "seed 5" in dataset.notes[0]


def test_two_files_with_names(tmp_path):
    (tmp_path / "names.txt").write_bytes("été\r\n b\nc".encode())
    dataset = read_dataset(
        TEXT, b"1 4 3\n0 1:1\n", name="n", label_names=tmp_path / "names.txt", feature_names=["p", "q", "r", "s"]
    )
    assert (dataset.name, dataset.n_train, dataset.n_test) == ("n", 3, 1)
    assert dataset.label_names == ["été", "b", "c"]
    assert dataset.feature_names == ["p", "q", "r", "s"]
    assert read_dataset(TEXT, TEXT, label_names=io.BytesIO(b"a\nb\n\n")).label_names == ["a", "b", ""]


def test_headers_that_differ_are_an_error():
    with pytest.raises(DatasetFormatError, match="promises 5 features, but data .training. has 4") as caught:
        read_dataset(TEXT, b"1 5 3\n0 1:1\n")
    assert (caught.value.source, caught.value.line) == ("data (test)", 1)
    with pytest.raises(DatasetFormatError, match="promises 2 labels"):
        read_dataset(TEXT, b"1 4 2\n0 1:1\n")


def test_files_without_header_are_padded_to_the_wider_one():
    dataset = read_dataset(b"0 1:1\n3 0:1\n", b"1 5:1\n")
    assert dataset.X_train.shape == (2, 6)
    assert dataset.Y_test.shape == (1, 4)
    dataset = read_dataset(TEXT, b" 1:1\n")  # not even a label
    assert (dataset.X_test.shape, dataset.Y_test.shape) == ((1, 4), (1, 3))
    assert read_dataset(b"0 1:1\n1 0:1\n", b"1 5:1\n", label_names=["a", "b", "c"]).n_labels == 3
    with pytest.raises(DatasetFormatError, match="ids make 10 features, but data .training. has 4"):
        read_dataset(TEXT, b"0 9:1\n")


@pytest.mark.parametrize("names, said", [
    (["a", "b"], "2 label names, but there are 3 labels .label_names="),
    (b"a\nb\n", "it holds 2 label names, but there are 3 labels"),
    (b"a\nb\nc\xe9\n", "line 3, column 2: the byte 0xe9 is not UTF-8"),
])  # fmt: skip
def test_names_that_do_not_fit_are_errors(names, said):
    with pytest.raises(ValueError, match=said):
        read_dataset(TEXT, TEXT, label_names=names)


def test_bad_names_and_unknown_options_are_type_errors():
    with pytest.raises(TypeError, match=r"label_names\[0\] is 1"):
        read_dataset(TEXT, TEXT, label_names=[1, 2, 3])
    with pytest.raises(TypeError, match="no argument 'sep'"):
        read_dataset(TEXT, sep=",")


def test_a_file_without_rows_is_no_data_set():
    with pytest.raises(DatasetFormatError, match="no rows"):
        read_dataset(b"0 4 3\n")
    with pytest.raises(DatasetFormatError, match="no rows"):
        read_dataset(TEXT, b"0 4 3\n")
