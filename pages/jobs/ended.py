"""Jobs that have ended, or were interrupted by the end of the server: how, their logs, and a start once more."""

import contextlib
import math

import pandas as pd
import streamlit as st

from pages.jobs import live
from pages.shared import actions, fields, format, jobs, sweeping, tables, tasks
from pages.shared.process import job_queue
from pages.shared.workspaces import workspace
from xmlcore import experiment, store
from xmlcore.jobs import parts_of
from xmlcore.jobs.job import WORDS

MOST = 100  # lines of the table
NAMED = 5  # interrupted jobs that are named
CHOSEN = "jobs.ended"
COLUMNS = {
    "State": tables.text("State", 120, "Gave way: to other work, as nobody waited for it."),
    "Took": tables.number("Took", 90, help="From its start to its end; of a sweep, of all its trainings together."),
    "Job": tables.text("Job"),
    "Ended": tables.moments("Ended"),
    "Memory": tables.number("Memory", 90, help="The most that its worker process had, with the program itself."),
}
UNITS = {"Took": format.duration, "Memory": format.size}
NEEDS_FILES = ("read", "read_texts")  # kinds of tasks whose files are gone when they have ended


def show() -> None:
    pairs = listed()
    if not pairs:
        return
    titles, lines = _titles(pairs), {}
    for _, job in pairs:
        lines.setdefault(_line(job), []).append(job)
    took = {
        line: sum((job.ended - job.started).total_seconds() for job in own if job.started and job.ended)
        for line, own in lines.items()
    }
    shown = dict(list(lines.items())[:MOST])
    sweeps = {record["key"]: record for record in workspace.get("sweeps")}
    frame = pd.DataFrame([_facts(titles[line], own, took[line], sweeps.get(line)) for line, own in shown.items()])
    tables.show(frame, "jobs.table", COLUMNS, signs=UNITS)
    counted = format.showing(len(shown), len(lines), "job")
    st.caption(f"{counted} of the last 30 days, the newest first; {format.duration(sum(took.values()))} of work.")
    by_id = {job.id: (title, job) for title, job in pairs if _line(job) in shown}
    texts = fields.told_apart({job_id: f"{title} ({_state(job)})" for job_id, (title, job) in by_id.items()})
    about = {"format_func": texts.get, "placeholder": "Choose a job to see its log", "key": CHOSEN}
    chosen = st.selectbox("Log of a job", list(by_id), index=None, **about)
    if chosen in by_id:
        _details(*by_id[chosen])


def _line(job) -> str:
    """Return the key of the line of a job: the trainings of a sweep share one."""
    return job.group or job.id


def _state(job) -> str:
    return WORDS["gave way" if hasattr(job, "plan") and job.plan.unasked and job.gave_way else job.state]


def _titles(pairs) -> dict:
    titles = {_line(job): title.split(":")[0] if job.group else title for title, job in pairs}
    for record in workspace.get("sweeps"):
        if record["key"] in titles:
            with contextlib.suppress(store.StoreError, ValueError, TypeError):  # a setting no longer exists
                titles[record["key"]] = sweeping.name(record)
    return titles


def _facts(title, own, took, sweep=None) -> dict:
    states = pd.Series([_state(job) for job in {job.key or job.id: job for job in own[::-1]}.values()])
    counts = ", ".join(f"{count} {state.lower()}" for state, count in states.value_counts().items())
    counts = ("" if sweep is None else _of_all(sweep)) or counts
    ended, memory = [job.ended for job in own if job.ended], [job.memory for job in own if job.memory]
    return {
        "Job": title,
        "State": counts if own[0].group else states[0],
        "Ended": pd.Timestamp(max(ended) if ended else None).tz_convert(format.zone()),
        "Took": took or math.nan,
        "Memory": max(memory, default=math.nan),
    }


def _of_all(sweep) -> str:
    """Return how many trainings of a sweep are done, of those also that no job has begun; empty if it is gone."""
    with contextlib.suppress(store.StoreError, OSError, ValueError, TypeError):
        plan = sweeping.plan(sweep)
        failed = sum(line["state"] == "failed" for line in plan.trials)
        return f"{plan.done - failed:,} of {plan.total:,} done" + (f", {failed:,} failed" if failed else "")
    return ""


def listed() -> list:
    """Return pairs of title and ended job, the newest first, without trainings of sweeps and jobs that go on."""
    every, go_on = job_queue.queue().jobs(workspace.token()), {record["key"] for record in sweeping.running()}
    pairs = [(title, job) for title, job in _ended(every) if job.group not in go_on]
    later, shown = {job.key for job in every if job.active}, []
    for title, job in sorted(pairs, key=lambda pair: pair[1].ended or pair[1].queued, reverse=True):
        if job.key not in later or _state(job) != WORDS["gave way"]:
            shown.append((title, job))
        later.add(job.key)
    return shown


def _ended(every) -> list:
    """Return pairs of title and job: those of some jobs of this server that have ended, and those of earlier ones."""
    mine, of_others = workspace.token(), parts_of(every)
    titles = {record["id"]: record.get("title") for record in workspace.get("jobs")}
    again = {record["id"] for record in jobs.interrupted()}
    ended = [job for job in every if not job.active and (job.id not in of_others or job.state == "failed")]
    past = [job for job in job_queue.queue().past(mine) if job.state not in jobs.ACTIVE and job.id not in again]
    return [(titles.get(job.id) or job.title_for(mine), job) for job in ended] + [(job.title, job) for job in past]


def _details(job_title, job):
    if job.error:
        st.error(f"**{format.plain(job_title)} failed.** {format.plain(job.error)}")
    live.show_log(job.log)
    record = (job.plan.task if hasattr(job, "plan") else job.task) or {}
    if job.state == "done" or record.get("kind") not in experiment.KINDS:
        return
    if record["kind"] in NEEDS_FILES:
        st.caption("Its files are gone. Choose them again on the Data page.")
        return
    about = record | {"id": job.id, "title": job_title}
    actions.button("Start again", key=f"jobs.retry.{job.id}", on_click=_again, args=([about],))


def show_interrupted() -> None:
    records, sweeps = jobs.interrupted(), sweeping.interrupted()
    if records or sweeps:
        st.header("Interrupted")
    for sweep in sweeps:
        _sweep(sweep)
    if not records:
        return
    titles = [format.bold(record["title"]) for record in records[:NAMED]]
    more = [f"{len(records) - NAMED:,} more"] if len(records) > NAMED else []
    st.markdown(f"The server was restarted during {format.listed([*titles, *more])}. What was finished is kept.")
    with st.container(horizontal=True):
        actions.button("Start again", key="jobs.again", on_click=_again, args=(records,))
        actions.button("Forget", key="jobs.forget", on_click=_forget, args=(records,))


def _sweep(record):
    try:
        task = sweeping.task_of(record)
        plan = task.plan()
    except (store.StoreError, ValueError, TypeError):  # its data set is gone, or a setting no longer exists
        return
    with st.container(key=f"interrupted-{record['key']}", border=True, gap="small"):
        st.markdown(format.bold(sweeping.name(record)))
        st.caption(f"Interrupted: {plan.done:,} of {plan.total:,} trainings are done and kept.")
        with st.container(horizontal=True):
            actions.button("Resume", key=f"jobs.resume.{record['key']}", on_click=sweeping.start, args=(task,))
            leave = {"on_click": sweeping.stop, "args": (record,), "help": "The Train page can resume it later."}
            actions.button("Leave it", key=f"jobs.leave.{record['key']}", **leave)


def _again(records):
    for record in records:
        try:
            task = experiment.from_record(record)
            fingerprint = task.fingerprint if task.inputs else ""  # its data set is yet to be made
            if tasks.start_again(record | {"key": task.key, "fingerprint": fingerprint}):
                jobs.dismiss(record["id"])  # its failure is no longer shown
        except (store.StoreError, ValueError, TypeError, KeyError) as error:
            workspace.notify(f"{record['title']} cannot start again: {error}")


def _forget(records):
    for record in records:
        jobs.dismiss(record["id"])
        tasks.drop_files(record["key"])
