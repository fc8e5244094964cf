"""The errors of probabilities, before and after calibration, and beside other ways to calibrate."""

import time

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize_scalar

from benchmarks.library import tables
from xmlcore import PLT, DoubleSampling, LdSM, OneVsRest, decisions
from xmlcore.decisions.calibrating import ROWS, calibration_of
from xmlcore.decisions.held_out import HeldOut, held_out
from xmlcore.models.plt.frames.paths import factors
from xmlcore.models.plt.scaling import as_read
from xmlcore.models.rules import CANDIDATES

MODELS = (PLT, LdSM, DoubleSampling, OneVsRest)
ALL_MODELS_ON = ("bibtex", "eurlex4k-dev", "wordnet-class")
ROWS_AT_ONCE = 200
REPEATS = 3  # of a calibration, of which the shortest counts
FIRST = 500  # training rows to which a model is fitted before, so that its code is not loaded while time is taken
DRAWS = 100  # of labels from probabilities
NEAREST = 1e-6  # to 0 and 1, where a logarithm is taken


def errors(p, found):
    """Return the expected calibration error of the first 1 and 5 labels, in points, with 15 bins of equal count."""

    def of(p, right):
        bins = np.array_split(np.argsort(p, kind="stable"), 15)
        return float(100 * sum(abs(p[part].sum() - right[part].sum()) for part in bins) / p.size)

    return [of(p[found.place < k], found.right[found.place < k]) for k in (1, 5)]


def floor(p, found):
    """Return the errors that probabilities have, on average, where labels are drawn from them: with many rows, 0."""
    rng = np.random.default_rng(0)
    drawn = [errors(p, found._replace(right=rng.random(p.size) < p)) for _ in range(DRAWS)]
    return np.mean(drawn, axis=0).tolist()


def before_and_after(model, training, rows, test):
    """Return the errors of a model on the test rows, and the time of its calibration as a share of a training."""
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        calibration = decisions.calibrate(model, *rows)
        seconds.append(time.perf_counter() - start)
    p = test.probabilities(calibration).data
    of = {"before": errors(test.scores.data, test), "after": errors(p, test), "floor": floor(p, test)}
    return {"model": type(model).__name__} | of | {"share": min(seconds) / training}


def trained(model, data, kept):
    """Fit a model to some training rows, and return the seconds; its code is there before."""
    type(model)().fit(data.X_train[kept[:FIRST]], data.Y_train[kept[:FIRST]])
    start = time.perf_counter()
    model.fit(data.X_train[kept], data.Y_train[kept])
    return time.perf_counter() - start


def of_other_models(data, kept, out):
    """Return the same for the models that :mod:`benchmarks.decisions` does not train."""
    found = []
    for model in (of_model() for of_model in MODELS[1:]):
        training = trained(model, data, kept)
        test = held_out(model, data.X_test, data.Y_test, CANDIDATES)
        found.append(before_and_after(model, training, (data.X_train[out], data.Y_train[out]), test))
    return found


def ways(model, rows, of_test, test):
    """Return the error of the first 5 labels, and 1000 times the log loss of all candidates, by ways to calibrate."""
    some = np.sort(np.random.default_rng(0).permutation(rows[1].shape[0])[:ROWS])
    rows = rows[0][some], rows[1][some]
    held = held_out(model, *rows, CANDIDATES)
    scores, odds = test.scores.data, _odds(test.scores.data)
    heat = minimize_scalar(lambda heat: _loss(_sigmoid(_odds(held.scores.data) / heat), held.right), (0.5, 2)).x
    found = {
        "as they are": scores,
        "temperature": _sigmoid(odds / heat),
        "one curve": curve(held)(scores),
        "by depth": by_depth(model, rows, held, of_test, test),
        "by place": test.probabilities(decisions.calibrate(model, *rows)).data,
    }
    return {way: None if p is None else [errors(p, test)[1], 1000 * _loss(p, test.right)] for way, p in found.items()}


def _sigmoid(odds):
    return 1 / (1 + np.exp(-odds))


def _odds(p):
    p = np.clip(p, NEAREST, 1 - NEAREST)
    return np.log(p) - np.log1p(-p)


def _loss(p, right):
    p = np.clip(p, NEAREST, 1 - NEAREST)
    return float(-np.log(np.where(right > 0, p, 1 - p)).mean())


def curve(found):
    """Return the calibration of scores at any place."""
    made = calibration_of(found._replace(place=np.zeros_like(found.place)))
    return lambda scores: np.interp(scores, made.scores, made.probabilities[0])


def by_depth(model, rows, held, of_test, test):
    """Return products of factors with a curve for each depth, through another curve; None with a single level."""
    tree, nodes = model.trees_[0], model.linear_nodes()
    if tree.depth.max() == 1:
        return None
    above = np.zeros((test.Y.shape[1], tree.depth.max() + 1), np.int64)  # the nodes above each label, from the root
    for label in range(len(above)):
        path = nodes.path(label)
        above[label, tree.depth[path]] = path
    first = 0 if nodes.root_has_factor else 1

    def blocks(X, found):
        """Yield the factors of all nodes for some rows, and the entries and true labels of these rows."""
        rows, weights = as_read(X, nodes.normalize), nodes.weights.T.tocsr()
        for start in range(0, X.shape[0], ROWS_AT_ONCE):
            part = slice(start, min(start + ROWS_AT_ONCE, X.shape[0]))
            entries = found.scores[part]
            at = np.repeat(np.arange(entries.shape[0]), np.diff(entries.indptr))
            values = factors((rows[part] @ weights).toarray() + nodes.bias, nodes.loss)
            yield values, values[at[:, None], above[entries.indices]], found.Y[part]

    of_depth = [([], []) for _ in range(tree.depth.max() + 1)]
    paths = []
    for values, of_paths, Y in blocks(rows[0], held):
        paths.append(of_paths)
        true = np.zeros(values.shape, bool)
        true[np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))[:, None], above[Y.indices]] = True
        true[:, 0] = np.diff(Y.indptr) > 0
        asked = np.column_stack([np.ones(len(true), bool), true[:, nodes.parent[1:]]])  # children of true nodes
        for depth, (seen, right) in enumerate(of_depth):
            at = asked[:, tree.depth == depth]
            seen.append(values[:, tree.depth == depth][at])
            right.append(true[:, tree.depth == depth][at])
    curves = [curve(_alone(*map(np.concatenate, each))) for each in of_depth]

    def products(of_paths):
        return np.prod([curves[d](of_paths[:, d]) for d in range(first, len(curves))], axis=0)

    parts = held.scores.indices, held.scores.indptr
    again = curve(held._replace(scores=sp.csr_array((products(np.concatenate(paths)), *parts), held.scores.shape)))
    return again(np.concatenate([products(of_paths) for _, of_paths, _ in blocks(of_test, test)]))


def _alone(scores, right):
    """Return held-out rows with an entry each."""
    n = scores.size
    column = sp.csr_array((scores, np.zeros(n, np.int64), np.arange(n + 1)), shape=(n, 1))
    return HeldOut(column, np.zeros(n, np.int64), right.astype(float), column)


def cells_of_models(run):
    return [[one["model"], *(f"{tables.points(before)} → {tables.points(after)}"
                             for before, after in zip(one["before"], one["after"])),
             " / ".join(map(tables.points, one["floor"])) if "floor" in one else "–", f"{100 * one['share']:.0f} %"]
            for one in run["calibration"]]  # fmt: skip


def cells_of_ways(run):
    return [["–" if one is None else f"{one[0]:.2f} / {one[1]:.1f}" for one in run["ways"].values()]]
