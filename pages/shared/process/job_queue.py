"""The job queue of a server process, and the owners of its jobs."""

import streamlit as st

from pages.shared.workspaces.records import DEFAULT_DATASET
from xmlcore import experiment, jobs
from xmlcore.models.compiling import COMPILING
from xmlcore.store import cache_root

WARM_UP = "warm-up"
SERVER = "server"  # owner of jobs that belong to no workspace
FIRST_VISIT = "first visit"  # owner of the job that makes the default data set before a workspace asks for it


def queue() -> jobs.Queue:
    return _queue(str(cache_root()))


def warm_up():
    """Return the job that compiles the kernels, or None when compiling was not needed or ended long ago."""
    return next(iter(queue().jobs(owner=SERVER)), None)


def compiling():
    """Return the job that compiles the kernels while it waits or runs, and None otherwise."""
    job = warm_up()
    return job if job is not None and job.active else None


def drivers() -> dict:
    return _shared(str(cache_root()), "drivers")


def past_states() -> dict:
    """Return the states of jobs that other server processes have run, by id."""
    return {job.id: job.state for job in queue().past()}


def job_records() -> dict:
    """Return copies of the workspaces' records of jobs, as the database may be deleted."""
    return _shared(str(cache_root()), "records")


def default_dataset() -> experiment.Task:
    return experiment.task("prepare", {}, {"name": DEFAULT_DATASET})


@st.cache_resource(show_spinner=False)
def _queue(root: str) -> jobs.Queue:
    made = jobs.Queue()
    task = default_dataset()
    if not task.exists():  # first in the queue: the first page needs the data set, and no kernel
        experiment.submit(made, task, owner=FIRST_VISIT)
    made.submit(experiment.warm_up, title=COMPILING, owner=SERVER, key=WARM_UP)
    return made


@st.cache_resource(show_spinner=False)
def _shared(root: str, name: str) -> dict:
    return {}
