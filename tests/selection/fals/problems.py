"""Small problems for FALS, random networks, and how scores are put together."""

import numpy as np
import scipy.sparse as sp

from xmlcore.progress import silent
from xmlcore.selection.fals import blocks
from xmlcore.selection.fals.network import Network, first_weights
from xmlcore.selection.fals.training import Workers

VARIANTS = [
    {},
    {"pattern": "FIMS"},
    {"n_layers": 3, "activation": "sigmoid"},
    {"n_layers": 1},
    {"binary": True},
    {"binary": True, "dropout": 0.2, "l2": 0.01, "attribution": "deeplift"},
    {"scoring": "sampled", "dropout": 0.3},
    {"attribution": "lrp", "scoring": "sampled", "n_scored_rows": 20},
    {"attribution": "integrated_gradients", "l2": 0.01},
]


def problem(n=60, d=12, n_labels=5, density=0.3, seed=0):
    """Rows of which feature c speaks for label c."""
    random = np.random.default_rng(seed)
    X = (random.random((n, d)) < density) * (0.5 + random.random((n, d)))
    Y = X[:, :n_labels] + 0.1 * random.random((n, n_labels)) > 0.6
    Y[0, 0] = True
    return sp.csr_array(X.astype(np.float32)), sp.csr_array(Y)


def random_network(sizes, activation="relu", seed=0, dtype=np.float32):
    weights, biases = first_weights(sizes, seed, dtype)
    return Network(tuple(3 * weight for weight in weights), tuple(biases), activation)


def task_of(network, X, method="gradient", fisher=False, seed=0):
    return blocks.ScoringTask(network, X, method, fisher, Workers(2), silent, seed)


def joined(blocks):
    blocks = list(blocks)
    assert [block.labels.start for block in blocks[1:]] == [block.labels.stop for block in blocks[:-1]]
    return np.concatenate([block.scores for block in blocks])
