"""Another split into training and test rows, without a new upload: a form that makes a second data set."""

import re
from functools import partial

import streamlit as st

from pages.data.forms import form
from pages.shared import server
from pages.shared.workspaces import dataset_list
from xmlcore import experiment
from xmlcore.datasets.splits.files import PUBLISHED_SPLIT
from xmlcore.experiment.engine import given


def _fields(data, fingerprint, known) -> form.Request | None:
    """Show the fields; ``known`` is the workspace's record of the data set in use."""
    st.markdown("Makes a second data set of the same rows. This one stays as it is; choose between them above.")
    how = experiment.KINDS["split"].parameter("way")
    way = st.radio(how.label, how.options, format_func=how.named, key="resplit.way")
    values = _fields_of(way, data)
    first = _name(known["name"], way, values)
    key, most = f"resplit.name.{fingerprint}.{way}.{_text(values)}", dataset_list.LONGEST_NAME
    name = st.text_input("Name", value=first, max_chars=max(most, len(first)), key=key).strip() or first
    if way == "file" and None in (values["train"], values["test"]):
        return None
    notes = list(server.dataset(fingerprint).notes) if known["source"] == "catalog" else known["notes"]
    files = {part: values[part] for part in ("train", "test") if part in values}
    task = partial(asked, fingerprint, way, values, notes)
    return form.Request(task if files else task(), files, name, notes)


def _fields_of(way, data):
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
    return "-".join(str(value) for name, value in values.items() if name not in ("train", "test"))


def _name(name, way, values):
    if way == "folds":
        ending = f", fold {values['fold']} of {values['n_folds']}"
    elif way == "file":
        ending = f", split {values['column']}"
    else:
        ending = ", unseen test rows" if way == "unseen" else f", {way} {values['percent']} %"
    return name[: dataset_list.LONGEST_NAME - len(ending)] + ending


def asked(fingerprint: str, way: str, values: dict, notes=()):
    """Return the task that the fields describe; ``notes`` say how the rows were split before."""
    params = {"way": way}
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
    return experiment.task("split", {"dataset": fingerprint}, params)


FORM = form.Form("resplit", "split", "Split the rows", "The rows could not be split:", _fields)
