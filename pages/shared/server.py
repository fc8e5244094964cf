"""What all sessions of one server process share: the job queue and what has been read from disk.

Values from here are shared objects: read them, never change them (but for the records of jobs, which only grow and
lose what is over).
"""

import functools
import json

import streamlit as st

from xmlcore import datasets, experiment, explain, jobs, metrics, store
from xmlcore.models.ldsm import frames as tree_frames
from xmlcore.robustness import ValueScale
from xmlcore.selection import frames as selected_frames
from xmlcore.store import cache_root

WARM_UP = "warm-up"
SERVER = "server"  # owner of jobs that belong to nobody's workspace
_values = []  # all functions made by shared


def shared(max_entries: int, show_spinner: bool | str = False):
    """Decorate a function of texts and numbers: its values are kept for all sessions.

    Parameters
    ----------
    max_entries : int
        Values kept at most.
    show_spinner : bool or str
        What the page says while a value is made.
    """

    def decorate(function):
        # The cache's folder is part of each key: it is an environment variable, and tests change it.
        def of_root(root, *args):
            return function(*args)

        of_root.__module__, of_root.__qualname__ = function.__module__, function.__qualname__  # Streamlit's own key
        kept = st.cache_resource(of_root, show_spinner=show_spinner, max_entries=max_entries)
        _values.append(kept)
        return functools.wraps(function)(lambda *args: kept(str(cache_root()), *args))

    return decorate


def forget() -> None:
    """Forget all values of functions made by :func:`shared`: a result that they were made from has been replaced."""
    for kept in _values:
        kept.clear()


def queue() -> jobs.Queue:
    """Return the one job queue of this process. The first call starts compiling kernels in the background."""
    return _queue(str(cache_root()))


def warm_up():
    """Return the job that compiles the kernels, or None when it was never needed or is long gone."""
    return next(iter(queue().jobs(owner=SERVER)), None)


def job_records() -> dict:
    """Return what workspaces noted about the jobs of :func:`queue`, by id: theirs may be deleted with the cache."""
    return _job_records(str(cache_root()))


@st.cache_resource(show_spinner=False)
def _queue(root: str) -> jobs.Queue:
    made = jobs.Queue()
    made.submit(experiment.warm_up, title="Compiling kernels", owner=SERVER, key=WARM_UP)
    return made


@st.cache_resource(show_spinner=False)
def _job_records(root: str) -> dict:
    return {}


# --- results of tasks ---


def loaded(task):
    """Return the kept result of a task; raises what ``task.load()`` raises."""
    return loaded_by_key(task.kind, task.key)


def loaded_by_key(kind: str, key: str):
    """Return a kept result of a kind of task by its key; raises as :func:`loaded` does."""
    return (_large if kind in ("train", "select") else _small)(kind, key)


@shared(max_entries=16, show_spinner="Loading the result")
def _large(kind, key):
    return experiment.load(kind, key)


@shared(max_entries=100)
def _small(kind, key):
    return experiment.load(kind, key)


def estimated_seconds(task) -> float | None:
    """Return how long a task is expected to take; None where what it is made from cannot be read."""
    try:
        return _estimated_seconds(json.dumps(task.to_record(), sort_keys=True))
    except (store.StoreError, OSError):
        return None


@shared(max_entries=500)
def _estimated_seconds(record):
    return experiment.from_record(json.loads(record)).estimate().seconds


def run(key: str) -> experiment.Run:
    """Return a run that is kept."""
    return loaded_by_key("train", key)


def selection(key: str) -> experiment.Selection:
    """Return a selection that is kept."""
    return loaded_by_key("select", key)


# --- what is made from data sets and results ---


@shared(max_entries=4, show_spinner="Loading the data set")
def dataset(fingerprint: str) -> datasets.Dataset:
    return datasets.load_saved(fingerprint)


@shared(max_entries=4, show_spinner="Counting labels")
def description(fingerprint: str):
    """Return describe(dataset)."""
    return datasets.describe(dataset(fingerprint))


@shared(max_entries=3, show_spinner="Loading the model")
def model(key: str):
    """Return the fitted model of a run."""
    return experiment.load_run_model(key)


@shared(max_entries=40)
def nodes(key: str, tree: int):
    """Return the table of a tree's nodes, without names: see xmlcore.models.ldsm.frames."""
    return tree_frames.nodes_frame(model(key).trees_[tree])


@shared(max_entries=100)
def contributions(key: str, row: int, label: int):
    """Return what each feature of a test row adds to a label's score, without names: see xmlcore.explain."""
    data = dataset(run(key).fingerprint)
    return explain.contributions(model(key), data.X_test[[row]], label)


@shared(max_entries=100)
def path(key: str, row: int, label: int):
    """Return the nodes on a test row's way to a label."""
    data = dataset(run(key).fingerprint)
    return explain.path(model(key), data.X_test[[row]], label)


@shared(max_entries=60, show_spinner="Explaining rows with the label")
def label_importance(key: str, label: int, at_most: int) -> explain.LabelImportance:
    """Return the features that contribute most to a label, over rows that have it."""
    data = dataset(run(key).fingerprint)
    return explain.label_importance(model(key), data, label, at_most)


@shared(max_entries=4)
def label_names(fingerprint: str):
    """Return a table of all labels, most frequent first: ``label``, ``name``."""
    return description(fingerprint).labels.sort_values("rank", kind="stable")[["label", "name"]]


@shared(max_entries=100)
def one_class(key: str) -> tuple[float, float]:
    """Return accuracy and macro-F1 of a run's first predictions."""
    found = run(key)
    Y, first = dataset(found.fingerprint).Y_test, found.ranking.labels[:, 0]
    return metrics.accuracy(Y, first), metrics.macro_f1(Y, first)


@shared(max_entries=100)
def by_bucket(key: str):
    """Return accuracy and macro-F1 of a run's first predictions of head, torso and tail classes."""
    found = run(key)
    data = dataset(found.fingerprint)
    buckets = description(found.fingerprint).labels["bucket"].to_numpy()
    return metrics.first_class_by_bucket(data.Y_test, found.ranking.labels[:, 0], buckets)


@shared(max_entries=20)
def scale(fingerprint: str) -> ValueScale:
    """Return how large the values of the test rows are."""
    return ValueScale.of(dataset(fingerprint).X_test)


@shared(max_entries=1000)
def measures(key: str) -> tuple:
    """Return the measures and times of a run: little, where whole runs would be too much to keep many of."""
    loaded = run(key)
    return loaded.measures, loaded.times


@shared(max_entries=200)
def selection_estimate(fingerprint: str, method: str, params: dict) -> dict:
    """Return what a selection is about to take: see xmlcore.experiment. ValueError for settings it cannot have."""
    return experiment.selection_estimate(dataset(fingerprint), method, params)


@shared(max_entries=100)
def label_features(key: str, label: int):
    """Return the features that a label keeps, without names: see xmlcore.selection.frames."""
    found = selection(key)
    data = dataset(found.fingerprint)
    parts = (found.selected, found.selected_scores, found.standard_error)
    return selected_frames.label_frame(*parts, label, data.X_train, data.Y_train)


@shared(max_entries=12, show_spinner="Ordering labels and features")
def selection_heat(key: str, labels: tuple, most_features: int):
    """Return how much features matter to some labels, without names."""
    found = selection(key)
    parts = (found.selected, found.selected_scores, found.n_features)
    return selected_frames.heat_frame(*parts, labels, most_features)


@shared(max_entries=12, show_spinner="Grouping labels and features")
def selection_groups(key: str, n_groups: int) -> tuple:
    """Return groups of labels and features, without names, and how many of both are in them."""
    found = selection(key)
    order = label_names(found.fingerprint)["label"].to_numpy()
    return selected_frames.group_frame(found.selected, found.n_features, order, n_groups)


@shared(max_entries=12, show_spinner="Comparing labels")
def closest_labels(key: str) -> tuple:
    """Return pairs of labels with most in common, how many labels were compared, the mean overlap and share."""
    found = selection(key)
    order = label_names(found.fingerprint)["label"].to_numpy()
    return selected_frames.closest_pairs(found.selected, found.n_features, order=order)


@shared(max_entries=50)
def selection_union(key: str) -> int:
    """Return how many features are kept by any label."""
    return experiment.union_of(selection(key).selected).size


# --- until all pages call tasks.shown ---


def robustness(key):
    return loaded_by_key("robustness", key)


def explanations(key):
    return loaded_by_key("explanations", key)


def sampling(key):
    return loaded_by_key("sampling", key)


def judged(key):
    return loaded_by_key("compare_selections", key)


def stability(key):
    return loaded_by_key("selection_stability", key)


def reduced(key):
    return loaded_by_key("reduced", key)
