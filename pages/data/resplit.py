"""Another split into training and test rows, without a new upload: a form that makes a second data set."""

import re

import streamlit as st

from pages.data import uploads
from pages.shared import actions, server, workspace
from xmlcore import datasets, store

WAYS = {
    "stratified": "Stratified: each label is shared out evenly",
    "random": "At random",
    "folds": "One fold of several",
    "file": "By files of row numbers",
    "unseen": "As it is, without test rows that occur in training",
}
ERROR = "resplit.error"  # key of the session state: why the last split could not be made
DONE = "resplit.done"  # key of the session state: a split has been made, and the page does not show it yet


def show(data, fingerprint, known) -> None:
    """Show a form that splits the rows anew; ``known`` is the workspace's record of the data set in use."""
    if st.session_state.pop(DONE, False):
        st.rerun()  # the button runs only this form, but the whole page shows another data set now
    with st.expander("Split the rows again"):
        st.markdown("Makes a second data set of the same rows. This one stays as it is; choose between them above.")
        way = st.radio("How", list(WAYS), format_func=WAYS.get, key="resplit.way")
        values = _fields(way, data)
        first = _name(known["name"], way, values)
        key, most = f"resplit.name.{fingerprint}.{way}.{_text(values)}", workspace.LONGEST_NAME
        name = st.text_input("Name", value=first, max_chars=max(most, len(first)), key=key)
        actions.button(
            "Split anew",
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
    return name[: workspace.LONGEST_NAME - len(said)] + said


def _make(fingerprint, known, way, values, name):
    """Split the rows again, save the new data set and put it in use; called by the button."""
    if workspace.refuse():
        return
    try:
        data = server.dataset(fingerprint)
        notes = data.notes if known["source"] == "catalog" else known["notes"]
        made = split(data, way, values, notes)
    except (ValueError, TypeError, MemoryError, store.StoreError) as error:
        said = uploads.explain(error)
        st.session_state[ERROR] = said.replace("The files could not be read:", "The rows could not be split:")
        return
    note = made.notes[-1]
    object.__setattr__(made, "notes", ())  # notes with names of files stay in this workspace
    object.__setattr__(made, "name", "data split anew")
    new = datasets.save_dataset(made)
    st.session_state[DONE] = True
    earlier = workspace.get("known").get(new)
    if earlier is not None:  # it keeps its name, and where it comes from
        workspace.update(dataset=new, wanted=None)
        workspace.notify(f"{earlier['name']} is split in the same way: it is in use now.")
        return
    wanted = name.strip() or _name(known["name"], way, values)
    workspace.add_dataset(new, wanted, "split", use=True, notes=[*notes, note])
    workspace.notify(f"Split anew: {made.n_train:,} training rows and {made.n_test:,} test rows.")


def split(data, way: str, values: dict, notes=()) -> datasets.Dataset:
    """Return the data set that a form describes; ``notes`` say how it was split before.

    Raises what the functions of ``xmlcore.datasets`` raise.
    """
    if way == "file":
        if any(note.startswith(("Split anew", "Left out")) for note in notes):
            raise ValueError(
                "this data set is itself a new split, so its rows are in another order than in the files that were "
                "uploaded. Choose the data set that it was made from above, and split that one"
            )
        n_rows = data.n_train + data.n_test
        rows = [
            datasets.read_row_numbers(values[part], n_rows, int(values["column"]) - 1, first=int(values["first"]))
            for part in ("train", "test")
        ]
        drawn = next(
            (found for note in notes if (found := re.search(r"^The test row.* drawn at random with seed (\d+)", note))),
            None,
        )
        if drawn:
            place = datasets.rows_of_file(data.n_train, data.n_test, int(drawn[1]))
            rows = [place[part] for part in rows]
        return datasets.resplit(data, *rows, f"Split anew by files of row numbers, split {values['column']}.")
    if way == "unseen":
        return datasets.without_leaks(data)
    if way == "folds":
        return datasets.split_again(
            data, n_folds=int(values["n_folds"]), fold=int(values["fold"]) - 1, random_state=int(values["seed"])
        )
    return datasets.split_again(data, way, values["percent"] / 100, random_state=int(values["seed"]))
