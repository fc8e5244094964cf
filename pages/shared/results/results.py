"""Runs and selections of this workspace: list them, choose the one that a page shows, and read them."""

import contextlib
import re

import streamlit as st

from pages.shared import cached, format, jobs, selectors, settings, tasks
from pages.shared.results import run_names
from pages.shared.workspaces import workspace
from xmlcore import experiment, store
from xmlcore.ranking import KS as KS

OTHER_VERSION = "This result was made by another version of the program"
K = 5  # labels predicted for a row, and measured up to, in trainings that pages start


def ks(n_labels: int) -> tuple[int, ...]:
    return tuple(k for k in KS if k <= n_labels)


def measurable(measures, n_labels: int) -> list[str]:
    """Return the measures, such as ``"P@5"``, whose k is at most the number of labels."""
    return [measure for measure in measures if int(measure.rpartition("@")[2]) in ks(n_labels)]


def kept(kind: str, fingerprint: str) -> list:
    """Return records of results on a data set that this workspace lists and the store still has, newest first."""
    of = [r for r in workspace.get(kind) if r["fingerprint"] == fingerprint and not r.get("archived")]
    return [r for r in of if store.exists(kind, r["key"])][::-1]


def say_warnings(run) -> None:
    if sentences := [format.sentence(settings.in_form(run.model, text)) for text in dict.fromkeys(run.warnings)]:
        st.caption(f":material/warning: {format.plain(' '.join(sentences))}")


def is_given(record: dict) -> bool:
    """Return whether a result is the predictions of another program, so that there is no model."""
    return record.get("model") == experiment.GIVEN


def with_model(fingerprint: str) -> list:
    """Return the runs of :func:`kept` that have a model; a caption names the others."""
    every = kept("runs", fingerprint)
    if out := [format.plain(r.get("name") or r["model"]) for r in every if is_given(r)]:
        st.caption(f"Left out, because only the predictions are known and no model: **{format.listed(out)}**.")
    return [r for r in every if not is_given(r)]


def usable(kind: str, fingerprint: str) -> list:
    """Return results with a model that this version has and can read; a caption names the others."""
    every = with_model(fingerprint) if kind == "runs" else kept(kind, fingerprint)
    out = {r["key"]: why for r in every if (why := task_now(r)[1]) and not _is_readable(r)}
    if out:
        names = run_names.names(every) if kind == "runs" else run_names.selections(every)
        named = (f"{format.bold(names[key])} ({format.plain(why)})" for key, why in out.items())
        have = "This result was" if len(out) == 1 else "These results were"
        st.caption(f"Left out: {format.listed(list(named))}. {have} made by another version of the program.")
    return [r for r in every if r["key"] not in out]


def can_be_made(record: dict) -> bool:
    """Return whether this version has the model or method of a result, and each of its parameters."""
    return task_now(record)[0] is not None


def _is_readable(record) -> bool:
    if record.get("model") not in experiment.MODELS:
        return False
    try:
        cached.model(record["key"])
    except (store.StoreError, OSError):
        return False
    return True


def trained(record: dict) -> str:
    """Return a sentence on when a model was trained, and with which settings of the user's own, for Markdown."""
    changed = settings.changed(record["model"], record["params"])
    return f"Trained {format.when(record['created'])}{f' with {format.plain(changed)}' if changed else ''}."


def task_now(record: dict) -> tuple:
    """Return the task that makes a result today, or None and what this version lacks: ``PLT has no parameter x``."""
    try:
        if "model" in record:
            return tasks.train_task(record["fingerprint"], record["model"], record["params"], record["k"]), ""
        return tasks.select_task(record["fingerprint"], record["method"], record["params"]), ""
    except (ValueError, TypeError) as error:
        return None, re.split(": known are |: it has ", str(error))[0]  # without the list of known names


def key_now(record: dict) -> str:
    """Return the key under which the result of a record is made today; its own key if it cannot be made any more."""
    task, _ = task_now(record)
    return record["key"] if task is None else task.key


def run(record: dict):
    return read(cached.run, record)


def run_and_model(record: dict):
    return read(lambda key: (cached.run(key), cached.model(key)), record)


def read(reading, record: dict):
    """Return ``reading(key)`` for the key of a record; None, with a message on the page, if it cannot be read."""
    try:
        return reading(record["key"])
    except store.DamagedArtifactError:
        _make_again(record, tasks.DAMAGED)
    except store.UnreadableArtifactError:  # the file stays: another version of the program wrote it
        _make_again(record, tasks.UNREADABLE)
    except (store.StoreError, OSError) as error:
        st.error(f"This result cannot be read: {format.plain(error)}. Make it again.")
    return None


def _make_again(record, note):
    """Start the task of a result that cannot be read anew, with a note, or say that its settings no longer exist."""
    if is_given(record):
        st.error("The stored predictions of this program cannot be read. Upload their file again on the Compare page.")
        return
    task, why = task_now(record)
    if task is None:
        st.error(f"{OTHER_VERSION}, and this version cannot read it: {format.plain(why)}.")
        return
    # A run whose model is damaged is kept until it is replaced; so is a result of another version of the program.
    started = tasks.make_again(task, again=task.key == record["key"] and task.exists(), note=note)
    running = jobs.active(key=task.key)
    st.warning(note if started or running else tasks.STOPPED)
    jobs.watch(running)


def mark(record: dict) -> None:
    """Say when a run or selection was not made by this version, and offer to make it again; else show nothing."""
    if is_given(record):
        st.caption("Another program has made these predictions: there is no model of them, and no time of training.")
        return
    task, _ = task_now(record)
    if task is None:
        st.caption(f"{OTHER_VERSION}. This version cannot make it again.")
    elif task.key != record["key"] and not jobs.active(key=task.key):
        tasks.mark({"": task}, task.key)


def chosen(widget: str, fingerprint: str, runs: list) -> str:
    """Return the key of the run that the address names: the one chosen, or asked for, last; else that of the best."""
    keys = [r["key"] for r in runs]
    wanted = (workspace.get("shown").get(fingerprint), workspace.get("widgets").get(f"{widget} {fingerprint}"))
    precision = _precisions(tuple(keys), store.changed("runs"))
    best = max(runs, key=lambda r: (not jobs.is_unasked(r), precision[r["key"]]))
    return next((key for key in wanted if key in keys), best["key"])


@cached.shared()
def _precisions(keys: tuple, changed: int) -> dict[str, float]:
    """Return P@1 of runs by their keys, -1 where it is not known, as when the store was changed last."""
    found = dict.fromkeys(keys, -1.0)
    for key in keys:
        with contextlib.suppress(store.StoreError, OSError, KeyError, TypeError, ValueError, IndexError):
            found[key] = float(store.info("runs", key)["summary"]["measures"]["P@k"][0])
    return found


def take(fingerprint: str, key: str) -> None:
    selectors.stay_at_row(fingerprint)
    workspace.update(lambda data: data["shown"].update({fingerprint: key}))
