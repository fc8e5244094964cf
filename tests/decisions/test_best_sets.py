"""Sets for many rows together, against xCOLUMNs and brute force."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import decisions

xcolumns = pytest.importorskip("xcolumns.block_coordinate")
metrics = pytest.importorskip("xcolumns.metrics")


def probabilities(seed=0, n=200, n_labels=25):
    rng = np.random.default_rng(seed)
    return rng.random((n, n_labels)) ** 4 * rng.random(n_labels)


def expected_f1(P, sets):
    hits, predicted, true = (P * sets).sum(0), sets.sum(0), P.sum(0)
    return float((2 * hits / (predicted + true)).mean())


MEASURES = {
    "macro F1": metrics.binary_f1_score_on_conf_matrix,
    "macro P": metrics.binary_precision_on_conf_matrix,
    "macro R": metrics.binary_recall_on_conf_matrix,
    "balanced accuracy": metrics.binary_balanced_accuracy_on_conf_matrix,
}


def utility(P, sets, of):
    parts = (P * sets).sum(0), ((1 - P) * sets).sum(0), (P * (1 - sets)).sum(0), ((1 - P) * (1 - sets)).sum(0)
    return float(np.mean(of(*(part / len(P) for part in parts))))


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("measure", MEASURES)
def test_the_value_is_that_of_xcolumns(measure, k):
    P = probabilities()
    of = MEASURES[measure]
    theirs = xcolumns.predict_using_bc_with_0approx(P, of, k, init_y_pred="top", shuffle_order=False, tolerance=1e-9)
    ours = decisions.best_sets(sp.csr_array(P), f"{measure}@{k}")
    assert (np.diff(ours.indptr) == k).all() and ours.dtype == bool
    # xCOLUMNs adds 1e-9 to denominators, and stops at 1e-9
    assert utility(P, ours.toarray(), of) >= utility(P, theirs, of) - 1e-6


def test_coverage_is_that_of_xcolumns(monkeypatch):
    monkeypatch.setattr(np, "product", np.prod, raising=False)  # the name that xCOLUMNs 0.0.2 uses, gone with NumPy 2
    P = probabilities(1, n=40)
    theirs = xcolumns.predict_optimizing_coverage_using_bc(P, 2, init_y_pred="top", shuffle_order=False)
    ours = decisions.best_sets(sp.csr_array(P), "coverage@2").toarray()
    covered = [1 - np.prod(1 - P * sets, axis=0) for sets in (ours, theirs)]
    assert covered[0].mean() >= covered[1].mean() - 1e-6


def test_no_single_row_can_be_changed_for_the_better():
    P = probabilities(2, n=12, n_labels=6)
    sets = decisions.best_sets(sp.csr_array(P), "macro F1@2").toarray()
    best = expected_f1(P, sets)
    for row, pair in itertools.product(range(12), itertools.combinations(range(6), 2)):
        other = sets.copy()
        other[row] = np.isin(np.arange(6), pair)
        # labels of a row are chosen by what each adds alone, so pairs may be worth a little more
        assert expected_f1(P, other) <= best + 1e-3


def test_the_number_of_labels_is_fixed_at_most_k_or_open():
    P = sp.csr_array(probabilities(3))
    sizes = [np.diff(decisions.best_sets(P, *args).indptr) for args in (["macro F1@3"], ["macro F1"])]
    at_most = np.diff(decisions.best_sets(P, "macro F1@3", at_most=True).indptr)
    assert (sizes[0] == 3).all() and at_most.max() <= 3 and at_most.min() < 3 and len({*sizes[1]}) > 2


def test_what_was_given_stays_and_nothing_but_zeros_is_decided():
    given = np.array([0.5, 0.2, 0.3]), np.array([2, 0, 2]), np.array([0, 3])
    decisions.best_sets(sp.csr_array(given, shape=(1, 3)), "macro F1@1")
    assert [part.tolist() for part in given] == [[0.5, 0.2, 0.3], [2, 0, 2], [0, 3]]
    with np.errstate(all="raise"):
        assert decisions.best_sets(sp.csr_array((2, 3)), "PSP@1", inv_ps=[1, 2, 3]).nnz == 0


def test_rows_without_candidates_get_no_label():
    P = sp.csr_array(np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.2]]))
    assert np.diff(decisions.best_sets(P, "macro F1@2").indptr).tolist() == [0, 2]
    assert decisions.best_sets(sp.csr_array((0, 3)), "macro F1@2").shape == (0, 3)


@pytest.mark.parametrize(
    ("measure", "says"),
    [
        ("macro F2@3", "'macro F2@3' is not a measure to decide for: known are P@k"),
        ("macro F1@0", "not a measure"),
        ({"P@3": 1, "macro F1@5": 1}, "the parts of a sum need the same k"),
        ({"macro F1@3": 1, "coverage@3": 1}, "at most one of"),
        ({"P@3": -1.0}, "the weight of P@3"),
        ("micro F1", "needs only a threshold"),
        ("PSP@3", "needs inv_ps"),
    ],
)
def test_measures_that_are_none_are_refused(measure, says):
    with pytest.raises(ValueError, match=says):
        decisions.best_sets(sp.csr_array([[0.5, 0.1]]), measure)


def test_values_that_are_no_probabilities_are_refused():
    with pytest.raises(ValueError, match="not between 0 and 1"):
        decisions.best_sets(sp.csr_array([[1.5, 0.1]]), "macro F1@1")
