"""Tasks of the Sampling page: not started where they need too much memory."""

import streamlit as st

from pages.shared import format, jobs, server, tasks
from xmlcore import store, system


def measured(task, needed: int, remedy: str, button: str, widget: str):
    free = too_large(needed)
    if free is None or task.exists() or jobs.active(key=task.key):
        return tasks.ready(task, button=button, key=f"sampling.measure.{widget}")
    st.error(
        f"This is not started: it needs about {format.size(needed)} of memory, {format.size(free)} are free, and "
        f"a task may take at most half of the free memory. {remedy}"
    )
    jobs.show_failures(jobs.failed(key=task.key))
    return None


def if_kept(task, *free):
    """Return the result of a task, also of an earlier version, or the newest whatever the parameters in ``free`` were.

    None if it cannot be read or there is none; nothing is started.
    """
    try:
        alike = sorted(tasks.made_alike(task, *free), key=lambda one: one.created) if free else ()
        key = alike[-1].key if alike else task.key if task.exists() else task.earlier()
        return key and server.loaded(task, key)
    except (store.StoreError, OSError):
        return None


def too_large(needed: float) -> int | None:
    """Return the free memory, in bytes, when ``needed`` is more than half of it; None otherwise, or when unknown."""
    free = system.free_bytes()
    return free if free is not None and needed > free / 2 else None
