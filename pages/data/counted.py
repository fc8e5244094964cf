"""The statistics of a data set and its labels: at once for most data sets, as a task for very large ones."""

import streamlit as st

from pages.shared import server, tasks
from xmlcore import experiment

AT_ONCE = 1.2  # seconds; a data set whose statistics take longer is described by a worker, which starts unasked


def description(fingerprint):
    """Return the description of a data set; None while a worker makes it, and then show its progress."""
    task = experiment.task("description", {"dataset": fingerprint})
    seconds = server.estimated_seconds(task)
    if seconds is None or seconds < AT_ONCE:
        return server.description(fingerprint)
    started = st.session_state.setdefault("tasks.started", set())
    if task.key not in started and not task.exists():
        started.add(task.key)
        tasks.start(task)
    result = tasks.ready(task, button="Count its labels")
    return None if result is None else server.description(fingerprint)
