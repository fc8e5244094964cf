"""Sweeps of this workspace: their records, and the threads of the server that carry them out.

A record has ``key`` (of the sweep's task), ``fingerprint`` (of the data set), ``params`` (of the task), ``asked`` (when
it was started, in seconds since 1970), ``stopped`` (whether the user stopped it) and ``seconds`` (that it was expected
to take when it was started; None or absent if that is not known).
"""

import json
import threading
import time

import streamlit as st

from pages.shared import actions, cached, format, fragments, jobs
from pages.shared.operator import audit
from pages.shared.process import job_queue
from pages.shared.workspaces import workspace
from xmlcore import experiment, store
from xmlcore.experiment.engine.sweep_drive import Driver
from xmlcore.jobs import default_workers

_changing = threading.Lock()  # sessions, which start and stop sweeps, have threads of their own
MOST_LISTED = 20  # sweeps of one data set that the workspace remembers


def kept(fingerprint: str) -> list:
    return [record for record in workspace.get("sweeps") if record["fingerprint"] == fingerprint][::-1]


def task_of(record: dict):
    """Return the task of a sweep; ValueError or TypeError if its settings no longer exist."""
    return _task(json.dumps({name: record[name] for name in ("fingerprint", "params")}, sort_keys=True))


@cached.shared(most=50)
def _task(record):
    """Return the task of a sweep that is given as JSON; it remembers its trials' tasks."""
    record = json.loads(record)
    wanted = {"kind": "sweep", "inputs": {"dataset": record["fingerprint"]}, "params": record["params"]}
    return experiment.from_record(wanted)


def start(task) -> None:
    """List a sweep in the workspace, and carry it out unless its result is kept or it runs already."""
    if jobs.is_refused(task, name({"fingerprint": task.fingerprint, "params": task.params})):
        return
    audit.note("job", kind=task.kind, key=task.key, data=task.fingerprint)
    record = {"key": task.key, "fingerprint": task.fingerprint, "params": task.params, "asked": time.time()}
    estimate = cached.estimated(task)
    record |= {"stopped": False, "seconds": estimate and estimate.seconds}

    def add(data):
        """Put the record at the end of the list; the oldest ones of its data set go."""
        others = [other for other in data["sweeps"] if other["key"] != task.key]
        same = [other for other in others if other["fingerprint"] == record["fingerprint"]]
        dropped = [other["key"] for other in same[: max(0, len(same) + 1 - MOST_LISTED)]]
        data["sweeps"] = [other for other in others if other["key"] not in dropped] + [record]

    workspace.update(add)
    owner, queue, drivers = workspace.token(), job_queue.queue(), job_queue.drivers()
    with _changing:
        driver = drivers.get(task.key)
        if driver is not None and driver.active and not driver.stopping:
            driver.owners = driver.owners | {owner}
        elif not task.exists() or cached.loaded(task).lost:
            cached.forget()  # values in memory may come from the result that will be replaced
            for key, other in list(drivers.items()):  # of those that have ended, the kept results say all
                if not other.active and store.exists(experiment.KINDS["sweep"].folder, key):
                    del drivers[key]
            drivers[task.key] = Driver(task, queue, owner, lambda: max(default_workers(), queue.slots), driver)


def stop(record: dict) -> None:
    """Stop a sweep for this workspace; one that another session needs too goes on without us."""

    def change(data):
        for other in data["sweeps"]:
            if other["key"] == record["key"]:
                other["stopped"] = True

    workspace.update(change)
    owner, driver = workspace.token(), driver_of(record)
    with _changing:
        if driver is None or owner not in driver.owners:
            return
        if driver.owners == {owner}:
            driver.stop()
            return
        driver.owners = driver.owners - {owner}
    driver.let_go(owner)  # it goes on for the others


def is_paused() -> bool:
    """Return whether no job of this workspace starts, so that its sweeps rest."""
    return job_queue.queue().paused(workspace.token())


def buttons(record: dict, where: str) -> None:
    """Show the button of a running sweep, which stops it; ``where`` is a part of its key."""
    key, stopping = f"stop-sweep-{where}-{record['key']}", state(record) == "stopping"
    actions.button("Stop", key=key, on_click=stop, args=(record,), disabled=stopping)


def driver_of(record: dict) -> Driver | None:
    """Return the thread that carries out a sweep; None if this server process has none."""
    return job_queue.drivers().get(record["key"])


def plan(record: dict):
    driver = driver_of(record)
    return task_of(record).plan(None if driver is None else driver.failures)


def state(record: dict) -> str:
    """Return "done", "running", "stopping", "stopped", "failed", or "interrupted" if the app has ended meanwhile."""
    driver = driver_of(record)
    if driver is not None and driver.active:
        return "stopping" if driver.stopping else "stopped" if record.get("stopped") else "running"
    folder = experiment.KINDS["sweep"].folder
    if store.exists(folder, record["key"]):
        return "done"
    if driver is not None and driver.error:
        return "failed"
    return "stopped" if record.get("stopped") else "interrupted"


def running() -> list:
    return [record for record in workspace.get("sweeps") if state(record) == "running"]


def trainings(record: dict) -> list:
    driver = driver_of(record)
    return [] if driver is None else [job for job in list(driver.jobs.values()) if job.active]


def interrupted() -> list:
    """Return the records of this workspace's sweeps that the end of the app has interrupted."""
    known = workspace.get("known")
    records = [record for record in workspace.get("sweeps") if record["fingerprint"] in known]
    return [record for record in records if state(record) == "interrupted"]


def name(record: dict) -> str:
    return task_of(record).title_on(workspace.get("known").get(record["fingerprint"], {}).get("name", "a data set"))


def waits(record: dict) -> str:
    """Return what the next training of a sweep waits for, in words; empty if one runs."""
    active = trainings(record)
    if not active or any(job.state == "running" or job.starting for job in active):
        return ""
    return active[0].words


def time_left(record: dict, plan) -> str:
    """Return about how long the trials go on, by the settings of those that are left, or that they rest."""
    if is_paused():
        return ", paused"
    running = [job for job in trainings(record) if job.state == "running"]
    try:
        task = task_of(record)
        left = task.seconds_left(plan)
    except (store.StoreError, OSError):  # its data set is gone
        return ""
    if left is None:
        return ""
    left -= sum(job.elapsed for job in running) / max(len(running), 1)
    return f", about {format.roughly(max(left, 1.0))} left"


def watch_all() -> None:
    """Show the sweeps of this workspace that the page does not show itself, in few lines, for the sidebar."""
    before = facts()
    if before:
        fragments.redraw_once(lambda: facts() != before)
    for record in elsewhere():
        st.caption(format.plain(name(record)))
        show_progress(record)
        buttons(record, "side")


def elsewhere() -> list:
    """Return the records of :func:`running` that the page, which has been drawn, does not show itself."""
    return [record for record in running() if record["key"] not in st.session_state[workspace.WATCHED]]


def facts() -> list:
    """Return the state of the sweeps, on which the lines and their buttons depend."""
    return [record["key"] for record in running()]


def show_progress(record: dict, more=lambda record, plan: "") -> None:
    """Show how many trainings of a sweep are done, and the text of ``more(record, trials)``."""

    def draw(place):
        trials = plan(record)
        text = f"{trials.done:,} of {trials.total:,} trainings{more(record, trials)}"
        place.progress(trials.done / max(trials.total, 1), text=format.plain(text))

    fragments.live(draw)
