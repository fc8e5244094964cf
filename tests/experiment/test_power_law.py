"""The test of a power law as a task."""

import numpy as np
import pytest
from making import kept

from xmlcore import experiment
from xmlcore.datasets import save_dataset
from xmlcore.datasets.statistics.power_law import goodness_of_fit


def test_the_task_keeps_what_the_function_computes(easy):
    task = kept("power_law", {"dataset": save_dataset(easy)}, n_samples=8, random_state=3)
    expected = goodness_of_fit(np.bincount(easy.Y_train.indices, minlength=12), n_samples=8, random_state=3)
    assert task.load().goodness == expected._asdict()


def test_another_parameter_is_refused_and_more_samples_take_longer(easy):
    of = {"dataset": save_dataset(easy)}
    with pytest.raises(ValueError):
        experiment.task("power_law", of, {"samples": 8})
    few, many = (experiment.task("power_law", of, {"n_samples": n}).estimate().seconds for n in (100, 1000))
    assert 5 < (many - 0.5) / (few - 0.5) < 15
