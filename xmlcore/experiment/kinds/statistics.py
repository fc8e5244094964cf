"""Statistics of data sets, kept so that several data sets can be compared without loading them."""

from dataclasses import dataclass

from xmlcore.experiment.engine import estimates
from xmlcore.experiment.engine.task import Estimate, Task, plain, register
from xmlcore.progress import silent


@dataclass(frozen=True)
class DatasetStatistics:
    """The numbers that describe a data set, by name: see :func:`xmlcore.datasets.describe`."""

    summary: dict


@register
class Describe(Task):
    """Compute the statistics of a data set. Inputs: ``dataset``. No parameters."""

    kind, folder, result = "statistics", "statistics", DatasetStatistics

    def title_on(self, dataset):
        return f"Computing statistics of {dataset}"

    def estimate(self) -> Estimate:
        return estimates.statistics(self.fingerprint)

    def run(self, progress=silent, files=None):
        from xmlcore.datasets import describe

        progress("Counting labels and features", 0.0)
        return {"summary": plain(describe(self.dataset()).summary)}
