"""What other methods reach where LdSM's settings were chosen: alone, and in equal parts with its trees.

A part of ``python -m benchmarks.trees``; methods and their settings stand under "others" in trees_settings.json.
"""

import numpy as np
import scipy.sparse as sp

from benchmarks import report
from benchmarks.studies import done, read_rows
from xmlcore import FALS, PLT, LdSM, metrics
from xmlcore.datasets import make_synthetic
from xmlcore.models.base import warm_up

TREES = "LdSM, chosen"
ALL = "all in equal parts"
HELD_OUT, TEST = "held out", "test"
PLACES = (1, 3, 5)
LENGTH = np.float32(4.0)  # of the rows that the perceptron sees


# Methods: training rows, their labels and other rows -> their probabilities, dense (n, L) -----------------------------


def of_xmlcore(kind):
    def probabilities(X, Y, X_rest, seed, threads, params):
        return kind(**params, random_state=seed, n_jobs=threads).fit(X, Y).predict_proba(X_rest).toarray()

    return probabilities


def perceptron(X, Y, X_rest, seed, threads, params):
    """The network of FALS; one feature for all labels, from two rows, is the least that it selects."""
    least = {"n_features": 1, "pattern": "FAMS", "scoring": "sampled", "n_scored_rows": 2}
    model = FALS(random_state=seed, n_jobs=threads, **least, **params)
    return model.fit(LENGTH * unit(X), Y).predict_proba(LENGTH * unit(X_rest)).toarray()


def randomised_trees(X, Y, X_rest, seed, threads, params):
    from sklearn.ensemble import ExtraTreesRegressor  # of 0 and 1: its leaves hold shares, as histograms do

    model = ExtraTreesRegressor(random_state=seed, n_jobs=threads, **params)
    return model.fit(sp.csr_matrix(X), Y.toarray().astype(np.float32)).predict(sp.csr_matrix(X_rest))


def kernel_ridge(X, Y, X_rest, seed, threads, params):
    """Between rows weighted by inverse document frequency; ``seed`` and ``threads`` change nothing."""
    from sklearn.kernel_ridge import KernelRidge

    idf = np.log((1 + X.shape[0]) / (1 + np.asarray((X != 0).sum(axis=0)).ravel())).astype(np.float32)
    known, asked = (unit(part @ sp.diags_array(idf)).toarray() for part in (X, X_rest))
    return KernelRidge(kernel="rbf", **params).fit(known, Y.toarray().astype(np.float32)).predict(asked)


def unit(X):
    """Rows of length one."""
    X = sp.csr_array(X, dtype=np.float32)
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sp.csr_array(sp.diags_array(1 / np.maximum(lengths, np.float32(1e-12))) @ X)


METHODS = {
    "LdSM": of_xmlcore(LdSM),
    "PLT": of_xmlcore(PLT),
    "perceptron": perceptron,
    "extremely randomised trees": randomised_trees,
    "kernel ridge": kernel_ridge,
}


# One point, in a process of its own -----------------------------------------------------------------------------------


def measure(job, folds):
    """Each method, alone and with the trees, on rows held out and on the test rows.

    Parameters
    ----------
    job : dict
        "params" of the trees, "others": name, method and params of each; "seeds" for the test rows.
    folds : callable
        From the number of rows to pairs (rows to train on, rows held out).
    """
    toy = make_synthetic(n_train=400, n_test=20, n_labels=300, n_jobs=1)
    for kind in (LdSM, PLT):
        warm_up(kind(n_jobs=1))
        metrics.precision_at_k(toy.Y_test, kind(n_jobs=1).fit(toy.X_train, toy.Y_train).predict_topk(toy.X_test, 5), 5)
    (X, Y), test = read_rows(job, "train"), read_rows(job, "test")
    splits = [(HELD_OUT, 0, (X[rows], Y[rows]), (X[out], Y[out])) for rows, out in folds(X.shape[0])]
    splits += [(TEST, seed, (X, Y), test) for seed in job["seeds"]]
    return {"fits": [{"where": where, "seed": seed} | one_split(job, *parts, seed) for where, seed, *parts in splits]}


def one_split(job, train, rest, seed):
    members = [{"name": TREES, "method": "LdSM", "params": job["params"]}, *job["others"]]
    found, trees, everything = {"alone": {}, "with_trees": {}}, None, 0.0
    for one in members:
        shares = METHODS[one["method"]](*train, rest[0], seed, job["n_jobs"], one["params"])
        found["alone"][one["name"]] = precisions(rest[1], shares)
        shares = as_shares(shares)
        trees = shares if trees is None else trees
        everything = everything + shares
        found["with_trees"][one["name"]] = precisions(rest[1], trees + shares)
    found["with_trees"][ALL] = precisions(rest[1], everything)
    return found


def as_shares(scores):
    """Scores without negative ones, those of a row adding up to 1."""
    scores = np.maximum(scores, 0.0)
    return scores / np.maximum(scores.sum(axis=1, keepdims=True), 1e-12)


def precisions(Y, scores):
    best = np.argsort(-scores, axis=1, kind="stable")[:, : max(PLACES)]
    found = 100 * metrics.precision_at_k(Y, best, max(PLACES))
    return [float(found[place - 1]) for place in PLACES]


# Table ----------------------------------------------------------------------------------------------------------------


def table(part, paper):
    """Markdown; ``paper``: data set -> P@1, P@3, P@5."""
    rows = []
    for run in done(part):
        for one in [{"name": TREES}, *run["others"], {"name": ALL}]:
            own = one["name"] == TREES
            cells = [
                "" if own and kind == "with_trees" else text(run, where, kind, one["name"])
                for where in (HELD_OUT, TEST)
                for kind in ("alone", "with_trees")
            ]
            params = [f"`{name}={value!r}`" for name, value in one.get("params", {}).items()]
            rows.append([run["data"], one["name"], ", ".join(params), *cells])
        if run["data"] in paper:
            figures = " / ".join(map(report.points, paper[run["data"]]))
            rows.append([run["data"], "the paper's table", "", "", "", figures, ""])
    head = ["data", "method", "settings", "held out", "held out, with the trees", "test", "test, with the trees"]
    return (
        "P@1 / P@3 / P@5: means over thirds of the training rows, each held out once, and over seeds on the test rows. "
        "With the trees: the mean of both methods' scores, each method's adding up to 1 for a row.\n\n"
        + report.table(head, rows, left=3)
    )


def text(run, where, kind, name):
    """P@1 / P@3 / P@5, means over the fits; empty when the method was not measured so."""
    found = [fit[kind][name] for fit in run["fits"] if fit["where"] == where and name in fit[kind]]
    return " / ".join(map(report.points, np.mean(found, axis=0))) if found else ""
