"""Labels of training rows that are probably wrong or missing, and the data set that has the corrections."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from xmlcore import review
from xmlcore.experiment.catalog import SEED
from xmlcore.experiment.engine.task import Task, load, register
from xmlcore.experiment.kinds.prepare import MakesDataset
from xmlcore.experiment.kinds.train import estimator, full_params
from xmlcore.experiment.kinds.trees import training
from xmlcore.parameters import REQUIRED, Parameter
from xmlcore.progress import part_of, silent
from xmlcore.review.labelling import WAYS
from xmlcore.typing import DataFrame

PARTS = Parameter("parts", "Parts", "Each is scored by a model of the others.", "int", 5, minimum=2, maximum=20)
MOST = 20_000  # doubts that are kept


@dataclass(frozen=True)
class Review:
    """Doubts about the labels of training rows, by the settings of a kept run."""

    run_key: str
    doubts: "DataFrame"  # see review.doubts: the most doubtful ones
    n_doubts: int  # of all labels and candidates
    by_label: "DataFrame"  # see review.by_label, of all


@register
class FindDoubts(Task):
    """Find labels of training rows that are probably wrong or missing. Inputs: ``run``."""

    kind, folder, result, needs = "review", "reviews", Review, ("run",)
    doing = "Looking for wrong and missing labels of {dataset}"

    PARAMETERS = (PARTS, SEED)

    def work(self):
        run, parts = load("train", self.inputs["run"]), self.params["parts"]
        n_rows = round(self.sizes["n_train"] * (1 - 1 / parts))
        one = training(self, run.model, full_params(run.model, run.params | run.chosen), n_rows=n_rows)
        return one._replace(group=self.kind, values=parts * one.values)

    def run(self, progress=silent, files=None):
        run, data = load("train", self.inputs["run"]), self.dataset(progress)
        model = estimator(run.model, run.params | run.chosen)
        found = review.doubts(
            model, data.X_train, data.Y_train, self.params["parts"], random_state=self.params["seed"], progress=progress
        )
        return Review(self.inputs["run"], found.head(MOST), len(found), review.by_label(found))


@dataclass(frozen=True)
class RowsToLabel:
    """Training rows without labels that should be labelled next, by the settings of a kept run."""

    candidates: "DataFrame"  # see review.to_label
    n_unlabelled: int


@register
class ToLabel(Task):
    """Choose training rows without labels, by a model of the other rows. Inputs: ``run``."""

    kind, folder, result, needs = "to_label", "to-label", RowsToLabel, ("run",)
    doing = "Choosing rows of {dataset} to label"

    PARAMETERS = (
        Parameter("n", "Rows", "So many are chosen, at most.", "int", 500, minimum=1, maximum=10_000),
        Parameter(
            "by",
            "Chosen by",
            "See review.to_label.",
            "choice",
            "drawn",
            options=tuple(WAYS),
            option_names=tuple(WAYS.values()),
        ),
        SEED,
    )

    def work(self):
        run = load("train", self.inputs["run"])
        one = training(self, run.model, full_params(run.model, run.params | run.chosen))
        return one._replace(group=self.kind)

    def run(self, progress=silent, files=None):
        run, data = load("train", self.inputs["run"]), self.dataset(progress)
        has = np.diff(data.Y_train.indptr) > 0
        labelled, left = np.flatnonzero(has), np.flatnonzero(~has)
        model = estimator(run.model, run.params | run.chosen)
        model.fit(data.X_train[labelled], data.Y_train[labelled], progress=part_of(progress, 0.0, 0.8))
        found = review.to_label(
            model, data.X_train[left], self.params["n"], by=self.params["by"], random_state=self.params["seed"],
            progress=part_of(progress, 0.8, 1.0),
        )  # fmt: skip
        return RowsToLabel(found.assign(row=left[found["row"]]), left.size)


@register
class Correct(MakesDataset):
    """Keep a data set whose training rows have the labels of a reviewer. Inputs: ``dataset``."""

    kind, folder, needs = "correct", "corrected", ("dataset",)
    doing = "Correcting {dataset}"
    on_cluster = False  # it keeps a data set besides its result

    PARAMETERS = (
        Parameter(
            "decisions",
            "Decisions",
            "Lists of row, label and decision, and perhaps of who decided it and when; the last holds.",
            "any",
            REQUIRED,
        ),
    )

    def run(self, progress=silent, files=None):
        data = self.dataset(progress)
        Y = review.corrected(data.Y_train, [made[:3] for made in self.params["decisions"]])
        same = Y.multiply(data.Y_train).nnz
        note = (
            f"Corrected by a reviewer: {data.Y_train.nnz - same:,} labels removed, {Y.nnz - same:,} added. "
            "The Review page lists the decisions."
        )
        made: Any = replace(data, Y_train=Y)
        return self.saved(made, progress, "data with corrected labels", [note], n_labels=made.n_labels)
