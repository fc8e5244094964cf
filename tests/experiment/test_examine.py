"""The examination of a data set as a task."""

from making import kept

from xmlcore import experiment
from xmlcore.datasets import examine, make_synthetic, save_dataset


def test_the_task_keeps_what_the_function_computes(easy):
    found, expected = kept("examine", {"dataset": save_dataset(easy)}).load().examination, examine(easy)
    assert found.summary == expected.summary and found.power_law == expected.power_law
    assert found.pairs.equals(expected.pairs) and found.features.equals(expected.features)


def test_larger_data_are_expected_to_take_longer(easy):
    large = make_synthetic(n_train=3000, n_test=500)
    assert experiment.examining_seconds(large) > experiment.examining_seconds(easy) > 0
