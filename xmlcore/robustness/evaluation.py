"""Measures of a model's rankings on rows that are perturbed more and more."""

import time
from typing import TYPE_CHECKING

import numpy as np

from xmlcore import metrics
from xmlcore.datasets.statistics import BUCKETS, label_buckets
from xmlcore.progress import Progress, silent
from xmlcore.ranking import Ranking
from xmlcore.robustness.perturbations import (
    KINDS,
    LARGEST_SIGMA,
    check_level,
    check_support,
    option_names,
)
from xmlcore.robustness.perturbations import perturbation as make_perturbation
from xmlcore.validation import check_count, check_features, check_labels

if TYPE_CHECKING:
    import pandas as pd

PHASE = "Perturbing and predicting"
ATTACKS = ("fgsm", "pgd")
BLOCK_BYTES = 64 << 20  # of perturbed rows
ENTRY_BYTES = 8  # a value and its column
WHOLE_ROWS = 1024  # a block has a multiple of so many rows, when it can: models work through rows in parts like these
ATTACK_ROWS = 512  # at most: an attack takes long for a row, and progress is said after every block
ALL = "all"
TIMES = ("predict_s", "perturb_s")
COLUMNS = ["perturbation", "sigma", "k", "repeat", "bucket", "measure", "value", "drop"]


def evaluate(
    model,
    X,
    Y,
    sigmas=(0, 0.01, 0.05, 0.1),
    ks=(1, 3, 5),
    support: str = "all",
    n_repeats: int = 3,
    random_state: int | None = 0,
    *,
    perturbation: str = "gaussian",
    options: dict | None = None,
    Y_train=None,
    surrogate=None,
    n_jobs: int | None = None,
    progress: Progress = silent,
) -> "pd.DataFrame":
    r"""Measure a model on perturbed rows, again and again.

    Rows are perturbed and predicted a block at a time: memory holds some 64 MB of perturbed rows, however many there
    are. Neither the blocks nor ``n_jobs`` change a result.

    Parameters
    ----------
    model : fitted estimator
        Anything with ``predict_topk(X, k)``. It predicts with as many threads as it was set to.
    X : sparse or dense, shape (n, D)
    Y : sparse or dense binary, shape (n, L), or lists of label ids
    sigmas : sequence of float
        Levels of the perturbation: sigma, rate or epsilon. Level 0, the rows as they are, is always measured.
    ks : sequence of int
        Places to measure at. Labels are ranked once, at the largest.
    support : {"all", "nonzero"}
        Which features of a row may change; not an option of words. One in ``options`` comes first.
    n_repeats : int
        Each has a seed of its own. The levels of one repeat share it, so that its curve is of one noise, growing.
    random_state : int, optional
        Same value, same measures. None draws a fresh one.
    perturbation : {"gaussian", "words", "fgsm", "pgd"}
        See :func:`xmlcore.robustness.perturbation`.
    options : dict, optional
        Further arguments of the perturbation, such as ``reference`` (words) or ``norm`` (attacks).
    Y_train : sparse or dense binary, shape (N, L), or lists of label ids, optional
        Labels of the training rows: they give the label weights and the buckets.
    surrogate : fitted estimator, optional
        An attack follows its gradient in place of the model's (a transfer attack).
    n_jobs : int, optional
        Threads of the perturbation; all cores when None.
    progress : callable, optional
        See :class:`xmlcore.progress.Progress`: called after every block; an exception from it stops the work.

    Returns
    -------
    pandas.DataFrame
        One value in each row, in the columns

        - ``perturbation`` (str); ``sigma`` (float), the level; ``k`` (int); ``repeat`` (int, from 0)
        - ``bucket``: "all", or the labels that count, "head", "torso" or "tail" (:func:`xmlcore.datasets.describe`),
          with ``Y_train`` only
        - ``measure``. Of all labels "P@k" and "nDCG@k"; with ``Y_train`` "PSDCG@k (1/log)", weighted by
          :func:`xmlcore.metrics.inverse_log_frequency`, "PSDCG@k" and "PSP@k", weighted by
          :func:`xmlcore.metrics.inverse_propensity`. Of a bucket "P@k", the right labels of the bucket among the first
          k, divided by k, mean over rows, so that the three add up to P@k; and "R@k", the share of a row's labels of
          the bucket that are among the first k, mean over the rows that have one. "predict_s" and "perturb_s", at the
          largest k: wall-clock seconds for all rows, to predict and to perturb (kernels are compiled before).
        - ``value`` (float); nan where there is nothing to measure
        - ``drop`` (float): (value at level 0 - value) / value at level 0, of the same repeat, k, bucket and measure;
          nan where that is not defined, and for times

    Raises
    ------
    ValueError, TypeError
        Bad levels, places, data or options; or an attack on a model that has no ``log_proba_gradient``, without a
        surrogate. The message says which.

    Notes
    -----
    The model predicts each level, and level 0, ``n_repeats`` times. FGSM does not depend on the seed: one repeat says
    all but the times.

    References
    ----------
    A. Date, S. Mehar, "Adversarial robustness and explainability in extreme multi-label classification with extended
    probabilistic label trees", 2025, algorithm 1.
    """
    import pandas as pd

    levels = _check_levels(sigmas)
    ks = _check_ks(ks)
    n_repeats = check_count(n_repeats, "n_repeats")
    if random_state is not None:
        random_state = check_count(random_state, "random_state", least=0)
    options = _check_options(perturbation, options, support)
    X, Y, Y_train = _check_data(model, X, Y, Y_train)
    attacked = _check_attacked(model, perturbation, surrogate)
    changes = [make_perturbation(perturbation, level, **options) for level in levels[1:]]  # so errors come first
    measure = _Measure(Y, Y_train, ks)
    entropy = random_state if random_state is not None else np.random.SeedSequence().entropy
    blocks = row_blocks(X, perturbation, options.get("support"))
    _warm_up(model, X, Y, changes, attacked, ks[-1], n_jobs)
    records = []
    for repeat in range(n_repeats):
        seed = _seed_of(entropy, repeat)
        clean = None
        for number, change in enumerate([None, *changes]):
            level = levels[number]

            def report(rows, repeat=repeat, number=number, level=level):
                passes = repeat * len(levels) + number + rows / X.shape[0]
                progress(
                    PHASE,
                    passes / (n_repeats * len(levels)),
                    f"repeat {repeat + 1} of {n_repeats}, level {level:g}: {rows:,} of {X.shape[0]:,} rows",
                )

            ranking, times = _rank(model, X, Y, change, attacked, seed, blocks, ks[-1], n_jobs, report)
            found = measure(ranking)
            clean = found if clean is None else clean
            for (bucket, name, k), value in found.items():
                drop = _drop(clean[bucket, name, k], value)
                records.append((perturbation, level, k, repeat, bucket, name, value, drop))
            for name in TIMES:
                records.append((perturbation, level, ks[-1], repeat, ALL, name, times[name], np.nan))
    return pd.DataFrame(records, columns=COLUMNS)


def summarise(frame: "pd.DataFrame", level: float = 0.95) -> "pd.DataFrame":
    """Mean over repeats, with the interval of Student's t.

    Parameters
    ----------
    frame : pandas.DataFrame
        From :func:`evaluate`, or several of them together, told apart by further columns, such as ``run``.
    level : float in (0, 1)
        Of the interval.

    Returns
    -------
    pandas.DataFrame
        A row for each group of repeats, in the order of the frame. Columns: all of the frame but repeat, value and
        drop; ``n``, the repeats that have a value; ``mean``, ``low`` and ``high`` of the value; ``drop_mean``,
        ``drop_low`` and ``drop_high`` of the drop. low and high are nan where there are fewer than two repeats.

    Raises
    ------
    ValueError
        Columns that are missing, or another level.
    """
    from scipy import stats

    missing = set(COLUMNS) - set(frame.columns)
    if missing:
        raise ValueError(f"frame has no column {', '.join(sorted(missing))}: it must be one that evaluate returned")
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level!r}")
    keys = [name for name in frame.columns if name not in ("repeat", "value", "drop")]
    groups = frame.groupby(keys, sort=False, dropna=False)
    result = {}
    for column, prefix in (("value", ""), ("drop", "drop_")):
        found = groups[column].agg(["count", "mean", "std"])
        n = found["count"].to_numpy()
        reach = np.full(n.size, np.nan)
        several = n > 1
        t = stats.t.ppf(0.5 + level / 2, n[several] - 1)
        reach[several] = t * found["std"].to_numpy()[several] / np.sqrt(n[several])
        if not prefix:
            result["n"] = n
        result |= {f"{prefix}mean": found["mean"], f"{prefix}low": found["mean"] - reach}
        result[f"{prefix}high"] = found["mean"] + reach
    return found[[]].assign(**result).reset_index()


class _Measure:
    """All measures of a ranking at the places ``ks``: {(bucket, measure, k): value}."""

    def __init__(self, Y, Y_train, ks):
        self.Y, self.ks = Y, ks
        self.weights = None
        if Y_train is not None:
            self.weights = metrics.inverse_propensity(Y_train), metrics.inverse_log_frequency(Y_train)
            bucket = label_buckets(np.bincount(Y_train.indices, minlength=Y_train.shape[1]))
            self.members = {name: bucket == name for name in BUCKETS}
            rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
            self.existing = {
                name: np.bincount(rows[inside[Y.indices]], minlength=Y.shape[0])
                for name, inside in self.members.items()
            }

    def __call__(self, ranking: Ranking) -> dict:
        most = self.ks[-1]
        values = {}
        if self.weights is None:
            found = metrics.measures(self.Y, ranking, most)
            of_all = {name: found[name] for name in ("P@k", "nDCG@k")}
        else:
            jain, logarithmic = self.weights
            found = metrics.measures(self.Y, ranking, most, inv_ps=jain)
            of_all = {
                "P@k": found["P@k"],
                "nDCG@k": found["nDCG@k"],
                "PSDCG@k (1/log)": metrics.psdcg_at_k(self.Y, ranking, logarithmic, most),
                "PSDCG@k": metrics.psdcg_at_k(self.Y, ranking, jain, most),
                "PSP@k": found["PSP@k"],
            }
        for name, at in of_all.items():
            values |= {(ALL, name, k): float(at[k - 1]) for k in self.ks}
        if self.weights is not None:
            right = metrics.hits(self.Y, ranking)
            for bucket in BUCKETS:
                own = np.cumsum(right & self.members[bucket][ranking.labels], axis=1)  # -1 is no hit, whatever is there
                existing = self.existing[bucket]
                some = existing > 0
                for k in self.ks:
                    values[bucket, "P@k", k] = float(own[:, k - 1].mean() / k)
                    shares = own[some, k - 1] / existing[some]
                    values[bucket, "R@k", k] = float(shares.mean()) if shares.size else np.nan
        return values


def _warm_up(model, X, Y, changes, attacked, k, n_jobs) -> None:
    """Perturb and predict one row, so that no time holds the compiling of kernels."""
    model.predict_topk(X[:1], k=k)
    if changes:
        model.predict_topk(changes[-1].apply(X[:1], [0], 0, model=attacked, Y=Y[:1], n_jobs=n_jobs), k=k)


def _rank(model, X, Y, change, attacked, seed, blocks, k, n_jobs, report) -> tuple[Ranking, dict]:
    """The ranking of all rows, perturbed unless ``change`` is None, and the seconds that both steps took."""
    labels = np.full((X.shape[0], k), -1, np.int32)
    scores = np.zeros((X.shape[0], k), np.float32)
    times = dict.fromkeys(TIMES, 0.0)
    report(0)
    for start, end in blocks if change is not None else [(0, X.shape[0])]:
        part = X[start:end]
        began = time.perf_counter()
        if change is not None:
            rows = np.arange(start, end, dtype=np.int64)
            part = change.apply(part, rows, seed, model=attacked, Y=Y[start:end], n_jobs=n_jobs)
        perturbed = time.perf_counter()
        found = model.predict_topk(part, k=k)
        if change is not None:
            times["perturb_s"] += perturbed - began
        times["predict_s"] += time.perf_counter() - perturbed
        labels[start:end], scores[start:end] = found
        report(end)
    return Ranking(labels, scores), times


def row_blocks(X, kind: str, support: str | None) -> list[tuple[int, int]]:
    """(first row, last row + 1) of the blocks that are perturbed and predicted at a time."""
    n, D = X.shape
    if kind == "words":
        entries = 2 * X.nnz / n + 1
    elif kind == "gaussian" and support == "nonzero":
        entries = X.nnz / n + 1
    else:  # an attack, too, may have a gradient on every feature
        entries = D
    rows = max(1, int(BLOCK_BYTES / (ENTRY_BYTES * entries)))
    if kind in ATTACKS:
        rows = min(rows, ATTACK_ROWS)
    if rows > WHOLE_ROWS:
        rows -= rows % WHOLE_ROWS
    return [(start, min(start + rows, n)) for start in range(0, n, rows)]


def _seed_of(entropy, repeat) -> int:
    return int(np.random.SeedSequence([entropy, repeat]).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _drop(clean, value) -> float:
    return (clean - value) / clean if clean > 0 else np.nan


def _check_levels(sigmas) -> list[float]:
    """The levels, 0 first."""
    levels = [check_level(value, "every level in sigmas", LARGEST_SIGMA) for value in _sequence(sigmas, "sigmas")]
    if len(set(levels)) < len(levels):
        raise ValueError(f"sigmas has a level twice: {levels}")
    return [0.0, *(level for level in levels if level != 0)]


def _check_ks(ks) -> list[int]:
    ks = [check_count(k, "every place in ks") for k in _sequence(ks, "ks")]
    if not ks:
        raise ValueError("ks is empty: name a place to measure at, such as 1")
    if len(set(ks)) < len(ks):
        raise ValueError(f"ks has a place twice: {ks}")
    return sorted(ks)


def _sequence(values, name) -> list:
    try:
        return list(values)
    except TypeError as error:
        raise TypeError(f"{name} must be a sequence of numbers, not {values!r}") from error


def _check_options(kind, options, support) -> dict:
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"unknown perturbation {kind!r}: known are {', '.join(KINDS)}")
    check_support(support)
    options = dict(options or {})
    if "support" in option_names(kind):
        return {"support": support, **options}
    if support != "all":
        raise ValueError(f"{kind!r} has no support: leave it at 'all'")
    return options


def _check_data(model, X, Y, Y_train):
    X = check_features(X, getattr(model, "n_features_in_", None))
    if X.shape[0] == 0:
        raise ValueError("X has no rows: there is nothing to measure")
    n_labels = getattr(model, "n_labels_", None)
    Y = check_labels(Y, n_rows=X.shape[0], n_labels=n_labels)
    if Y_train is not None:
        Y_train = check_labels(Y_train, n_labels=Y.shape[1], name="Y_train")
        if Y_train.shape[0] == 0:
            raise ValueError("Y_train has no rows: label weights and buckets come from the training rows")
    return X, Y, Y_train


def _check_attacked(model, kind, surrogate):
    """The model whose gradient an attack follows; None when it is none."""
    if kind not in ATTACKS:
        if surrogate is not None:
            raise ValueError(f"{kind!r} follows no gradient: surrogate is for the attacks ({', '.join(ATTACKS)})")
        return None
    attacked = model if surrogate is None else surrogate
    if not hasattr(attacked, "log_proba_gradient"):
        what = "model" if surrogate is None else "surrogate"
        raise ValueError(
            f"{kind!r} follows a gradient, and the {what}, a {type(attacked).__name__}, has no log_proba_gradient: "
            "give a fitted PLT as surrogate="
        )
    return attacked
