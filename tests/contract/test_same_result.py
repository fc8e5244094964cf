"""The same data and seed give the same bits: for any number of workers, form of the input and size of the batch."""

import copy
import tempfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from contract.estimators import assert_same, dense, each_of_rows, each_once, every_case, every_model, fitted, results

from xmlcore.mapped import write_rows
from xmlcore.models import DenseOutput

# What tests/test_validation.py shows to be the same to ``check_features`` and ``check_labels`` is not repeated for all.
FORMS_OF_X = {
    "csr_matrix": sp.csr_matrix,
    "csr_array that cannot be written to": lambda X: read_only(sp.csr_array(X)),
    "dense, columns in order": np.asfortranarray,
    "table": pd.DataFrame,
    "indices of 64 bits": lambda X: with_wide_indices(sp.csr_array(X)),
    "unsorted with duplicates and zeros": lambda X: untidy(X),
}

FORMS_OF_Y = {
    "unsorted lists of ids": lambda Y: [np.flatnonzero(row)[::-1].tolist() for row in Y],
    "dense float64": lambda Y: Y.astype(float),
    "csr_array that cannot be written to": lambda Y: read_only(sp.csr_array(Y)),
    "table": pd.DataFrame,
}


def with_wide_indices(matrix):
    """The same matrix with int64 index arrays, as scipy has it beyond 2**31 entries."""
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def read_only(matrix):
    """The same matrix with arrays that cannot be written to."""
    for part in parts(matrix):
        part.setflags(write=False)
    return matrix


def untidy(X):
    """A CSR matrix of the same values that is not canonical."""
    matrix = sp.csr_array(X)
    rows = np.repeat(np.arange(X.shape[0]), np.diff(matrix.indptr))
    halves = np.concatenate([matrix.data - 0.5, np.full(matrix.nnz, 0.5), np.zeros(4)])
    rows = np.concatenate([rows, rows, np.zeros(4, int)])
    columns = np.concatenate([matrix.indices, matrix.indices, np.arange(4)])
    order = np.lexsort((-columns, rows))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=X.shape[0]))])
    return sp.csr_array((halves[order], columns[order], indptr), shape=X.shape)


@every_case
def test_the_number_of_workers_changes_no_bit(case):
    if "n_jobs" not in case.make().get_params():
        pytest.skip("it has one worker")
    X, Y = case.problem()
    expected = results(fitted(case))
    for n_jobs in (1, 4):
        assert_same(results(case.make(n_jobs=n_jobs).fit(X, Y)), expected)


@every_case
def test_fitting_again_with_the_same_seed_changes_no_bit(case):
    X, Y = case.problem()
    estimator, expected = case.make(), results(fitted(case))
    for _ in range(2):
        assert_same(results(estimator.fit(X, Y)), expected)


@each_of_rows
def test_all_forms_of_rows_are_the_same_rows(case, tmp_path):
    X, Y = case.problem()
    expected = results(fitted(case))
    in_files = {"in files": lambda X: write_rows(sp.csr_array(X, dtype=np.float32), tempfile.mkdtemp(dir=tmp_path))}
    for name, form in (FORMS_OF_X | in_files).items():
        try:
            assert_same(results(case.make().fit(form(X), Y)), expected)
            assert_same(results(fitted(case), form(X)), expected)
        except (AssertionError, ValueError, TypeError) as error:
            raise AssertionError(f"rows as {name}: {error}") from error
    assert {path.name for path in tmp_path.glob("*/*")} == {"rows.columns", "rows.npz", "rows.values"}


@each_once
def test_all_forms_of_labels_are_the_same_labels(case):
    X, Y = case.problem()
    expected = results(fitted(case))
    for name, form in FORMS_OF_Y.items():
        try:
            assert_same(results(case.make().fit(X, form(Y))), expected)
        except (AssertionError, ValueError, TypeError) as error:
            raise AssertionError(f"labels as {name}: {error}") from error


@each_of_rows
def test_fitting_and_predicting_do_not_change_their_input(case):
    X, Y = case.problem()
    given = [untidy(X), sp.csc_matrix(X), np.array(X), sp.csr_array(Y), np.array(Y)]
    before = copy.deepcopy(given)
    for rows, labels in zip(given, [*given[3:], given[3]]):
        results(case.make().fit(rows, labels), rows)
    for matrix, kept in zip(given, before):
        for part, old in zip(parts(matrix), parts(kept)):
            assert np.array_equal(part, old)


def parts(matrix):
    return (matrix.data, matrix.indices, matrix.indptr) if sp.issparse(matrix) else (matrix,)


@every_case
def test_a_row_is_predicted_alone_as_among_others(case):
    X, _ = case.problem()
    model, expected = fitted(case), results(fitted(case))
    of_rows = [name for name in expected if not name.endswith("_")]
    if not of_rows:
        pytest.skip("it predicts nothing")
    order = np.random.default_rng(0).permutation(X.shape[0])
    shuffled = results(model, X[order])
    alone = [results(model, X[[row]] if case.takes_texts else sp.csr_array(X[[row]])) for row in range(X.shape[0])]
    for name in of_rows:
        each = np.concatenate([found[name] for found in alone])
        assert_same({name: shuffled[name]}, {name: expected[name][order]}, rounded=case.rounds)
        assert_same({name: each}, {name: expected[name]}, rounded=case.rounds)


@every_model
def test_the_ranking_is_that_of_the_largest_probabilities(case):
    found, k = results(fitted(case)), 3
    inside = found["labels"] >= 0
    assert (found["labels"] < fitted(case).n_labels_).all() and found["labels"].dtype == np.int32
    assert (np.diff(found["scores"], axis=1) <= 1e-6).all() and found["scores"].dtype == np.float32
    assert (found["scores"][~inside] == 0).all() and inside[:, 0].all()
    assert found["labels"].shape == found["scores"].shape == (case.problem()[0].shape[0], k)
    probabilities = found["probabilities"]
    assert probabilities.dtype == np.float32 and ((probabilities >= 0) & (probabilities <= 1)).all()
    assert np.array_equal(found["predicted"], probabilities >= fitted(case).threshold_)


@every_model
def test_a_threshold_keeps_the_probabilities_that_reach_it(case):
    X, _ = case.problem()
    everything = results(fitted(case))["probabilities"]
    for threshold in (0.0, 0.1, float(np.median(everything[everything > 0])), 0.9):
        kept = dense(fitted(case).predict_proba(X, threshold=threshold))
        expected = np.where(everything >= np.float32(threshold), everything, 0)
        np.testing.assert_allclose(kept, expected, rtol=1e-6 if not case.rounds else 1e-4)
        found = fitted(case).predict(X, threshold=threshold)
        assert sp.issparse(found) == (case.cls is not DenseOutput) and found.dtype == bool
        np.testing.assert_array_equal(dense(found), kept > 0)


@every_model
def test_more_places_than_labels_are_padded(case):
    ranking = fitted(case).predict_topk(case.problem()[0], k=30)
    n_labels = fitted(case).n_labels_
    assert ranking.labels.shape == ranking.scores.shape == (case.problem()[0].shape[0], 30)
    assert (ranking.labels[:, n_labels:] == -1).all() and (ranking.scores[:, n_labels:] == 0).all()
    for row in ranking.labels:
        named = row[row >= 0]
        assert np.unique(named).size == named.size


@each_of_rows
def test_one_row_is_given_with_one_dimension_dense_or_sparse(case):
    estimator, row = fitted(case), case.problem()[0][5]
    if hasattr(estimator, "predict"):
        expected = results(estimator, row[None])
        for one in (row, row.tolist(), sp.coo_array(row), sp.csr_array(row)):
            assert_same(results(estimator, one), expected)
