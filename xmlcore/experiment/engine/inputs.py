"""Kept runs and selections as inputs of tasks: damaged ones are made again."""

import warnings

from xmlcore import store
from xmlcore.experiment.engine.task import KINDS, DamagedResultWarning, Task, keep, load, task
from xmlcore.experiment.kinds.train import Run, load_run_model
from xmlcore.progress import Progress, silent
from xmlcore.store.places import read_record

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
    try:
        return read(key)
    except _CANNOT_BE_READ as error:
        maker = _maker(kind, key, error)
        warnings.warn(f"Made again: {error}", DamagedResultWarning, stacklevel=3)
    if maker.key != key and maker.exists():  # the result has been made again by a later version
        try:
            return read(maker.key)
        except _CANNOT_BE_READ:
            pass
    return read(keep(maker, progress, again=True))


def _maker(kind, key, error) -> Task:
    """Return the task that makes a result; raise ``error`` when the task is not known or is no longer possible."""
    try:
        facts = read_record(store.folder(KINDS[kind].folder, key))
        return task(kind, facts["inputs"], facts["params"])
    except (OSError, ValueError, TypeError, KeyError):
        raise error from None
