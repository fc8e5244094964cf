"""Small data, fitted models and helpers that tests of explanations share."""

import naive
import numpy as np
import scipy.sparse as sp

from xmlcore import PLT, DoubleSampling, LdSM

D, L = 30, 14
NAMES = ("PLT", "PLTs", "PLT as is", "OneVsRest", "OneVsRest by column", "LdSM")


def data(seed=0, n=80, unlabelled=False):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, D), density=0.3, rng=rng, dtype=np.float32, format="csr", data_sampler=rng.standard_normal)
    Y = rng.random((n, L)) < 0.12
    Y[np.arange(n), rng.integers(0, L, n)] = True
    if unlabelled:
        Y[:5] = False
    X = X.toarray()
    X[:, :L] += Y
    return sp.csr_array(X.astype(np.float32)), sp.csr_array(Y)


def plt(unlabelled=False, **params):
    settings = {"max_leaf_labels": 3, "weight_threshold": 0.02, "n_jobs": 1} | params
    return PLT(**settings).fit(*data(unlabelled=unlabelled))


def ldsm(**params):
    settings = {"n_estimators": 3, "max_nodes": 30, "n_epochs": 5, "n_jobs": 1, "integrity_weight": 1.0} | params
    return LdSM(**settings).fit(*data())


def of_pairs():
    """A model that scores pairs of row and label; negative values count as zero."""
    return DoubleSampling.preset("paper", n_candidates=L, negative="zero", n_jobs=1).fit(*data())


def log_proba(model, tree, u, label):
    """Log P(label | a row of length 1, or shorter), of one tree, in float64."""
    nodes = model.linear_nodes(tree)
    margins = nodes.weights.astype(np.float64) @ u + nodes.bias
    return sum(naive.plt_search.log_probability(float(margins[v]), nodes.loss) for v in nodes.path(label))


def unit(X, i):
    x = X[[i]].toarray()[0].astype(np.float64)
    return x / (np.linalg.norm(x) or 1.0)
