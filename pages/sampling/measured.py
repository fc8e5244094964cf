"""Tasks of the Sampling page: not started where they need too much memory."""

import streamlit as st

from pages.shared import format, jobs, server, tasks
from pages.shared.process import room
from pages.shared.workspaces import workspace
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


def if_kept(task):
    """Return the result of a task, also of an earlier version, when it can be read, else None; nothing is started."""
    try:
        key = task.key if task.exists() else task.earlier()
        return key and server.loaded_by_key(task.kind, key)
    except (store.StoreError, OSError):
        return None


def before(task):
    """Return the newest study of the same result in this workspace that varies the same; None without any."""
    own, varied = (
        {key for _, key in workspace.get("made")},
        {name for name, value in task.params.items() if value == []},
    )
    kept = [
        one
        for one in room.inventory().artifacts.values()
        if one.kind == task.folder and one.key in own and one.inputs == task.inputs
        and {name for name, value in one.record["params"].items() if value == []} == varied
    ]  # fmt: skip
    newest = max(kept, key=lambda one: one.created, default=None)
    try:
        return newest and server.loaded_by_key(task.kind, newest.key)
    except (store.StoreError, OSError):
        return None


def too_large(needed: float) -> int | None:
    """Return the free memory, in bytes, when ``needed`` is more than half of it; None otherwise, or when unknown."""
    free = system.free_bytes()
    return free if free is not None and needed > free / 2 else None
