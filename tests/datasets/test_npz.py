"""NumPy archives: what is read, what is refused, and what they may not do."""

import gzip
import io
import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from datasets.reads import failure, random_matrices, sparse_npz, warned
from datasets.test_sources import Upload

from tests.archiving import npz as arrays
from tests.archiving import zipped
from xmlcore.datasets import DatasetFormatError, DatasetWarning, read_dataset, read_matrix, read_texts
from xmlcore.datasets.readers.formats import read_head

X, Y = random_matrices(np.random.default_rng(3), n=40, d=9, k=6)
CSR = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}


def both(**changed):
    parts = {f"X_{name}": array for name, array in CSR.items()}
    parts |= {"Y_indices": Y.indices, "Y_indptr": Y.indptr, "Y_shape": np.array(Y.shape)}
    parts |= changed
    return arrays(**{name: array for name, array in parts.items() if array is not None})


def equal(read):
    assert (read[0].dtype, read[1].dtype) == (np.float32, bool)
    assert (read[0] != X).nnz == 0 and (read[1] != Y).nnz == 0
    assert read[0].shape == X.shape and read[1].shape == Y.shape
    return read[2:]


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("compressed", [True, False])
def test_features_and_labels_in_two_files_of_scipy(form, compressed, tmp_path):
    features, labels = (sparse_npz(matrix.asformat(form), compressed=compressed) for matrix in (X, Y))
    assert equal(read_matrix(features, labels=labels)) == (None, None)
    (tmp_path / "X.npz").write_bytes(features)
    (tmp_path / "Y.npz").write_bytes(labels)
    equal(read_matrix(str(tmp_path / "X.npz"), "npz", tmp_path / "Y.npz"))
    with open(tmp_path / "X.npz", "rb") as stream:
        equal(read_matrix(stream, labels=io.BytesIO(labels)))
    equal(read_matrix(Upload(gzip.compress(features)), labels=Upload(labels)))


def npy(values, **options):
    made = io.BytesIO()
    np.save(made, values, **options)
    return made.getvalue()


def test_an_npy_file_is_a_matrix_of_features_or_of_labels(tmp_path):
    features = npy(np.asfortranarray(X.toarray().astype(">f8")))
    (tmp_path / "X.npy").write_bytes(features)
    for labels in (npy(Y.toarray()), arrays(Y=Y.toarray())):
        equal(read_matrix(tmp_path / "X.npy", labels=labels))
    equal(read_matrix(gzip.compress(features), "npz", npy(Y.toarray().astype(float))))
    data = read_dataset(tmp_path / "X.npy", labels=npy(Y.toarray()), test=features, test_labels=npy(Y.toarray()))
    assert (data.X_train != X).nnz == 0 and (data.Y_test != Y).nnz == 0
    assert read_head(tmp_path / "X.npy").format == "npz"


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (npy(X.toarray())[:-1], "Expected \\(40, 9\\)|EOF"),
        (npy(X.toarray()).replace(b"(40, 9)", b"(4000000000000, 9)"), "the array values cannot be read"),
        (npy(X.toarray())[:40], "the array values cannot be read"),
        (npy(np.array([{}, None], object), allow_pickle=True), "Object arrays cannot be loaded"),
        (npy(X.toarray()[0]), "has 1 dimension"),
        *(
            (npy(X.toarray().astype(kind)), f"the array values has 2 dimensions and the type {kind}")
            for kind in ("complex64", "<U32")
        ),
        (npy(np.zeros((2, 2), [("a", "i4")])), "2 dimensions and the type .*'a'"),
        (npy(np.where(X.toarray() == 0, np.nan, 1)), "NaN or inf.*row 0, column"),
    ],
)
def test_an_npy_file_that_cannot_be_is_refused(content, found):
    error = failure(content, labels=npy(Y.toarray()))
    assert re.search(found, error.found)
    for reading in ({}, {"format": "lines", "labels": None}):
        with pytest.raises(DatasetFormatError, match="it is a NumPy array file"):
            read_texts(content, **reading)


def test_both_in_one_file_with_names_and_dense():
    assert equal(read_matrix(both())) == (None, None)
    names = {"feature_names": np.array([*"abcdefgh", "ü ,\n"]), "label_names": np.array(list("123456"))}
    assert equal(read_matrix(both(**names))) == ([*"abcdefgh", "ü ,\n"], list("123456"))
    equal(read_matrix(arrays(X=X.toarray(), Y=Y.toarray().astype(float))))
    equal(read_matrix(arrays(X=X.toarray().astype(">f8"), y=np.asfortranarray(Y.toarray().astype(np.int8)))))
    equal(read_matrix(arrays(X=X.toarray()), labels=arrays(labels=Y.toarray())))


def test_a_zip_of_an_npz_is_unpacked():
    equal(read_matrix(zipped({"data.npz": both()})))


def test_two_pairs_of_files_make_a_data_set():
    features, labels = sparse_npz(X), sparse_npz(Y)
    made = read_dataset(features, features, labels=labels, test_labels=labels)
    assert (made.n_train, made.n_test, made.n_labels) == (40, 40, 6)
    with pytest.raises(ValueError, match="the labels of the training rows only"):
        read_dataset(features, features, labels=labels)
    with pytest.raises(ValueError, match="no test file"):
        read_dataset(both(), test_labels=labels)


@pytest.mark.parametrize(("content", "found"), [
    (sparse_npz(X), "it holds features, but no labels"),
    (arrays(a=np.eye(2), b=np.eye(2)), "it holds no X, but the arrays a, b"),
    (both(Y_indptr=None, X_shape=np.array([40, 8])), "row 20 has the index 8, but indices go from 0 to 7"),
    (both(X_indices=X.indices * -1), "but indices go from 0 to 8"),
    (both(X_indices=X.indices.astype(float)), "X_indices has the type float64"),
    (both(X_indptr=X.indptr[::-1]), "index pointer should start with 0"),
    (both(X_indptr=np.append(X.indptr[:-1], X.nnz - 1)), f"X_indptr ends at {X.nnz - 1}, but there are {X.nnz} values"),
    (both(X_data=X.data[1:]), "indices and data should have the same size"),
    (both(X_data=np.where(np.arange(X.nnz) == 5, np.nan, X.data)), "its features cannot be used"),
    (both(X_data=np.where(np.arange(X.nnz) == 5, 1e300, X.data.astype(float))), "its features cannot be used"),
    (both(X_data=X.data.astype(complex)), "X_data has the type complex128"),
    (both(Y_data=np.arange(Y.nnz)), "its labels cannot be used"),
    (both(X_shape=np.array([40, 2**40])), "X_shape is not the numbers of rows and columns"),
    (both(Y_shape=np.array([39, 6]), Y_indptr=Y.indptr[:-1]), "Y"),
    (both(label_names=np.array(["a"])), "it holds 1 label names, but there are 6 labels"),
    (both(label_names=np.arange(6)), "the array label_names has the type int64"),
    (arrays(X=np.eye(3), Y=np.eye(2)), "its features have 3 rows, but its labels 2"),
    (arrays(X=np.eye(3), Y=np.ones((3, 1, 1))), "the array Y has 3 dimension"),
    (arrays(X=np.eye(3), Y=np.arange(3.0)), "the array Y has one value a row, of the type float64"),
    (arrays(X=np.eye(3), y=np.array([True, False, True])), "the array y has one value a row, of the type bool"),
    (arrays(X=np.eye(3), y=np.array([0, 1, 1])), "0 or 1: this may be one label, or two classes"),
    (arrays(X=np.eye(3), y=np.array([-1, 2, 1])), "such as -1, which is no class number"),
    (arrays(X=np.eye(3), y=np.array([2**40, 2, 1])), "such as 1099511627776, which is no class number"),
    (arrays(X=np.eye(30), y=np.arange(30)), "30 different ones in 30 rows: these are hardly class numbers"),
    (arrays(X=np.eye(3), y=np.array([0, 1, 2, 1])), "its features have 3 rows, but its labels 4"),
    (arrays(X=np.eye(3), y=np.array([0, 1, 2]), label_names=np.array(["a", "b"])), "it holds 2 label names"),
    (sparse_npz(sp.dia_array(np.eye(3))), "its sparse matrix has the format 'dia'"),
])  # fmt: skip
def test_broken_archives_say_what_is_wrong(content, found):
    error = failure(content, name="mine.npz")
    assert found in error.found and str(error).startswith("mine.npz: ")


def test_a_list_of_classes_is_one_label_for_each_row():
    content = arrays(X=np.eye(4), y=np.array([2, 0, 2, 1], np.uint8))
    said = "data: the array y has a class number for each row, which is read as the one label of the row"
    assert warned(read_matrix, content) == [said]
    texts = arrays(arr_0=np.array(["cat", "ant", "cat", "b\u00e4r"]))
    with warnings.catch_warnings(action="ignore"):
        assert read_matrix(content)[1].toarray().tolist() == np.eye(3, dtype=bool)[[2, 0, 2, 1]].tolist()
        named = arrays(X=np.eye(4), Y=np.array([2, 0, 2, 1]), label_names=np.array([*"abcd"]))
        assert read_matrix(named)[1].shape == (4, 4) and read_matrix(named)[3] == [*"abcd"]
        _, found, _, names = read_matrix(sparse_npz(sp.eye_array(4, format="csr")), labels=texts)
        assert names == ["ant", "b\u00e4r", "cat"] and found.indices.tolist() == [2, 0, 2, 1]


@pytest.mark.filterwarnings("ignore::xmlcore.datasets.DatasetWarning")
def test_a_row_without_the_name_of_a_class_has_no_label():
    _, found, _, names = read_matrix(arrays(X=np.eye(4), y=np.array(["", "cat", "", "ant"])))
    assert (names, found.toarray().tolist()) == (["ant", "cat"], [[0, 0], [0, 1], [0, 0], [1, 0]])


@pytest.mark.filterwarnings("ignore::xmlcore.datasets.DatasetWarning")
def test_test_classes_may_be_only_0_and_1():
    train, test = (arrays(X=np.eye(3), y=np.array(classes)) for classes in ([0, 3, 2], [0, 1, 1]))
    with pytest.warns(DatasetWarning, match="class number for each row"):
        data = read_dataset(train, test)
    assert data.Y_test.toarray().tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0]]
    with pytest.raises(DatasetFormatError, match="data.*0 or 1: this may be one label, or two classes"):
        read_dataset(arrays(X=np.eye(3), y=np.array([0, 1, 0])), test)
    with pytest.warns(DatasetWarning, match="class number for each row"):
        data = read_dataset(
            arrays(X=np.eye(3)), arrays(X=np.eye(3)), labels=arrays(y=np.array([0, 3, 2])),
            test_labels=arrays(y=np.array([0, 1, 1])),
        )  # fmt: skip
    assert data.Y_test.toarray().argmax(axis=1).tolist() == [0, 1, 1]


def test_classes_of_one_file_are_labels_of_both():
    train, test = (arrays(X=np.eye(3), y=np.array(classes)) for classes in ([0, 3, 2], [5, 2, 2]))
    assert read_dataset(train, test).Y_test.shape == read_dataset(train, test).Y_train.shape == (3, 6)
    train, test = (arrays(X=np.eye(3), y=np.array(list(classes))) for classes in ("aca", "bcd"))
    made = read_dataset(train, test)
    assert made.label_names == [*"abcd"] and made.Y_test.indices.tolist() == [1, 2, 3]


def test_objects_are_never_unpickled():
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("it was unpickled",)

    assert "Object arrays cannot be loaded" in failure(arrays(X=np.array([Trap()]), Y=np.eye(1))).found


def test_promises_of_an_archive_take_no_memory():
    error = failure(arrays(X=np.zeros((3000, 1000)), Y=np.eye(3000, dtype=bool)), max_bytes=1_000_000)
    assert "more than 1,000,000" in error.found
    far = sp.csc_array((np.ones(1), np.zeros(1, int), np.array([0, 1])), shape=(5, 1))
    parts = {"format": b"csc", "data": far.data, "indices": far.indices, "indptr": far.indptr}
    error = failure(arrays(**parts, shape=np.array([2**60, 1])), labels=sparse_npz(Y))
    assert "states 1,152,921,504,606,846,976 rows" in error.found
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)})
    packed = zipped(dict.fromkeys(("X.npy", "Y.npy"), header.getvalue() + b"12345678"))
    assert "the array X cannot be read" in failure(packed).found


def test_a_file_of_another_format_given_as_npz_is_refused():
    assert "it is not a NumPy archive" in failure(b"1 1 1\n0 0:1\n", format="npz").found
    assert "a NumPy archive (npz)" in failure(both(), format="xmlc").found
    with pytest.raises(ValueError, match="labels are given beside it"):
        read_matrix(both(), labels=sparse_npz(Y))


def test_labels_of_other_rows_are_refused():
    assert failure(sparse_npz(X), labels=sparse_npz(Y[:-1])).found == "it has 39 rows, but data has 40"
