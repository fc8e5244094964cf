"""Every measure of a kept run, with intervals, for all labels and for each bucket of labels."""

from dataclasses import dataclass

import numpy as np

from xmlcore import metrics
from xmlcore.experiment.engine.inputs import kept_run
from xmlcore.experiment.engine.task import Estimate, Task, load, register
from xmlcore.experiment.engine.task_parameters import RANDOM_STATE
from xmlcore.first_use import pd
from xmlcore.metrics.buckets import BUCKETS, label_buckets
from xmlcore.parameters import Parameter
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.ranking import Ranking
from xmlcore.typing import DataFrame, Dataset
from xmlcore.validation import check_dataset

ALL = "all"
OF_BUCKETS = tuple(name for name, measure in metrics.MEASURES.items() if measure.of_some_labels)
COUNTS_A_SECOND = 2e9  # weighted counts of rows and labels that resampling adds up, on a slow machine


@dataclass(frozen=True)
class Measured:
    """Every measure of a kept run."""

    measures: "DataFrame"
    n_resamples: int  # resamples behind the intervals


def measure_ranking(
    ranking: Ranking,
    dataset: "Dataset",
    k: int = 5,
    n_resamples: int = metrics.RESAMPLES,
    random_state: int = 0,
    progress: ProgressLike = silent,
) -> "DataFrame":
    """Return every measure of a ranking of the test rows, with 95 % bootstrap intervals, and those of each bucket."""
    check_dataset(dataset)
    progress = to_progress(progress)
    buckets = label_buckets(np.bincount(dataset.Y_train.indices, minlength=dataset.n_labels))
    settings = {"n_resamples": n_resamples, "random_state": random_state}
    frames = []
    for at, bucket in enumerate((ALL, *BUCKETS)):
        progress("Drawing test rows again for intervals", at / (1 + len(BUCKETS)), f"{bucket} labels")
        if bucket == ALL:
            of = {"measures": list(metrics.MEASURES), "inv_ps": metrics.inverse_propensity(dataset.Y_train)}
        else:
            of = {"measures": OF_BUCKETS, "labels": buckets == bucket}
        frame = metrics.intervals(dataset.Y_test, ranking, k, **of, **settings)
        frame.insert(0, "bucket", bucket)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


@register
class MeasureRun(Task):
    """Take every measure of a kept run. Inputs: ``run``."""

    kind, folder, result, needs = "measures", "measures", Measured, ("run",)
    doing = "Measuring a result on {dataset}"

    PARAMETERS = (
        Parameter("n_resamples", "Resamples", "How many times rows are drawn.", "int", metrics.RESAMPLES, minimum=1),
        RANDOM_STATE,
    )

    def estimate(self) -> Estimate:
        run, dataset = load("train", self.inputs["run"]), self.dataset()
        counts = run.k * (40 * dataset.n_test + 10 * dataset.n_labels) + 4 * dataset.Y_test.nnz
        return Estimate(1.0 + self.params["n_resamples"] * counts / COUNTS_A_SECOND)

    def run(self, progress=silent, files=None):
        progress("Reading the result", 0.0)
        run = kept_run(self.inputs["run"], progress)
        frame = measure_ranking(run.ranking, self.dataset(), run.k, progress=progress, **self.params)
        return {"measures": frame, "n_resamples": self.params["n_resamples"]}
