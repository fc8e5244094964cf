"""Whether a power law is a plausible distribution of the frequencies of labels."""

from dataclasses import dataclass

import numpy as np

from xmlcore.datasets.statistics.power_law import goodness_of_fit
from xmlcore.experiment.engine.task import Estimate, Task, register
from xmlcore.experiment.engine.task_parameters import RANDOM_STATE
from xmlcore.parameters import Parameter
from xmlcore.progress import silent


@dataclass(frozen=True)
class PowerLawTest:
    """The result of :func:`xmlcore.datasets.statistics.power_law.goodness_of_fit`."""

    goodness: dict  # the fields of :class:`xmlcore.datasets.statistics.power_law.Goodness`, by name


@register
class CheckPowerLaw(Task):
    """Test whether the training rows per label follow a power law."""

    kind, folder, result, needs = "power_law", "power-law", PowerLawTest, ("dataset",)
    doing = "Testing the power law of {dataset}"

    PARAMETERS = (
        Parameter("n_samples", "Samples", "Data sets that are drawn from the power law.", "int", 1000, minimum=1),
        RANDOM_STATE,
    )

    def estimate(self) -> Estimate:
        counts = self._counts()
        tails = np.unique(counts).size  # each of which is fitted, to at most so many counts
        each = 3e-7 * counts.size + 3e-5 * tails + 6e-8 * tails**2 + 4e-3
        return Estimate(seconds=0.5 + self.params["n_samples"] * each)

    def run(self, progress=silent, files=None):
        progress("Reading the data set", 0.0)
        goodness = goodness_of_fit(self._counts(), progress=progress, **self.params)
        return {"goodness": goodness._asdict()}

    def _counts(self):
        return self.dataset().Y_train.sum(axis=0)
