"""The statistics of a data set and its labels: at once for most data sets, as a task for very large ones."""

import streamlit as st

from pages.shared import server, tasks
from xmlcore import experiment

AT_ONCE = 50_000_000  # bytes; a larger data set is described by a worker, which starts unasked


def description(fingerprint):
    """Return the description of a data set; None while a worker makes it, and then show its progress."""
    task = experiment.task("description", {"dataset": fingerprint})
    estimate = server.estimated(task)
    if estimate is None or estimate.bytes < AT_ONCE:
        return server.description(fingerprint)
    started = st.session_state.setdefault("tasks.started", set())
    if task.key not in started and not task.exists():
        started.add(task.key)
        tasks.start(task)
    result = tasks.ready(task, button="Count its labels")
    return None if result is None else server.description(fingerprint)
