"""What all sessions of one server process share: the job queue and what has been read from disk.

Values from here are shared objects: read them, never change them (but for the records of jobs, which only grow and
lose what is over).
"""

import json

import streamlit as st

from xmlcore import datasets, experiment, explain, jobs, metrics
from xmlcore.models.ldsm import frames as tree_frames
from xmlcore.robustness import ValueScale
from xmlcore.selection import frames as selected_frames
from xmlcore.store import cache_root

WARM_UP = "warm-up"
SERVER = "server"  # owner of jobs that belong to nobody's workspace


def queue() -> jobs.Queue:
    """Return the one job queue of this process. The first call starts compiling kernels in the background."""
    return _queue(str(cache_root()))


def warm_up():
    """Return the job that compiles the kernels, or None when it was never needed or is long gone."""
    return next(iter(queue().jobs(owner=SERVER)), None)


def job_records() -> dict:
    """Return what workspaces noted about the jobs of :func:`queue`, by id: theirs may be deleted with the cache."""
    return _job_records(str(cache_root()))


def dataset(fingerprint: str) -> datasets.Dataset:
    return _dataset(str(cache_root()), fingerprint)


def description(fingerprint: str):
    """Return describe(dataset)."""
    return _description(str(cache_root()), fingerprint)


def run(key: str) -> experiment.Run:
    return _run(str(cache_root()), key)


def model(key: str):
    """Return the fitted model of a run."""
    return _model(str(cache_root()), key)


def nodes(key: str, tree: int):
    """Return the table of a tree's nodes, without names: see xmlcore.models.ldsm.frames."""
    return _nodes(str(cache_root()), key, tree)


def prefixes(key: str):
    """Return the measures of parts of a model, by their own key."""
    return _prefixes(str(cache_root()), key)


def contributions(key: str, row: int, label: int):
    """Return what each feature of a test row adds to a label's score, without names: see xmlcore.explain."""
    return _contributions(str(cache_root()), key, row, label)


def path(key: str, row: int, label: int):
    """Return the nodes on a test row's way to a label."""
    return _path(str(cache_root()), key, row, label)


def label_importance(key: str, label: int, at_most: int) -> explain.LabelImportance:
    """Return the features that contribute most to a label, over rows that have it."""
    return _label_importance(str(cache_root()), key, label, at_most)


def label_names(fingerprint: str):
    """Return a table of all labels, most frequent first: ``label``, ``name``."""
    return _label_names(str(cache_root()), fingerprint)


def robustness(key: str):
    """Return what noise did to a run, by its own key."""
    return _robustness(str(cache_root()), key)


def explanations(key: str):
    """Return what was measured of a run's explanations, by its own key."""
    return _explanations(str(cache_root()), key)


def sampling(key: str):
    """Return what other numbers of double sampling bring, by their own key."""
    return _sampling(str(cache_root()), key)


def one_class(key: str) -> tuple[float, float]:
    """Return accuracy and macro-F1 of a run's first predictions."""
    return _one_class(str(cache_root()), key)


def by_bucket(key: str):
    """Return accuracy and macro-F1 of a run's first predictions of head, torso and tail classes."""
    return _by_bucket(str(cache_root()), key)


def scale(fingerprint: str) -> ValueScale:
    """Return how large the values of the test rows are."""
    return _scale(str(cache_root()), fingerprint)


def measures(key: str) -> tuple:
    """Return the measures and times of a run: little, where whole runs would be too much to keep many of."""
    return _measures(str(cache_root()), key)


def selection(key: str) -> experiment.Selection:
    return _selection(str(cache_root()), key)


def selection_estimate(fingerprint: str, method: str, params: dict) -> dict:
    """Return what a selection is about to take: see xmlcore.experiment. ValueError for settings it cannot have."""
    return _selection_estimate(str(cache_root()), fingerprint, method, json.dumps(params, sort_keys=True))


def label_features(key: str, label: int):
    """Return the features that a label keeps, without names: see xmlcore.selection.frames."""
    return _label_features(str(cache_root()), key, label)


def selection_heat(key: str, labels: tuple, most_features: int):
    """Return how much features matter to some labels, without names."""
    return _selection_heat(str(cache_root()), key, labels, most_features)


def selection_groups(key: str, n_groups: int) -> tuple:
    """Return groups of labels and features, without names, and how many of both are in them."""
    return _selection_groups(str(cache_root()), key, n_groups)


def closest_labels(key: str) -> tuple:
    """Return pairs of labels with most in common, how many labels were compared, the mean overlap and share."""
    return _closest_labels(str(cache_root()), key)


def selection_union(key: str) -> int:
    """Return how many features are kept by any label."""
    return _selection_union(str(cache_root()), key)


def judged(key: str) -> experiment.Judged:
    return _judged(str(cache_root()), key)


def stability(key: str) -> experiment.Stability:
    return _stability(str(cache_root()), key)


def reduced(key: str) -> experiment.Reduced:
    return _reduced(str(cache_root()), key)


# The cache's folder is part of each key: it is an environment variable, and tests change it.


@st.cache_resource(show_spinner=False)
def _queue(root: str) -> jobs.Queue:
    made = jobs.Queue()
    made.submit(experiment.warm_up, title="Compiling kernels", owner=SERVER, key=WARM_UP)
    return made


@st.cache_resource(show_spinner=False)
def _job_records(root: str) -> dict:
    return {}


@st.cache_resource(show_spinner="Loading the data set", max_entries=4)
def _dataset(root: str, fingerprint: str) -> datasets.Dataset:
    return datasets.load_saved(fingerprint)


@st.cache_resource(show_spinner="Counting labels", max_entries=4)
def _description(root: str, fingerprint: str):
    return datasets.describe(_dataset(root, fingerprint))


@st.cache_resource(show_spinner=False, max_entries=1000)
def _measures(root: str, key: str) -> tuple:
    loaded = _run(root, key)
    return loaded.measures, loaded.times


@st.cache_resource(show_spinner="Loading the result", max_entries=12)
def _run(root: str, key: str) -> experiment.Run:
    return experiment.load_run(key)


@st.cache_resource(show_spinner="Loading the model", max_entries=3)
def _model(root: str, key: str):
    return experiment.load_run_model(key)


@st.cache_resource(show_spinner=False, max_entries=40)
def _nodes(root: str, key: str, tree: int):
    return tree_frames.nodes_frame(_model(root, key).trees_[tree])


@st.cache_resource(show_spinner=False, max_entries=20)
def _prefixes(root: str, key: str):
    return experiment.load_prefixes(key)


@st.cache_resource(show_spinner=False, max_entries=60)
def _robustness(root: str, key: str):
    return experiment.load_robustness(key)


@st.cache_resource(show_spinner=False, max_entries=20)
def _explanations(root: str, key: str):
    return experiment.load_explanations(key)


@st.cache_resource(show_spinner=False, max_entries=20)
def _sampling(root: str, key: str):
    return experiment.load_sampling(key)


@st.cache_resource(show_spinner=False, max_entries=100)
def _one_class(root: str, key: str) -> tuple[float, float]:
    found = _run(root, key)
    Y, first = _dataset(root, found.fingerprint).Y_test, found.ranking.labels[:, 0]
    return metrics.accuracy(Y, first), metrics.macro_f1(Y, first)


@st.cache_resource(show_spinner=False, max_entries=100)
def _by_bucket(root: str, key: str):
    found = _run(root, key)
    data = _dataset(root, found.fingerprint)
    buckets = _description(root, found.fingerprint).labels["bucket"].to_numpy()
    return metrics.first_class_by_bucket(data.Y_test, found.ranking.labels[:, 0], buckets)


@st.cache_resource(show_spinner=False, max_entries=20)
def _scale(root: str, fingerprint: str) -> ValueScale:
    return ValueScale.of(_dataset(root, fingerprint).X_test)


@st.cache_resource(show_spinner=False, max_entries=100)
def _contributions(root: str, key: str, row: int, label: int):
    data = _dataset(root, _run(root, key).fingerprint)
    return explain.contributions(_model(root, key), data.X_test[[row]], label)


@st.cache_resource(show_spinner=False, max_entries=100)
def _path(root: str, key: str, row: int, label: int):
    data = _dataset(root, _run(root, key).fingerprint)
    return explain.path(_model(root, key), data.X_test[[row]], label)


@st.cache_resource(show_spinner="Explaining rows with the label", max_entries=60)
def _label_importance(root: str, key: str, label: int, at_most: int) -> explain.LabelImportance:
    data = _dataset(root, _run(root, key).fingerprint)
    return explain.label_importance(_model(root, key), data, label, at_most)


@st.cache_resource(show_spinner="Loading the selection", max_entries=6)
def _selection(root: str, key: str) -> experiment.Selection:
    return experiment.load_selection(key)


@st.cache_resource(show_spinner=False, max_entries=200)
def _selection_estimate(root: str, fingerprint: str, method: str, params: str) -> dict:
    return experiment.selection_estimate(_dataset(root, fingerprint), method, json.loads(params))


@st.cache_resource(show_spinner=False, max_entries=100)
def _label_features(root: str, key: str, label: int):
    found = _selection(root, key)
    data = _dataset(root, found.fingerprint)
    parts = (found.selected, found.selected_scores, found.standard_error)
    return selected_frames.label_frame(*parts, label, data.X_train, data.Y_train)


@st.cache_resource(show_spinner="Ordering labels and features", max_entries=12)
def _selection_heat(root: str, key: str, labels: tuple, most_features: int):
    found = _selection(root, key)
    parts = (found.selected, found.selected_scores, found.n_features)
    return selected_frames.heat_frame(*parts, labels, most_features)


@st.cache_resource(show_spinner="Grouping labels and features", max_entries=12)
def _selection_groups(root: str, key: str, n_groups: int) -> tuple:
    found = _selection(root, key)
    order = _label_names(root, found.fingerprint)["label"].to_numpy()
    return selected_frames.group_frame(found.selected, found.n_features, order, n_groups)


@st.cache_resource(show_spinner="Comparing labels", max_entries=12)
def _closest_labels(root: str, key: str) -> tuple:
    found = _selection(root, key)
    order = _label_names(root, found.fingerprint)["label"].to_numpy()
    return selected_frames.closest_pairs(found.selected, found.n_features, order=order)


@st.cache_resource(show_spinner=False, max_entries=50)
def _selection_union(root: str, key: str) -> int:
    return experiment.union_of(_selection(root, key).selected).size


@st.cache_resource(show_spinner=False, max_entries=40)
def _judged(root: str, key: str) -> experiment.Judged:
    return experiment.load_judged(key)


@st.cache_resource(show_spinner=False, max_entries=40)
def _stability(root: str, key: str) -> experiment.Stability:
    return experiment.load_stability(key)


@st.cache_resource(show_spinner=False, max_entries=40)
def _reduced(root: str, key: str) -> experiment.Reduced:
    return experiment.load_reduced(key)


@st.cache_resource(show_spinner=False, max_entries=4)
def _label_names(root: str, fingerprint: str):
    return _description(root, fingerprint).labels.sort_values("rank", kind="stable")[["label", "name"]]
