"""Another split into training and test rows, without a new upload: a form that makes a second data set."""

import re

import streamlit as st

from pages.data import uploads
from pages.shared import actions, jobs, server, tasks
from pages.shared.workspaces import dataset_list, workspace
from xmlcore import experiment, store
from xmlcore.datasets.splits.files import PUBLISHED_SPLIT
from xmlcore.experiment.engine import given

ERROR = "resplit.error"  # key of the session state: why the last split could not be made
DONE = "resplit.done"  # key of the session state: a split was asked for, and the page does not show it yet


def show(data, fingerprint, known) -> None:
    """Show a form that splits the rows anew; ``known`` is the workspace's record of the data set in use."""
    if st.session_state.pop(DONE, False):
        st.rerun()  # the button runs only this form, but the whole page shows another data set now
    st.markdown("Makes a second data set of the same rows. This one stays as it is; choose between them above.")
    how = experiment.KINDS["split"].parameter("way")
    way = st.radio(how.label, how.options, format_func=how.named, key="resplit.way")
    values = _fields(way, data)
    first = _name(known["name"], way, values)
    key, most = f"resplit.name.{fingerprint}.{way}.{_text(values)}", dataset_list.LONGEST_NAME
    name = st.text_input("Name", value=first, max_chars=max(most, len(first)), key=key)
    actions.button(
        "Split the rows",
        type="primary",
        key="resplit.make",
        on_click=_make,
        args=(fingerprint, known, way, values, name),
        disabled=way == "file" and None in (values["train"], values["test"]),
    )
    if ERROR in st.session_state:
        st.error(st.session_state.pop(ERROR))


def _fields(way, data):
    """Show the fields of one way to split, and return their values by name."""
    if way == "file":
        st.caption(
            "Two files with one row number per line, such as trSplit.txt and tstSplit.txt of the Extreme "
            "Classification Repository. Rows in neither file are left out. If the data came as one file, the numbers "
            "are those of its rows; otherwise test rows follow training rows."
        )
        values = {
            "train": st.file_uploader("Numbers of the training rows", key="resplit.train"),
            "test": st.file_uploader("Numbers of the test rows", key="resplit.test"),
        }
        left, right = st.columns(2)
        values["column"] = left.number_input("Split (column of the files)", 1, 1000, 1, key="resplit.column")
        values["first"] = right.radio("The first row has number", [1, 0], horizontal=True, key="resplit.first")
        return values
    if way == "unseen":
        st.caption("Leaves out the test rows whose features are those of a training row. Nothing else changes.")
        return {}
    left, middle, right = st.columns(3)
    values = {}
    if way != "folds":
        right = middle
    if way == "folds":
        values["n_folds"] = left.number_input("Folds", 2, min(100, data.n_train + data.n_test), 5, key="resplit.folds")
        values["fold"] = middle.number_input("Test fold", 1, values["n_folds"], 1, key="resplit.fold")
    else:
        values["percent"] = left.number_input("Test rows, %", 1, 99, 20, key="resplit.percent")
    values["seed"] = right.number_input("Seed", 0, 2**31 - 1, 0, key="resplit.seed")
    return values


def _text(values):
    """Return the values of fields as a text without the files."""
    return "-".join(str(value) for name, value in values.items() if name not in ("train", "test"))


def _name(name, way, values):
    """Return a name for the new data set, which says how it was split."""
    if way == "folds":
        said = f", fold {values['fold']} of {values['n_folds']}"
    elif way == "file":
        said = f", split {values['column']}"
    else:
        said = ", unseen test rows" if way == "unseen" else f", {way} {values['percent']} %"
    return name[: dataset_list.LONGEST_NAME - len(said)] + said


def _make(fingerprint, known, way, values, name):
    """Have the rows split again, at once if that is short; called by the button."""
    if workspace.refuse():
        return
    notes = workspace.get("known").get(fingerprint, {}).get("notes", known["notes"])
    try:
        if known["source"] == "catalog":
            notes = list(server.dataset(fingerprint).notes)
        task, files = asked(fingerprint, way, values, notes)
        if task.estimate().seconds < uploads.AT_ONCE or task.exists():
            uploads.run(task, files)
        else:
            given.give(task.key, files)
    except (ValueError, TypeError, MemoryError, OSError, store.StoreError) as error:
        said = uploads.explain(error)
        st.session_state[ERROR] = said.replace("The files could not be read:", "The rows could not be split:")
        return
    st.session_state[DONE] = True
    names = uploads.names_of(files)
    tasks.make_dataset(task, name=name.strip() or _name(known["name"], way, values), notes=notes, files=names)


def asked(fingerprint: str, way: str, values: dict, notes=()):
    """Return the task that a form describes, and the files for it; ``notes`` say how the rows were split before.

    Raises ValueError if the rows cannot be found by their numbers in files.
    """
    files, params = {}, {"way": way}
    if way == "file":
        if any(note.startswith(PUBLISHED_SPLIT) for note in notes):
            raise ValueError(
                "the training rows of this data set are those of a published split, so its rows are in another order "
                "than in the published file. Upload that file as your own data, and split that one"
            )
        if any(note.startswith(("Split anew", "Left out")) for note in notes):
            raise ValueError(
                "this data set is itself a new split, so its rows are in another order than in the files that were "
                "uploaded. Choose the data set that it was made from above, and split that one"
            )
        found = (re.search(r"^The test row.* drawn at random with seed (\d+)", note) for note in notes)
        drawn = next(filter(None, found), None)
        files = {part: values[part] for part in ("train", "test")}
        params |= {"files": given.described(files), "column": int(values["column"]) - 1, "first": int(values["first"])}
        params["drawn_with"] = None if drawn is None else int(drawn[1])
    elif way != "unseen":
        params["random_state"] = int(values["seed"])
        if way == "folds":
            params |= {"n_folds": int(values["n_folds"]), "fold": int(values["fold"]) - 1}
        else:
            params["test_size"] = values["percent"] / 100
    return experiment.task("split", {"dataset": fingerprint}, params), files


def busy() -> bool:
    """Return whether rows are being split, or that has failed."""
    return bool(jobs.active("split") or jobs.failed("split"))


def progress() -> None:
    """Show the progress of splits, and why one could not be made."""
    jobs.watch(jobs.active("split"))
    uploads.failures("split", "The rows could not be split:")
