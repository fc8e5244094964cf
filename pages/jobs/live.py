"""Jobs that run or wait, with their progress, and buttons that stop, pause and move them."""

import time

import streamlit as st

from pages.jobs import log
from pages.shared import actions, format, fragments, jobs, sweeping
from pages.shared.process import job_queue
from pages.shared.workspaces import workspace

CALM = 15.0  # seconds without a change after which the page looks less often
SLOW = 4.0  # seconds between two looks while nothing changes
MOST = 20  # waiting jobs that are shown with their buttons, unless all are asked for
ALL = "jobs.all"


def show() -> None:
    own = [job for job in jobs.own() if job.active]
    if not own:
        st.session_state.pop("jobs.changed", None)
        if sweeping.running():  # between two of its trainings, or before the first
            about = "The next training of several settings is about to begin."
            fragments.polled(lambda: st.caption(about), jobs.EVERY, _has_begun)
        return
    st.session_state[workspace.WATCHED] |= {job.id for job in own}
    _pause_all(own)
    ids, calm = [job.id for job in own], _is_calm(own)

    def over():
        """Return whether one has ended, or the page should look more or less often."""
        queue = job_queue.queue()
        return not all(map(jobs.goes_on, ids)) or _is_calm([queue.get(job_id) for job_id in ids]) != calm

    fragments.polled(lambda: _live(ids), SLOW if calm else jobs.EVERY, over)


def _has_begun() -> bool:
    """Return whether the next training of a sweep has a job, or the sweep has ended."""
    return any(job.active for job in jobs.own()) or not sweeping.running()


def _is_calm(own):
    """Return whether nothing has changed for a while in what the page shows of jobs."""
    seen = [(job.id, job.state, job.phase, round(100 * job.fraction), job.words) for job in own]
    before, since = st.session_state.get("jobs.changed", (None, 0.0))
    if seen != before:
        before, since = seen, time.time()
        st.session_state["jobs.changed"] = before, since
    return time.time() - since > CALM


def _pause_all(own):
    queue, mine = job_queue.queue(), workspace.token()
    if queue.paused(mine):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("**Paused**: no waiting job of this workspace starts. Jobs that run go on.", width="content")
            actions.button("Go on", key="jobs.resume.all", on_click=_pause, args=(False,), type="primary")
    elif any(job.state == "queued" and not job.starting for job in own):
        actions.button(
            "Pause all that wait",
            key="jobs.pause.all",
            on_click=_pause,
            args=(True,),
            help="Jobs of this workspace that wait do not start until you press Go on. Jobs that run go on.",
        )


def _pause(paused, job_id=None):
    if workspace.refuse():
        return
    queue = job_queue.queue()
    change = queue.pause if paused else queue.resume
    change(job_id) if job_id else change(owner=workspace.token())


def _live(ids):
    queue = job_queue.queue()
    own = [queue.get(job_id) for job_id in ids]
    records = {record["id"]: record for record in workspace.get("jobs")}
    line = queue.waiting()
    waiting = [job for job in line if job in own]
    running = [job for job in own if job is not None and job not in waiting]
    for job in running:
        _running(job, records.get(job.id, {}))
    for place, job in enumerate(waiting if st.session_state.get(ALL) else waiting[:MOST]):
        _waiting(job, records.get(job.id, {}), place, len(waiting))
    if len(waiting) > MOST:
        st.toggle(f"Show all {len(waiting)} waiting jobs, not the first {MOST} only", key=ALL)


def _running(job, record):
    with st.container(key=f"job-{job.id}", border=True, gap="small"):
        st.markdown(f"**{format.plain(jobs.title(job, record))}**")
        fraction = min(max(job.fraction, 0.0), 1.0)
        doing = job.words if job.cancelling or not job.phase else f"{job.phase}: {100 * fraction:.0f}\u00a0%"
        if job.detail and not job.cancelling:
            doing += f" ({job.detail})"
        st.progress(fraction, text=format.plain(doing))
        st.caption(format.plain(", ".join(_facts(job, record))))
        with st.container(horizontal=True):
            _button("Stop", "stop", job, jobs.stop, job.id, disabled=job.cancelling)
            log.button(job)
        log.show(job)


def _facts(job, record):
    facts = [f"{format.seconds(job.elapsed)} so far"] if job.elapsed >= 1 else []
    if left := jobs.time_left(job, record.get("seconds"), record.get("kind", "")):
        facts.append(left)
    if record.get("seconds") is not None:
        facts.append(f"expected {format.seconds(max(record['seconds'], 1.0))}")
    if job.memory:
        facts.append(f"{format.size(job.memory)} of memory")
    if job.attempts > 1:
        facts.append("started again, as its worker ended unexpectedly")
    if job.where and job.where != "this machine":
        facts.append(f"on {job.where}")
    return facts


def _waiting(job, record, place, count):
    with st.container(key=f"job-{job.id}", border=True, gap="small"):
        st.markdown(f"**{format.plain(jobs.title(job, record))}**")
        about = jobs.waiting(job)
        if record.get("seconds") is not None:
            about += f", expected {format.seconds(max(record['seconds'], 1.0))}"
        st.caption(format.plain(about))
        if job.plan.after:
            st.progress(job.fraction)
        if not job.fits:
            st.warning(
                "This job does not fit into the memory of this machine, so it does not start. Choose a smaller sample "
                "or smaller settings. If you start it anyway, the operating system may end it."
            )
        with st.container(horizontal=True):
            _button("Stop", "stop", job, jobs.stop, job.id)
            if job.paused:
                _button("Go on", "resume", job, _pause, False, job.id)
            else:
                _button("Pause", "pause", job, _pause, True, job.id)
            if count > 1:
                _button("First", "first", job, _move, job.id, "first", disabled=place == 0)
                _button("Up", "up", job, _move, job.id, "up", disabled=place == 0)
                _button("Down", "down", job, _move, job.id, "down", disabled=place == count - 1)
            if "memory" in job.waits_for:
                _button("Start anyway", "insist", job, _insist, job.id)


def _button(label, name, job, do, *args, disabled=False):
    actions.button(label, key=f"jobs.{name}.{job.id}", on_click=do, args=args, disabled=disabled)


def _move(job_id, to):
    if not workspace.refuse():
        job_queue.queue().move(job_id, to, owner=workspace.token())


def _insist(job_id):
    """Start a job although its memory is not free; called by a button."""
    if not workspace.refuse():
        job_queue.queue().insist(job_id)
