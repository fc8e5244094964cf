"""Runs and selections of this workspace: list them, choose the one that a page shows, and read them."""

import contextlib

import streamlit as st

from pages.shared import cached, format, jobs, selectors, settings, tasks
from pages.shared.workspaces import workspace
from xmlcore import experiment, store
from xmlcore.ranking import KS as KS

K = 5  # labels predicted for a row, and measured up to, in trainings that pages start


def ks(n_labels: int) -> tuple[int, ...]:
    return tuple(k for k in KS if k <= n_labels)


def measurable(measures, n_labels: int) -> list[str]:
    """Return the measures, such as ``"P@5"``, whose k is at most the number of labels."""
    return [measure for measure in measures if int(measure.rpartition("@")[2]) in ks(n_labels)]


def kept(kind: str, fingerprint: str) -> list:
    """Return records of results on a data set that this workspace lists and the store still has, newest first.

    Those that another version of the program made are left out.
    """
    of = [r for r in workspace.get(kind) if r["fingerprint"] == fingerprint and not r.get("archived")]
    return [r for r in of if store.exists(kind, r["key"]) and is_made_so(r)][::-1]


def is_made_so(record: dict) -> bool:
    """Return whether this version of the program makes a result of these settings under the key of the record."""
    with contextlib.suppress(ValueError, TypeError):
        return is_given(record) or _task(record).key == record["key"]
    return False


def _task(record: dict):
    if "model" in record:
        return tasks.train_task(record["fingerprint"], record["model"], record["params"], record["k"])
    return tasks.select_task(record["fingerprint"], record["method"], record["params"])


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


def trained(record: dict) -> str:
    """Return a sentence on when a model was trained, and with which settings of the user's own, for Markdown."""
    changed = settings.changed(record["model"], record["params"])
    return f"Trained {format.when(record['created'])}{f' with {format.plain(changed)}' if changed else ''}."


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
    """Start the task of a result that cannot be read anew, with a note."""
    if is_given(record):
        st.error("The stored predictions of this program cannot be read. Upload their file again on the Compare page.")
        return
    task = _task(record)
    started = tasks.make_again(task, again=task.exists(), note=note)  # a run whose model is damaged is kept until then
    running = jobs.active(key=task.key)
    st.warning(note if started or running else tasks.STOPPED)
    jobs.watch(running)


def mark(record: dict) -> None:
    """Say when another program has made the predictions of a run; else show nothing."""
    if is_given(record):
        st.caption("Another program has made these predictions: there is no model of them, and no time of training.")


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
