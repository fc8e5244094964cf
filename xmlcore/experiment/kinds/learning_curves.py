"""Learning curves: measures on the test rows after training on growing samples of the training rows."""

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
from xmlcore.experiment.kinds.forecasting import forecast
from xmlcore.experiment.kinds.train import full_params, run_and_model, with_changed
from xmlcore.experiment.kinds.trees import training
from xmlcore.first_use import pd
from xmlcore.metrics.buckets import BUCKETS, UNSEEN
from xmlcore.parameters import Parameter, filled
from xmlcore.progress import ProgressLike, part_of, silent, to_progress
from xmlcore.ranking import KS
from xmlcore.typing import DataFrame
from xmlcore.validation import check_dataset

SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0)
LEAST_ROWS = 10  # smaller samples are left out
PARTS = (*BUCKETS, UNSEEN)  # of labels: together, all
FORECAST = 2.0  # the forecast is for so many times the rows of the largest sample


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
    # :class:`xmlcore.experiment.kinds.forecasting.Forecast` for twice the rows of the largest sample
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
