"""The data sets of the workspace on the Data page: compare, rename, convert and remove them."""

import contextlib

import pandas as pd
import streamlit as st

from pages.shared import actions, format, jobs, tables, tasks
from pages.shared.figures import charts
from pages.shared.workspaces import dataset_list, removed, result_list, sources, workspace
from xmlcore import experiment, store
from xmlcore.experiment.kinds.export import FORMATS

FIRST_COMPARED = 5  # data sets compared at first: those that came last
FORMAT_NAMES = {
    "xmlc": "XMLC text, as in the Extreme Classification Repository",
    "svmlight": "svmlight text, without sizes",
    "arff": "ARFF with Mulan’s XML",
    "npz": "npz, for NumPy and SciPy",
}
# Statistics by their names in describe(): the words of the table, and how a value is written.
STATISTICS = {
    "n_train": ("Training rows", "count"),
    "n_test": ("Test rows", "count"),
    "n_features": ("Features", "count"),
    "n_labels": ("Labels", "count"),
    "nonzeros_per_row_mean": ("Features per row, mean", "number"),
    "cardinality": ("Labels per row (cardinality)", "number"),
    "density": ("Share of labels per row (density)", "share"),
    "n_label_sets": ("Different label sets", "count"),
    "n_label_sets_once": ("Label sets of a single row", "count"),
    "tcs": ("Complexity (TCS)", "number"),
    "irlbl_mean": ("Imbalance, mean (IRLbl)", "number"),
    "scumble": ("Rare beside frequent (SCUMBLE)", "number"),
    "label_frequency_median": ("Rows per label, median", "number"),
    "label_frequency_max": ("Most rows of one label", "count"),
    "share_labels_rare": ("Labels with 5 rows or fewer", "share"),
    "n_labels_never_in_train": ("Labels without training rows", "count"),
    "n_labels_only_in_test": ("Labels in test rows only", "count"),
    "n_rows_without_labels_train": ("Training rows without labels", "count"),
    "n_features_never_in_train": ("Features without training rows", "count"),
    "n_features_only_in_test": ("Features in test rows only", "count"),
    "memory_bytes": ("Memory", "size"),
}
WRITERS = {"count": lambda v: f"{v:,.0f}", "number": lambda v: f"{v:,.2f}", "share": format.probability,
           "size": format.size}  # fmt: skip


def opened() -> dict:
    """Return the workspace's records of its data sets that are kept, by fingerprint."""
    return {fp: entry for fp, entry in workspace.get("known").items() if store.exists("datasets", fp)}


def compare(opened: dict, used) -> None:
    """Show the data sets of the workspace beside each other; ``used`` is the fingerprint of the one in use."""
    _list(opened, used)
    _compare(opened)


def _list(opened, used):
    records = {}
    for fingerprint in opened:
        with contextlib.suppress(store.StoreError):  # it is damaged, which the sidebar says
            records[fingerprint] = store.info("datasets", fingerprint)
    opened, facts = {fp: opened[fp] for fp in records}, records.values()
    frame = pd.DataFrame(
        {
            "Data set": [entry["name"] for entry in opened.values()],
            "Rows": [fact["n_train"] + fact["n_test"] for fact in facts],
            "Features": [fact["n_features"] for fact in facts],
            "Labels": [fact["n_labels"] for fact in facts],
            "On disk": [format.size(fact["bytes"]) for fact in facts],
            "From": [sources.words(entry) for entry in opened.values()],
            "Results": [len(_results(fp)) for fp in opened],
            "In use": [fp == used for fp in opened],
        }
    )
    number = st.column_config.NumberColumn
    tables.show(
        frame,
        "manage.list",
        {
            "Data set": st.column_config.TextColumn(pinned=True, width=200),
            "In use": st.column_config.CheckboxColumn(width=60),
            **{name: number(format="localized", width=75) for name in ("Rows", "Features", "Labels")},
            "Results": number(width=70, help="Trained models and selections of features."),
            "From": st.column_config.TextColumn(width=250),
            "On disk": st.column_config.TextColumn(width=80),
        },
        most=320,
    )


def _results(fingerprint) -> list[str]:
    listed = [record for kind in result_list.FIELDS for record in workspace.get(kind)]
    return [record["key"] for record in listed if record["fingerprint"] == fingerprint]


def _compare(opened):
    chosen = list(opened)
    if len(opened) > 2:
        chosen = st.multiselect(
            "Data sets to compare",
            list(opened),
            chosen[-FIRST_COMPARED:],
            format_func=lambda fp: opened[fp]["name"],
            key=f"manage.compared.{len(opened)}",  # a new box when there is another data set
            placeholder="Choose data sets",
        )
    # Names are different: records.free_name.
    asked = {opened[fp]["name"]: experiment.task("description", {"dataset": fp}) for fp in chosen}
    if not asked:
        st.caption("Choose data sets to see their statistics beside each other.")
        return
    found = tasks.ready_all(asked, button="Compute the statistics of", key="manage.statistics", of="data set")
    if not found:
        return
    values = {name: result.fields["summary"] for name, result in found.items()}
    frame = pd.DataFrame(
        {"Statistic": [words for words, _ in STATISTICS.values()]}
        | {
            name: [
                WRITERS[kind](summary[key]) if summary.get(key) is not None else "–"
                for key, (_, kind) in STATISTICS.items()
            ]
            for name, summary in values.items()
        }
    )
    tables.show(
        frame,
        "manage.compare",
        {"Statistic": st.column_config.TextColumn(pinned=True, width=230)}
        | {name: st.column_config.TextColumn(width=110) for name in values},
        most=600,
    )
    whole = {"statistic": list(STATISTICS)} | {name: [v.get(key) for key in STATISTICS] for name, v in values.items()}
    about = "The numbers of this table with all their digits"
    st.caption(
        "Of training rows, where nothing else is said. IRLbl: how many times rarer a label is than the most frequent "
        "one. SCUMBLE: from 0 to 1, how much rare labels stand in the same rows as frequent ones."
    )
    charts.csv_button("Statistics, CSV", lambda: pd.DataFrame(whole), "statistics", about)


def one(opened: dict, used) -> None:
    options = list(opened)
    fingerprint = st.selectbox(
        "Data set to rename, convert or remove",
        options,
        index=options.index(used) if used in options else 0,
        format_func=lambda fp: opened[fp]["name"],
        key=f"manage.one.{used}",  # a new box, with the data set in use chosen, when that is another one
    )
    name = opened[fingerprint]["name"]
    left, middle, right = st.columns(3, gap="medium")
    with left:
        key, most = f"manage.name.{fingerprint}.{name}", max(dataset_list.LONGEST_NAME, len(name))  # a number is added
        new = st.text_input("New name", value=name, max_chars=most, key=key)
        actions.button(
            "Rename",
            key="manage.rename",
            disabled=not new.strip() or new.strip() == name,
            on_click=dataset_list.rename_dataset,
            args=(fingerprint, new),
        )
    with middle:
        _convert(fingerprint, name)
    with right:
        _remove(fingerprint, name)


def _convert(fingerprint, name):
    format_name = st.selectbox(
        "File format", list(FORMATS), format_func=lambda f: FORMAT_NAMES.get(f, f), key="manage.format"
    )
    task = experiment.task("export", {"dataset": fingerprint}, {"format": format_name})

    def draw(result):
        charts.file_button(
            f"{format.file_name(name)}.zip, {format.size(task.file().stat().st_size)}",
            task.file().read_bytes,
            f"{format.file_name(name)}.zip",
            f"A zip archive with {format.listed(result.names)}",
        )

    tasks.shown(task, draw, automatic_below=0, button="Write the file", key="manage.write")


def _remove(fingerprint, name):
    st.caption("Remove from this workspace")
    if actions.button("Remove …", key="manage.remove", help="You are asked before anything is removed."):
        _confirm(fingerprint, name)


@st.dialog("Remove a data set")
def _confirm(fingerprint, name):
    results, running = len(_results(fingerprint)), jobs.active(fingerprint=fingerprint)
    if running:
        st.markdown(
            f"{format.count(len(running), 'job')} of **{format.plain(name)}** still run. Stop them first: the sidebar "
            "lists them."
        )
        return
    also = f" and its {format.count(results, 'result')}" if results else ""
    st.markdown(f"Remove **{format.plain(name)}**{also} from this workspace?")
    again = {
        "catalog": "Choose it again under *Data set* or *Add a data set*, *Published* to get it back.",
        "synthetic": "Make it again with the same settings to get it back.",
        "split": "Split the same rows again with the same settings to get it back.",
        "words": "Make features of the same texts with the same settings to get it back.",
    }.get(workspace.get("known").get(fingerprint, {}).get("source"), "Upload the same files again to get it back.")
    st.caption(
        f"{again} It and its results stay on the disk: training with the same settings finds them at once. To free the "
        "space, delete it on the Storage page instead."
    )
    actions.confirm("Remove", "manage.confirm", _removed, (fingerprint, name), no="Keep it", no_key="manage.keep")


def _removed(fingerprint, name):
    if jobs.active(fingerprint=fingerprint):  # another tab has started one since the question was asked
        workspace.notify(f"{name} is not removed: a job of it runs. Stop it first: the sidebar lists it.")
        return
    removed.remove("datasets", [fingerprint], name, tuple(_results(fingerprint)))
    workspace.notify(f"{name} is removed from this workspace.")
