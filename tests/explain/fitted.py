"""Small data, fitted models and helpers that tests of explanations share."""

from types import SimpleNamespace

import naive
import numpy as np
import scipy.sparse as sp

from xmlcore import PLT, LdSM

D, L = 30, 14
NAMES = ("PLT", "PLTs", "OneVsRest", "LdSM")


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


class Pairs:
    """What :mod:`xmlcore.explain` asks of DoubleSampling."""

    n_features_in_, n_labels_ = D, L
    feature_names_ = ["common", "largest", "length"]
    weights_ = np.array([0.5, -1.0, 0.25])

    def pair_features(self, X, classes):
        X = X.toarray().astype(np.float64)
        out = np.empty((*classes.shape, 3))
        out[..., 0] = np.take_along_axis(X, classes, axis=1)
        out[..., 1] = X.max(axis=1)[:, None]
        out[..., 2] = np.linalg.norm(X, axis=1)[:, None]
        return out

    def predict_proba(self, X, threshold=0.0):
        classes = np.tile(np.arange(L), (X.shape[0], 1))
        score = np.exp(self.pair_features(X, classes) @ self.weights_)
        return sp.csr_array(score / score.sum(axis=1, keepdims=True))

    def predict_topk(self, X, k=5, progress=None):
        best = np.argsort(-self.predict_proba(X).toarray(), axis=1)[:, :k]
        return SimpleNamespace(labels=best.astype(np.int32))


def log_proba(model, tree, u, label):
    """Log P(label | a row of length 1, or shorter), of one tree, in float64."""
    nodes = model.linear_nodes(tree)
    margins = nodes.weights.astype(np.float64) @ u + nodes.bias
    return sum(naive.plt_factors.log_probability(float(margins[v]), nodes.loss) for v in nodes.path(label))


def unit(X, i):
    x = X[[i]].toarray()[0].astype(np.float64)
    return x / (np.linalg.norm(x) or 1.0)


# Contributions --------------------------------------------------------------------------------------------------------
