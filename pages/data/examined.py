"""The closer examination of a data set: at once for most data sets, as a task for very large ones."""

from pages.shared import server, tasks
from xmlcore import datasets, experiment

AT_ONCE = 3.0  # seconds; a data set whose examination takes longer is examined by a worker


def examination(fingerprint):
    """Return the examination of a data set, or None; then a button that starts it, or its progress, is shown."""
    if _seconds(fingerprint) < AT_ONCE:
        return _examination(fingerprint)
    task = experiment.task("examine", {"dataset": fingerprint})
    result = tasks.ready(task, button="Examine the data set")
    return None if result is None else result.examination


def known(fingerprint):
    """Return the examination of a data set that :func:`examination` has returned, without drawing anything."""
    if _seconds(fingerprint) < AT_ONCE:
        return _examination(fingerprint)
    return server.loaded(experiment.task("examine", {"dataset": fingerprint})).examination


@server.shared()
def _seconds(fingerprint):
    return experiment.examining_seconds(server.dataset(fingerprint))


@server.shared("Examining the data set")
def _examination(fingerprint):
    return datasets.examine(server.dataset(fingerprint))


@server.shared()
def all_labels(fingerprint):
    """Return the labels of training and test rows as one matrix."""
    return datasets.all_labels(server.dataset(fingerprint))
