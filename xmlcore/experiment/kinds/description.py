"""The statistics and the closer examination of a data set as tasks, for data sets that are very large."""

from xmlcore.datasets import Examination, describe, examine
from xmlcore.datasets.statistics.description import Description
from xmlcore.experiment.engine.task import Task, register
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
