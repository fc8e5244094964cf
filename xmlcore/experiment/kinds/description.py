"""The statistics, the closer examination and the maps of a data set as tasks, for data sets that are very large."""

from dataclasses import dataclass

import numpy as np

from xmlcore.datasets import Examination, describe, examine, map_of
from xmlcore.datasets.statistics.description import Description
from xmlcore.datasets.statistics.maps import OF
from xmlcore.experiment.catalog import RANDOM_STATE
from xmlcore.experiment.engine.task import Task, register
from xmlcore.parameters import Parameter
from xmlcore.progress import silent


@register
class DescribeLabels(Task):
    """Describe a data set and each of its labels, see :func:`xmlcore.datasets.describe`. Inputs: ``dataset``."""

    kind, folder, result, needs = "description", "descriptions", Description, ("dataset",)
    version = 3
    doing = "Counting the labels of {dataset}"

    def run(self, progress=silent, files=None):
        data = self.dataset(progress)
        progress("Counting labels", 0.2)
        return describe(data)


@register
class Examine(Task):
    """Examine a data set, see :func:`xmlcore.datasets.examine`. Inputs: ``dataset``. No parameters."""

    kind, folder, result, needs = "examine", "examinations", Examination, ("dataset",)
    version = 3
    doing = "Examining {dataset}"

    @classmethod
    def view(cls, value):
        return Examination(**value)

    def work(self):
        work = super().work()
        return work._replace(bytes=int(60 * work.values) + (200 << 20))

    def run(self, progress=silent, files=None):
        return examine(self.dataset(progress), progress)._asdict()


@dataclass(frozen=True)
class Map:
    """Places of rows or labels in the plane, see :func:`xmlcore.datasets.map_of`."""

    places: np.ndarray


@register
class MakeMap(Task):
    """Make a map of a data set, see :func:`xmlcore.datasets.map_of`. Inputs: ``dataset``."""

    kind, folder, result, needs = "map", "maps", Map, ("dataset",)
    doing = "Making a map of the {of} of {dataset}"
    PARAMETERS = (
        Parameter("of", "Map of", "Labels lie where their rows are.", "choice", "rows", options=tuple(OF)),
        RANDOM_STATE,
    )

    def work(self):
        work = super().work()
        return work._replace(bytes=2 * work.bytes + (300 << 20))

    def run(self, progress=silent, files=None):
        return {"places": map_of(self.dataset(progress), progress=progress, **self.params)}
