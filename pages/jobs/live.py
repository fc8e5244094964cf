"""Jobs that run or wait, and sweeps, with their progress and logs, and buttons that stop and pause them."""

import streamlit as st

from pages.shared import actions, first_results, format, fragments, jobs, sweeping
from pages.shared.process import job_queue
from pages.shared.workspaces import workspace

MOST = 20  # waiting jobs that are shown with their buttons, unless all are asked for
ALL = "jobs.all"
LOG = "jobs.log"  # key of st.session_state: the job whose log is shown


def sentence(running: int, waiting: int, paused: int, others: int, ahead: int, later: str = "") -> str:
    """Say how many jobs this workspace has, and ``others``, some ``ahead`` of its last; ``later`` begins at last."""
    counts = {"run": running, "wait": waiting, "paused": paused}
    parts = [f"{number:,} {state}" for state, number in counts.items() if number]
    text = f"**{'Jobs: ' + format.listed(parts) if parts else 'No job runs or waits'}** in this workspace."
    if others:
        text += f" Other sessions have {format.count(others, 'job')}, {ahead:,} ahead."
    return text + (f" {format.plain(later)} begins once no other job runs." if later else "")


def answer() -> str:
    """Return the sentence on all jobs, trainings of sweeps that are to come included; of others, only numbers."""
    queue, mine = job_queue.queue(), workspace.token()
    own = [job for job in jobs.own() if job.active]
    waiting = [job for job in own if job.state != "running" and not job.starting]
    paused = sum(map(queue.is_paused, waiting))
    apart = {mine, job_queue.SERVER, job_queue.FIRST_VISIT}
    others = [job for job in queue.jobs() if job.active and apart.isdisjoint(job.owners)]
    line, later = queue.waiting(), st.session_state.get(first_results.NEXT)
    last = max((at for at, job in enumerate(line) if mine in job.owners), default=0)
    waits = [len(waiting) - paused, paused]
    for record in sweeping.running():  # trainings of sweeps that are to come, and no jobs yet
        trials = sweeping.plan(record)
        waits[sweeping.is_paused()] += max(0, trials.total - trials.done - len(sweeping.trainings(record)))
    ahead = sum(job in line[:last] for job in others)
    return sentence(len(own) - len(waiting), *waits, len(others), ahead, "" if later is None else later.title)


def say() -> None:
    fragments.live(lambda place: place.markdown(answer()))
    if problem := job_queue.queue().problem:
        st.warning(format.plain(problem))


def show() -> None:
    alone, sweeps = _active()
    if not alone and not sweeps:
        return
    before = _seen(alone, sweeps)
    fragments.redraw_once(lambda: _seen(*_active()) != before)
    st.session_state[workspace.WATCHED] |= {job.id for job in alone} | {record["key"] for record, _ in sweeps}
    _pause_all([*alone, *(job for _, trainings in sweeps for job in trainings)])
    line = [job for job in job_queue.queue().waiting() if workspace.token() in job.owners]
    for record, trainings in sweeps:
        _sweep(record, trainings, line)
    waiting = [job for job in line if job in alone]
    shown = waiting if st.session_state.get(ALL) else waiting[:MOST]
    _each([job for job in alone if job not in waiting] + shown, line)
    if len(waiting) > MOST:
        st.toggle(f"Show all {len(waiting)} waiting jobs", key=ALL)


def _active() -> tuple[list, list]:
    """Return jobs that are listed by themselves, and pairs of a sweep and those of its trainings that are jobs now."""
    own, sweeps = {job.id: job for job in jobs.own() if job.active}, []
    for record in sweeping.running():
        ids = {job.id for job in sweeping.trainings(record)}
        ids |= {job.id for job in own.values() if job.plan.group == record["key"]}
        sweeps.append((record, [own.pop(job_id) for job_id in list(own) if job_id in ids]))
    return [job for job in own.values() if not (job.plan.group and job.cancelling)], sweeps


def _seen(alone, sweeps) -> list:
    """Return the states on which the places of jobs and their buttons depend."""
    places = {job.id: place for place, job in enumerate(job_queue.queue().waiting())}
    opened = [job for record, trainings in sweeps if st.session_state.get(_opens(record)) for job in trainings]
    every = (*alone, *opened)
    facts = [(job.id, places.get(job.id), job.cancelling, job.fits, job.waits_for) for job in every]
    return [job_queue.queue().paused(workspace.token()), sweeping.facts(), *facts]


def _opens(record) -> str:
    return f"jobs.trainings.{record['key']}"


def _sweep(record, trainings, line):
    with st.container(key=f"sweep-{record['key']}", border=True, gap="small"):
        st.markdown(format.bold(sweeping.name(record)))
        sweeping.show_progress(record, sweeping.time_left)
        fragments.live(lambda place: place.caption(format.plain(_sweep_state(record))))
        sweeping.buttons(record, "jobs")
        opened = st.expander("Trainings", key=_opens(record), on_change="rerun")
        if opened.open:
            with opened:
                _each(trainings, line)
                st.caption("The next trainings follow by themselves. Those that have ended are on the Train page.")


def _sweep_state(record) -> str:
    running = [job for job in sweeping.trainings(record) if job.state == "running" or job.starting]
    if waits := sweeping.waits(record):
        return f"No training runs now. {waits}"
    return f"{format.count(len(running), 'training runs', 'trainings run')} now"


def _each(shown, line):
    records = {record["id"]: record for record in workspace.get("jobs")}
    for job in shown:
        _card(job, records.get(job.id, {}), job in line)


def _pause_all(own):
    queue, mine = job_queue.queue(), workspace.token()
    if queue.paused(mine):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("**Paused**: jobs that wait do not start.", width="content")
            actions.button("Go on", key="jobs.resume.all", on_click=queue.resume, args=(mine,), type="primary")
    elif any(job.state == "queued" and not job.starting for job in own):
        about = "Jobs of this workspace that wait do not start until you press Go on. Jobs that run go on."
        actions.button("Pause all", key="jobs.pause.all", on_click=queue.pause, args=(mine,), help=about)


def _card(job, record, waits):
    """Show a job, which runs or ``waits``, with the buttons that it has."""
    with st.container(key=f"job-{job.id}", border=True, gap="small"):
        st.markdown(format.bold(jobs.title(job, record)))
        if job.plan.after or not waits:
            words = lambda: None if waits else format.plain(jobs.doing(job))  # noqa: E731
            fragments.live(lambda place: place.progress(job.fraction, text=words()))
        facts = lambda: [jobs.waiting(job), *_expected(job)] if waits else _facts(job, record)  # noqa: E731
        fragments.live(lambda place: place.caption(format.plain(", ".join(facts()))))
        if waits and not job.fits:
            st.warning("This job does not fit into the memory of this machine: choose smaller settings.")
        with st.container(horizontal=True):
            stop = {"on_click": jobs.stop, "args": (job.id,), "disabled": job.cancelling}
            actions.button("Stop", key=f"jobs.stop.{job.id}", **stop)
            if waits and "memory" in job.waits_for:
                insist = {"on_click": job_queue.queue().insist, "args": (job.id,)}
                actions.button("Start anyway", key=f"jobs.insist.{job.id}", **insist)
            shown = st.session_state.get(LOG) == job.id
            take = {"on_click": st.session_state.update, "args": ({LOG: None if shown else job.id},)}
            if not waits:
                st.button("Hide log" if shown else "Log", key=f"jobs.log.{job.id}", **take)
        if shown and not waits:
            fragments.live(lambda place: show_log(job.log, place))


def show_log(log: list, place=st) -> None:
    place.code("\n".join(log) or "Nothing was written yet.", language=None, height=min(300, 60 + 24 * len(log)))


def _facts(job, record):
    facts = [f"{format.seconds(job.elapsed)} so far"] if job.elapsed >= 1 else []
    # A training of a sweep has no record.
    left = jobs.time_left(job, job.plan.seconds, record.get("kind", "train"))
    facts += [left] if left else _expected(job)
    if job.memory:
        facts.append(f"{format.size(job.memory)} of memory")
    if job.attempts > 1:
        facts.append("started again, as its worker ended unexpectedly")
    if job.where and job.where != "this machine":
        facts.append(f"on {job.where}")
    return facts


def _expected(job) -> list:
    return [] if job.plan.seconds is None else [f"expected {format.roughly(job.plan.seconds)}"]
