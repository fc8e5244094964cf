"""Show results of tasks of :mod:`xmlcore.experiment`, or a button that starts a task without a result.

Pages call :func:`shown`. :func:`ready` returns the result instead of drawing it, and :func:`ready_all` returns the
results of several tasks that are drawn together.
"""

import contextlib
import math
import time

import streamlit as st

from pages.shared import actions, cached, format, jobs
from pages.shared.process import job_queue, room
from pages.shared.workspaces import dataset_list, result_list, workspace
from pages.shared.workspaces.dataset_list import catalog_name
from pages.shared.workspaces.records import DEFAULT_DATASET
from xmlcore import experiment, store
from xmlcore.experiment.engine import task_files
from xmlcore.experiment.engine.task import SHORT

AUTOMATIC = "preferences.automatic"  # the widget by which users choose that short tasks are started automatically
AUTOMATIC_BELOW = SHORT  # values; a task that reads no more is started automatically
DAMAGED = "The stored result was damaged. It is being made again."
UNREADABLE = "The stored result was written by another version of the program, so it cannot be read. It is made again."
STOPPED = "The stored result cannot be read, and making it again was stopped. Reload the page to make it again."


def takes(seconds: float) -> str:
    """Return a time in words, for jobs that took so many seconds here before: ``about 20 s``."""
    return f"about {format.roughly(max(seconds, 1.0))}"


def time_in_brackets(task, unknown: bool) -> str:
    """Return how long a task takes, in brackets; nothing if the time is unknown."""
    if task.exists():  # made in another workspace, or removed from this one
        return " (at once, from a result that is kept)"
    return "" if unknown else _time(task)


def _time(*tasks) -> str:
    """Return how long tasks took here before, in brackets; nothing where that is not known of all."""
    seconds = [cached.estimated_seconds(task) for task in tasks]
    return "" if None in seconds else f" ({takes(sum(max(value, 1.0) for value in seconds))})"


def shown(task, draw, *, automatic_below: float = AUTOMATIC_BELOW, button: str | None = None, key: str | None = None):
    """Show the result of a task; without a result, show a button that starts the task."""
    value = ready(task, automatic_below=automatic_below, button=button, key=key)
    if value is not None:
        draw(value)


def ready(task, *, automatic_below: float = AUTOMATIC_BELOW, button: str | None = None, key: str | None = None):
    """Return the result of a task instead of drawing it as :func:`shown`; None while there is no result."""
    about = {"button": button or "Start", "key": key or f"start-{task.key}"}
    return ready_all({"": task}, automatic_below=automatic_below, **about).get("")


def ready_all(
    tasks: dict, *, button: str, key: str, of: str = "result", automatic_below: float = AUTOMATIC_BELOW
) -> dict:
    """Return the results of several tasks as :func:`ready` does; a single button starts all without one."""
    results, waiting, watched, failures = {}, {}, [], []
    for name, task in tasks.items():
        value, running = _result_or_start(task, automatic_below, about=name)
        if value is not None:
            results[name] = value
        elif not running:
            waiting[name] = task
        watched += running
        failures += jobs.failed(key=task.key)
    if waiting:
        counted = next(iter(waiting)) if len(waiting) == 1 else format.count(len(waiting), of)
        label, look = f"{button} {counted}".rstrip() + _time(*waiting.values()), "primary" if counted else "secondary"
        actions.button(label, type=look, key=key, on_click=_start_all, args=(waiting,))
    jobs.watch(watched)
    jobs.show_failures(failures)
    return results


def kept(tasks: dict) -> dict:
    """Return the results of those tasks that have one which can be read; nothing is made again."""
    results = {}
    for name, task in tasks.items():
        with contextlib.suppress(store.StoreError):
            if task.exists():
                results[name] = cached.loaded(task)
    return results


def made_alike(task, *free, elsewhere: bool = False) -> list:
    """Return this workspace's results for the inputs of a task, or any, whatever the parameters in ``free``."""
    own, free = {key for _, key in workspace.get("made")}, dict.fromkeys(free)
    made = [one for one in room.inventory().artifacts.values() if one.kind == task.folder and one.key in own]
    made = [one for one in made if one.record.get("version") == task.version]
    alike = [one for one in made if elsewhere or one.inputs == task.inputs]
    return [one for one in alike if one.record["params"] | free == task.params | free]


def _result_or_start(task, automatic_below, about=""):
    """Return the result of a task and its jobs; start a short task if users want it."""
    value = _kept(task)
    running = jobs.active(key=task.key)
    unasked = workspace.get("widgets").get(AUTOMATIC) is True
    if unasked and value is None and not running and not jobs.failed(key=task.key):
        estimate = cached.estimated(task)
        if estimate is not None and estimate.values < automatic_below and once(task.key):
            start(task, about=about)
            running = jobs.active(key=task.key)
    return value, running


def once(key) -> bool:
    """Return whether this session calls this for the first time with a key; a start does not loop so."""
    started = st.session_state.setdefault("tasks.started", set())
    is_first = key not in started
    started.add(key)
    return is_first


def _kept(task):
    """Return the stored result of a task, or None; make a damaged one again."""
    try:
        if task.exists():
            return cached.loaded(task)
    except store.DamagedArtifactError:
        make_again(task)
    except store.UnreadableArtifactError:  # the file stays: another version of the program wrote it
        make_again(task, again=True, note=UNREADABLE)
    except store.MissingArtifactError:  # deleted since the line above
        pass
    return None


def _start_all(named: dict) -> None:
    """Start tasks by name, the ones that read least first."""
    estimates = {name: cached.estimated(task) for name, task in named.items()}
    values = {name: math.inf if one is None else one.values for name, one in estimates.items()}
    for name in sorted(named, key=values.get):
        start(named[name], about=name)


def start(task, *, again: bool = False, note: str = "", about: str = "", asked: float | None = None) -> bool:
    """Have a worker run a task, unless its result is kept, or it runs already; return whether the result is kept."""
    if workspace.refuse_change():
        return False
    kind, fingerprint = _about(task)
    if fingerprint and not store.exists("datasets", fingerprint):  # deleted since the page was drawn
        with contextlib.suppress(store.StoreError, OSError):
            cached.dataset(fingerprint)  # writes again what is in memory
    # This workspace's own title: another session that shares the job may have another name for the data set.
    title = task.titled(dataset_name(fingerprint) or task.dataset_name(), about)
    is_kept = task.exists() and not again
    if is_kept or _makes_way(task, kind, fingerprint):
        _list_or_submit(task, fingerprint, title=title, again=again, note=note, asked=asked)
    return is_kept


def _makes_way(task, kind, fingerprint) -> bool:
    """Forget earlier failures of a task, and of any of its kind on the data set that is listed, unless it runs."""
    for record in workspace.get("jobs"):
        same = record["key"] == task.key
        job = jobs.find(record)
        state = None if job is None else job.state
        if same and state in jobs.ACTIVE and not jobs.is_unasked(record):
            return False
        # Jobs that are done stay: collect() lists their results in the next run of the script.
        alike = task.kind in result_list.LISTS and (record["kind"], record["fingerprint"]) == (kind, fingerprint)
        if state == "failed" and (same or alike):
            jobs.dismiss(record["id"])
    return True


def _list_or_submit(task, fingerprint: str, *, again: bool = False, **about) -> bool:
    """List the result of a task if it is kept, or have a worker make it; return whether that was not refused."""
    if again or not task.exists():
        return jobs.submit(task, fingerprint, again=again, **about)
    asked = about.get("asked")
    about["asked"] = time.time() if asked is None else asked
    _list_result({**task.to_record(), "fingerprint": fingerprint, **about}, task.key)
    return True


def make_again(task, *, again: bool = False, note: str = DAMAGED) -> bool:
    """Start a task whose stored result cannot be read, and show ``note``; once per session, so that it cannot loop."""
    if not once(("again", task.key)):
        return False
    once(task.key)  # not as a short task either
    start(task, again=again, note=note)
    return True


def _about(task):
    """Return the kind of a task and the fingerprint of its data set; "" for a data set that is yet to be made."""
    try:
        return task.kind, task.fingerprint if task.inputs else ""
    except store.StoreError:  # the data set or result that it needs is gone
        return task.kind, ""


def dataset_name(fingerprint: str) -> str | None:
    """Return this workspace's name of a data set; None for an unknown one."""
    return workspace.get("known").get(fingerprint, {}).get("name")


def use(name: str) -> None:
    """Put a data set in use, given by its fingerprint or its name in the catalog; one that is not there is made."""
    known = workspace.get("known")
    own = (key for key, entry in known.items() if entry["source"] == "catalog" and catalog_name(entry) == name)
    fingerprint = name if name in known else next(own, None)
    if fingerprint is not None:
        dataset_list.use_dataset(fingerprint)
    elif not workspace.refuse_change():
        for record, _ in jobs.failed("prepare", name=name):
            jobs.dismiss(record["id"])
        workspace.update(wanted=name)  # the next run of the script starts on it
        prepare(name)


def prepare(name: str) -> None:
    """Put a data set of the catalog in use, or have a worker make it; it is then put in use when it is ready."""
    if any(r["kind"] == "prepare" and r["params"]["name"] == name for r in workspace.get("jobs")):
        return
    try:
        task = experiment.task("prepare", {}, {"name": name})
    except ValueError as error:  # the catalog no longer has this data set
        workspace.update(wanted=None)
        workspace.notify(str(error))
    else:
        _list_or_submit(task, "", title=task.title)


def make_dataset(task, **about) -> bool:
    """Have a worker make a data set, and return whether it was not refused; its kind is in ``dataset_list.KINDS``."""
    if jobs.active(key=task.key):
        return True
    # The record names the data set in use now, since this one has no fingerprint before it is made.
    title = task.title_on(dataset_name(task.inputs.get("dataset", "")) or about.get("name") or task.dataset_name())
    failures = jobs.failed(kind=task.kind)
    started = _list_or_submit(task, workspace.get("dataset") or "", title=title, about=about)
    for record, _ in failures if started else ():
        jobs.dismiss(record["id"])
    return started


def train_task(fingerprint: str, model: str, params: dict | None, k: int):
    return experiment.task("train", {"dataset": fingerprint}, {"model": model, "params": params, "k": k})


def explain_task(run_key: str, data):
    """Return the task that measures which features decide most in all predictions of a run."""
    return experiment.task("explanations", {"run": run_key}, {"n_rows": min(200, data.n_test), "seed": 0})


def select_task(fingerprint: str, method: str, params: dict | None):
    return experiment.task("select", {"dataset": fingerprint}, {"method": method, "params": params})


# --- results that workers have made ---


def collect() -> None:
    """List finished results and prepare the wanted data set; called first in each run of the script."""
    if workspace.read_only():
        return
    jobs.recover()
    for record in workspace.get("jobs"):
        job = jobs.find(record)
        if job is None:
            _lost(record)
        elif job.state == "done":
            _done(record, job)
        elif jobs.is_unasked(record) and job.gave_way:
            begin_later(record)
        elif job.state == "cancelled":
            jobs.dismiss(record["id"])
            jobs.note_stopped(record)
            drop_files(record["key"])  # a task that was killed has not removed its files
            workspace.notify(f"Stopped: {jobs.title(job, record)}.")
        elif job.state == "failed" and record["params"].get("name") != DEFAULT_DATASET:
            jobs.note_stopped(record)  # a download that failed is not tried again when the server is restarted
    wanted = workspace.get("wanted")
    if wanted is not None:
        prepare(wanted)


def begin_later(record):
    """Forget the job of a first result that was not made: it begins again when nothing else runs."""
    jobs.dismiss(record["id"])
    workspace.update(lambda data: data["unasked"].pop(record["key"], None))


def drop_files(key: str) -> None:
    """Remove the files that were given to a task, unless a job needs them."""
    if not any(job.active for job in job_queue.queue().jobs() if job.key == key):
        task_files.drop(key)


def _done(record, job):
    """Let the workspace open the result of a job that has finished."""
    room.make_room_later()
    if record.get("again"):
        cached.forget()  # values in memory may come from the result that was replaced
    # The key that the worker returned: it differs from the record's if the program was updated while this server ran.
    _list_result(record, job.result())
    jobs.dismiss(record["id"])  # last: Streamlit may stop this run at any line, and the next run then lists the result
    if record["kind"] == "prepare" and record["params"]["name"] != DEFAULT_DATASET:
        workspace.notify(f"{record['params']['name']} is ready: it is in the list of data sets.")
    if record["kind"] in result_list.LISTS and not jobs.is_unasked(record):
        workspace.notify(f"{'Made again' if record.get('note') or record.get('again') else 'Done'}: {record['title']}.")


def _lost(record):
    """List the result of a job that another server process started, or note that the job was interrupted."""
    if "interrupted" in record:
        return
    folder = experiment.KINDS[record["kind"]].folder
    state = job_queue.past_states().get(record["id"])
    if state in jobs.ACTIVE:  # another server runs it, and works on the same cache
        return
    if jobs.is_unasked(record):
        begin_later(record)
    elif record["kind"] == "prepare":
        jobs.dismiss(record["id"])  # collect() starts it again if it is still wanted
    elif store.exists(folder, record["key"]):
        _list_result(record, record["key"])
        jobs.dismiss(record["id"])
    elif state in ("failed", "cancelled"):  # before the server was restarted: the Jobs page tells
        jobs.dismiss(record["id"])
    else:
        jobs.interrupt(record)
        workspace.notify(f"The server was restarted during: {record['title']}. The Jobs page can start it again.")


def start_again(record: dict) -> bool:
    """Start a job of this workspace again, as its record says; return whether it was not refused."""
    task = experiment.from_record(record)
    about = record.get("about") or {}
    if task.kind in dataset_list.KINDS:
        return make_dataset(task, **about)
    also = {"about": about, "note": record.get("note", ""), "again": record.get("again", False)}
    return _list_or_submit(task, record["fingerprint"], title=record["title"], **also)


def _list_result(record, key):
    """List a data set, run or selection in the workspace; other results are found by the keys of their tasks."""
    try:
        if record["kind"] == "prepare":
            name = record["params"]["name"]
            fingerprint = experiment.load("prepare", key).dataset
            dataset_list.add_dataset(fingerprint, name, "catalog", use=workspace.get("wanted") == name, task=key)
        elif record["kind"] in dataset_list.KINDS:
            use = record["kind"] != "correct" and (workspace.get("dataset") or "") == record["fingerprint"]
            dataset_list.list_dataset(
                record["kind"], experiment.load(record["kind"], key), use, key, **record.get("about", {})
            )
        elif record["kind"] in result_list.LISTS:
            folder = experiment.KINDS[record["kind"]].folder
            about = {"key": key, "fingerprint": record["fingerprint"], "created": store.info(folder, key)["created"]}
            about["asked"] = record.get("asked", 0.0)
            result_list.add_result(record["kind"], about | record["params"])
        else:
            result_list.add_made(experiment.KINDS[record["kind"]].folder, key)
    except store.StoreError:
        workspace.notify(f"The result is gone from the cache: {record['title']}. Start it again.")
