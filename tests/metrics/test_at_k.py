"""Measures of the first k labels agree with scikit-learn and napkinXC, as far as these have them."""

import numpy as np
import pytest
import scipy.sparse as sp
from ranking_examples import N_LABELS, case, matrices
from sklearn.metrics import accuracy_score, hamming_loss, precision_recall_fscore_support

from xmlcore import metrics


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
