"""Measures of the first k labels agree with scikit-learn, also where rows, labels or places are missing."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from ranking_examples import N_LABELS, case, matrices
from sklearn.metrics import accuracy_score, hamming_loss, precision_recall_fscore_support

from xmlcore import Ranking, metrics


def predicted(ranking, k):
    """The first k labels as a matrix of booleans."""
    P = np.zeros((len(ranking), N_LABELS), bool)
    for i, row in enumerate(ranking):
        P[i, row[:k]] = True
    return P


@pytest.mark.parametrize("average", ["micro", "macro", "samples", "weighted"])
@pytest.mark.parametrize("seed", [0, 1])
def test_precision_recall_and_f1_are_scikit_learns(average, seed):
    true, ranking, _ = case(seed)
    Y, ranked = matrices(true, ranking)
    occurring = {"labels": np.flatnonzero(Y.toarray().any(axis=0))} if average in ("macro", "weighted") else {}
    found = metrics.precision_recall_f1_at_k(Y, ranked, 6, average=average)
    for k in range(1, 7):
        P = predicted(ranking, k)
        expected = precision_recall_fscore_support(Y.toarray(), P, average=average, zero_division=0, **occurring)[:3]
        np.testing.assert_allclose([part[k - 1] for part in found], expected, atol=1e-12)
        np.testing.assert_allclose(metrics.precision_recall_f1(Y, P, average=average), expected, atol=1e-12)
        assert metrics.f1_at_k(Y, ranked, k, average=average) == pytest.approx(expected[2])


def test_sets_are_scikit_learns():
    true, ranking, _ = case(2)
    true[:9] = [set(row[:2]) for row in ranking[:9]]  # some rows are all right
    Y, ranked = matrices(true, ranking)
    for k in (1, 2, 6):
        P = predicted(ranking, k)
        assert metrics.subset_accuracy_at_k(Y, ranked, 6)[k - 1] == pytest.approx(accuracy_score(Y.toarray(), P))
        assert metrics.subset_accuracy(Y, sp.csr_array(P)) == pytest.approx(accuracy_score(Y.toarray(), P))
        assert metrics.hamming_loss_at_k(Y, ranked, 6)[k - 1] == pytest.approx(hamming_loss(Y.toarray(), P))
    assert metrics.subset_accuracy_at_k(Y, ranked, 2)[1] > 0.1


def test_buckets_are_measured_alone():
    true, ranking, _ = case(5)
    Y, ranked = matrices(true, ranking)
    buckets = np.repeat(["head", "torso", "tail"], N_LABELS // 3)
    lines = metrics.labels_by_bucket(metrics.by_label(Y, ranked, 4), buckets).set_index("bucket")
    for bucket in ("head", "torso", "tail"):
        mine = {"labels": buckets == bucket}
        macro = metrics.precision_recall_f1_at_k(Y, ranked, 4, average="macro", **mine)
        micro = metrics.precision_recall_f1_at_k(Y, ranked, 4, average="micro", **mine)
        expected = [micro.precision, micro.recall, macro.f1, macro.precision, macro.recall]
        expected = [*(values[-1] for values in expected), metrics.coverage_at_k(Y, ranked, 4, **mine)[-1]]
        columns = ["precision", "recall", "macro_f1", "macro_precision", "macro_recall", "coverage"]
        np.testing.assert_allclose(lines.loc[bucket, columns].astype(float), expected)
        sets = metrics.precision_recall_f1(Y, predicted(ranking, 4), average="macro", **mine)
        assert sets.f1 == pytest.approx(macro.f1[-1])


def test_labels_at_a_threshold():
    P = np.array([[0.2, 0.5, 0.9], [0.1, 0.0, 0.4]])
    expected = [[False, True, True], [False, False, False]]
    assert metrics.at_threshold(P).toarray().tolist() == expected
    assert metrics.at_threshold(sp.csr_array(P)).toarray().tolist() == expected
    assert metrics.at_threshold(metrics.as_ranking(P, 2), n_labels=3).toarray().tolist() == expected
    assert metrics.at_threshold(P, 0.0).toarray().all()
    with pytest.raises(ValueError, match="pass n_labels"):
        metrics.at_threshold(metrics.as_ranking(P, 2))
    with pytest.raises(ValueError, match="a score is not a number"):
        metrics.at_threshold(np.array([[np.nan]]))
    with pytest.raises(TypeError, match="scores holds bool values"):
        metrics.at_threshold(np.ones((1, 2), bool))


def test_what_is_not_defined_is_nan_and_bad_input_is_refused():
    assert np.isnan(metrics.precision_recall_f1_at_k([[], []], [[0], [1]], 1, average="macro").f1).all()
    assert np.isnan(metrics.coverage_at_k([[], []], [[0], [1]], 1)).all()
    assert np.isnan(metrics.subset_accuracy(np.zeros((0, 2), bool), np.zeros((0, 2), bool)))
    with pytest.raises(ValueError, match="average is 'mean': it must be one of micro, macro, samples, weighted"):
        metrics.precision_recall_f1_at_k([[0]], [[0]], 1, average="mean")
    with pytest.raises(ValueError, match="samples P@k is no measure of some labels"):
        metrics.precision_recall_f1_at_k([[0]], [[0]], 1, average="samples", labels=np.ones(1, bool))
    with pytest.raises(ValueError, match="predictions has 2 rows, but Y_true has 1"):
        metrics.precision_recall_f1([[0]], [[0], [0]])


# Two rows over four labels.
Y = [[0, 1], [3]]
RANKING = np.array([[1, 2, 0], [2, 3, 1]])
WEIGHTS = np.array([4.0, 1.0, 1.0, 3.0])


def test_empty_places_are_not_taken_for_the_end():
    ranking = np.array([[-1, -1, -1, -1, 0], [-1, -1, -1, -1, 3]])
    np.testing.assert_allclose(metrics.precision_at_k(Y, ranking, 5), [0, 0, 0, 0, 1 / 5])
    np.testing.assert_allclose(metrics.recall_at_k(Y, ranking, 7)[3:], [0, 3 / 4, 3 / 4, 3 / 4])


def test_hits_mark_the_right_labels_in_place():
    assert metrics.hits(Y, RANKING).tolist() == [[True, False, True], [False, True, False]]
    assert metrics.hits(Y, RANKING, 1).tolist() == [[True], [False]]
    assert metrics.hits(Y, np.array([[1, -1], [3, -1]])).tolist() == [[True, False], [True, False]]


@pytest.mark.parametrize("empty", [[[], []], np.zeros((2, 4)), np.zeros((2, 4), dtype=bool)])
def test_measures_without_any_true_label(empty):
    with warnings.catch_warnings(action="error"):
        result = metrics.measures(empty, RANKING, 3, WEIGHTS)
    for name, value in result.items():
        np.testing.assert_array_equal(value, np.full(3, np.nan if name.startswith("PS") else 0.0), err_msg=name)
    np.testing.assert_array_equal(metrics.psdcg_at_k(empty, RANKING, 1, inv_ps=WEIGHTS), [np.nan])
    np.testing.assert_array_equal(metrics.psrecall_at_k(empty, RANKING, 1, inv_ps=WEIGHTS), [np.nan])


@pytest.mark.parametrize("ranking", [np.empty((0, 5), int), [], Ranking(np.empty((0, 5), np.int32), np.empty((0, 5)))])
def test_without_rows_everything_is_nan(ranking):
    with warnings.catch_warnings(action="error"):
        result = metrics.measures(np.zeros((0, 8)), ranking, 5, np.ones(8))
    for name, value in result.items():
        np.testing.assert_array_equal(value, np.full(5, np.nan), err_msg=name)


def test_the_documentation_has_the_words_of_the_table():
    lines = (Path(__file__).parents[2] / "docs/measures.md").read_text(encoding="utf-8").splitlines()
    cells = [re.split(r"(?<!\\)\|", line) for line in lines if line.startswith("|")]
    documented = {row[1].strip(): row[3].strip() for row in cells if row[1].strip() in metrics.MEASURES}
    assert len(documented) >= 9
    for name, meaning in documented.items():
        assert meaning.startswith(metrics.MEASURES[name].explained.replace("\u00a0", " "))
