"""The statistics and the closer examination of a data set as tasks, for data sets that are very large."""

from xmlcore.artifact_keys import plain
from xmlcore.datasets import Examination, describe, examine
from xmlcore.datasets.statistics.description import Description
from xmlcore.experiment.engine.task import Task, register
from xmlcore.progress import silent


@register
class DescribeLabels(Task):
    """Describe a data set and each of its labels, see :func:`xmlcore.datasets.describe`. Inputs: ``dataset``."""

    kind, folder, result, needs = "description", "descriptions", Description, ("dataset",)
    version = 2
    doing = "Counting the labels of {dataset}"

    @classmethod
    def view(cls, value):
        return Description(**value["fields"])

    def run(self, progress=silent, files=None):
        data = self.dataset(progress)
        progress("Counting labels", 0.2)
        about = describe(data)
        return {"fields": {"summary": plain(about.summary), "labels": about.labels, "spread": about.spread}}


@register
class Examine(Task):
    """Examine a data set, see :func:`xmlcore.datasets.examine`. Inputs: ``dataset``. No parameters."""

    kind, folder, result, needs = "examine", "examinations", Examination, ("dataset",)
    version = 2
    doing = "Examining {dataset}"

    @classmethod
    def view(cls, value):
        return Examination(*(value["fields"][name] for name in Examination._fields))  # earlier ones had further fields

    def work(self):
        work = super().work()
        return work._replace(bytes=int(60 * work.values) + (200 << 20))

    def run(self, progress=silent, files=None):
        return {"fields": examine(self.dataset(progress), progress)._asdict()}
