"""What all sessions of one server process share: the job queue and what has been read from disk.

Values from here are shared objects: read them, never change them (but for the records of jobs, which only grow and
lose what is over).
"""

import streamlit as st

from xmlcore import datasets, experiment, jobs
from xmlcore.models import tree_frames
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
    """Return the table of a tree's nodes, without names: see xmlcore.models.tree_frames."""
    return _nodes(str(cache_root()), key, tree)


def prefixes(key: str):
    """Return the measures of parts of a model, by their own key."""
    return _prefixes(str(cache_root()), key)


def measures(key: str) -> tuple:
    """Return the measures and times of a run: little, where whole runs would be too much to keep many of."""
    return _measures(str(cache_root()), key)


# The cache's folder is part of each key: it is an environment variable, and tests change it.


@st.cache_resource(show_spinner=False)
def _queue(root: str) -> jobs.Queue:
    made = jobs.Queue()
    made.submit(jobs.warm_up, title="Compiling kernels", owner=SERVER, key=WARM_UP)
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
