"""Learning curves: measures after training on growing samples of the training rows."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from xmlcore import metrics
from xmlcore.datasets import Dataset, describe
from xmlcore.experiment.catalog import MODEL, SEEDS, SETTINGS, with_settings
from xmlcore.experiment.engine.task import Task, register, task
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
    notes: list[str] = field(default_factory=list)  # trainings that were not possible
    seconds: float = 0.0


def learning_curve(
    dataset: "Dataset",
    model: str = "PLT",
    params: dict[str, Any] | None = None,
    shares: Sequence[float] = SHARES,
    seeds: Sequence[int] = (0, 1, 2),
    progress: ProgressLike = silent,
) -> LearningCurve:
    """Train on growing samples of the training rows, and measure on the same test rows.

    {arguments}

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
    gains = np.zeros((len(sizes), len(seeds), len(KS), len(PARTS)))
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
            hit, of = metrics.hits(dataset.Y_test, ranking), bucket[np.maximum(ranking.labels, 0)]
            gains[at, number] = [np.bincount(of[:, :k][hit[:, :k]], minlength=len(PARTS)) for k in KS]
    kept = [at for at in range(len(sizes)) if at not in failed]
    gains, sizes, seconds = gains[kept], [sizes[at] for at in kept], seconds[kept]
    return LearningCurve(
        model=model,
        params={name: value for name, value in params.items() if name != "random_state"},
        seeds=seeds,
        shares=shares,
        n_train=dataset.n_train,
        n_test=dataset.n_test,
        frame=pd.DataFrame(_lines(sizes, seeds, seconds, gains, true, dataset.n_test)),
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
    """Return the part of each label, and how many true labels each part has in the test rows."""
    labels = describe(dataset).labels.sort_values("label")
    bucket = labels["bucket"].map({name: at for at, name in enumerate(PARTS)}).to_numpy(int)
    return bucket, np.bincount(bucket[dataset.Y_test.indices], minlength=len(PARTS))


def _lines(sizes, seeds, seconds, gains, true, n_test):
    lines = []
    for name, measure, parts in (
        ("all", "P@k", slice(None)),
        ("all", "Recall@k", slice(None)),
        *((bucket, "Recall@k", slice(at, at + 1)) for at, bucket in enumerate(BUCKETS)),
    ):
        for place, k in enumerate(KS):
            best = k * n_test if measure == "P@k" else true[parts].sum()
            about = {"bucket": name, "measure": measure, "k": k}
            for (at, number), gain in np.ndenumerate(gains[:, :, place, parts].sum(axis=2)):
                line = {"rows": sizes[at], "seed": seeds[number], **about, "value": gain / best if best else math.nan}
                lines.append(line | {"seconds": float(seconds[at, number])})
    return lines


@register
class MeasureLearningCurve(Task):
    """Train on growing samples of the training rows."""

    kind, folder, result, version = "learning_curve", "learning-curves", LearningCurve, 5
    computes = staticmethod(learning_curve)

    PARAMETERS = (
        MODEL,
        SETTINGS,
        Parameter(
            "shares", "Shares", "Of the training rows.", "floats", SHARES, minimum=0.0, maximum=1.0, above_minimum=True,
            details="Samples of fewer than 10 rows are left out.",
        ),
        replace(SEEDS, details="Each orders the rows, and samples are beginnings. It is also the seed of the model."),
    )  # fmt: skip

    def complete(self, params):
        params["params"].pop("random_state", None)
        return params

    def title_on(self, dataset):
        return with_changed(f"Training {self.params['model']} on growing samples of {dataset}", self.params)

    def work(self):
        p, sizes = self.params, sizes_of(self.sizes["n_train"], self.params["shares"])
        largest = training(self, p["model"], full_params(p["model"], p["params"]), n_rows=max(sizes, default=1))
        return largest._replace(values=len(p["seeds"]) * sum(sizes) / max(sizes, default=1) * largest.values)
