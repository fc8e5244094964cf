"""The examination of a data set as a task."""

from making import kept

from xmlcore.datasets import examine, save_dataset


def test_the_task_keeps_what_the_function_computes(easy):
    found, expected = kept("examine", {"dataset": save_dataset(easy)}).load(), examine(easy)
    assert found.summary == expected.summary
    assert found.pairs.equals(expected.pairs) and found.features.equals(expected.features)
