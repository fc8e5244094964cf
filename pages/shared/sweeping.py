"""Sweeps of this workspace: their records, and the threads of the server that carry them out.

A record has ``key`` (of the sweep's task), ``fingerprint`` (of the data set), ``params`` (of the task), ``asked`` (when
it was started, in seconds since 1970) and ``stopped`` (whether the user stopped it).
"""

import json
import time

import streamlit as st

from pages.shared import actions, format, server, workspace
from xmlcore import experiment, store
from xmlcore.experiment.sweep_drive import Driver
from xmlcore.jobs import default_workers
from xmlcore.store import cache_root

EVERY = 1.5  # seconds between two updates of a sweep's progress
MOST_LISTED = 20  # sweeps of one data set that the workspace remembers


def kept(fingerprint: str) -> list:
    """Return the records of sweeps on a data set, newest first."""
    return [record for record in workspace.get("sweeps") if record["fingerprint"] == fingerprint][::-1]


def task_of(record: dict):
    """Return the task of a sweep; ValueError or TypeError if its settings no longer exist."""
    return _task(json.dumps({name: record[name] for name in ("fingerprint", "params")}, sort_keys=True))


@server.shared(max_entries=50)
def _task(record):
    """Return the task of a sweep that is given as JSON; it remembers its trials' tasks."""
    record = json.loads(record)
    wanted = {"kind": "sweep", "inputs": {"dataset": record["fingerprint"]}, "params": record["params"]}
    return experiment.from_record(wanted)


def start(task) -> None:
    """List a sweep in the workspace, and carry it out unless its result is kept or it runs already."""
    if workspace.refuse():
        return
    record = {"key": task.key, "fingerprint": task.fingerprint, "params": task.params, "asked": time.time()}

    def add(data):
        """Put the record at the end of the list; the oldest ones of its data set go."""
        others = [one for one in data["sweeps"] if one["key"] != task.key]
        same = [one for one in others if one["fingerprint"] == record["fingerprint"]]
        dropped = [one["key"] for one in same[: max(0, len(same) + 1 - MOST_LISTED)]]
        data["sweeps"] = [one for one in others if one["key"] not in dropped] + [record | {"stopped": False}]

    workspace.update(add)
    drivers = _drivers(str(cache_root()))
    driver, owners = drivers.get(task.key, (None, set()))
    if driver is not None and driver.active and not driver.stopping:
        drivers[task.key] = driver, owners | {workspace.token()}
    elif not task.exists() or server.loaded(task).lost:
        server.forget()  # values in memory may come from the result that will be replaced
        driver = Driver(task, server.queue(), owner=workspace.token(), at_once=default_workers())
        drivers[task.key] = driver, {workspace.token()}


def stop(record: dict) -> None:
    """Stop a sweep for this workspace; one that another session needs too goes on without us."""
    if workspace.refuse():
        return

    def change(data):
        """Note that the user stopped it."""
        for one in data["sweeps"]:
            if one["key"] == record["key"]:
                one["stopped"] = True

    workspace.update(change)
    drivers = _drivers(str(cache_root()))
    driver, owners = drivers.get(record["key"], (None, set()))
    owners = owners - {workspace.token()}
    if driver is not None:
        drivers[record["key"]] = driver, owners
        if not owners:
            driver.stop()


def driver_of(record: dict) -> Driver | None:
    """Return the thread that carries out a sweep; None if this server process has none."""
    return _drivers(str(cache_root())).get(record["key"], (None, set()))[0]


def state(record: dict) -> str:
    """Return "done", "running", "stopping", "stopped", "failed", or "interrupted" if the app has ended meanwhile."""
    driver = driver_of(record)
    if driver is not None and driver.active:
        return "stopping" if driver.stopping else "stopped" if record.get("stopped") else "running"
    if store.exists(experiment.KINDS["sweep"].folder, record["key"]):
        return "done"
    if driver is not None and driver.error:
        return "failed"
    return "stopped" if record.get("stopped") else "interrupted"


def running() -> list:
    """Return the records of this workspace's sweeps that run."""
    return [record for record in workspace.get("sweeps") if state(record) == "running"]


def watch_all() -> None:
    """Show how far the sweeps of this workspace are, in few lines, for the sidebar."""
    if running():
        st.fragment(_few_lines, run_every=EVERY)()


def _few_lines() -> None:
    """Show a line and a bar for each sweep that runs."""
    for record in running():
        task = task_of(record)
        plan = task.plan(driver_of(record).failures)
        name = workspace.get("known").get(record["fingerprint"], {}).get("name", "a data set")
        st.caption(f"{format.plain(task.title_on(name))}  \n{plan.done:,} of {plan.total:,} trainings")
        st.progress(plan.done / plan.total)
        actions.button("Stop", key=f"stop-sweep-side-{record['key']}", on_click=stop, args=(record,))


@st.cache_resource(show_spinner=False)
def _drivers(root: str) -> dict:
    """Return the threads that carry out sweeps of a cache folder, with the workspaces that want them, by key."""
    return {}
