"""Jobs of this workspace: started, watched, stopped, and their results taken in."""

import streamlit as st

from pages.shared import downloads, format, server, settings, workspace
from xmlcore import datasets, experiment, store

ACTIVE = ("queued", "running")
EVERY = 0.7  # seconds between looks while something runs; nothing is asked when nothing runs


def find(record: dict):
    """Return the job of a workspace record, or None when this process does not know it (any more)."""
    return server.queue().get(record["id"])


def prepare(name: str) -> None:
    """Have a catalog data set made (or found) by a worker and used when it is there."""
    pending = [r for r in workspace.get("jobs") if r["kind"] == "prepare" and r["name"] == name]
    if pending:
        return
    job = server.queue().submit(
        datasets.prepare, name, title=f"Preparing {name}", owner=workspace.token(), key=f"prepare-{name}"
    )
    _remember({"id": job.id, "kind": "prepare", "name": name})


def train(fingerprint: str, dataset_name: str, model: str, params: dict, k: int) -> bool:
    """Show the run of these settings: at once when there is one, else a worker starts on it.

    Returns whether it was there.
    """
    key = experiment.run_key(fingerprint, model, params, k)
    run = {"key": key, "fingerprint": fingerprint, "model": model, "params": params, "k": k}
    if store.exists("runs", key):
        _add_run(run)
        return True
    # A failure of the same data set that is still on the page makes room for the new try.
    for record in workspace.get("jobs"):
        job = find(record)
        if record.get("fingerprint") == fingerprint and (job is None or job.state not in ACTIVE):
            dismiss(record["id"])
    changed = settings.changed(model, params)
    title = f"Training {model} on {dataset_name}" + (f" ({changed})" if changed else "")
    job = server.queue().submit(
        experiment.run_saved, fingerprint, model, params, k, title=title, owner=workspace.token(), key=key
    )
    # Our own title: of a job shared with another session the queue knows the first one's, with its data set's name.
    _remember({"id": job.id, "kind": "train", "title": title, **run})
    return False


def select(fingerprint: str, dataset_name: str, method: str, params: dict) -> bool:
    """Show the selection of these settings: at once when there is one, else a worker starts on it.

    Returns whether it was there.
    """
    key = experiment.selection_key(fingerprint, method, params)
    selection = {"key": key, "fingerprint": fingerprint, "method": method, "params": params}
    if store.exists("selections", key):
        _add_selection(selection)
        return True
    for record in workspace.get("jobs"):
        job = find(record)
        if (record["kind"], record.get("fingerprint")) == ("select", fingerprint):
            if job is None or job.state not in ACTIVE:
                dismiss(record["id"])
    changed = settings.changed(method, params)
    name = experiment.SELECTORS[method].title if method != "FALS" else method
    title = f"Selecting features of {dataset_name} by {name}" + (f" ({changed})" if changed else "")
    arguments = (experiment.selection_saved, fingerprint, method, params)
    job = server.queue().submit(*arguments, title=title, owner=workspace.token(), key=key)
    _remember({"id": job.id, "kind": "select", "title": title, **selection})
    return False


def judge(fingerprint: str, asked: tuple, title: str) -> None:
    """Have selections judged by decision trees; ``asked`` are the arguments of judged_saved after the data set."""
    key = experiment.judged_key(fingerprint, *asked)
    _measure("judged", experiment.judged_saved, (fingerprint, *asked), key, "", fingerprint, title)


def measure_stability(fingerprint: str, asked: tuple, title: str) -> None:
    """Have a selection made with several seeds; ``asked`` are the arguments of stability_saved after the data set."""
    key = experiment.stability_key(fingerprint, *asked)
    _measure("stability", experiment.stability_saved, (fingerprint, *asked), key, "", fingerprint, title)


def train_reduced(selection_key: str, fingerprint: str, asked: tuple, title: str) -> None:
    """Have a model trained on selected features and on all; ``asked`` are reduced_saved's after the selection."""
    key = experiment.reduced_key(selection_key, *asked)
    _measure("reduced", experiment.reduced_saved, (selection_key, *asked), key, selection_key, fingerprint, title)


def measure_prefixes(run_key: str, fingerprint: str, title: str) -> None:
    """Have the parts of a run's model measured by a worker."""
    key = experiment.prefixes_key(run_key)
    _measure("prefixes", experiment.prefixes_saved, (run_key,), key, run_key, fingerprint, title)


def measure_robustness(run_key: str, fingerprint: str, asked: tuple, title: str) -> None:
    """Have a run measured under noise by a worker; ``asked`` are the arguments of robustness_saved after the run."""
    key = experiment.robustness_key(run_key, *asked)
    _measure("robustness", experiment.robustness_saved, (run_key, *asked), key, run_key, fingerprint, title)


def measure_explanations(run_key: str, fingerprint: str, asked: tuple, title: str) -> None:
    """Have rows of a run explained by a worker; ``asked`` are the arguments of explanations_saved after the run."""
    key = experiment.explanations_key(run_key, *asked)
    _measure("explanations", experiment.explanations_saved, (run_key, *asked), key, run_key, fingerprint, title)


def measure_sampling(run_key: str, fingerprint: str, asked: tuple, title: str) -> None:
    """Have other numbers of a run of DoubleSampling tried by a worker; ``asked`` are those of sampling_saved."""
    key = experiment.sampling_key(run_key, *asked)
    _measure("sampling", experiment.sampling_saved, (run_key, *asked), key, run_key, fingerprint, title)


def _measure(kind, function, arguments, key, run_key, fingerprint, title):
    """Start a measurement of a run unless it goes on already; a failed one makes room for it."""
    for record in workspace.get("jobs"):
        if record["kind"] == kind and record["key"] == key:
            job = find(record)
            if job is not None and job.state in ACTIVE:
                return
            dismiss(record["id"])
    job = server.queue().submit(function, *arguments, title=title, owner=workspace.token(), key=key)
    _remember({"id": job.id, "kind": kind, "run": run_key, "key": key, "fingerprint": fingerprint, "title": title})


def collect() -> None:
    """Take in what has finished, and start what is wanted: in each run of the script, before anything is shown."""
    _recover()
    for record in workspace.get("jobs"):
        job = find(record)
        if job is None:
            _lost(record)
        elif job.state == "done":
            _done(record, job)
        elif job.state == "cancelled":
            dismiss(record["id"])
            _stopped(record)
            workspace.notify(f"Stopped: {_title(job, record)}.")
    wanted = workspace.get("wanted")
    if wanted is not None and not any(r["kind"] == "prepare" and r["name"] == wanted for r in workspace.get("jobs")):
        prepare(wanted)


def active(kind: str | None = None, **fields) -> list:
    """Jobs of this workspace that wait or run, or have ended since :func:`collect`: watching them brings the result."""
    return [job for _, job in _with_state((*ACTIVE, "done", "cancelled"), kind, fields)]


def failed(kind: str | None = None, **fields) -> list:
    """Pairs of record and job that ended with an error nobody dismissed."""
    return _with_state(("failed",), kind, fields)


def watch(jobs: list, *, compact: bool = False) -> None:
    """Show jobs while they run, without rerunning the page; when one ends, the page reruns once."""
    if jobs:
        st.fragment(_live, run_every=EVERY)([job.id for job in jobs], compact, [])


def show_failures(failures: list) -> None:
    for record, job in failures:
        error = settings.in_form(record.get("model") or record.get("method"), job.error or "No reason was given.")
        st.error(f"**{format.plain(_title(job, record))} failed.** {format.plain(error)}")
        with st.container(horizontal=True):
            again = record["kind"] == "prepare"
            label = "Try again" if again else "Dismiss"
            st.button(label, key=f"dismiss-{record['id']}", on_click=dismiss, args=(record["id"],))
        if job.traceback:
            with st.expander("Traceback, for a bug report"):
                st.code(job.traceback, language="pytb")


def dismiss(job_id: str) -> None:
    def drop(data):
        data["jobs"] = [r for r in data["jobs"] if r["id"] != job_id]

    server.job_records().pop(_name(job_id), None)
    workspace.update(drop)


def _live(ids, compact, looks):
    looks.append(None)
    polling = len(looks) > 1  # the first look is a part of the page's own run, which must not be cut short
    jobs = [server.queue().get(job_id) for job_id in ids]
    if polling and not all(job is not None and job.state in ACTIVE and _wanted(job) for job in jobs):
        downloads.wait()
        st.rerun()  # the whole page: it has a result, a failure or a note to show
    records = {record["id"]: record for record in workspace.get("jobs")}
    for job in jobs:
        if job is not None:
            _one(job, _title(job, records.get(job.id, {})), compact)
    if polling:
        downloads.wait()  # the end of this run may delete a file that was made for a download


def _wanted(job) -> bool:
    """Whether it still is this workspace's job, or the server's own: a shared one goes on when one owner stops it."""
    return not {workspace.token(), server.SERVER}.isdisjoint(job.owners)


def _title(job, record) -> str:
    return record.get("title") or job.title


def _waiting(job) -> str:
    """Where it is in the queue, which is first come, first served."""
    line = [other.id for other in reversed(server.queue().jobs()) if other.state == "queued"]
    place = line.index(job.id) + 1 if job.id in line else 1
    return "Waiting for a free worker" + (f", number {place} of {len(line)} in the queue" if len(line) > 1 else "")


def _one(job, title, compact):
    fraction = min(max(job.fraction, 0.0), 1.0)
    percent = f"{100 * fraction:.0f} %"
    if job.cancelling:
        doing = "Stopping"
    elif job.state == "queued":
        doing = _waiting(job)
    else:
        doing = f"{job.phase}: {percent}" if job.phase else "Starting a worker"
        doing += f" ({job.detail})" if job.detail and not compact else ""
        doing += f", {format.seconds(job.elapsed)} so far" if job.elapsed >= 1 and not compact else ""
    with st.container(key=f"job-{'side' if compact else 'main'}-{job.id}", gap="small"):
        if compact:
            st.caption(
                format.plain(doing) if doing.startswith(title) else f"{format.plain(title)}  \n{format.plain(doing)}"
            )
            st.progress(fraction)
        else:
            st.markdown(f"**{format.plain(title)}**")
            st.progress(fraction, text=format.plain(doing))
        if workspace.token() in job.owners:
            st.button(
                "Stop",
                key=f"stop-{'side' if compact else 'main'}-{job.id}",
                on_click=_stop,
                args=(job.id,),
                disabled=job.cancelling,
                help=f"Stop: {format.plain(title)}",
            )


def _stop(job_id):
    queue = server.queue()
    queue.cancel(job_id, owner=workspace.token())
    job = queue.get(job_id)
    if job is not None and job.active and workspace.token() not in job.owners:  # it goes on, for another session
        for record in workspace.get("jobs"):
            if record["id"] == job_id:
                _stopped(record)
                workspace.notify(
                    f"Stopped here: {_title(job, record)}. It goes on for another session that wants it too."
                )
        dismiss(job_id)


def _stopped(record):
    if record["kind"] == "prepare" and workspace.get("wanted") == record["name"]:
        workspace.update(wanted=None)  # stopped on purpose: it does not start by itself again


def _with_state(states, kind, fields):
    found = []
    for record in workspace.get("jobs"):
        if kind is not None and record["kind"] != kind:
            continue
        if any(record.get(name) != value for name, value in fields.items()):
            continue
        job = find(record)
        if job is not None and job.state in states:
            found.append((record, job))
    return found


def _recover():
    """Take in jobs of ours that the workspace does not name: its file was deleted meanwhile."""
    named = {record["id"] for record in workspace.get("jobs")}
    for job in reversed(server.queue().jobs(owner=workspace.token())):
        if job.id not in named and (record := server.job_records().get(_name(job.id))) is not None:
            _remember(record)


def _name(job_id):
    """A job's name among the server's records; with our token: a shared job has a record in each workspace."""
    return workspace.token(), job_id


def _remember(record):
    records = server.job_records()
    records[_name(record["id"])] = record
    for name in list(records):
        if server.queue().get(name[1]) is None:
            records.pop(name, None)

    def add(data):
        data["jobs"] = [r for r in data["jobs"] if r["id"] != record["id"]] + [record]

    workspace.update(add)


def _add_run(run):
    try:
        run = {**run, "created": store.info("runs", run["key"])["created"]}
    except store.StoreError:
        workspace.notify("The result is gone from the cache. Press Train to make it again.")
        return

    def add(data):
        if run["key"] not in {r["key"] for r in data["runs"]}:
            data["runs"].append(run)
        data["shown"][run["fingerprint"]] = run["key"]

    workspace.update(add)


def _add_selection(selection):
    try:
        created = store.info("selections", selection["key"])["created"]
    except store.StoreError:
        workspace.notify("The selection is gone from the cache. Make it again.")
        return
    workspace.add_selection({**selection, "created": created})


def _done(record, job):
    if record["kind"] == "select":
        selection = {name: record[name] for name in ("fingerprint", "method", "params")}
        _add_selection({**selection, "key": job.result()})  # the worker's key counts, as for runs
        dismiss(record["id"])
        workspace.notify(f"Done: {_title(job, record)}.")
        return
    if record["kind"] == "train":
        run = {name: record[name] for name in ("key", "fingerprint", "model", "params", "k")}
        # The worker's key counts: it differs from ours when the code was updated while this server kept running.
        _add_run({**run, "key": job.result()})
        dismiss(record["id"])
        workspace.notify(f"Done: {_title(job, record)}.")
        return
    dismiss(record["id"])
    if record["kind"] in (*workspace.MEASUREMENTS, *workspace.SELECTION_MEASUREMENTS):
        return  # what was measured is found by the run
    workspace.add_dataset(job.result(), record["name"], "catalog", use=workspace.get("wanted") == record["name"])


def _lost(record):
    """The server process is another one than the one that started the job."""
    dismiss(record["id"])
    if record["kind"] == "train":
        if store.exists("runs", record["key"]):
            _add_run({name: record[name] for name in ("key", "fingerprint", "model", "params", "k")})
        else:
            workspace.notify("The server was restarted during a training. Press Train to start it again.")
    elif record["kind"] == "select":
        if store.exists("selections", record["key"]):
            _add_selection({name: record[name] for name in ("key", "fingerprint", "method", "params")})
        else:
            workspace.notify("The server was restarted during a selection of features. Its page can start it again.")
    elif record["kind"] in (*workspace.MEASUREMENTS, *workspace.SELECTION_MEASUREMENTS) and not store.exists(
        record["kind"], record["key"]
    ):
        again = "The Trees page starts it again." if record["kind"] == "prefixes" else "Its page can start it again."
        workspace.notify(f"The server was restarted during: {record['title']}. {again}")
