"""The statistics of a data set and its closer examination: at once for most data sets, as tasks for very large ones."""

from pages.shared import cached, tasks
from xmlcore import datasets, experiment

AT_ONCE = 50_000_000  # bytes; a larger data set is described by a worker, which starts unasked
EXAMINED_AT_ONCE = 20_000_000  # values; a data set with more is examined by a worker


def description(fingerprint):
    """Return the description of a data set; None while a worker makes it, and then show its progress."""
    task = experiment.task("description", {"dataset": fingerprint})
    estimate = cached.estimated(task)
    if estimate is None or estimate.bytes < AT_ONCE:
        return cached.description(fingerprint)
    if not task.exists() and tasks.once(task.key):
        tasks.start(task)
    result = tasks.ready(task, button="Count its labels")
    return None if result is None else cached.description(fingerprint)


def examination(fingerprint):
    """Return the examination of a data set, or None; then a button that starts it, or its progress, is shown."""
    task = experiment.task("examine", {"dataset": fingerprint})
    estimate = cached.estimated(task)
    if estimate is None or estimate.values < EXAMINED_AT_ONCE:
        return _examination(fingerprint)
    return tasks.ready(task, button="Examine the data")


@cached.shared("Examining the data set")
def _examination(fingerprint):
    return datasets.examine(cached.dataset(fingerprint))


@cached.shared()
def all_labels(fingerprint):
    return datasets.all_labels(cached.dataset(fingerprint))
