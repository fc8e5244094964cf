"""The same numbers as napkinXC, whose conventions these measures follow."""

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import metrics

oracle = pytest.importorskip("napkinxc.metrics", reason="napkinXC is the oracle: pip install -r requirements-dev.txt")

PLAIN = ["precision_at_k", "recall_at_k", "ndcg_at_k"]
WEIGHTED = ["psprecision_at_k", "psrecall_at_k", "psdcg_at_k", "psndcg_at_k"]
CASES = {  # rows, labels, most true labels in a row, k, share of rows without labels and without predictions
    "few labels": (50, 6, 4, 3, 0.2),
    "one label": (20, 1, 2, 1, 0.3),
    "k beyond the number of labels": (40, 5, 6, 9, 0.2),
    "many labels": (300, 5000, 40, 5, 0.05),
    "many true labels and a long ranking": (60, 300, 250, 100, 0.1),
}


@pytest.fixture(params=CASES)
def case(request):
    n, n_labels, most_true, k, empty = CASES[request.param]
    rng = np.random.default_rng([0, n])
    popular = rng.permutation(n_labels)
    true, predicted = [], []
    for _ in range(n):
        size = 0 if rng.random() < empty else int(rng.integers(0, min(most_true, n_labels + 1)))
        chance = rng.permutation(np.arange(n_labels) ** 2)  # leans to some labels, which are then found
        true.append(sorted(popular[np.argsort(chance)][:size].tolist()))
        length = 0 if rng.random() < empty else int(rng.integers(0, min(k, n_labels) + 1))
        others = np.setdiff1d(np.arange(n_labels), true[-1])
        found = rng.permutation(np.concatenate([true[-1], rng.choice(others, min(k, others.size), replace=False)]))
        predicted.append(found[:length].astype(int).tolist())
    predicted[0] = rng.permutation(n_labels)[:k].tolist()  # the ranking is k wide
    true[0] = [0]
    train = rng.random((200, n_labels)) < 1 / (1 + popular)
    return true, predicted, n_labels, k, metrics.inverse_propensity(train)


def compare(Y, ranking, oracle_Y, oracle_ranking, weights, k):
    for name in PLAIN:
        expected = getattr(oracle, name)(oracle_Y, oracle_ranking, k=k)
        np.testing.assert_allclose(getattr(metrics, name)(Y, ranking, k), expected, rtol=0, atol=1e-6, err_msg=name)
    for name in WEIGHTED:
        expected = getattr(oracle, name)(oracle_Y, oracle_ranking, weights, k=k)
        value = getattr(metrics, name)(Y, ranking, k, inv_ps=weights)
        np.testing.assert_allclose(value, expected, rtol=0, atol=1e-6, err_msg=name)


def test_lists_of_labels(case):
    true, predicted, _, k, weights = case
    compare(true, predicted, true, predicted, weights, k)


def test_weights_of_labels():
    rng = np.random.default_rng(7)
    Y = sp.csr_matrix(rng.random((500, 40)) < np.linspace(0, 0.5, 40))
    for constants in [(0.55, 1.5), (0.5, 0.4), (0.6, 2.6)]:
        expected = oracle.Jain_et_al_inverse_propensity(Y, *constants)
        np.testing.assert_allclose(metrics.inverse_propensity(Y, *constants), expected, rtol=1e-12)
