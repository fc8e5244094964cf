"""Values read or computed once, which all sessions of a server process share.

Values from here are shared objects: read them, never change them.
"""

import contextlib
import functools
import json

import streamlit as st

from pages.shared.process import in_memory
from xmlcore import datasets, experiment, robustness, store
from xmlcore.experiment.engine import times
from xmlcore.models.ldsm import frames as tree_frames
from xmlcore.store import cache_root


def shared(show_spinner: str = "", most: int = in_memory.MOST):
    """Decorate a function of texts, numbers and lists of them: its last ``most`` values are kept for all sessions."""

    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args):
            def make():
                with st.spinner(show_spinner) if show_spinner else contextlib.nullcontext():
                    return function(*args)

            # The cache's folder is part of each key: it is an environment variable, and tests change it.
            names = (str(cache_root()), *(tuple(one) if isinstance(one, list) else one for one in args))
            return in_memory.values.get(function, names, make, most)

        return wrapper

    return decorate


_result = shared("Loading the result")(experiment.load)
_dataset = shared("Loading the data set")(datasets.load_saved)
model = shared("Loading the model")(experiment.load_run_model)


def forget() -> None:
    """Forget all values of functions made by :func:`shared`: a result that they were made from has been replaced."""
    in_memory.values.forget()


def loaded(task):
    """Return the kept result of a task."""
    return loaded_by_key(task.kind, task.key)


def loaded_by_key(kind: str, key: str):
    value = _result(kind, key)
    store.used(experiment.KINDS[kind].folder, key)  # also when it was in memory
    return value


def estimated_seconds(task) -> float | None:
    """Return how long a task took here before, in proportion; None when that is not known."""
    estimate = estimated(task)
    return None if estimate is None else estimate.seconds


def estimated(task) -> experiment.Estimate | None:
    """Return the estimate of a task; None when its data set or run cannot be read."""
    try:
        return _estimated(json.dumps(task.to_record(), sort_keys=True), times.changed())
    except (store.StoreError, OSError):
        return None


@shared()
def _estimated(record, learned_at):
    return experiment.from_record(json.loads(record)).estimate()


def run(key: str) -> experiment.Run:
    return loaded_by_key("train", key)


def selection(key: str) -> experiment.Selection:
    return loaded_by_key("select", key)


def dataset(fingerprint: str) -> datasets.Dataset:
    data = _dataset(fingerprint)
    with contextlib.suppress(OSError):
        datasets.save_dataset(data)
    store.used("datasets", fingerprint)
    return data


@shared("Counting labels")
def description(fingerprint: str):
    """Return describe(dataset), which a worker may have kept."""
    task = experiment.task("description", {"dataset": fingerprint})
    with contextlib.suppress(store.StoreError, OSError):
        if task.exists():
            return loaded(task)
    return datasets.describe(dataset(fingerprint))


@shared()
def nodes(key: str, tree: int):
    return tree_frames.nodes_frame(model(key).trees_[tree])


@shared()
def label_names(fingerprint: str):
    return description(fingerprint).labels.sort_values("rank", kind="stable")[["label", "name"]]


@shared()
def measures(key: str) -> tuple:
    """Return the measures and times of a run, which stay in memory when the run itself has been forgotten."""
    loaded = run(key)
    return loaded.measures, loaded.times


@shared()
def value_scale(fingerprint: str) -> robustness.ValueScale:
    return robustness.ValueScale.of(dataset(fingerprint).X_test)


@shared()
def has_negative_values(fingerprint: str) -> bool:
    """Return whether a feature value of the training rows of a data set is negative."""
    values = dataset(fingerprint).X_train.data
    return bool(values.size and values.min() < 0)
