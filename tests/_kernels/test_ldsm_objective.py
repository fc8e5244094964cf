"""The objective of LdSM is that of the paper, and keeps to its lemmas."""

import itertools

import naive
import numpy as np
import pytest

from xmlcore._kernels import ldsm_objective


def shares_of(sent, labels, M):
    """Return P_j, P_j^i and pi of a split; ``sent[i]`` are the children that row i goes to."""
    C = sum(map(len, labels))
    met = {k: sum(k in own for own in labels) for k in {k for own in labels for k in own}}
    P = [sum(len(own) for to, own in zip(sent, labels) if j in to) / C for j in range(M)]
    P_of = {k: [sum(k in own and j in to for to, own in zip(sent, labels)) / met[k] for j in range(M)] for k in met}
    return P, P_of, {k: met[k] / C for k in met}


def objective_of(sent, labels, M, lambdas):
    P, P_of, pi = shares_of(sent, labels, M)
    C, names = sum(map(len, labels)), sorted(pi)
    counts = np.array([round(pi[k] * C) for k in names])
    out = np.empty(4)
    label_sums = np.array([[P_of[k][j] * count for j in range(M)] for k, count in zip(names, counts)]).ravel()
    ldsm_objective.objective(np.array(P) * C, C, label_sums, counts, *lambdas, out)
    np.testing.assert_allclose(out, naive.ldsm.objective(P, P_of, pi, *lambdas), atol=1e-12)
    return out[0]


GRID = [*itertools.product((0.5, 1.0, 1.5, 2.0, 4.0), repeat=2)]  # λ1 and λ2 that the paper tries


def some_splits(M, count):
    random = np.random.default_rng(M)
    for _ in range(count):
        labels = [random.choice(5, random.integers(1, 4), replace=False).tolist() for _ in range(8)]
        yield [random.choice(M, random.integers(1, M + 1), replace=False).tolist() for _ in range(8)], labels
    for m in range(1, M + 1):  # all rows go the same way; and each label goes its own, all children equally often
        yield [list(range(m))] * 8, labels
        yield [[(i + j) % M for j in range(m)] for i in range(M)], [[i] for i in range(M)]


@pytest.mark.parametrize("M", [2, 3, 4, 5])
def test_the_objective_stays_within_its_bounds_and_reaches_them(M):
    """Lemmas 1 and 2, with an upper bound that holds for λ1 below 1, too."""
    for integrity, multiway in GRID:
        low = min(multiway * (m - 1) - integrity * m * (M - m) for m in range(1, M + 1))
        high = max(multiway * (m - 1) + max(0, 1 - integrity) * m * (M - m) for m in range(1, M + 1))
        values = [objective_of(*split, M, (integrity, multiway)) for split in some_splits(M, 5)]
        assert min(values) == pytest.approx(low) and max(values) == pytest.approx(high)
        assert (low == pytest.approx(-integrity * (M - 1))) == (M - 3 <= multiway / integrity)
        assert high == pytest.approx(multiway * (M - 1)) or integrity < 1


@pytest.mark.parametrize("M", [2, 3, 4])
def test_lemma_3_holds_and_lemma_4_under_a_condition(M):
    """The impurity α exceeds its bound only where a label is in fewer children than the proof takes for granted."""
    broken = set()
    for (integrity, multiway), (sent, labels) in itertools.product(GRID, some_splits(M, 12)):
        P, P_of, pi = shares_of(sent, labels, M)
        J, (balance, *_) = (
            objective_of(sent, labels, M, (integrity, multiway)),
            naive.ldsm.objective(P, P_of, pi, 1, 1)[1:],
        )
        assert max(abs(share - sum(P) / M) for share in P) <= balance + 1e-12  # Lemma 3: J less its part for purity
        if multiway <= integrity * (M - 1) / 2:
            continue
        alpha = sum(pi[i] * min(p, sum(own) - p) for i, own in P_of.items() for p in own) / M
        bound = 2 * (J - balance + multiway) / (M * (2 * multiway - integrity * (M - 1)))
        spread = {i: sum(abs(a - b) for a, b in itertools.combinations(own, 2)) for i, own in P_of.items()}
        if alpha > bound + 1e-9:
            assert sum(pi[i] * (spread[i] - (M - 1) / 2 * sum(own)) for i, own in P_of.items()) > 0
            broken.add((integrity, multiway))
    assert (2.0, 1.5) in broken if M == 2 else broken
    assert any(multiway >= integrity * (M - 1) for integrity, multiway in broken) == (M == 4)


def test_the_objective_is_least_for_balanced_pure_splits():
    """Lemma 1, over all splits of four rows with a label each, two of each label."""
    labels, best = [[0], [0], [1], [1]], []
    ways = [[0], [1], [0, 1]]
    values = {
        sent: objective_of([ways[s] for s in sent], labels, 2, (1.0, 1.0))
        for sent in itertools.product(range(3), repeat=4)
    }
    best = {sent for sent, J in values.items() if J == pytest.approx(-1.0)}
    assert best == {(0, 0, 1, 1), (1, 1, 0, 0)} and min(values.values()) == pytest.approx(-1.0)
