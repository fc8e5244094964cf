"""Hamming loss, one-error, ranking loss, average precision and micro-AUC are what they say; scikit-learn's, too."""

import math

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import hamming_loss as sklearn_hamming_loss
from sklearn.metrics import label_ranking_average_precision_score, label_ranking_loss, roc_auc_score

from xmlcore import Ranking, metrics

OF_SCORES = (metrics.one_error, metrics.ranking_loss, metrics.average_precision, metrics.micro_auc)


def random_case(seed, n=60, n_labels=9, levels=None):
    """Labels and scores; with few levels most scores are tied. Rows with no label and with all are among them."""
    random = np.random.default_rng(seed)
    Y = random.random((n, n_labels)) < random.choice([0.1, 0.4], (n, 1))
    Y[0], Y[1] = False, True
    S = random.normal(size=(n, n_labels)) + Y
    if levels:
        S = np.round(S * levels) / levels
    return Y, S.astype(np.float32)


@pytest.mark.parametrize("levels", [None, 3, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_measures_of_scores_agree_with_scikit_learn(seed, levels):
    Y, S = random_case(seed, levels=levels)
    assert metrics.hamming_loss(Y, S > 0.5) == pytest.approx(sklearn_hamming_loss(Y, S > 0.5))
    assert metrics.ranking_loss(Y, S) == pytest.approx(label_ranking_loss(Y, S))
    assert metrics.average_precision(Y, S) == pytest.approx(label_ranking_average_precision_score(Y, S))
    assert metrics.micro_auc(Y, S) == pytest.approx(roc_auc_score(Y, S, average="micro"))


@pytest.mark.parametrize("levels", [None, 1])
@pytest.mark.parametrize("zeros", [0.0, 0.7])
def test_all_ways_to_count_ties_are_those_of_plain_python(levels, zeros):
    Y, S = random_case(7, n=20, n_labels=6, levels=levels)
    S[np.random.default_rng(8).random(S.shape) < zeros] = 0.0
    S[2], S[3] = 0.0, -1.0
    rows = [naive.measures.score_counts(set(np.flatnonzero(y).tolist()), s.tolist()) for y, s in zip(Y, S)]
    wrong, tied, worst, mean, strict, top, top_true, first = np.array(rows).T
    n_true = Y.sum(axis=1)
    some = (n_true > 0) & (n_true < Y.shape[1])
    pairs = (n_true * (Y.shape[1] - n_true))[some]
    for scores in (S, sp.csr_array(S)):
        assert metrics.one_error(Y, scores) == pytest.approx(1 - first.mean())
        assert metrics.one_error(Y, scores, ties="mean") == pytest.approx(1 - (top_true / top).mean())
        for ties, share in {"worst": 1, "mean": 0.5}.items():
            lost = (wrong + share * tied)[some] / pairs
            assert metrics.ranking_loss(Y, scores, ties) == pytest.approx(lost.sum() / len(Y))
        assert metrics.ranking_loss(Y, scores, "paper") == pytest.approx((wrong[some] / pairs).mean())
        for ties, sums in {"worst": worst, "mean": mean}.items():
            expected = np.where(some, sums / np.maximum(n_true, 1), 1)
            assert metrics.average_precision(Y, scores, ties) == pytest.approx(expected.mean())
        has_true = n_true > 0
        expected = (strict[has_true] / n_true[has_true]).mean()
        assert metrics.average_precision(Y, scores, "paper") == pytest.approx(expected)


def test_infinite_scores_count_as_largest_and_smallest():
    Y, S = np.array([[1, 0], [1, 0]]), np.array([[0, np.inf], [1, 0.5]])
    assert metrics.micro_auc(Y, S) == metrics.micro_auc(Y, sp.csr_array(S)) == 0.25
    assert metrics.micro_auc(Y[:1], sp.csr_array([[1.0, np.inf]])) == 0.0
    assert metrics.micro_auc(Y[:1], sp.csr_array([[0.0, -np.inf]])) == 1.0
    random = np.random.default_rng(2)
    Y, S = random_case(2, levels=1)
    S[random.random(S.shape) < 0.5] = 0.0
    S[random.random(S.shape) < 0.2] = np.inf
    S[random.random(S.shape) < 0.2] = -np.inf
    finite = np.clip(S, -1e6, 1e6)  # in the same order
    for measure in OF_SCORES:
        for rule in ({}, {"ties": "mean"}) if measure is not metrics.micro_auc else ({},):
            assert measure(Y, sp.csr_array(S), **rule) == measure(Y, S, **rule) == measure(Y, finite, **rule)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_the_papers_precision_of_a_perfect_ranking(m):
    S = np.arange(8.0, 0, -1)[None]
    harmonic = sum(1 / i for i in range(1, m + 1))
    assert metrics.average_precision([list(range(m))], S, ties="paper") == pytest.approx(1 - harmonic / m)
    assert metrics.average_precision([list(range(m))], S, ties="mean") == 1.0


def test_all_by_hand():
    Y = [[0, 2], [1]]
    S = [[0.9, 0.5, 0.5, 0.1], [0.3, 0.2, 0.3, 0.0]]
    # Row 0: pairs (0,1) (0,3) (2,3) right, (2,1) tied. Row 1: (1,0) (1,2) wrong, (1,3) right.
    assert metrics.ranking_loss(Y, S) == pytest.approx((1 / 4 + 2 / 3) / 2)
    assert metrics.ranking_loss(Y, S, ties="mean") == pytest.approx((0.5 / 4 + 2 / 3) / 2)
    assert metrics.ranking_loss(Y, S, ties="paper") == pytest.approx((0 / 4 + 2 / 3) / 2)
    assert metrics.average_precision(Y, S) == pytest.approx(((1 / 1 + 2 / 3) / 2 + 1 / 3) / 2)
    # Random order: row 0, label 2 is at place 2 or 3; row 1, label 1 always at 3.
    assert metrics.average_precision(Y, S, ties="mean") == pytest.approx(((1 + (2 / 2 + 2 / 3) / 2) / 2 + 1 / 3) / 2)
    assert metrics.average_precision(Y, S, ties="paper") == pytest.approx(((0 / 1 + 1 / 2) / 2 + 0 / 3) / 2)
    assert metrics.one_error(Y, S) == 0.5
    # True: 0.9 0.5 0.2; others: 0.5 0.1 0.3 0.3 0.0: won 5 + 4.5 + 2 of 15.
    assert metrics.micro_auc(Y, S) == pytest.approx(11.5 / 15)
    assert metrics.hamming_loss(Y, np.array(S) > 0.4) == pytest.approx(2 / 8)


def test_tied_tops_go_to_the_first_label_or_count_by_share():
    Y = [[1], [0, 2], [2]]
    S = [[1.0, 1.0, 0.0], [2.0, 2.0, 2.0], [0.0, 0.0, 0.0]]
    assert metrics.one_error(Y, S) == pytest.approx(2 / 3)
    assert metrics.one_error(Y, S, ties="mean") == pytest.approx((1 / 2 + 1 / 3 + 2 / 3) / 3)
    assert metrics.one_error(Y, S) == pytest.approx(1 - metrics.precision_at_k(Y, np.array(S), 1)[0])


@pytest.mark.parametrize("measure", OF_SCORES)
def test_dense_and_sparse_scores_and_all_forms_of_labels_agree(measure):
    Y, S = random_case(3, levels=2)
    S[S < 0.3] = 0.0
    lists = [np.flatnonzero(row).tolist() for row in Y]
    doubled = sp.csr_array(S)
    doubled = sp.csr_array(
        (np.repeat(doubled.data / 2, 2), np.repeat(doubled.indices, 2), 2 * doubled.indptr), shape=S.shape
    )
    expected = measure(Y, S)
    for labels in (Y, sp.csr_array(Y), lists, Y.astype(float)):
        for scores in (S, S.tolist(), S.astype(np.float64), np.asfortranarray(S), sp.csr_array(S), sp.csc_matrix(S)):
            assert measure(labels, scores) == expected
    assert measure(Y, doubled) == expected
    assert doubled.nnz == 2 * np.count_nonzero(S)  # what is handed in stays as it is


@pytest.mark.parametrize("measure", OF_SCORES)
@pytest.mark.parametrize("sparse", [False, True])
def test_blocks_do_not_change_the_value(measure, sparse, monkeypatch):
    from xmlcore.metrics import bipartition

    Y, S = random_case(4, n=101, levels=2)
    S[np.random.default_rng(4).random(S.shape) < 0.5] = 0.0
    S[50:60] = 0.0
    S = sp.csr_array(S) if sparse else S
    expected = measure(Y, S)
    for size in (1, 30, 100):
        monkeypatch.setattr(bipartition, "BLOCK_VALUES", size)
        assert measure(Y, S) == pytest.approx(expected, rel=1e-12)


def test_rows_without_labels_or_with_all_of_them():
    Y, S = [[], [0, 1], [0]], [[0.1, 0.2], [0.1, 0.2], [0.1, 0.2]]
    assert metrics.ranking_loss(Y, S) == pytest.approx((0 + 0 + 1) / 3)
    assert metrics.ranking_loss(Y, S, ties="paper") == 1.0
    assert metrics.average_precision(Y, S) == pytest.approx((1 + 1 + 1 / 2) / 3)
    assert metrics.average_precision(Y, S, ties="paper") == pytest.approx(((0 + 1 / 2) / 2 + 0) / 2)
    assert metrics.one_error(Y, S) == pytest.approx(2 / 3)


def test_undefined_values_are_nan():
    none, scores = np.zeros((0, 3), bool), np.zeros((0, 3))
    assert all(math.isnan(measure(none, scores)) for measure in (*OF_SCORES, metrics.hamming_loss))
    assert math.isnan(metrics.micro_auc(np.zeros((2, 3)), np.zeros((2, 3))))
    assert math.isnan(metrics.micro_auc(np.ones((2, 3)), np.zeros((2, 3))))
    assert math.isnan(metrics.ranking_loss(np.zeros((2, 3)), np.zeros((2, 3)), ties="paper"))


def test_large_sparse_scores_take_memory_for_what_is_stored():
    n, n_labels = 1000, 2_000_000
    random = np.random.default_rng(0)
    Y = sp.csr_array((np.ones(n, bool), random.integers(0, n_labels, n), np.arange(n + 1)), shape=(n, n_labels))
    S = sp.csr_array((np.full(n, 0.5), Y.indices, np.arange(n + 1)), shape=Y.shape)
    assert metrics.micro_auc(Y, S) == 1.0 == metrics.average_precision(Y, S)
    assert metrics.ranking_loss(Y, S) == 0.0 == metrics.one_error(Y, S)


@pytest.mark.parametrize("labels, scores, error, message", [
    (np.eye(2), np.ones((2, 3)), ValueError, "3 columns, but there are 2 labels"),
    (np.eye(2), np.ones((3, 2)), ValueError, "scores has 3 rows, but Y_true has 2"),
    (np.eye(2), [[0.1, np.nan], [0, 0]], ValueError, "row 0, label 1 is not a number"),
    (np.eye(2), sp.csr_array([[0.1, 0], [0, np.nan]]), ValueError, "row 1, label 1 is not a number"),
    (np.eye(2), np.ones(2), ValueError, "1 dimension"),
    (np.eye(2), [[1.0], [1.0, 2.0]], ValueError, "different lengths"),
    (np.eye(2), [["a", "b"], ["c", "d"]], TypeError, "real numbers"),
    (np.full((2, 2), 3), np.ones((2, 2)), ValueError, "labels are 0 or 1"),
    (np.eye(2), Ranking(np.zeros((2, 1), np.int32), np.ones((2, 1), np.float32)), TypeError, "predict_proba"),
])  # fmt: skip
def test_bad_input_is_named(labels, scores, error, message):
    for measure in OF_SCORES:
        with pytest.raises(error, match=message):
            measure(labels, scores)


def test_scores_are_no_predictions_and_ties_must_be_known():
    with pytest.raises(ValueError, match="predictions holds 0.5"):
        metrics.hamming_loss(np.eye(2), np.full((2, 2), 0.5))
    with pytest.raises(ValueError, match="predictions has 3 labels, but 2 are expected"):
        metrics.hamming_loss(np.eye(2), np.ones((2, 3)))
    with pytest.raises(ValueError, match="3 rows"):
        metrics.hamming_loss(np.eye(2), np.ones((3, 2)))
    for measure in OF_SCORES[:3]:
        with pytest.raises(ValueError, match="ties must be one of"):
            measure(np.eye(2), np.eye(2), ties="best")
