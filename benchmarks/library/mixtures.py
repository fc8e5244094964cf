"""What other methods reach where LdSM's settings were chosen: alone, and in equal parts with its trees.

A part of ``python -m benchmarks.ldsm``; methods and their settings stand under "others" in ldsm_settings.json.
"""

import numpy as np
from sklearn.preprocessing import normalize

from benchmarks.library import studies, tables
from benchmarks.library.data import read_rows
from xmlcore import FALS, PLT, LdSM, metrics

TREES = "LdSM, chosen"
ALL = "all in equal parts"
HELD_OUT, TEST = "held out", "test"
PLACES = (1, 3, 5)


# Methods: training rows, their labels and other rows -> their probabilities, dense (n, L) -----------------------------


def decision_trees(X, Y, X_rest, seed, threads, params):
    """Return the scores by which LdSM ranks: shares of label occurrences, re-ranked where that is on."""
    model = LdSM.preset("program", **params, random_state=seed, n_jobs=threads).fit(X, Y)
    labels, values = model.predict_topk(X_rest, Y.shape[1])
    scores = np.zeros(labels.shape, np.float32)
    rows, places = np.nonzero(labels >= 0)
    scores[rows, labels[rows, places]] = values[rows, places]
    return scores


def label_tree(X, Y, X_rest, seed, threads, params):
    """Return the probabilities of PLT."""
    return PLT(**params, random_state=seed, n_jobs=threads).fit(X, Y).predict_proba(X_rest).toarray()


def perceptron(X, Y, X_rest, seed, threads, params):
    """Return the probabilities of the network of FALS.

    FALS also selects features; it is asked for as little as possible: one feature for all labels, from two rows.
    """
    least = {"n_features": 1, "pattern": "FAMS", "scoring": "sampled", "n_scored_rows": 2}
    params = dict(params)
    length = np.float32(params.pop("row_length", 1.0))
    X, X_rest = (length * normalize(part) for part in (X, X_rest))
    model = FALS.preset("paper", random_state=seed, n_jobs=threads, **least | params)
    return model.fit(X, Y).predict_proba(X_rest).toarray()


def randomised_trees(X, Y, X_rest, seed, threads, params):
    """Return the shares of labels that extremely randomised trees predict."""
    from sklearn.ensemble import ExtraTreesRegressor  # of 0 and 1: its leaves hold shares, as histograms do

    model = ExtraTreesRegressor(random_state=seed, n_jobs=threads, **params)
    return model.fit(X, Y.toarray().astype(np.float32)).predict(X_rest)


def kernel_ridge(X, Y, X_rest, seed, threads, params):
    """Return what kernel ridge regression predicts, between rows weighted by inverse document frequency.

    ``seed`` and ``threads`` change nothing.
    """
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.kernel_ridge import KernelRidge

    weigh = TfidfTransformer().fit(X)
    known, asked = (weigh.transform(part).toarray().astype(np.float32) for part in (X, X_rest))
    return KernelRidge(kernel="rbf", **params).fit(known, Y.toarray().astype(np.float32)).predict(asked)


METHODS = {
    "LdSM": decision_trees,
    "PLT": label_tree,
    "perceptron": perceptron,
    "extremely randomised trees": randomised_trees,
    "kernel ridge": kernel_ridge,
}
KINDS = {"LdSM": LdSM, "PLT": PLT, "perceptron": FALS}
OWN = {"perceptron": {"row_length"}}  # beside those of the model


def check(others):
    """Raise an error for entries that could not be measured, or told apart, before anything is measured.

    Raises
    ------
    ValueError
        Names the first such entry.
    """
    names = [TREES, ALL]
    for one in others:
        missing = {"name", "method", "params"} - set(one)
        if missing:
            raise ValueError(f"one of the others has no {', '.join(sorted(missing))}: {one}")
        if one["name"] in names:
            raise ValueError(f"{one['name']!r} stands for something else already: give each its own name")
        names.append(one["name"])
        if one["method"] not in METHODS:
            raise ValueError(f"{one['name']!r}: no method {one['method']!r}; there are {', '.join(METHODS)}")
        if one["method"] in KINDS:
            known = set(KINDS[one["method"]]().get_params()) | OWN.get(one["method"], set())
            unknown = set(one["params"]) - known | {"random_state", "n_jobs"} & set(one["params"])
            if unknown:
                raise ValueError(f"{one['name']!r}: {one['method']} takes no {', '.join(sorted(unknown))} here")


def measure(job, folds):
    """Measure each method, alone and mixed with the trees, on rows held out and on the test rows.

    Parameters
    ----------
    job : dict
        "params" of the trees, "others": name, method and params of each; "seeds" for the test rows.
    folds : callable
        From the number of rows to pairs (rows to train on, rows held out).

    Returns
    -------
    dict
        "fits": for each split "where", "seed", and what :func:`one_split` returns.
    """
    (X, Y), test = read_rows(job, "train"), read_rows(job, "test")
    fits = [
        {"where": HELD_OUT, "seed": 0} | one_split(job, (X[rows], Y[rows]), (X[out], Y[out]), 0)
        for rows, out in folds(X.shape[0])
    ]
    fits += [{"where": TEST, "seed": seed} | one_split(job, (X, Y), test, seed) for seed in job["seeds"]]
    return {"fits": fits}


def one_split(job, train, rest, seed):
    """Train all methods on some rows and measure them on others.

    Returns {"alone": precisions of each method, "with_trees": precisions of each method mixed with the trees}.
    """
    members = [{"name": TREES, "method": "LdSM", "params": job["params"]}, *job["others"]]
    found, trees, everything = {"alone": {}, "with_trees": {}}, None, 0.0
    for one in members:
        shares = METHODS[one["method"]](*train, rest[0], seed, job["n_jobs"], one["params"])
        found["alone"][one["name"]] = precisions(rest[1], shares)
        shares = as_shares(shares)
        everything = everything + shares
        if trees is None:
            trees = shares
        else:
            found["with_trees"][one["name"]] = precisions(rest[1], trees + shares)
    found["with_trees"][ALL] = precisions(rest[1], everything)
    return found


def as_shares(scores):
    """Return scores with negative ones replaced by 0, those of each row divided by their sum."""
    scores = np.maximum(scores, 0.0)
    return scores / np.maximum(scores.sum(axis=1, keepdims=True), 1e-12)


def precisions(Y, scores):
    """Return P@1, P@3 and P@5 of scores, in percent."""
    best = np.argsort(-scores, axis=1, kind="stable")[:, : max(PLACES)]
    found = 100 * metrics.precision_at_k(Y, best, max(PLACES))
    return [float(found[place - 1]) for place in PLACES]


def table(part, paper):
    """Return the table of the part as Markdown; ``paper`` has the paper's P@1, P@3, P@5 for each data set."""
    rows = []
    for run in studies.done(part):
        for one in [{"name": TREES}, *run["others"], {"name": ALL}]:
            cells = [
                text(run, where, kind, one["name"]) for where in (HELD_OUT, TEST) for kind in ("alone", "with_trees")
            ]
            params = [f"`{name}={value!r}`" for name, value in one.get("params", {}).items()]
            rows.append([run["data"], one["name"], ", ".join(params), *cells])
        if run["data"] in paper:
            figures = " / ".join(map(tables.points, paper[run["data"]]))
            rows.append([run["data"], "the paper's table", "", "", "", figures, ""])
    head = ["data", "method", "settings", "held out", "held out, with the trees", "test", "test, with the trees"]
    return (
        "P@1 / P@3 / P@5: means over thirds of the training rows, each held out once, and over seeds on the test rows. "
        "With the trees: the mean of both methods' scores, each method's adding up to 1 for a row. Settings were "
        "tried, a handful for each method, on one of the held-out thirds, so held-out figures flatter all of them a "
        "little; test rows had no say. A mixture is larger than the trees alone, which gain little from more trees.\n\n"
        + tables.table(head, rows, left=3)
    )


def text(run, where, kind, name):
    """Return P@1 / P@3 / P@5 as text, means over the fits; an empty text when the method was not measured so."""
    found = [fit[kind][name] for fit in run["fits"] if fit["where"] == where and name in fit[kind]]
    return " / ".join(map(tables.points, np.mean(found, axis=0))) if found else ""
