"""The objective of LdSM is that of the paper, and keeps to its lemmas."""

import itertools

import naive
import numpy as np
import pytest
from _kernels.plt_problems import compiled

from xmlcore._kernels import ldsm_objective

choose_directions = compiled(ldsm_objective.choose_directions)


@pytest.mark.parametrize("M", [2, 3, 5])
def test_a_row_goes_to_the_children_of_least_objective(M):
    random = np.random.default_rng(M)
    for _ in range(200):
        n_labels, own = 7, sorted(random.choice(7, random.integers(1, 5), replace=False).tolist())
        met = {k: int(random.integers(1, 9)) for k in range(n_labels)}
        P_of = {k: random.random(M).tolist() for k in range(n_labels)}
        before = {k: met[k] - (k in own) for k in met}
        C = sum(met.values())
        P = [sum(before[k] * P_of[k][m] for k in met) / max(1, C - len(own)) for m in range(M)]
        lambdas = random.choice([0.5, 1.0, 2.0, 4.0], 2).tolist()
        label_sums = np.array([[before[k] * P_of[k][m] for m in range(M)] for k in range(n_labels)]).ravel()
        found = choose_directions(
            np.array(P) * (C - len(own)), C, label_sums, np.array(own, np.uint32), 0, len(own), *lambdas,
            np.empty(3 * M * M),
        )  # fmt: skip
        assert found == naive.ldsm.directions(P, P_of, C, met, own, *lambdas)


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


@pytest.mark.parametrize("M, lambdas", [(2, (1.0, 1.0)), (2, (4.0, 0.5)), (3, (2.0, 1.0)), (4, (1.0, 2.0))])
def test_the_objective_stays_within_its_bounds(M, lambdas):
    """Lemmas 1 and 2."""
    integrity, multiway = lambdas
    assert M - 3 < multiway / integrity
    random = np.random.default_rng(0)
    for _ in range(300):
        labels = [random.choice(5, random.integers(1, 4), replace=False).tolist() for _ in range(8)]
        sent = [random.choice(M, random.integers(1, M + 1), replace=False).tolist() for _ in range(8)]
        J = objective_of(sent, labels, M, lambdas)
        assert -integrity * (M - 1) - 1e-12 <= J <= multiway * (M - 1) + 1e-12
    assert objective_of([list(range(M))] * 8, labels, M, lambdas) == pytest.approx(multiway * (M - 1))


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
