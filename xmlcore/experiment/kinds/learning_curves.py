"""Learning curves: measures after training on growing samples of the training rows, and a forecast by a power law."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from xmlcore import metrics
from xmlcore.datasets import Dataset, describe
from xmlcore.experiment.catalog import MODEL, SEEDS, SETTINGS, with_settings
from xmlcore.experiment.engine.task import Task, as_plain, register, task
from xmlcore.experiment.kinds.train import full_params, run_and_model, with_changed
from xmlcore.experiment.kinds.trees import training
from xmlcore.first_use import pd
from xmlcore.metrics.buckets import BUCKETS, UNSEEN
from xmlcore.parameters import Parameter, filled
from xmlcore.progress import ProgressLike, part_of, silent, to_progress
from xmlcore.ranking import KS
from xmlcore.typing import DataFrame
from xmlcore.validation import check_dataset

EXPONENTS = np.geomspace(0.05, 2.0, 48)  # values of c that are tried
LEAST_POINTS = 4  # numbers of rows with a measure that a forecast needs
RESAMPLES = 400
LEVEL = 0.95
BLOCK = 4_000_000  # most weights of rows in memory at a time
WIDEST = 0.1  # a forecast whose interval is wider says too little
SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0)
LEAST_ROWS = 10  # smaller samples are left out
PARTS = (*BUCKETS, UNSEEN)  # of labels: together, all
FORECAST = 2.0  # the forecast is for so many times the rows of the largest sample


@dataclass(frozen=True)
class Forecast:
    """Forecast of a measure for more rows."""

    n_rows: float  # number of rows of the forecast
    now: float  # the measure at the largest number of rows that was measured
    # value, low, high: forecast and its 95 % interval; NaN where there is none
    value: float
    low: float
    high: float
    # a, b, c: of the curve a - b n^-c
    a: float = math.nan
    b: float = math.nan
    c: float = math.nan
    reason: str = ""  # why there is no forecast; empty if there is one


def fit_curve(n_rows, values) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fit a - b n^-c to one or several curves by weighted least squares, with b at least 0 and a at most 1."""
    # A point weighs as much as it has rows: the variance that a sample of n rows causes is about proportional to 1 / n.
    n, values = np.asarray(n_rows, float), np.asarray(values, float)
    curves = np.atleast_2d(values)
    w = n / n.sum()
    x = (n / n.max())[None, :] ** -EXPONENTS[:, None]  # (C, P); n is scaled, so that x is about 1
    mean_x, mean_v = x @ w, curves @ w
    cov = (x * w) @ curves.T - mean_x[:, None] * mean_v
    b = np.maximum(0.0, -cov / ((x**2 @ w) - mean_x**2)[:, None])  # (C, B)
    a = mean_v + b * mean_x[:, None]
    bounded = ((x * w) @ (1.0 - curves).T) / (x**2 @ w)[:, None]  # b where a is 1
    b = np.where(a > 1.0, np.maximum(0.0, bounded), b)
    a = np.minimum(a, 1.0)
    fitted = a[:, :, None] - b[:, :, None] * x[:, None, :]
    best = ((fitted - curves) ** 2 @ w).argmin(axis=0)
    at = np.arange(curves.shape[0])
    c = EXPONENTS[best]
    found = a[best, at], b[best, at] * n.max() ** c, c
    return found if values.ndim == 2 else tuple(values_of[0] for values_of in found)


def curve_at(a, b, c, n) -> np.ndarray:
    return a - b * np.asarray(n, float) ** -np.asarray(c, float)


def forecast(n_rows, gains, n: float, best=None, random_state: int = 0) -> Forecast:
    """Forecast a measure for another number of rows."""
    # The curve is fitted to the means over seeds. For the interval, test rows and seeds are drawn again with
    # replacement, the scatter of the points around the curve is added, and the curve is fitted again. It is the
    # interval of the change from the last point, on the same test rows: what these test rows have in common at all
    # points cancels.
    n_rows, gains = np.asarray(n_rows, float), np.asarray(gains)
    P, S, T = gains.shape
    best = np.ones(T) if best is None else np.asarray(best, float)
    if best.sum() == 0:
        return _none(n, math.nan, "no test row has such a label")
    flat = gains.reshape(P * S, T)
    by_seed = (flat.sum(axis=1) / best.sum()).reshape(P, S)
    means = by_seed.mean(axis=1)
    if P < LEAST_POINTS:
        return _none(
            n, means[-1] if P else math.nan, f"{P} numbers of rows were measured, and {LEAST_POINTS} are needed"
        )
    a, b, c = fit_curve(n_rows, means)
    scatter = np.sqrt(((means - curve_at(a, b, c, n_rows)) ** 2 * n_rows).sum() / max(1, P - 3))  # times 1 / sqrt(n)
    rng = np.random.default_rng([random_state, 5])
    curves = _resampled(flat.astype(np.float32), best.astype(np.float32), P, S, rng)
    curves += rng.standard_normal(curves.shape) * scatter / np.sqrt(n_rows)
    # A curve need not be one power law from the first point on: fits without the first points show how far it is not.
    starts = range(max(1, P - LEAST_POINTS + 1))
    found = np.empty(len(curves))
    for start in starts:
        own = slice(start, None, len(starts))
        found[own] = curve_at(*fit_curve(n_rows[start:], curves[own, start:]), n) - curves[own, -1]
    spread = math.hypot(scatter / math.sqrt(n), past_error(n_rows, means, n))
    found += rng.standard_normal(found.size) * spread
    low, high = means[-1] + np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    value = float(curve_at(a, b, c, n))
    reason = _doubt(means, low, high, b)
    if reason:
        return _none(n, means[-1], reason)
    low, high = max(0.0, min(float(low), value)), min(1.0, max(float(high), value))
    return Forecast(float(n), float(means[-1]), value, low, high, float(a), float(b), float(c))


def past_error(n_rows, means, n: float) -> float:
    """Return how wrong forecasts of the last points were, each from the points before it, as a standard deviation."""
    # Errors grow with the distance that is forecast: each is multiplied by the ratio of the distance from the last
    # point to ``n``, on a logarithmic scale, to its own.
    errors = []
    for at in range(LEAST_POINTS - 1, len(n_rows)):
        error = means[at] - curve_at(*fit_curve(n_rows[:at], means[:at]), n_rows[at])
        errors.append(error * math.log(n / n_rows[-1]) / math.log(n_rows[at] / n_rows[at - 1]))
    return math.sqrt(np.mean(np.square(errors)))


def _resampled(flat, best, P, S, rng):
    """Return curves of means over seeds, (RESAMPLES, P), with test rows and seeds drawn again."""
    T = best.size
    parts = []
    for start in range(0, RESAMPLES, step := max(1, BLOCK // T)):
        weights = rng.poisson(1.0, (min(step, RESAMPLES - start), T)).astype(np.float32)
        parts.append((weights @ flat.T) / np.maximum(weights @ best, 1e-9)[:, None])
    values = np.concatenate(parts).reshape(-1, P, S).astype(np.float64)
    if S == 1:
        return values[:, :, 0]
    seeds = rng.integers(S, size=(values.shape[0], S))
    drawn = np.take_along_axis(values, seeds[:, None, :], axis=2).mean(axis=2)
    centre = values.mean(axis=2)
    return centre + (drawn - centre) * math.sqrt(S / (S - 1))  # means of few seeds vary less than they should


def _doubt(means, low, high, b) -> str:
    """Return why a curve allows no forecast; empty if it does."""
    if b == 0.0 or means[-1] <= means[0]:
        return "the measure does not rise with the rows"
    if high - low > WIDEST:
        return f"the points do not follow a curve closely enough (interval {100 * (high - low):.0f} points wide)"
    return ""


def _none(n, now, reason) -> Forecast:
    return Forecast(float(n), float(now), math.nan, math.nan, math.nan, reason=reason)


@dataclass(frozen=True)
class LearningCurve:
    """Measures by the number of training rows."""

    model: str
    params: dict
    seeds: list[int]
    shares: list[float]
    # n_train, n_test: rows of the data set
    n_train: int
    n_test: int
    # A line for each training and measure: `rows` (trained on), `seed`, `bucket` ("all", "head", "torso", "tail"),
    # `measure` ("P@k", only of all labels, or "Recall@k", the share of the true labels that are among the first k), `k`
    # (1, 3 or 5), `value` (in [0, 1]), `seconds` (of the training)
    frame: "DataFrame"
    # A line for each `bucket`, `measure` and `k`, with the fields of
    # :class:`xmlcore.experiment.kinds.learning_curves.Forecast` for twice the rows of the largest sample
    forecasts: "DataFrame"
    notes: list[str] = field(default_factory=list)  # trainings that were not possible
    seconds: float = 0.0

    def sentence(self, measure: str = "P@1", bucket: str = "all") -> str:
        """Return the forecast for twice the rows as a sentence."""
        name, _, k = measure.partition("@")
        lines = self.forecasts
        lines = lines[(lines["bucket"] == bucket) & (lines["measure"] == f"{name}@k") & (lines["k"] == int(k))]
        line = lines.iloc[0]
        of = "" if bucket == "all" else f" of {bucket} labels"
        if line["reason"]:
            return f"The effect of twice the rows on {measure}{of} cannot be forecast: {line['reason']}."
        now, value, low, high = (f"{100 * line[column]:.1f}" for column in ("now", "value", "low", "high"))
        return f"With twice the rows {measure}{of} is about {value} ({low} to {high}); now it is {now}."


def learning_curve(
    dataset: "Dataset",
    model: str = "PLT",
    params: dict[str, Any] | None = None,
    shares: Sequence[float] = SHARES,
    seeds: Sequence[int] = (0, 1, 2),
    progress: ProgressLike = silent,
) -> LearningCurve:
    """Train on growing samples of the training rows, measure on the same test rows, and forecast twice the rows.

    Parameters
    ----------
    dataset : Dataset
    model : str
        A key of :data:`MODELS`.
    params : dict, optional
        Parameters that differ from the defaults.
    shares : sequence of float
        Shares of the training rows, in (0, 1]. Samples of fewer than 10 rows are left out.
    seeds : sequence of int
        For each, rows are put in an order of their own, and smaller samples are the beginnings of larger ones. It is
        also the seed of the model.
    progress : :class:`xmlcore.progress.Progress` or "bar", optional

    Returns
    -------
    LearningCurve
        Buckets are by the labels' rows in the whole training data, as :func:`xmlcore.datasets.describe` has them.
    """
    check_dataset(dataset)
    progress = to_progress(progress)
    start = time.perf_counter()
    given = {"model": model, "params": params, "shares": shares, "seeds": seeds}
    _, params, shares, seeds = with_settings(filled(MeasureLearningCurve.PARAMETERS, given, "learning_curve")).values()
    sizes = sizes_of(dataset.n_train, shares)
    bucket, true = _buckets(dataset)
    gains = np.zeros((len(sizes), len(seeds), dataset.n_test, len(KS), len(PARTS)), np.uint8)
    seconds, failed, notes = np.full((len(sizes), len(seeds)), np.nan), set(), []
    whole = sum(sizes) * len(seeds)
    done = 0
    for at, size in enumerate(sizes):
        for number, seed in enumerate(seeds):
            part = part_of(progress, done / whole, (done + size) / whole, phase="Training on samples",
                           detail=f"rows: {size:,}, seed {seed}")  # fmt: skip
            done += size
            try:
                ranking, seconds[at, number] = _trained(dataset, model, params, size, seed, part)
            except (ValueError, ArithmeticError) as error:
                failed.add(at)
                notes.append(f"rows: {size:,}, seed {seed}: {' '.join(str(error).split())}")
                continue
            gains[at, number] = _found(dataset, ranking, bucket)
    kept = [at for at in range(len(sizes)) if at not in failed]
    gains, sizes, seconds = gains[kept], [sizes[at] for at in kept], seconds[kept]
    progress("Forecasting what more rows would give", 1.0)
    frame, forecasts = _frames(sizes, seeds, seconds, gains, true)
    return LearningCurve(
        model=model,
        params={name: value for name, value in params.items() if name != "random_state"},
        seeds=seeds,
        shares=shares,
        n_train=dataset.n_train,
        n_test=dataset.n_test,
        frame=pd.DataFrame(frame),
        forecasts=pd.DataFrame(forecasts),
        notes=notes,
        seconds=time.perf_counter() - start,
    )


def sizes_of(n_train: int, shares) -> list[int]:
    return sorted({size for share in shares if (size := round(share * n_train)) >= min(LEAST_ROWS, n_train)})


def _trained(dataset, model, params, size, seed, progress):
    seeded = params | ({"random_state": seed} if "random_state" in params else {})
    if size == dataset.n_train:  # the same as an ordinary result, which may be kept
        whole = task("train", {"dataset": dataset.fingerprint}, {"model": model, "params": seeded, "k": max(KS)})
        if whole.exists():
            run = whole.load()
            return run.ranking, run.times["fit_s"]
    rows = np.sort(np.random.default_rng([seed, 3]).permutation(dataset.n_train)[:size])
    sample = Dataset(dataset.name, dataset.X_train[rows], dataset.Y_train[rows], dataset.X_test, dataset.Y_test)
    run, _ = run_and_model(sample, model, seeded, max(KS), progress)
    return run.ranking, run.times["fit_s"]


def _buckets(dataset):
    """Return the bucket of each label, and for each test row its number of true labels in each part."""
    labels = describe(dataset).labels.sort_values("label")
    bucket = labels["bucket"].map({name: at for at, name in enumerate(PARTS)}).to_numpy(int)
    true = np.zeros((dataset.n_test, len(PARTS)))
    rows = np.repeat(np.arange(dataset.n_test), np.diff(dataset.Y_test.indptr))
    np.add.at(true, (rows, bucket[dataset.Y_test.indices]), 1)
    return bucket, true


def _found(dataset, ranking, bucket):
    """Return how many labels of each part are right among the first k of each test row, (n_test, len(KS), 4)."""
    hit = metrics.hits(dataset.Y_test, ranking, max(KS))
    of = bucket[np.maximum(ranking.labels[:, : max(KS)], 0)]
    of = np.pad(of, ((0, 0), (0, hit.shape[1] - of.shape[1])))
    each = hit[:, :, None] & (of[:, :, None] == np.arange(len(PARTS)))
    return each.cumsum(axis=1)[:, [k - 1 for k in KS]].astype(np.uint8)


def _frames(sizes, seeds, seconds, gains, true):
    frame, forecasts = [], []
    for name, measure, parts in (
        ("all", "P@k", slice(None)),
        ("all", "Recall@k", slice(None)),
        *((bucket, "Recall@k", slice(at, at + 1)) for at, bucket in enumerate(BUCKETS)),
    ):
        for place, k in enumerate(KS):
            gain = gains[:, :, :, place, parts].sum(axis=3)
            best = np.full(true.shape[0], float(k)) if measure == "P@k" else true[:, parts].sum(axis=1)
            about = {"bucket": name, "measure": measure, "k": k}
            values = gain.sum(axis=2) / best.sum() if best.any() else np.full(gain.shape[:2], math.nan)
            for (at, number), value in np.ndenumerate(values):
                line = {"rows": sizes[at], "seed": seeds[number], **about, "value": float(value)}
                frame.append(line | {"seconds": float(seconds[at, number])})
            made = forecast(sizes, gain, FORECAST * max(sizes, default=0), best)
            forecasts.append(about | made.__dict__)
    return frame, forecasts


@register
class MeasureLearningCurve(Task):
    """Train on growing samples of the training rows, and forecast the measures for twice the rows."""

    kind, folder, result, version = "learning_curve", "learning-curves", LearningCurve, 4

    PARAMETERS = (
        MODEL,
        SETTINGS,
        Parameter(
            "shares", "Shares", "Of the training rows.", "floats", SHARES, minimum=0.0, maximum=1.0, above_minimum=True
        ),
        SEEDS,
    )

    def complete(self, params):
        params["params"].pop("random_state", None)
        return params

    def title_on(self, dataset):
        return with_changed(f"Training {self.params['model']} on growing samples of {dataset}", self.params)

    def work(self):
        p, sizes = self.params, sizes_of(self.sizes["n_train"], self.params["shares"])
        largest = training(self, p["model"], full_params(p["model"], p["params"]), n_rows=max(sizes, default=1))
        return largest._replace(values=len(p["seeds"]) * sum(sizes) / max(sizes, default=1) * largest.values)

    def run(self, progress=silent, files=None):
        return as_plain(learning_curve(self.dataset(progress), progress=progress, **self.params))
