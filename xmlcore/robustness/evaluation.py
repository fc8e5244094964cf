"""Measures of rankings at several levels of a perturbation, and tables of what it does to measures and values."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from xmlcore import metrics
from xmlcore.first_use import pd
from xmlcore.metrics.buckets import BUCKETS, label_buckets
from xmlcore.metrics.statistics import student_reach
from xmlcore.models.rows import rows_for
from xmlcore.noise import LARGEST_SIGMA, blocks_of_noisy_rows, check_support
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.ranking import Ranking
from xmlcore.robustness.certificates import certified_radius
from xmlcore.robustness.perturbations import ATTACKS, CERTIFICATE, CERTIFIED, KINDS, option_defaults
from xmlcore.robustness.perturbations import perturbation as make_perturbation
from xmlcore.typing import ArrayLike, DataFrame, Labels, Matrix, Ranker
from xmlcore.validation import (
    check_count,
    check_features,
    check_frame,
    check_is,
    check_labels,
    check_list,
    check_model,
    check_names,
    check_number,
)

PHASE = "Changing rows and predicting again"
ATTACK_ROWS = 512  # most rows of a block under attack: attacks are slow, and progress is reported after every block
TIMES = PREDICTED, PERTURBED = "predict_s", "perturb_s"
ALL = "all"  # the bucket of all labels
COLUMNS = ["perturbation", "sigma", "k", "repeat", "bucket", "measure", "value", "drop"]
_NEEDED = ("run", "sigma", "k", "bucket", "measure", "mean", "low", "high", "drop_mean")


def evaluate(
    model: Ranker,
    X: Matrix,
    Y: Matrix,
    sigmas: Sequence[float] = (0, 0.01, 0.05, 0.1),
    ks: Sequence[int] = (1, 3, 5),
    support: str = "all",
    n_repeats: int = 3,
    random_state: int | None = 0,
    *,
    perturbation: str = "gaussian",
    options: dict[str, Any] | None = None,
    Y_train: Labels | None = None,
    inv_ps: ArrayLike | None = None,
    surrogate: Ranker | None = None,
    n_jobs: int | None = None,
    progress: ProgressLike = silent,
    on_ranking: Callable[[float, Ranking], None] | None = None,
    time_each_k: bool = False,
) -> "DataFrame":
    r"""Measure a model on perturbed rows, at several levels and with several seeds (Date and Mehar, 2025, algorithm 1).

    Rows are perturbed and predicted in blocks of about 64 MiB. The result depends neither on the blocks nor on
    ``n_jobs``.

    Parameters
    ----------
    model : fitted estimator
        Any object with ``predict_topk(X, k)``. It predicts with its own number of threads.
    X : sparse or dense, shape (n, D)
    Y : sparse or dense binary, shape (n, L), or lists of label ids
    sigmas : sequence of float
        Levels of the perturbation: sigma, rate or epsilon. Level 0, the unchanged rows, is always measured.
    ks : sequence of int
        Values of k in measures such as P@k. Labels are ranked once, for the largest.
    support : {"all", "nonzero"}
        Which features of a row may change; "words" has no such option. A ``support`` in ``options`` takes precedence.
    n_repeats : int
        Number of seeds; all rows are predicted for each, at each level. All levels of a repeat have the same seed, so
        that they differ in the size of the noise only.
    random_state : int, optional
        The same value gives the same measures. None draws a new one.
    perturbation : {"gaussian", "words", "fgsm", "pgd", "certificate"}
        See :func:`xmlcore.robustness.perturbation`. "certificate" changes no rows: see :func:`certified_radius`.
    options : dict, optional
        Further arguments of the perturbation, such as ``reference`` (words) or ``norm`` (attacks).
    Y_train : sparse or dense binary, shape (N, L), or lists of label ids, optional
        Labels of the training rows: they give the label weights and the buckets.
    inv_ps : array-like of float, shape (L,), optional
        Other inverse propensities than those of ``Y_train`` with the usual A and B.
    surrogate : fitted estimator, optional
        The model whose gradient an attack follows in place of the evaluated model's (a transfer attack).
    n_jobs : int, optional
        Number of threads of the perturbation; all cores when None.
    progress : :class:`xmlcore.progress.Progress` or "bar", optional
        Called after every block.
    on_ranking : callable, optional
        Called with the level and the ranking of all rows, once for each repeat, such as a :class:`FirstRight`.
    time_each_k : bool
        Predict once more for each smaller k, so that "predict_s" is known of all (figure 4 of the paper).

    Returns
    -------
    pandas.DataFrame
        A row for each value, with the columns

        - ``perturbation`` (str); ``sigma`` (float), the level; ``k`` (int); ``repeat`` (int, from 0)
        - ``bucket``: "all"; with ``Y_train`` also "head", "torso" and "tail" (:func:`xmlcore.datasets.describe`)
        - ``measure``. Of all labels: "P@k" and "nDCG@k"; with ``Y_train`` also "PSDCG@k (1/log)", weighted by
          :func:`xmlcore.metrics.inverse_log_frequency`, and "PSDCG@k" and "PSP@k", weighted by
          :func:`xmlcore.metrics.inverse_propensity`. Of a bucket: "P@k", of its labels only (the three add up to that
          of labels seen in training); and "micro R@k", the share of its true labels that are among the first k.
          Certificates have "certified" instead: the share of rows whose first label no change of norm ``sigma`` alters.
          With the largest k: "predict_s" and "perturb_s", wall-clock seconds to predict and to perturb all rows,
          without the compilation of kernels.
        - ``value`` (float); nan where there is nothing to measure
        - ``drop`` (float): (value at level 0 - value) / value at level 0, of the same repeat, k, bucket and measure;
          nan for times, and where it is not defined
    """
    progress = to_progress(progress)
    levels = [0.0, *filter(None, _distinct(sigmas, "sigmas", "level", check_number, 0.0, LARGEST_SIGMA))]
    ks = sorted(_distinct(ks, "ks", "place", check_count))
    if not ks:
        raise ValueError("ks is empty: give a value to measure at, such as 1")
    n_repeats = check_count(n_repeats, "n_repeats")
    if random_state is not None:
        random_state = check_count(random_state, "random_state", least=0)
    options = _check_options(perturbation, options, support)
    X, Y, Y_train = _check_data(model, X, Y, Y_train)
    attacked = model if surrogate is None else surrogate
    if surrogate is not None and not KINDS[perturbation].is_attack:
        attacks = ", ".join(ATTACKS)
        raise ValueError(f"{perturbation!r:.200} follows no gradient: surrogate is for the attacks ({attacks})")
    if KINDS[perturbation].needs == CERTIFICATE:
        radius = certified_radius(model, X, n_jobs, progress).radius
        shares = {level: float((radius >= level).mean()) for level in levels}
        records = [(CERTIFICATE, level, 1, 0, ALL, CERTIFIED, share, _drop(shares[0.0], share))
                   for level, share in shares.items()]  # fmt: skip
        return pd.DataFrame(records, columns=COLUMNS)
    changes = [make_perturbation(perturbation, level, **options) for level in levels[1:]]  # raises before the work
    measures = _Measures(Y, Y_train, ks, inv_ps)
    entropy = random_state if random_state is not None else np.random.SeedSequence().entropy
    entries = changes[-1].entries(X) if changes else X.shape[1]
    blocks = blocks_of_noisy_rows(X, entries, ATTACK_ROWS if KINDS[perturbation].is_attack else None)
    progress(PHASE, 0.0, "one row first, which compiles code")
    model.predict_topk(X[:1], k=ks[-1])  # so that measured times do not include the compilation of kernels
    if changes:
        model.predict_topk(changes[-1].apply(X[:1], [0], 0, model=attacked, Y=Y[:1], n_jobs=n_jobs), k=ks[-1])
    records = []
    for repeat in range(n_repeats):
        seed = _seed_of(entropy, repeat)
        clean = None
        for number, (level, change) in enumerate(zip(levels, [None, *changes])):

            def report(rows, repeat=repeat, number=number, level=level):
                passes = repeat * len(levels) + number + rows / X.shape[0]
                detail = f"repeat {repeat + 1} of {n_repeats}, level {level:g}: row {rows:,} of {X.shape[0]:,}"
                progress(PHASE, passes / (n_repeats * len(levels)), detail)

            timed = ks if time_each_k else ks[-1:]
            ranking, perturb_s, predict_s = _rank(model, X, Y, change, attacked, seed, blocks, timed, n_jobs, report)
            if on_ranking is not None:
                on_ranking(level, ranking)
            values = measures.of(ranking)
            clean = values if clean is None else clean
            for (bucket, name, k), value in values.items():
                drop = _drop(clean[bucket, name, k], value)
                records.append((perturbation, level, k, repeat, bucket, name, value, drop))
            times = [(PREDICTED, k, seconds) for k, seconds in predict_s.items()] + [(PERTURBED, ks[-1], perturb_s)]
            records += [(perturbation, level, k, repeat, ALL, name, s, np.nan) for name, k, s in times]
    return pd.DataFrame(records, columns=COLUMNS)


def summarise(frame: "DataFrame", level: float = 0.95) -> "DataFrame":
    """Return means over repeats with confidence intervals (Student's t).

    Parameters
    ----------
    frame : pandas.DataFrame
        From :func:`evaluate`; or several such frames concatenated, with further columns, such as ``run``, that tell
        them apart.
    level : float in (0, 1)
        Confidence level of the intervals.

    Returns
    -------
    pandas.DataFrame
        A row for each group of repeats, in the order of the frame. The columns are those of the frame without
        ``repeat``, ``value`` and ``drop``; ``n``, the number of repeats with a value; ``mean``, ``low`` and ``high`` of
        the value; ``drop_mean``, ``drop_low`` and ``drop_high`` of the drop. The ends of an interval are nan for fewer
        than two repeats.
    """
    check_frame(frame, COLUMNS, "evaluate")
    level = check_number(level, "level", 0.0, 1.0, above=True, below=True)
    keys = [name for name in frame.columns if name not in ("repeat", "value", "drop")]
    groups = frame.groupby(keys, sort=False, dropna=False)
    result = {}
    for column, prefix in (("value", ""), ("drop", "drop_")):
        statistics = groups[column].agg(["count", "mean", "std"])
        reach, mean = student_reach(statistics["count"], statistics["std"], level), statistics["mean"]
        result |= {} if prefix else {"n": statistics["count"]}
        result |= {f"{prefix}mean": mean, f"{prefix}low": mean - reach, f"{prefix}high": mean + reach}
    return statistics[[]].assign(**result).reset_index()


def _rank(model, X, Y, change, attacked, seed, blocks, ks, n_jobs, report) -> tuple[Ranking, float, dict]:
    """Return the ranking of all rows, perturbed unless ``change`` is None, and the seconds of both steps, by k."""
    labels = np.full((X.shape[0], ks[-1]), -1, np.int32)
    scores = np.zeros((X.shape[0], ks[-1]), np.float32)
    perturb_s, predict_s = 0.0, dict.fromkeys(ks, 0.0)
    report(0)
    for start, end in blocks if change is not None else [(0, X.shape[0])]:
        part = X[start:end]
        began = time.perf_counter()
        if change is not None:
            rows = np.arange(start, end, dtype=np.int64)
            part = change.apply(part, rows, seed, model=attacked, Y=Y[start:end], n_jobs=n_jobs)
            perturb_s += time.perf_counter() - began
        for k in ks:
            began = time.perf_counter()
            found = model.predict_topk(part, k=k)
            predict_s[k] += time.perf_counter() - began
        labels[start:end], scores[start:end] = found
        report(end)
    return Ranking(labels, scores), perturb_s, predict_s


def _seed_of(entropy, repeat) -> int:
    """Return the seed of a repeat, int: one of 63 random bits that depend on both arguments."""
    return int(np.random.SeedSequence([entropy, repeat]).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _drop(clean, value) -> float:
    return (clean - value) / clean if clean > 0 else np.nan


def _distinct(values, name, each, check, *bounds) -> list:
    """Return checked values of an argument; raise ValueError if one is there twice."""
    values = [check(value, f"every {each} in {name}", *bounds) for value in check_list(values, name)]
    if len(set(values)) < len(values):
        raise ValueError(f"{name} has a {each} twice: {values}")
    return values


def _check_options(kind, options, support) -> dict:
    """Return the arguments of the perturbation beside its level; raise for an unknown kind or support."""
    known = option_defaults(kind)
    check_support(support)
    check_is(options or {}, Mapping, "options", "a dict of further arguments")
    options = dict(options or {})
    if "support" in known:
        return {"support": support, **options}
    if support != "all":
        raise ValueError(f"{kind!r:.200} has no support: leave it at 'all'")
    return options


def _check_data(model, X, Y, Y_train):
    """Return X, Y and Y_train as checked CSR matrices; raise ValueError or TypeError if they do not fit together."""
    check_model(model)
    X = rows_for(model, X)
    if X.shape[0] == 0:
        raise ValueError("X has no rows: there is nothing to measure")
    n_labels = getattr(model, "n_labels_", None)
    Y = check_labels(Y, n_rows=X.shape[0], n_labels=n_labels)
    if Y_train is not None:
        Y_train = check_labels(Y_train, n_labels=Y.shape[1], name="Y_train")
        if Y_train.shape[0] == 0:
            raise ValueError("Y_train has no rows: label weights and buckets come from the training rows")
    return X, Y, Y_train


class _Measures:
    """The measures of rankings of the same rows, of all labels and of each bucket of labels."""

    def __init__(self, Y, Y_train, ks, inv_ps=None):
        self.Y, self.ks, self.weights, self.parts = Y, ks, None, {}
        if Y_train is not None:
            jain = metrics.inverse_propensity(Y_train) if inv_ps is None else inv_ps
            self.weights = jain, metrics.inverse_log_frequency(Y_train)
            bucket = label_buckets(np.bincount(Y_train.indices, minlength=Y_train.shape[1]))
            self.parts = {name: check_labels(Y.multiply(bucket == name)) for name in BUCKETS}

    def of(self, ranking: Ranking) -> dict:
        """Return the value of every measure by (bucket, measure, k)."""
        most, names = self.ks[-1], ["P@k", "nDCG@k"]
        if self.weights is None:
            found = metrics.measures(self.Y, ranking, most, names=names)
        else:
            jain, logarithmic = self.weights
            found = metrics.measures(self.Y, ranking, most, jain, [*names, "PSDCG@k", "PSP@k"])
            found["PSDCG@k (1/log)"] = metrics.psdcg_at_k(self.Y, ranking, most, inv_ps=logarithmic)
            names += ["PSDCG@k (1/log)", "PSDCG@k", "PSP@k"]
        values = {(ALL, name, k): float(found[name][k - 1]) for name in names for k in self.ks}
        for bucket, Y in self.parts.items():
            n_right = np.cumsum(metrics.hits(Y, ranking).sum(axis=0))
            for k in self.ks:
                values[bucket, "P@k", k] = float(n_right[k - 1] / (k * Y.shape[0]))
                values[bucket, "micro R@k", k] = float(n_right[k - 1] / Y.nnz) if Y.nnz else np.nan
        return values


def loss_table(
    summary: "DataFrame", level: float, measures: Sequence[str], ks: Sequence[int], n_rows: dict[str, Any]
) -> "DataFrame":
    """Return each measure without noise, with noise, and what is lost, as in Tables 4 and 5 of Date and Mehar, 2025."""
    check_frame(summary, _NEEDED, "summarise, of frames with a column run,", "summary")
    check_is(n_rows, Mapping, "n_rows", "a dict of the number of rows of each run")
    level, measures = check_number(level, "level"), check_names(measures, "measures")
    ks = [check_count(k, "every place in ks") for k in check_list(ks, "ks")]
    rows = summary[summary["bucket"] == "all"]
    lines = []
    for run in dict.fromkeys(rows["run"]):
        if run not in n_rows:
            raise ValueError(f"n_rows has no number of rows for the run {run!r:.200}")
        mine = rows[rows["run"] == run]
        times = mine[mine["measure"] == "predict_s"].set_index("sigma")["mean"]
        for k in ks:
            line = {"run": run, "k": k}
            for measure in measures:
                at = mine[(mine["measure"] == measure) & (mine["k"] == k)].set_index("sigma")
                if len(at):
                    clean, noisy = at["mean"].get(0.0, np.nan), at.reindex([level]).iloc[0]
                    line |= {f"{measure} clean": clean, measure: noisy["mean"], f"{measure} low": noisy["low"]}
                    line |= {f"{measure} high": noisy["high"], f"{measure} drop": noisy["drop_mean"]}
            line["ms per row clean"] = 1000 * times.get(0.0, np.nan) / n_rows[run]
            line["ms per row"] = 1000 * times.get(level, np.nan) / n_rows[run]
            lines.append(line)
    return pd.DataFrame(lines)


def values_under_noise(X: Matrix, noisy: Matrix, n: int, new: int = 2) -> "DataFrame":
    """Return n features of each row, of largest values, with their values without and with noise.

    At least ``new`` of them are features that only the noise gave the row, if there are so many.
    """
    X, noisy = _checked(X, noisy)
    n, new, parts = check_count(n, "n", 0), check_count(new, "new", 0), []
    for row in range(X.shape[0]):
        one = {"clean": X[[row]], "noisy": noisy[[row]]}
        both = pd.DataFrame({name: pd.Series(of.data, of.indices.astype(np.int64)) for name, of in one.items()})
        both, largest_first = both.sort_index(), {"key": np.abs, "ascending": False, "kind": "stable"}
        added = both[both["clean"].isna()].sort_values("noisy", **largest_first)
        kept = both[both["clean"].notna()].sort_values("clean", **largest_first)
        kept = kept.head(max(n - min(new, len(added)), 0))
        found = pd.concat([kept, added.head(n - len(kept))]).fillna(0.0).rename_axis("feature").reset_index()
        found.insert(0, "row", row)
        parts.append(found)
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["row", "feature", "clean", "noisy"])


def lengths(X: Matrix, noisy: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Return the Euclidean lengths of rows, and of the changes that noise has made to them: float64, shape (n,)."""
    from scipy.sparse.linalg import norm

    X, noisy = _checked(X, noisy)
    return norm(X, axis=1), norm(noisy - X, axis=1)


def _checked(X, noisy):
    """Return rows without and with noise as CSR matrices of float64: the square of a large float32 is infinite."""
    X, noisy = check_features(X, dtype=np.float64), check_features(noisy, name="noisy", dtype=np.float64)
    if X.shape != noisy.shape:
        raise ValueError(f"noisy has the shape {noisy.shape}, but X has {X.shape}: the same rows are needed, changed")
    return X, noisy
