"""Another split into training and test rows, without a new upload: a form that makes a second data set."""

import contextlib
import re
from functools import partial

import streamlit as st

from pages.data.forms import form
from pages.shared import cached, fields
from pages.shared.workspaces import dataset_list
from xmlcore import experiment
from xmlcore.datasets.splits import PUBLISHED_SPLIT
from xmlcore.experiment.engine import task_files

SPLIT = experiment.KINDS["split"]


def _fields(data, fingerprint, known) -> form.Request | None:
    st.markdown("Makes a second data set of the same rows. This one stays as it is; choose between them above.")
    way = fields.described(SPLIT.parameter("way"), "resplit.way", widget="radio")
    values = _fields_of(way, data)
    first = _name(known["name"], way, values)
    settings = "-".join(str(value) for name, value in values.items() if name not in ("train", "test"))
    key, most = f"resplit.name.{fingerprint}.{way}.{settings}", dataset_list.LONGEST_NAME
    name = st.text_input("Name", value=first, max_chars=max(most, len(first)), key=key).strip() or first
    if way == "file" and None in (values["train"], values["test"]):
        return None
    notes = list(cached.dataset(fingerprint).notes) if known["source"] == "catalog" else known["notes"]
    files = {part: values[part] for part in ("train", "test") if part in values}
    task = partial(asked, fingerprint, way, values, notes)
    with contextlib.suppress(ValueError):  # of fields that fit no rows: the button says why
        task = task if files else task()
    return form.Request(task, files, name, notes)


def _fields_of(way, data) -> dict:
    about = {parameter.name: parameter for parameter in SPLIT.PARAMETERS}

    def field(name, place, **own):
        return fields.described(about[name], f"resplit.{name}", place=place, **own)

    def counted(name, place, most):
        return field(name, place, low=1, high=most, default=1 + about[name].default) - 1

    if way == "file":
        st.caption("Two files of row numbers, such as trSplit.txt. Test rows follow training rows, if from two files.")
        values = {
            "train": st.file_uploader("Numbers of the training rows", key="resplit.train"),
            "test": st.file_uploader("Numbers of the test rows", key="resplit.test"),
        }
        left, right = st.columns(2)
        column = counted("column", left, 1 + about["column"].offered[1])
        return values | {"column": column, "first": field("first", right)}
    if way == "unseen":
        st.caption("Leaves out the test rows whose features are those of a training row. Nothing else changes.")
        return {}
    left, middle, right = st.columns(3)
    if way == "folds":
        n_folds = field("n_folds", left, high=min(about["n_folds"].offered[1], data.n_train + data.n_test))
        values = {"n_folds": n_folds, "fold": counted("fold", middle, n_folds)}
    else:
        values, right = {"test_size": fields.percent(about["test_size"], "resplit.test_size", place=left)}, middle
    return values | {"random_state": field("random_state", right)}


def _name(name, way, values):
    if way == "folds":
        ending = f", fold {1 + values['fold']} of {values['n_folds']}"
    elif way == "file":
        ending = f", split {1 + values['column']}"
    else:
        ending = ", unseen test rows" if way == "unseen" else f", {way} {100 * values['test_size']:.0f} %"
    return name[: dataset_list.LONGEST_NAME - len(ending)] + ending


def asked(fingerprint: str, way: str, values: dict, notes=()):
    """Return the task that the fields describe; ``notes`` say how the rows were split before."""
    params = {"way": way} | values
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
        params["files"] = task_files.described({part: params.pop(part) for part in ("train", "test")})
        params["drawn_with"] = None if drawn is None else int(drawn[1])
    return experiment.task("split", {"dataset": fingerprint}, params)


FORM = form.Form("resplit", "split", "Split the rows", "The rows could not be split:", _fields)
