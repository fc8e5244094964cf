"""Kept runs and selections as inputs of tasks: damaged ones are made again."""

import warnings

from xmlcore import store
from xmlcore.experiment.engine.task import KINDS, DamagedResultWarning, Task, keep, load, task
from xmlcore.experiment.kinds.train import Run, load_run_model
from xmlcore.progress import Progress, silent

_CANNOT_BE_READ = (store.DamagedArtifactError, store.UnreadableArtifactError)


def kept_run(key: str, progress: Progress = silent) -> Run:
    return _read("train", key, progress, lambda key: load("train", key))


def kept_run_and_model(key: str, progress: Progress = silent):
    """Return a kept run and its fitted model; when one of them cannot be read, the run is first made again."""
    progress("Reading the model", 0.0)
    return _read("train", key, progress, lambda key: (load("train", key), load_run_model(key)))


def kept_selection(key: str, progress: Progress = silent):
    """Return a kept selection; when it cannot be read, it is first made again, as by :func:`kept_run_and_model`."""
    return _read("select", key, progress, lambda key: load("select", key))


def _read(kind, key, progress, read):
    """Return ``read(key)``; when the result cannot be read, return ``read`` of the result that is made again."""
    facts = store.info(KINDS[kind].folder, key)  # a damaged result is removed together with these facts
    try:
        return read(key)
    except _CANNOT_BE_READ as error:
        made = _task_of(kind, facts, error)
        warnings.warn(f"Made again: {error}", DamagedResultWarning, stacklevel=3)
    if made.key != key and made.exists():  # it has been made again by a later version
        try:
            return read(made.key)
        except _CANNOT_BE_READ:
            pass
    return read(keep(made, progress, again=True))


def _task_of(kind, facts, error) -> Task:
    """Return the task that made a result; raise ``error`` when the task is not known or is no longer possible."""
    try:
        return task(kind, facts["inputs"], facts["params"])
    except (ValueError, TypeError, KeyError):
        raise error from None
