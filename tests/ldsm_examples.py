"""Small data and models that several tests of LdSM use."""

import numpy as np
import scipy.sparse as sp

from xmlcore import LdSM


def rows_and_labels(n=30, n_columns=12, n_labels=6, seed=0, most=3):
    random = np.random.default_rng(seed)
    X = sp.random_array((n, n_columns), density=0.4, rng=random, format="csr", data_sampler=random.standard_normal)
    labels = [sorted(random.choice(n_labels, random.integers(1, most + 1), replace=False).tolist()) for _ in range(n)]
    rows = [dict(zip(X[[i]].indices.tolist(), X[[i]].data.tolist())) for i in range(n)]
    return X, rows, labels


def small_data(seed=5, n=60):
    X, _, labels = rows_and_labels(n=n, seed=seed)
    return X, labels


def small_model(**params):
    """Class integrity counts no more than balance, or few rows with many labels would all go one way."""
    small = {"max_nodes": 25, "n_epochs": 5, "n_estimators": 3, "learning_rate": 0.5, "integrity_weight": 1.0}
    return LdSM.preset("program", **small | params)


def as_matrix(ranking, n_labels=6):
    scores = np.zeros((ranking.labels.shape[0], n_labels), np.float32)
    for i, (labels, found) in enumerate(zip(*ranking)):
        scores[i, labels[labels >= 0]] = found[labels >= 0]
    return sp.csr_array(scores)
