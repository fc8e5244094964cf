"""Jobs that the end of the server has interrupted: start them again."""

import streamlit as st

from pages.shared import actions, format, jobs, sweeping, tasks
from pages.shared.process import job_queue
from pages.shared.workspaces import workspace
from xmlcore import store

MOST = 20  # interrupted jobs that are listed with buttons of their own


def show() -> None:
    records, sweeps = jobs.interrupted(), sweeping.interrupted()
    if records or sweeps:
        st.header("Interrupted")
    for sweep in sweeps:
        _sweep(sweep)
    if not records:
        return
    past = {job.id: job for job in job_queue.queue().past(workspace.token())}
    st.markdown(
        f"The server was restarted during {format.count(len(records), 'job')}. "
        "What was finished is kept; these have to start from their beginning."
    )
    if len(records) > 1:
        _buttons(records, "all", " all")
    for record in records[:MOST]:
        _one(record, past.get(record["id"]))
    if len(records) > MOST:
        st.caption(f"{format.showing(MOST, len(records), 'job')}. The buttons above are for all of them.")


def _buttons(records, key: str, which: str = ""):
    with st.container(horizontal=True):
        actions.button(f"Start{which} again", key=f"jobs.again.{key}", on_click=_again, args=(records,))
        actions.button(f"Forget{which}", key=f"jobs.forget.{key}", on_click=_forget, args=(records,))


def _sweep(record):
    try:
        task = sweeping.task_of(record)
        plan = task.plan()
    except (store.StoreError, ValueError, TypeError):  # its data set is gone, or a setting no longer exists
        return
    with st.container(key=f"interrupted-{record['key']}", border=True, gap="small"):
        st.markdown(f"**{format.plain(sweeping.name(record))}**")
        st.caption(f"Interrupted: {plan.done:,} of {plan.total:,} trainings are done and kept.")
        with st.container(horizontal=True):
            actions.button("Resume", key=f"jobs.resume.{record['key']}", on_click=sweeping.start, args=(task,))
            actions.button(
                "Leave it",
                key=f"jobs.leave.{record['key']}",
                on_click=sweeping.stop,
                args=(record,),
                help="The Train page can resume it later.",
            )


def _one(record, job):
    with st.container(key=f"interrupted-{record['id']}", border=True, gap="small"):
        st.markdown(f"**{format.plain(record['title'])}**")
        text = f"Interrupted {format.since(record['interrupted'])}"
        if job is not None and job.phase:
            text += f", after {format.seconds(job.elapsed)}, in {job.phase}: {100 * job.fraction:.0f}\u00a0%"
        st.caption(format.plain(text))
        _buttons([record], record["id"])


def _again(records):
    for record in records:
        try:
            if tasks.start_again(record):
                jobs.dismiss(record["id"])
        except (store.StoreError, ValueError, TypeError) as error:
            workspace.notify(f"{record['title']} cannot start again: {error}")


def _forget(records):
    for record in records:
        jobs.dismiss(record["id"])
        tasks.drop_files(record["key"])
