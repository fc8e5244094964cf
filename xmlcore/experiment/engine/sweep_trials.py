"""Trials of a sweep: a model trained on a part of the training rows, and measured on others that are held out."""

from dataclasses import dataclass, field, replace

import numpy as np

from xmlcore.datasets import Dataset
from xmlcore.experiment.catalog import MODEL, N_ROWS, SEED, SETTINGS, K
from xmlcore.experiment.engine.task import Task, register
from xmlcore.experiment.kinds.train import run_and_model, with_changed
from xmlcore.experiment.kinds.trees import training
from xmlcore.parameters import Parameter
from xmlcore.progress import silent
from xmlcore.typing import DataFrame
from xmlcore.validation import check_count, check_dataset, check_number

LEAST_ROWS = 2  # training rows, and rows held out
VALIDATION = Parameter(
    "validation", "Held out", "Share of the training rows.", "float", 0.2,
    minimum=0.0, maximum=1.0, above_minimum=True, below_maximum=True,
)  # fmt: skip
# Errors of settings that do not go together, or not with the data. Others, such as a full memory, say nothing about
# the settings.
_OF_SETTINGS = (ValueError, TypeError, ArithmeticError, NotImplementedError)


@dataclass(frozen=True)
class Trial:
    """The result of one training of a sweep."""

    # columns `measure`, `k`, `value` (in [0, 1]), on the rows held out; None if training was not possible
    measures: "DataFrame | None"
    seconds: float  # time of the training and of predicting the rows held out
    # n_rows, n_held_out: rows trained on, and measured on
    n_rows: int
    n_held_out: int
    size: dict = field(default_factory=dict)  # as :attr:`Run.size`
    error: str = ""  # why these settings cannot be trained; empty if they can
    chosen: dict = field(default_factory=dict)  # as :attr:`Run.chosen`


def held_out(n_rows: int, share: float = 0.2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Hold out a random share of rows, to choose settings on."""
    n_rows, share = check_count(n_rows, "n_rows", 0), check_number(share, "share", 0.0, 1.0)
    order = np.random.default_rng(check_count(seed, "seed", 0)).permutation(n_rows)
    n_held = round(share * n_rows)
    return order[n_held:], np.sort(order[:n_held])


def check_held_out(n_rows: int, share: float) -> None:
    """Raise ValueError if a share of the training rows leaves too few to train or to measure on."""
    n_held = round(share * n_rows)
    if min(n_rows - n_held, n_held) < LEAST_ROWS:
        raise ValueError(
            f"of {n_rows:,} training rows, {share:g} held out leaves {n_rows - n_held:,} to train on and {n_held:,} to "
            f"measure on, and both need {LEAST_ROWS} or more: use a data set with more training rows, or another share"
        )


def without_held_out(dataset: "Dataset", share: float, seed: int, n_rows: int | None = None) -> "Dataset":
    """Return a data set whose test rows are training rows that are held out; the real test rows are not in it."""
    check_dataset(dataset)
    n_rows = None if n_rows is None else check_count(n_rows, "n_rows")
    check_held_out(dataset.n_train, check_number(share, "share", 0.0, 1.0))
    kept, held = held_out(dataset.n_train, share, seed)
    kept = np.sort(kept[:n_rows])
    X, Y = dataset.X_train, dataset.Y_train
    of_labels = {"label_names": dataset.label_names, "label_parents": dataset.label_parents}
    return Dataset(dataset.name, X[kept], Y[kept], X[held], Y[held], **of_labels)


@register
class TrainTrial(Task):
    """Train a model on a part of the training rows, and measure it on others that are held out."""

    kind, folder, result = "trial", "trials", Trial

    PARAMETERS = (MODEL, SETTINGS, K, replace(N_ROWS, minimum=LEAST_ROWS), VALIDATION, SEED)

    def title_on(self, dataset):
        rows = "" if self.params["n_rows"] is None else f"{self.params['n_rows']:,} rows of "
        return with_changed(f"Trying {self.params['model']} on {rows}{dataset}", self.params)

    def work(self):
        n_left = round((1 - self.params["validation"]) * self.sizes["n_train"])
        n_rows = min(self.params["n_rows"] or n_left, n_left)
        return training(self, self.params["model"], self.params["params"], n_rows=n_rows)

    def _took(self, value, seconds):
        return value["seconds"], 0  # few rows hardly tell the memory

    def run(self, progress=silent, files=None):
        p = self.params
        data = without_held_out(self.dataset(progress), p["validation"], p["seed"], p["n_rows"])
        value = {"measures": None, "seconds": 0.0, "n_rows": data.n_train, "n_held_out": data.n_test, "error": ""}
        try:
            made, _ = run_and_model(data, p["model"], p["params"], p["k"], progress)
        except _OF_SETTINGS as error:
            return value | {"error": " ".join(str(error).split()) or type(error).__name__}
        seconds = made.times["fit_s"] + made.times["predict_s"]
        return value | {"measures": made.measures, "seconds": seconds, "size": made.size, "chosen": made.chosen}
