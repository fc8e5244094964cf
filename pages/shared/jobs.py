"""Jobs of this workspace: list them, show their progress, and stop them.

The workspace keeps a record of each job that it started: ``id`` (of the job), ``kind``, ``inputs``, ``params`` and
``key`` (of its task), ``fingerprint`` (of the data set), ``title``, ``again`` (whether a kept result is replaced),
``note`` (shown beside its progress), ``about`` (for whoever lists the result) and ``asked`` (when it was started, in
seconds since 1970; at most 0 if nobody asked for it).
"""

import time

import streamlit as st

from pages.shared import actions, cached, format, fragments, settings
from pages.shared.operator import audit, limits
from pages.shared.process import job_queue
from pages.shared.workspaces import workspace
from xmlcore import experiment, store
from xmlcore.experiment.engine.task import LAST_STEP
from xmlcore.jobs import parts_of
from xmlcore.jobs.records import ACTIVE
from xmlcore.models.compiling import COMPILING

# Kinds of tasks whose progress is that of all their work, but for what they read and compile first.
ONE_WORK = "train", "select", "robustness", "explanations"
BEFORE = {"Reading the data set", "Reading the model", COMPILING}
STARTING = "Starting: loading the program"
EVERY = 1.0  # seconds between two updates of the progress of jobs
MOST_SECONDS = 4.0  # the same at most, when many workspaces have jobs
FEW = 5  # workspaces with jobs that are kept up to date as often as that; of more, each is less often
LISTED_INTERRUPTED = 200  # interrupted jobs that a workspace remembers at most: the last ones


def find(record: dict):
    """Return the job of a record; None when this server process does not know the job."""
    return job_queue.queue().get(record["id"])


def active(kind: str | None = None, **fields) -> list:
    """Return jobs that this workspace lists, newest last: those that wait or run, were cancelled, or just ended."""
    return [job for _, job in _with_state((*ACTIVE, "done", "cancelled"), kind, fields)]


def own() -> list:
    """Return all jobs of this workspace: those of :func:`active`, trainings of sweeps, and parts of jobs that run."""
    listed = active()
    ids = {job.id for job in listed}
    every = job_queue.queue().jobs(workspace.token())
    of_others = parts_of(every)
    waiting_parts = {job.id for job in every if job.id in of_others and job.state == "queued"}
    others = [job for job in every if job.active and job.id not in ids | waiting_parts]
    return listed + others[::-1]


def is_unasked(record: dict) -> bool:
    """Return whether nobody asked for a job: see :mod:`pages.shared.first_results`."""
    return record.get("asked", 1.0) <= 0


def failed(kind: str | None = None, **fields) -> list:
    """Return pairs of record and job of failures that were not dismissed; arguments as for :func:`active`."""
    return _with_state(("failed",), kind, fields)


def kept(kind: str, key: str) -> bool:
    return store.exists(experiment.KINDS[kind].folder, key)


def watch(jobs: list, *, compact: bool = False) -> None:
    """Show the progress of jobs. The page itself is rerun once, when one of them ends."""
    shown = st.session_state[workspace.WATCHED]
    jobs = [job for job in jobs if (job.id, compact) not in shown]
    if jobs:
        shown |= {job.id for job in jobs} | {(job.id, compact) for job in jobs}
        fragments.redraw_once(lambda: not all(goes_on(job.id) for job in jobs))
        _show_jobs(jobs, compact)


def follow(kind: str, **fields) -> None:
    """Show the progress, the newest job first, and the failures of jobs; arguments as for :func:`active`."""
    watch(active(kind, **fields)[::-1])
    show_failures(failed(kind, **fields))


def poll_seconds() -> float:
    """Return after how many seconds a session polls its jobs: more when many sessions have jobs."""
    owners = {owner for job in job_queue.queue().jobs() if job.active for owner in job.owners}
    return min(MOST_SECONDS, EVERY * max(1.0, len(owners) / FEW))


def show_failures(failures: list) -> None:
    for record, job in failures:
        params = record["params"]
        reason = (job.error or "No reason was given.").removeprefix("ValueError: ")  # the traceback has it
        error = settings.in_form(params.get("model") or params.get("method"), reason)
        st.error(f"**{format.plain(title(job, record))} failed.** {format.plain(error)}")
        with st.container(horizontal=True):
            if record["kind"] == "prepare":
                actions.button("Try again", key=f"again-{record['id']}", on_click=_dismissed, args=(record, True))
            actions.button("Dismiss", key=f"dismiss-{record['id']}", on_click=_dismissed, args=(record,))
        if job.traceback:
            with st.expander("Traceback, for a bug report"):
                st.code(job.traceback, language="pytb")


def _dismissed(record, again=False):
    """Forget a failure, and that its data set was wanted, unless it is tried again; called by buttons."""
    dismiss(record["id"])
    if again:
        workspace.update(wanted=record["params"]["name"])  # the next run of the script starts on it
    else:
        note_stopped(record)


def dismiss(job_id: str) -> None:
    def drop(data):
        data["jobs"] = [r for r in data["jobs"] if r["id"] != job_id]

    job_queue.job_records().pop((workspace.token(), job_id), None)
    workspace.update(drop)


def goes_on(job_id: str) -> bool:
    """Return whether a job waits or runs, and this workspace or the server still owns it."""
    job = job_queue.queue().get(job_id)
    # A job ends when all its owners have stopped it.
    return job is not None and job.state in ACTIVE and not {workspace.token(), job_queue.SERVER}.isdisjoint(job.owners)


def _show_jobs(jobs, compact):
    records = {record["id"]: record for record in workspace.get("jobs")}
    known = [(job, records.get(job.id, {})) for job in jobs]
    for job, record in known:
        _show_job(job, title(job, record), compact, record)
    own = [(job, record) for job, record in known if workspace.token() in job.owners]
    if compact and len(own) > 1:
        with st.popover("Stop", type="tertiary", icon=":material/stop_circle:"):  # one for all, as there is little room
            for job, record in own:
                _stop_button(job, f"Stop: {format.plain(title(job, record))}", compact)
    elif compact and own:
        _stop_button(own[0][0], "Stop", compact)


def title(job, record) -> str:
    """Return this workspace's title of a job; the job itself has the title of the session that started it first."""
    return record.get("title") or job.title_for(workspace.token())


def waiting(job) -> str:
    line = [other.id for other in job_queue.queue().waiting()]
    if job.id not in line:
        return STARTING
    place = f", number {line.index(job.id) + 1} of {len(line)} in the queue" if len(line) > 1 else ""
    return job.words + place


def time_left(job, expected: float | None, kind: str = "") -> str:
    """Return how long a job of a kind will go on, such as ``about 20 s left``; empty when that is not known."""
    worked = sum(job.phases.values()) - job.phases.get(COMPILING, 0.0)  # the expected seconds are those of the work
    of_spent, counts = _left_as_until_now(job, kind)
    of_all = 0.0 if expected is None or (job.phase, job.fraction) == LAST_STEP else expected - worked
    left = of_spent if counts else max(of_spent, of_all)
    if expected is not None and job.phase in ("", COMPILING):
        return f"then about {format.roughly(max(left, 1.0))}"
    if left >= 1:
        return f"about {format.seconds(left)} left"
    over = expected is not None and worked > 1.5 * expected and worked > expected + 5
    return f"longer than expected ({format.roughly(expected)})" if over else ""


def _left_as_until_now(job, kind) -> tuple[float, bool]:
    """Return the seconds that are left if a job goes on as fast as until now, and whether nothing else counts then."""
    is_one, done = kind in ONE_WORK, job.fraction  # else more may come after the present phase
    spent = sum(
        job.phases[name] for name in (job.phases.keys() - BEFORE if is_one else job.phases.keys() & {job.phase})
    )
    if done < 0.05 or spent < 1:
        return 0.0, False
    return spent * (1 - done) / done, is_one


def doing(job, *, short: bool = False) -> str:
    if job.cancelling:
        return "Stopping"
    if job.state == "queued":
        return waiting(job)
    if not job.phase:
        return STARTING
    text, model = f"{job.phase}: {100 * job.fraction:.0f}\u00a0%", (job.plan.task or {}).get("params", {}).get("model")
    return f"{text} ({settings.in_form(model, job.detail)})" if job.detail and not short else text


def _doing(job, record, compact) -> str:
    text = doing(job, short=compact)
    if compact or job.cancelling or job.elapsed < 1:
        return text
    left = time_left(job, job.plan.seconds, record.get("kind", ""))
    return f"{text}, {format.seconds(job.elapsed)} so far" + (f", {left}" if left else "")


def _show_job(job, name, compact, record):
    def caption(place):
        doing = _doing(job, record, compact)
        title = "" if doing.startswith(name) else f"{format.plain(name)}  \n"
        place.caption(title + format.plain(doing))

    with st.container(key=f"job-{'side' if compact else 'main'}-{job.id}", gap="small"):
        if compact:
            fragments.live(caption)
            fragments.live(lambda place: place.progress(job.fraction))
            return
        st.markdown(format.bold(name))
        if note := record.get("note"):
            st.caption(format.plain(note))
        fragments.live(lambda place: place.progress(job.fraction, text=format.plain(_doing(job, record, compact))))
        if workspace.token() in job.owners:
            _stop_button(job, "Stop", compact)


def _stop_button(job, label, compact):
    key = f"stop-{'side' if compact else 'main'}-{job.id}"
    actions.button(label, key=key, on_click=stop, args=(job.id,), disabled=job.cancelling)


def stop(job_id: str) -> None:
    """Stop a job for this workspace; a job that another session needs too goes on without us."""
    queue = job_queue.queue()
    queue.cancel(job_id, owner=workspace.token())
    job = queue.get(job_id)
    if job is not None and job.active and workspace.token() not in job.owners:  # it goes on, for another session
        for record in workspace.get("jobs"):
            if record["id"] == job_id:
                note_stopped(record)
                workspace.notify(
                    f"Stopped here: {title(job, record)}. It goes on for another session that needs it too."
                )
        dismiss(job_id)


def note_stopped(record) -> None:
    """Note that the user stopped a job: a data set that was being prepared is not started again automatically."""
    if record["kind"] == "prepare" and workspace.get("wanted") == record["params"]["name"]:
        workspace.update(wanted=None)


def _with_state(states, kind, fields):
    """Return pairs of record and job: those in one of the ``states``, of the ``kind``, with these ``fields``."""
    fields = fields if kind is None else fields | {"kind": kind}
    known = [(record, record["params"] | record["inputs"] | record) for record in workspace.get("jobs")]
    records = [record for record, of in known if all(of.get(name) == value for name, value in fields.items())]
    return [(record, job) for record in records if (job := find(record)) is not None and job.state in states]


def recover() -> None:
    """Remember jobs of this workspace whose records were lost because the database was deleted."""
    named = {record["id"] for record in workspace.get("jobs")}
    for job in reversed(job_queue.queue().jobs(owner=workspace.token())):
        if job.id not in named and (record := job_queue.job_records().get((workspace.token(), job.id))) is not None:
            remember(record)


def is_refused(task, title: str) -> bool:
    """Return whether the limits of the present user refuse a task now; if so, a message says why."""
    if (why := limits.refusal()) is None:
        return False
    audit.note("refused", kind=task.kind, key=task.key)
    workspace.notify(f"Not started: {title}. {why}")
    return True


def submit(
    task,
    fingerprint: str,
    *,
    title: str,
    again: bool = False,
    note: str = "",
    about: dict | None = None,
    asked: float | None = None,
) -> bool:
    """Have a worker run a task for this workspace, and return whether it was not refused; ``asked`` is now if None."""
    # Streamlit may stop this run wherever its session's state is read. So that is done before the job is submitted, and
    # again after the record is in the server process, where recover() finds it.
    asked = time.time() if asked is None else asked
    unasked = is_unasked({"asked": asked})
    if workspace.refuse_change():  # what begins without a button, as of short tasks and damaged results
        return False
    if limits.refusal() if unasked else is_refused(task, title):
        return False
    owner, records = workspace.token(), job_queue.job_records()
    try:
        queue, more = job_queue.queue(), {"again": again, "estimate": cached.estimated(task), "unasked": unasked}
        job = experiment.submit(queue, task, owner=owner, title=title, **more)
    except OSError as error:  # the disk is full, or the cache cannot be written to
        if not unasked:
            workspace.notify(f"Not started: {title}. {store.trouble() or error}")
        return False
    record = {"id": job.id, **task.to_record(), "key": task.key, "fingerprint": fingerprint, "title": title}
    record |= {"about": about or {}, "again": again, "note": note, "asked": asked}
    records[owner, job.id] = record
    remember(record)
    if not unasked:
        audit.note("job", kind=task.kind, key=task.key, data=fingerprint or None)
    return True


def remember(record) -> None:
    """Keep a record of a job in the workspace, and in the server process in case the database is deleted."""
    records = job_queue.job_records()
    records[workspace.token(), record["id"]] = record
    for name in list(records):
        if job_queue.queue().get(name[1]) is None:
            records.pop(name, None)

    def add(data):
        """Replace or append the record in the workspace's list, and drop an interrupted job with the same task."""
        left = (r for r in data["jobs"] if r["id"] != record["id"])
        data["jobs"] = [r for r in left if "interrupted" not in r or r["key"] != record["key"]] + [record]
        if is_unasked(record):
            data["unasked"][record["key"]] = True

    workspace.update(add)


def interrupt(record: dict) -> None:
    """Note that a job was interrupted: the server has ended while it waited or ran."""

    def change(data):
        for job in data["jobs"]:
            if job["id"] == record["id"]:
                job["interrupted"] = time.time()
        marked = [job["id"] for job in data["jobs"] if "interrupted" in job][:-LISTED_INTERRUPTED]
        data["jobs"] = [job for job in data["jobs"] if job["id"] not in marked]

    workspace.update(change)


def interrupted() -> list[dict]:
    return [record for record in workspace.get("jobs") if "interrupted" in record]
