"""What a Dataset promises."""

import pickle
from copy import deepcopy
from dataclasses import FrozenInstanceError, replace

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from xmlcore.datasets import Dataset
from xmlcore.datasets.texts import TextVectorizer


def small(**changes):
    fields = {
        "name": "small",
        "X_train": np.array([[1.0, 0.0, 2.0], [0.0, 0.5, 0.0]]),
        "Y_train": [[1, 0], []],
        "X_test": np.array([[0.0, 0.0, 3.0]]),
        "Y_test": [[1]],
        **changes,
    }
    return Dataset(**fields)


def test_matrices_become_canonical():
    dataset = small()
    assert [M.dtype for M in (dataset.X_train, dataset.X_test)] == [np.float32] * 2
    assert [M.dtype for M in (dataset.Y_train, dataset.Y_test)] == [bool] * 2
    assert dataset.Y_train.indices.tolist() == [0, 1]
    assert (dataset.n_train, dataset.n_test, dataset.n_features, dataset.n_labels) == (2, 1, 3, 2)


def test_it_is_frozen_and_leaves_its_input_alone():
    X = sp.csr_matrix((np.array([1.0, 0.0]), np.array([2, 0]), np.array([0, 2, 2])), shape=(2, 3))
    dataset = small(X_train=X)
    assert X.nnz == 2
    assert dataset.X_train.nnz == 1
    with pytest.raises(FrozenInstanceError):
        dataset.name = "other"


@pytest.mark.parametrize("changes, said", [
    ({"X_test": np.ones((1, 4))}, "X_train has 3 features, but X_test has 4"),
    ({"Y_test": sp.csr_array((1, 5))}, "Y_train has 2 labels, but Y_test has 5"),
    ({"Y_train": [[0], [1], [0]]}, "X_train has 2 rows, but Y_train has 3"),
    ({"X_test": np.ones((0, 3)), "Y_test": sp.csr_array((0, 2))}, "X_test has no rows"),
    ({"feature_names": ["a"]}, "feature_names has 1 names, but there are 3 features"),
    ({"label_names": ["a", "b", "c"], "Y_train": sp.csr_array((2, 2))}, "label_names has 3 names, but"),
    ({"row_names_train": ["a"]}, "row_names_train has 1 names, but there are 2 training rows"),
    ({"texts_train": ["a"]}, "texts_train has 1 texts, but there are 2 training rows"),
    ({"vectorizer": TextVectorizer()}, "the vectorizer makes no features, but X_train has"),
    ({"Y_test": [[2]]}, "label id 2"),
    ({"X_train": np.array([[1, 2, np.nan], [1, 2, 3]])}, "row 0, column 2"),
])  # fmt: skip
def test_what_does_not_fit_is_named(changes, said):
    with pytest.raises(ValueError, match=said):
        small(**changes)


def test_names_must_be_strings():
    with pytest.raises(TypeError, match=r"label_names\[1\] is 2"):
        small(label_names=["a", 2])
    with pytest.raises(TypeError, match="feature_names must be a list"):
        small(feature_names="abc")


def test_names_of_labels_and_features():
    plain, named = small(), small(label_names=["cat", "dog"], feature_names=np.array(["x", "y", "z"]))
    assert (plain.label_name(1), plain.feature_name(2)) == ("label 1", "feature 2")
    assert (named.label_name(1), named.feature_name(2)) == ("dog", "z")
    with pytest.raises(ValueError, match="must be from 0 to 1"):
        named.label_name(-1)


def test_the_content_hash_does_not_depend_on_how_it_came():
    dataset = small()
    X = sp.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 0.5, 0.0]]))
    X.indices = X.indices.astype(np.int64)
    X.indptr = X.indptr.astype(np.int64)
    same = small(name="other", X_train=X, Y_train=np.array([[1, 1], [0, 0]]), notes=["n"], row_names_test=["r"],
                 texts_test=["the text"])  # fmt: skip
    assert same.content_hash == dataset.content_hash and same.fingerprint != dataset.fingerprint
    assert dataset.fingerprint == small(X_train=sp.csc_matrix(X)).fingerprint and len(dataset.fingerprint) == 32


@pytest.mark.parametrize("changes", [
    {"X_train": np.array([[1.0, 0.0, 2.5], [0.0, 0.5, 0.0]])},
    {"X_train": np.array([[1.0, 2.0, 0.0], [0.0, 0.5, 0.0]])},
    {"Y_train": [[1, 0], [0]]},
    {"Y_train": [[], [0, 1]]},
    {"X_test": np.array([[0.0, 0.0, 3.5]])},
    {"X_train": np.array([[0.0, 0.0, 3.0], [0.0, 0.5, 0.0]]), "X_test": np.array([[1.0, 0.0, 2.0]])},
    {"Y_test": [[0]]},
    {"Y_test": [[]]},
    {"label_names": ["a", "b"]},
    {"label_names": ["ab", ""]},
    {"feature_names": ["a", "b", "c"]},
])  # fmt: skip
def test_the_content_hash_changes_with_the_content(changes):
    others = {small().content_hash, small(label_names=["a", ""]).content_hash}
    assert small(**changes).content_hash not in others


@pytest.mark.parametrize("field", ["label_names", "feature_names", "row_names_train", "texts_test", "notes"])
def test_fingerprint_tells_where_one_name_ends(field):
    wide = {"X_train": np.eye(2), "Y_train": np.eye(2), "X_test": np.eye(2), "Y_test": np.eye(2)}
    given = [["ab", "c"], ["a", "bc"], ["abc", ""], ["", "abc"]]
    assert len({small(**wide, **{field: names}).fingerprint for names in given}) == len(given)
    assert small(**wide, label_names=["a", "b"]).fingerprint != small(**wide, feature_names=["a", "b"]).fingerprint


def arrays(dataset):
    for matrix in (dataset.X_train, dataset.Y_train, dataset.X_test, dataset.Y_test):
        yield from (matrix.indptr, matrix.indices, matrix.data)


def test_the_arrays_are_read_only(tmp_path):
    dataset = small(label_names=["a", "b"], notes=("one",), row_names_train=["r", "s"])
    joblib.dump(dataset, tmp_path / "d.joblib")
    copies = [pickle.loads(pickle.dumps(dataset)), joblib.load(tmp_path / "d.joblib"), deepcopy(dataset)]
    for one in (dataset, *copies, replace(dataset, notes=["one"])):
        assert not any(array.flags.writeable for array in arrays(one))
        assert one.fingerprint == dataset.fingerprint and (one.X_train != dataset.X_train).nnz == 0
        assert (one.notes, one.row_names_train) == (("one",), ["r", "s"])
    with pytest.raises(ValueError, match="read-only"):
        dataset.X_train.data[0] = 7
    assert dataset.X_train[[0]].data.flags.writeable  # what is made of them is not


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_what_was_given_stays_writeable(form):
    X, Y = form(np.eye(2, dtype=np.float32)), form(np.eye(2, dtype=bool))
    dataset = Dataset("", X, Y, X, Y)
    for given in (X, Y):
        parts = [given] if isinstance(given, np.ndarray) else [given.data, *(getattr(given, "coords", ()))]
        parts += [getattr(given, field) for field in ("indptr", "indices") if hasattr(given, field)]
        for array in parts:
            assert array.flags.writeable
            assert not any(np.shares_memory(array, own) for own in arrays(dataset))


def test_labels_may_be_given_by_name():
    dataset = small(Y_train=[["law", "art"], []], Y_test=[["air", "law"]])
    assert dataset.label_names == ["art", "law", "air"]
    assert dataset.Y_train.toarray().tolist() == [[True, True, False], [False] * 3]
    assert dataset.Y_test.toarray().tolist() == [[False, True, True]]
    chosen = small(Y_train=[["law"], ["art"]], Y_test=[[1]], label_names=["law", "art"])
    assert chosen.Y_train.toarray().tolist() == [[True, False], [False, True]]
    assert chosen.Y_test.toarray().tolist() == [[False, True]]


def test_columns_of_labels_are_their_names_in_one_order():
    Y = pd.DataFrame([[1, 0], [0, 1]], columns=["law", "art"])
    assert small(Y_train=Y, Y_test=Y[:1]).label_names == ["law", "art"]
    assert small(Y_train=Y, Y_test=Y[:1], label_names=["a", "b"]).label_names == ["a", "b"]
    with pytest.raises(ValueError, match="the columns of Y_train and Y_test differ"):
        small(Y_train=Y, Y_test=Y[["art", "law"]][:1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Y_test": [["law"]]}, "Y_test has names of labels, and Y_train has none: give label_names"),
        ({"Y_train": [["law"], []], "Y_test": [["art"]], "label_names": ["law"]}, "Y_test row 0 .*'art'.*label_names"),
    ],
)
def test_names_of_labels_that_are_not_known_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        small(**changes)
