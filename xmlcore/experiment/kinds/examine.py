"""The closer examination of a data set as a task, for large data sets."""

from dataclasses import dataclass

import numpy as np

from xmlcore.datasets import Dataset, Examination, examine
from xmlcore.datasets.statistics.frequencies import PowerLaw
from xmlcore.experiment.engine.task import Estimate, Task, register
from xmlcore.progress import silent
from xmlcore.validation import check_dataset


@dataclass(frozen=True)
class Examined:
    """The fields of :class:`xmlcore.datasets.Examination`, by name; the power law as a dict."""

    fields: dict

    @property
    def examination(self) -> "Examination":
        return Examination(**self.fields | {"power_law": PowerLaw(**self.fields["power_law"])})


def examining_seconds(dataset: "Dataset") -> float:
    """Return the estimated time of :func:`xmlcore.datasets.examine`, in seconds."""
    check_dataset(dataset)
    pairs = sum(float((np.diff(Y.indptr).astype(np.float64) ** 2).sum()) for Y in (dataset.Y_train, dataset.Y_test))
    return 0.1 + 1.5e-7 * (dataset.X_train.nnz + dataset.X_test.nnz) + 3e-8 * pairs


@register
class Examine(Task):
    """Examine a data set, see :func:`xmlcore.datasets.examine`. Inputs: ``dataset``. No parameters."""

    kind, folder, result, needs = "examine", "examinations", Examined, ("dataset",)
    version = 2  # without alternatives to the power law
    doing = "Examining {dataset}"

    def estimate(self) -> Estimate:
        dataset = self.dataset()
        stored = dataset.X_train.nnz + dataset.X_test.nnz
        return Estimate(seconds=0.5 + examining_seconds(dataset), bytes=60 * stored + (200 << 20))

    def run(self, progress=silent, files=None):
        examination = examine(self.dataset(progress), progress)
        return {"fields": examination._asdict() | {"power_law": examination.power_law._asdict()}}
