"""Rankings with true labels, for tests of measures."""

import numpy as np
import scipy.sparse as sp

from xmlcore.metrics import Hierarchy

N_LABELS = 12
NAMES = [f"label {j}" for j in range(N_LABELS)]
# Label 1 is above label 0, label 2 is in two groups, and a root is above all.
PARENTS = {"label 0": "label 1", "label 1": "a", "label 2": ["b", "a"], "label 3": "c", "c": "b", "a": "root"}
PARENTS |= {name: "root" for name in ("b", *NAMES[4:])}
HIERARCHY = Hierarchy(PARENTS, NAMES)


def case(seed=0, n=60, n_labels=N_LABELS, k=6):
    """True labels of rows, some without any; rankings of different lengths, some empty; weights of the labels."""
    random = np.random.default_rng(seed)
    true, ranking = [], []
    for _ in range(n):
        true.append(set(np.flatnonzero(random.random(n_labels) < np.geomspace(0.5, 0.02, n_labels)).tolist()))
        scores = random.normal(0, 0.8, n_labels) + np.isin(np.arange(n_labels), list(true[-1]))
        ranking.append(np.argsort(-scores)[: random.integers(0, k + 1)].tolist())
    ranking[0] = list(range(k))
    return true, ranking, random.uniform(1, 5, n_labels)


def matrices(true, ranking, k=6):
    """The true labels as a matrix, and the rankings as one, padded with -1."""
    Y = np.array([[label in row for label in range(N_LABELS)] for row in true])
    return sp.csr_array(Y), np.array([row + [-1] * (k - len(row)) for row in ranking])
