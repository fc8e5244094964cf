"""The catalog of published data sets on the Data page: what they are, and getting one."""

import pandas as pd
import streamlit as st

from pages.shared import actions, fields, format, fragments, jobs, tables, tasks
from pages.shared.workspaces import dataset_list, workspace
from xmlcore import datasets, experiment
from xmlcore.datasets.registry import downloaded

FIRST = "eurlex-4k"  # what is shown on a first visit
BY_HAND = "Without a network, or if the download fails"
OFFERS = {  # texts of the button that gets a data set, by how far it is
    "in use": "In use",
    "being made ready": "Being made ready",
    "ready": "Use {}",
    "file is here": "Read the file of {}",
    "to download": "Download {}",
}


def entries() -> dict:
    return {entry.name: entry for entry in datasets.catalog() if entry.published}


def show() -> None:
    offered = entries()
    rows = {name: f"{name} – {entry.row}, {format.count(entry.n_labels, 'label')}" for name, entry in offered.items()}
    name = fields.choice("Published data set", rows, "known.name", FIRST)
    _about(offered[name])
    state = state_of(name)
    take = {"on_click": tasks.use, "args": (name,), "disabled": state in ("in use", "being made ready")}
    actions.button(OFFERS[state].format(name), type="primary", key="known.make", **take)
    if name not in {record["params"]["name"] for record, _ in _failed()}:  # the failure above says the same
        st.caption(f"{BY_HAND}: {_steps(offered[name])}")
    st.markdown(f"**All {len(offered)} published data sets**")
    _table(offered.values())


def _about(entry):
    row, label, collection = map(format.plain, (entry.row, entry.label, entry.collection))
    st.markdown(f"{format.bold(entry.name)}, from the {collection}. A row is {row}; a label is {label}.")
    split = f"{entry.n_test:,} of them test rows" if entry.n_test else "20\u00a0% of them drawn at random as test rows"
    features, labels = format.count(entry.n_features, "feature"), format.count(entry.n_labels, "label")
    memory = entry.memory()
    takes = "" if memory is None else f" In use it takes about {format.size(memory)} of memory."
    st.markdown(f"{format.count(entry.n_rows, 'row')}, {split}; {features}; {labels}.{takes}")
    checked = "compared with a published checksum" if entry.checksum else "kept with its checksum; none is published"
    cite = f"Please cite: {entry.citation}"
    st.caption(format.plain(f"{entry.source} The file is {checked}. No licence is stated. {cite}"))


def state_of(name) -> str:
    used = workspace.get("dataset")
    catalog = {fp: entry for fp, entry in workspace.get("known").items() if entry["source"] == "catalog"}
    mine = [fp for fp, entry in catalog.items() if dataset_list.catalog_name(entry) == name]
    if used in mine:
        return "in use"
    if jobs.active("prepare", name=name):
        return "being made ready"
    if mine or experiment.task("prepare", {}, {"name": name}).exists():
        return "ready"
    return "file is here" if downloaded.files(entries()[name]) else "to download"


def is_published(record) -> bool:
    return record["params"].get("name") in entries()


def busy() -> bool:
    return bool(_running() or _failed())


def draw() -> None:
    """Show what is being made and what failed, and the choice of a data set."""
    jobs.watch(_running())
    failed = _failed()
    jobs.show_failures(failed)
    for name in dict.fromkeys(record["params"]["name"] for record, _ in failed):
        st.markdown(f"**To get {format.plain(name)} by hand**, {_steps(entries()[name])}")
    fragments.alone(show)()


def _running() -> list:
    return [job for name in entries() for job in jobs.active("prepare", name=name)]


def _failed() -> list:
    return [pair for pair in jobs.failed("prepare") if is_published(pair[0])]


def _steps(entry) -> str:
    folder = str(downloaded.folder(entry)).replace("`", "")
    return (
        f"open [its web page]({entry.page}), save the file, and put it, packed or unpacked, into the folder `{folder}` "
        "on the machine that runs this dashboard. It is then found there."
    )


def _table(offered):
    frame = pd.DataFrame(
        [(e.name, e.n_rows, e.n_features, e.n_labels, e.row, e.label, state_of(e.name), e.collection) for e in offered],
        columns=["Data set", "Rows", "Features", "Labels", "A row is", "A label is", "State", "From"],
    )
    widths = {"A row is": 180, "A label is": 180, "State": 95, "From": 190}
    columns = {"Data set": tables.text("Data set", 150, pinned=True)}
    columns |= {name: tables.number(name, 75, "localized") for name in ("Rows", "Features", "Labels")}
    tables.show(frame, "known.table", columns | {name: tables.text(name, width) for name, width in widths.items()})
