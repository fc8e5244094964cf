"""Double sampling learns further rows: its sums become those of all rows, and new labels and features are found."""

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import DoubleSampling
from xmlcore.arrays import by_frequency, columns_of, in_columns
from xmlcore.models.double_sampling.classes import ClassTerms
from xmlcore.models.double_sampling.learning import added_classes
from xmlcore.progress import silent
from xmlcore.validation import csr_parts

SUMS = ("feature_of_column_", "document_counts_", "class_size_")


def problem(n=300, n_labels=12, seed=0, several=False):
    """Counts whose label has three words of its own, and labels; the last label and word are rare."""
    rng = np.random.default_rng(seed)
    Y = np.eye(n_labels, dtype=bool)[rng.permutation(np.arange(n) % n_labels)]
    if several:
        Y |= rng.random(Y.shape) < 0.1
    X = rng.poisson(0.1, (n, 3 * n_labels + 5)) + rng.poisson(np.repeat(Y, 3, axis=1) @ np.eye(36, 41))
    return sp.csr_array(X.astype(np.float32)), sp.csr_array(Y)


def terms_of(X, Y):
    features = by_frequency(X)
    return ClassTerms.of(in_columns(csr_parts(X), columns_of(features, X.shape[1])), Y, features, 1, silent)


def assert_same_sums(found, expected):
    for name in SUMS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    for name in ("ptr", "classes", "sums", "weight", "square"):
        np.testing.assert_array_equal(getattr(found.ranker_.index, name), getattr(expected.ranker_.index, name))
    assert found.n_rows_ == expected.n_rows_ and found.multiclass_ == expected.multiclass_


def test_sums_with_several_labels_are_those_of_all_rows():
    X, Y = problem(several=True)
    found = added_classes(terms_of(X[:200], Y[:200]), terms_of(X[200:], Y[200:]))
    expected = terms_of(X, Y)

    def dense(terms):
        sums = np.zeros((X.shape[1], Y.shape[1]))
        columns = np.repeat(terms.feature_of_column, np.diff(terms.ptr))
        sums[columns, terms.classes] = terms.sums
        counts = np.zeros(X.shape[1], np.int64)
        counts[terms.feature_of_column] = terms.document_counts
        return sums, counts, terms.class_size

    for a, b in zip(dense(found), dense(expected)):
        np.testing.assert_array_equal(a, b)
    assert (np.diff(found.document_counts) <= 0).all() and found.n_rows == 300


def test_new_labels_and_new_features_are_learnt():
    X, Y = problem()
    last = Y.toarray()[:, -1]
    old, new = sp.csr_array(X[~last]), sp.csr_array(X[last])
    cut = sp.csr_array(old.multiply(np.arange(41) < 33))  # the words of the last label are unknown
    model = DoubleSampling().fit(cut, Y[~last][:, :-1])
    assert model.n_labels_ == 11
    model.partial_fit(new, [[11]] * int(last.sum()))
    assert model.n_labels_ == 12 and (model.predict_topk(new, 1).labels == 11).mean() > 0.9
    assert set(range(33, 36)) <= set(model.feature_of_column_.tolist())


def test_rows_learnt_one_by_one_rank_as_all_at_once():
    X, Y = problem(200)
    model = DoubleSampling().fit(X[:100], Y[:100])
    for i in range(100, 200, 10):
        model.partial_fit(X[i : i + 10], Y[i : i + 10])
    all_at_once = DoubleSampling().fit(X, Y)
    assert_same_sums(model, all_at_once)
    assert_same_sums(DoubleSampling().fit(X[:100], Y[:100]).partial_fit(X[100:], Y[100:]), all_at_once)
    new, true = problem(200, seed=1)
    assert model.score(new, true) > all_at_once.score(new, true) - 0.02


def test_a_row_that_gives_no_pair_changes_the_sums_and_not_f():
    X, Y = problem()
    model = DoubleSampling(examples_per_class=0.5).fit(X, Y)
    weights = model.weights_
    model.partial_fit(X[:1], Y[:1])
    np.testing.assert_array_equal(model.weights_, weights)
    assert model.n_rows_ == 301


def test_no_further_rows_with_other_parameters_or_a_tree():
    X, Y = problem()
    with pytest.raises(ValueError, match="changed after fit: fit the model to all rows"):
        DoubleSampling().fit(X, Y).set_params(weighting="counts").partial_fit(X, Y)
    with pytest.raises(ValueError, match="a label tree cannot learn further rows"):
        DoubleSampling(candidates_from="plt").fit(X, Y).partial_fit(X, Y)
