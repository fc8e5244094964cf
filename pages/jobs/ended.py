"""Jobs that have ended: how, how long they took and how much memory, their logs, and a button that starts one again."""

import pandas as pd
import streamlit as st

from pages.jobs import log
from pages.shared import actions, format, jobs, tables, tasks
from pages.shared.figures import charts
from pages.shared.process import job_queue
from pages.shared.workspaces import workspace
from xmlcore import experiment, figures, store
from xmlcore.jobs import parts
from xmlcore.jobs.job import WORDS

MOST = 100  # lines of the table
CHOSEN = "jobs.ended"
COLUMNS = {
    "Job": st.column_config.TextColumn(width=310),
    "State": st.column_config.TextColumn(width=90),
    "Ended": st.column_config.TextColumn(width=110),
    "Took": st.column_config.TextColumn(width=100),
    "Expected": st.column_config.TextColumn(width=100, help="How long it was expected to take before it began."),
    "Memory": st.column_config.TextColumn(width=90, help="The most memory that its worker process had."),
}
NEEDS_FILES = ("read", "read_texts")  # kinds of tasks whose files are gone when they have ended


def show() -> None:
    pairs = listed()
    if not pairs:
        return
    st.header("Ended")
    _timeline(pairs)
    frame = pd.DataFrame(
        {
            "Job": [job_title for job_title, _ in pairs],
            "State": [WORDS[job.state] for _, job in pairs],
            "Ended": [format.when(job.ended.isoformat()) if job.ended else "" for _, job in pairs],
            "Took": [format.duration(job.elapsed) if job.started else "" for _, job in pairs],
            "Expected": [_expected(job) for _, job in pairs],
            "Memory": [format.size(job.memory) if job.memory else "" for _, job in pairs],
        }
    )
    shown = frame.head(MOST)
    tables.show(shown, "jobs.table", COLUMNS, height=tables.height(len(shown), 390))
    of = f"{len(shown):,} of {len(frame):,} jobs, the newest first. " if len(frame) > MOST else ""
    st.caption(f"{of}Jobs of the last 30 days are listed.")
    by_id = {job.id: (job_title, job) for job_title, job in pairs[:MOST]}
    chosen = st.selectbox(
        "Log of a job",
        list(by_id),
        index=None,
        format_func=lambda job_id: f"{by_id[job_id][0]} ({WORDS[by_id[job_id][1].state]})",
        placeholder="Choose a job to see its log",
        key=CHOSEN,
    )
    if chosen in by_id:
        _details(*by_id[chosen])


def _timeline(pairs) -> None:
    """Draw when the jobs ran that a worker has begun."""
    lines = [(title, WORDS[job.state], job.started, job.ended) for title, job in pairs if job.started and job.ended]
    frame = pd.DataFrame(lines, columns=["name", "state", "start", "end"])
    if frame.empty:
        return
    frame[["start", "end"]] = frame[["start", "end"]].apply(_local)
    caption = "Each bar is a job, from its start to its end; the newest is on top."
    charts.show_figure(figures.timeline(frame), frame, "jobs", caption)


def _local(times: pd.Series) -> pd.Series:
    """Return times as clocks of the browser's zone show them: figures know no zones."""
    return pd.to_datetime(times).dt.tz_convert(format.zone()).dt.tz_localize(None)


def _expected(job):
    """Return how long a job was expected to take; empty if that is not known."""
    seconds = job.plan.seconds if hasattr(job, "plan") else job.seconds
    return "" if seconds is None else format.duration(max(seconds, 0.1))


def listed() -> list:
    """Return pairs of title and job: ended jobs of this server process and of earlier ones, the newest first."""
    mine, queue = workspace.token(), job_queue.queue()
    titles = {record["id"]: record.get("title") for record in workspace.get("jobs")}
    again = {record["id"] for record in jobs.interrupted()}
    every = queue.jobs(mine)
    of_others = parts.of(every)
    ended = [job for job in every if not job.active and (job.id not in of_others or job.state == "failed")]
    pairs = [(titles.get(job.id) or job.title_for(mine), job) for job in ended]
    pairs += [(job.title, job) for job in queue.past(mine) if job.state not in jobs.ACTIVE and job.id not in again]
    return sorted(pairs, key=lambda pair: pair[1].ended or pair[1].queued, reverse=True)


def _details(job_title, job):
    if job.error:
        st.error(f"**{format.plain(job_title)} failed.** {format.plain(job.error)}")
    log.lines(job.log)
    record = (job.plan.task if hasattr(job, "plan") else job.task) or {}
    if job.state == "done" or record.get("kind") not in experiment.KINDS:
        return
    if record["kind"] in NEEDS_FILES:
        st.caption("Its files are gone. Choose them again on the Data page.")
        return
    actions.button("Start again", key=f"jobs.retry.{job.id}", on_click=_again, args=(job_title, record, job.id))


def _again(job_title, record, job_id):
    if workspace.refuse():
        return
    try:
        task = experiment.from_record(record)
        record = record | {"key": task.key, "title": job_title}
        record["fingerprint"] = task.fingerprint if task.inputs else ""  # its data set is yet to be made
        if tasks.start_again(record):
            jobs.dismiss(job_id)  # its failure is no longer shown
    except (store.StoreError, ValueError, TypeError, KeyError) as error:
        workspace.notify(f"{job_title} cannot start again: {error}")
