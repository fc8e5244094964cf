"""Hostile matrices: what no sensible program would give, but a user's script may; made from a seed."""

import inspect
import random
import time
import traceback
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from contract.estimators import results

from xmlcore import metrics
from xmlcore.ranking import Ranking

XMLCORE = str(Path(__file__).resolve().parents[2] / "xmlcore")
REFUSALS = (ValueError, TypeError, MemoryError, FloatingPointError)  # what may be raised, by a line of xmlcore
SECONDS = 20  # processor time that one case may take
VALUES = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-45, 1e-38, 1e-20, 1e-3, 1e3, 1e10, 1e20, 1e30, 3.4e38, -1e30)
NO_NUMBERS = (np.nan, np.inf, -np.inf, 1e39, -1e300)
TYPES = (bool, np.int8, np.uint8, np.int16, np.int64, np.uint64, np.float16, np.float32, np.float64, np.longdouble)
MEASURES = [  # of labels and predictions, with the name of the second argument
    (name, second)
    for name in metrics.__all__
    if inspect.isfunction(getattr(metrics, name))
    for second in list(inspect.signature(getattr(metrics, name)).parameters)[1:2]
    if second in ("ranking", "scores", "predictions") and name != "value"  # which computes any of these
]
FORMATS = ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")


def rows(chance: random.Random, rng, n: int, d: int):
    """Return a feature matrix (n, d) in some form; it may be damaged."""
    density = chance.choice((0.0, 0.05, 0.3, 0.3, 0.3, 1.0))
    dense = np.where(rng.random((n, d)) < density, rng.integers(1, 4, (n, d)), 0).astype(np.float64)
    if n and d:
        for _ in range(chance.choice((0, 0, 1, 2, 5))):
            value = chance.choice(VALUES if chance.random() < 0.9 else NO_NUMBERS)
            where = chance.randrange(4)
            if where == 0:
                dense[chance.randrange(n)] = value
            elif where == 1:
                dense[:, chance.randrange(d)] = value
            elif where == 2:
                with np.errstate(all="ignore"):
                    dense *= value
            else:
                dense[chance.randrange(n), chance.randrange(d)] = value
    with np.errstate(all="ignore"):
        dense = dense.astype(chance.choice(TYPES)) if chance.random() < 0.4 else dense
    return in_some_form(dense, chance, rng)


def labels(chance: random.Random, rng, n: int, n_labels: int):
    """Return labels of n rows in some form; they may be damaged."""
    Y = rng.random((n, n_labels)) < chance.choice((0.0, 0.1, 0.3, 0.3, 0.3, 1.0))
    if chance.random() < 0.4:
        lists = [[int(j) for j in np.flatnonzero(row)] for row in Y]
        if lists and chance.random() < 0.3:
            odd = [[-1], [10**12], [0, 0], [[1, 2]], ["a"], [1.5], None, "labels", 3, [None], np.array([[0]]), {2: 1}]
            lists[chance.randrange(n)] = chance.choice(odd)
        return lists
    Y = Y.astype(chance.choice(TYPES))
    if Y.size and chance.random() < 0.1:
        Y = Y.astype(np.float64)
        Y[chance.randrange(n), chance.randrange(n_labels)] = chance.choice((2, -1, np.nan, 0.5))
    return in_some_form(Y, chance, rng)


def in_some_form(dense, chance, rng):
    """Return a matrix in one of the forms that there are; a sparse one may have indices that do not fit together."""
    form = chance.choice(("dense", "fortran", "strided", "lists", *FORMATS, *FORMATS))
    if form == "dense":
        return dense
    if form == "fortran":
        return np.asfortranarray(dense)
    if form == "strided":
        return np.repeat(dense, 2, axis=1)[:, ::2]
    if form == "lists":
        return dense.tolist()
    if dense.dtype in (np.float16, np.longdouble) or 0 in dense.shape:
        return dense
    matrix = getattr(sp, chance.choice((f"{form}_array", f"{form}_matrix")))(dense)
    return damaged(matrix, form, chance, rng) if chance.random() < 0.25 else matrix


def damaged(matrix, form, chance, rng):
    """Return a sparse matrix with one part changed: indices out of range, unsorted, twice, or of another length."""
    bad = chance.choice((-1, -(10**9), max(matrix.shape), 10**6, 2**31 - 1))
    if form in ("csr", "csc", "bsr") and matrix.nnz:
        change = chance.randrange(6)
        if change == 0:
            matrix.indices[chance.randrange(matrix.indices.size)] = bad
        elif change == 1:
            matrix.indptr[chance.randrange(matrix.indptr.size)] = bad
        elif change == 2:
            matrix.indices = matrix.indices[: chance.randrange(matrix.indices.size)]
        elif change == 3:
            matrix.data = matrix.data[: chance.randrange(len(matrix.data))]
        elif change == 4:
            matrix.indices[:] = rng.permutation(matrix.indices)  # unsorted, and some twice
        else:
            matrix.indptr = matrix.indptr[:-1]
    elif form == "coo" and matrix.nnz:
        chance.choice(matrix.coords)[chance.randrange(matrix.nnz)] = bad
    elif form == "lil":
        row = chance.randrange(matrix.shape[0])
        if chance.random() < 0.5:
            matrix.rows[row] = [*matrix.rows[row], bad]
        else:
            matrix.data[row] = [*matrix.data[row], matrix.dtype.type(1)]
    elif form == "dia" and len(matrix.offsets) > 1:
        matrix.offsets = matrix.offsets[:-1]
    return matrix


def problem(seed):
    """Return training rows, labels, rows to predict, and further rows with labels to learn, all hostile."""
    chance, rng = random.Random(seed), np.random.default_rng(seed)
    n, d = chance.choice((0, 1, 2, 5, 20, 30, 30, 40, 40)), chance.choice((0, 1, 2, 6, 6, 12, 12))
    n_labels = chance.choice((0, 1, 2, 5, 5, 9, 9))
    X, Y = rows(chance, rng, n, d), labels(chance, rng, n, n_labels)
    others = rows(chance, rng, chance.choice((0, 1, 3)), d if chance.random() < 0.9 else d + 1)
    n = chance.choice((0, 1, 3, 10))
    return X, Y, others, (rows(chance, rng, n, d), labels(chance, rng, n, n_labels + chance.choice((0, 0, 1))))


def refused_or_finite(act) -> bool:
    """Return whether ``act()`` could be done; raise AssertionError if it gives or raises what it should not."""
    start = time.process_time()
    try:
        with warnings.catch_warnings(action="ignore"):
            found = act()
        for name, array in found.items():
            assert array.dtype.kind not in "fc" or np.isfinite(array).all(), f"{name} has values that are not finite"
        done = True
    except REFUSALS as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        assert str(error) and last.filename.startswith(XMLCORE), f"not refused by us: {last.filename}:{last.lineno}"
        done = False
    assert time.process_time() - start < SECONDS, "it takes too long"
    return done


def fit_and_predict(case, seed) -> bool:
    """Return whether an estimator could be fitted to hostile rows; also predict hostile rows."""
    X, Y, others, further = problem(seed)
    estimator = case.make()

    def fit():
        estimator.fit(X, Y)
        return {}

    try:
        if not refused_or_finite(fit):
            assert not [name for name in vars(estimator) if name.endswith("_")]
            return False
        refused_or_finite(lambda: results(estimator, others))
        if hasattr(estimator, "partial_fit"):
            before = dict(vars(estimator))
            if refused_or_finite(lambda: vars(estimator.partial_fit(*further)) and {}):
                refused_or_finite(lambda: results(estimator, others))
            else:
                assert vars(estimator).keys() == before.keys()
                assert all(value is before[name] for name, value in vars(estimator).items()), "half learnt"
        return True
    except Exception as error:
        raise AssertionError(f"{case.id}, case {seed}: {type(error).__name__}: {error}") from error


def ranking(chance, rng, n, n_labels):
    """Return a ranking of n rows in some form; labels may be out of range, twice in a row, or -1 before others."""
    width = chance.choice((0, 1, 2, 3, 5, 8))
    if chance.random() < 0.5 and n_labels and width:
        found = np.argsort(rng.random((n, n_labels)), axis=1)[:, :width].astype(np.int32)
    else:
        found = rng.integers(-1, n_labels + 1, (n, width))
    if found.size and chance.random() < 0.3:
        bad = chance.choice((-2, -1, n_labels, 10**6, 2**31 - 1))
        found[chance.randrange(n), chance.randrange(found.shape[1])] = bad
    if chance.random() < 0.2:
        typed = [found.astype(kind) for kind in (np.float32, np.int8)]
        return chance.choice((found.tolist(), *typed, found[0:0], found.T, None))
    scores = np.where(rng.random(found.shape) < 0.1, chance.choice((*VALUES, *NO_NUMBERS)), rng.random(found.shape))
    with np.errstate(all="ignore"):
        return chance.choice((found, Ranking(found, scores.astype(np.float32)), Ranking(found, scores[:, :1])))


def measure(seed) -> bool:
    """Return whether a measure of :mod:`xmlcore.metrics` could be computed of hostile labels and predictions."""
    chance, rng = random.Random(seed), np.random.default_rng(seed)
    n, n_labels = chance.choice((0, 1, 2, 5, 20)), chance.choice((0, 1, 2, 5, 9))
    name, second = chance.choice(MEASURES)
    predictions = ranking(chance, rng, n, n_labels)
    if second == "scores":
        predictions = rows(chance, rng, n, n_labels)
    elif second == "predictions":
        predictions = labels(chance, rng, n, n_labels)
    Y, options = labels(chance, rng, n, n_labels), {}
    parameters = inspect.signature(getattr(metrics, name)).parameters
    if "k" in parameters and chance.random() < 0.8:
        options["k"] = chance.choice((1, 3, 5, 100, 0, -1, 1.5, None, "3"))
    for label in ("missed", "wrong"):
        if label in parameters:
            options[label] = chance.choice((0, 1, n_labels, -1, 2**62, 1.5, "0"))
    if "inv_ps" in parameters and name.startswith("ps"):
        weights = np.where(rng.random(n_labels) < 0.1, chance.choice((*VALUES, *NO_NUMBERS)), 1 + rng.random(n_labels))
        options["inv_ps"] = weights[: n_labels - (chance.random() < 0.1)]

    def compute():
        found = getattr(metrics, name)(Y, predictions, **options)
        values = found.values() if isinstance(found, dict) else found if isinstance(found, tuple) else [found]
        for value in values:
            array = value.toarray() if sp.issparse(value) else np.asarray(value)
            assert array.dtype.kind not in "fc" or not np.isinf(array).any(), "it is infinite"
        return {}

    try:
        return refused_or_finite(compute)
    except Exception as error:
        raise AssertionError(f"{name}, case {seed}: {type(error).__name__}: {error}") from error
