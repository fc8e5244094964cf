"""The statistics of a data set and of its labels as a task, for data sets that are very large."""

from dataclasses import dataclass

from xmlcore.artifact_keys import plain
from xmlcore.datasets import describe
from xmlcore.datasets.statistics.description import Description
from xmlcore.experiment.engine import estimates
from xmlcore.experiment.engine.task import Estimate, Task, register
from xmlcore.progress import silent


@dataclass(frozen=True)
class Described:
    """The fields of :class:`xmlcore.datasets.statistics.description.Description`, by name."""

    fields: dict

    @property
    def description(self) -> "Description":
        return Description(**self.fields)


@register
class DescribeLabels(Task):
    """Describe a data set and each of its labels, see :func:`xmlcore.datasets.describe`. Inputs: ``dataset``."""

    kind, folder, result, needs = "description", "descriptions", Described, ("dataset",)
    doing = "Counting the labels of {dataset}"

    def estimate(self) -> Estimate:
        return estimates.statistics(self.fingerprint)

    def run(self, progress=silent, files=None):
        data = self.dataset(progress)
        progress("Counting labels", 0.2)
        about = describe(data)
        return {"fields": {"summary": plain(about.summary), "labels": about.labels, "spread": about.spread}}
