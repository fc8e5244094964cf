"""The paper's model: trained on clean or noisy rows, evaluated by Algorithm 1, saved and read."""

import numpy as np
import pytest
from contract.test_progress import Recorder
from models.plt import plt_problems

from xmlcore import PLT, ExtendedPLT, metrics
from xmlcore.progress import Cancelled
from xmlcore.robustness import GaussianNoise

pytestmark = pytest.mark.filterwarnings("ignore:.*sibling groups stopped")


@pytest.fixture
def rows():
    return plt_problems.problem(n=80, d=15, n_labels=9, n_test=0)[:2]


def test_without_noise_it_is_a_plt_and_noise_changes_no_counts(rows):
    X, Y = rows
    ours, plain = ExtendedPLT(max_leaf_labels=3).fit(X, Y), PLT(max_leaf_labels=3).fit(X, Y)
    np.testing.assert_array_equal(ours.predict_topk(X).scores, plain.predict_topk(X).scores)
    assert ours.n_augmented_ == 0
    np.testing.assert_array_equal(ours.label_counts_, Y.sum(axis=0))
    model = ExtendedPLT(max_leaf_labels=3, sigma=0.3, augment_ratio=1.5).fit_for_adversarial_examples(X, Y)
    assert model.n_augmented_ == 120
    np.testing.assert_array_equal(model.label_counts_, Y.sum(axis=0))
    assert (model.predict_topk(X).scores != ours.predict_topk(X).scores).any()


def test_the_evaluation_is_algorithm_1(rows):
    X, Y = rows
    model = ExtendedPLT(max_leaf_labels=3).fit(X[:50], Y[:50])
    results = model.adversarial_evaluation(X[50:], Y[50:], random_state=4)
    assert list(results) == [1, 3, 5]
    weights = metrics.inverse_log_frequency(Y[:50])
    for k, by_level in results.items():
        assert list(by_level) == [0.0, 0.01, 0.05, 0.1]
        for sigma, found in by_level.items():
            noisy = GaussianNoise(sigma).apply(X[50:], seed=4)
            ranking = model.predict_topk(noisy, k)
            assert found["P@k"] == pytest.approx(metrics.precision_at_k(Y[50:], ranking, k)[-1])
            assert found["nDCG@k"] == pytest.approx(metrics.ndcg_at_k(Y[50:], ranking, k)[-1])
            assert found["PSDCG@k"] == pytest.approx(metrics.psdcg_at_k(Y[50:], ranking, k, inv_ps=weights)[-1])
            assert found["pred_time"] > 0
    own = model.adversarial_evaluation(X[50:], Y[50:], np.ones(9), [0.1], [2], random_state=4)
    assert own[2][0.1]["PSDCG@k"] != results[3][0.1]["PSDCG@k"]


def test_rows_are_worked_through_in_blocks_without_a_difference(monkeypatch, rows):
    X, Y = rows
    model = ExtendedPLT().fit(X, Y)
    whole = model.adversarial_evaluation(X, Y)
    blocks = [(0, 7), (7, 8), (8, X.shape[0])]
    monkeypatch.setattr("xmlcore.models.plt.extended.blocks_of_noisy_rows", lambda *_: blocks)
    parts = model.adversarial_evaluation(X, Y)
    for k in whole:
        for sigma in whole[k]:
            for measure in ("P@k", "nDCG@k", "PSDCG@k"):
                assert parts[k][sigma][measure] == whole[k][sigma][measure]


def test_the_evaluation_stops_and_refuses_bad_arguments(rows):
    X, Y = rows
    model = ExtendedPLT().fit(X, Y)
    with pytest.raises(Cancelled):
        model.adversarial_evaluation(X, Y, progress=Recorder(stop_at=0))
    for name, value in (("noise_levels", [-0.1]), ("k_values", [0]), ("inv_ps", np.ones(3))):
        with pytest.raises(ValueError, match=name):
            model.adversarial_evaluation(X, Y, **{name: value})
    with pytest.raises(ValueError, match="no rows"):
        model.adversarial_evaluation(X[:0], Y[:0])
