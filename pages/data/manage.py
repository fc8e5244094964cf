"""The data sets of the workspace on the Data page: compare, rename, convert and remove them."""

import contextlib

import pandas as pd
import streamlit as st

from pages.shared import actions, format, jobs, tables, tasks
from pages.shared.figures import charts
from pages.shared.workspaces import dataset_list, removed, result_list, workspace
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
    lines = []
    for fingerprint, entry in opened.items():
        with contextlib.suppress(store.StoreError):  # it is damaged, which the sidebar says
            facts = store.info("datasets", fingerprint)
            lines.append(
                {
                    "Data set": entry["name"],
                    "Rows": facts["n_train"] + facts["n_test"],
                    "Features": facts["n_features"],
                    "Labels": facts["n_labels"],
                    "On disk": format.size(facts["bytes"]),
                    "From": dataset_list.where_from(entry),
                    "Results": len(_results(fingerprint)),
                    "In use": fingerprint == used,
                }
            )
    columns = {
        "Data set": tables.text("Data set", 200, pinned=True),
        "In use": st.column_config.CheckboxColumn("In use", width=60),
        **{name: tables.number(name, 75, "localized") for name in ("Rows", "Features", "Labels")},
        "Results": tables.number("Results", 70, help="Trained models and selections of features."),
        "From": tables.text("From", 250),
        "On disk": tables.text("On disk", 80),
    }
    tables.show(pd.DataFrame(lines), "manage.list", columns)
    _statistics(opened)


def _results(fingerprint) -> list[str]:
    listed = [record for kind in result_list.FIELDS for record in workspace.get(kind)]
    return [record["key"] for record in listed if record["fingerprint"] == fingerprint]


def _statistics(opened):
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
    found = tasks.ready_all(asked, button="Describe", key="manage.statistics", of="data set")
    if not found:
        return
    values = {name: result.summary for name, result in found.items()}
    frame = pd.DataFrame({"Statistic": [words for words, _ in STATISTICS.values()]})
    for name, summary in values.items():
        frame[name] = ["–" if summary.get(key) is None else WRITERS[kind](summary[key])
                       for key, (_, kind) in STATISTICS.items()]  # fmt: skip
    columns = {"Statistic": tables.text("Statistic", 230, pinned=True)}
    tables.show(frame, "manage.compare", columns | {name: tables.text(name, 110) for name in values}, height="content")
    whole = {"statistic": list(STATISTICS)} | {name: [v.get(key) for key in STATISTICS] for name, v in values.items()}
    charts.csv_button("Statistics, CSV", lambda: pd.DataFrame(whole), "statistics", "In full precision")


def edit(opened: dict, used) -> None:
    names = {fingerprint: entry["name"] for fingerprint, entry in opened.items()}
    about = {"index": list(names).index(used) if used in names else 0, "format_func": names.get}
    # A new box, with the data set in use chosen, once another one is in use.
    fingerprint = st.selectbox("Data set to rename, convert or remove", names, key=f"manage.one.{used}", **about)
    name = names[fingerprint]
    left, middle, right = st.columns(3, gap="medium")
    with left:
        key, most = f"manage.name.{fingerprint}.{name}", max(dataset_list.LONGEST_NAME, len(name))  # a number is added
        new = st.text_input("New name", value=name, max_chars=most, key=key)
        take = {"on_click": dataset_list.rename_dataset, "args": (fingerprint, new)}
        actions.button("Rename", key="manage.rename", disabled=not new.strip() or new.strip() == name, **take)
    with middle:
        _convert(fingerprint, name)
    with right:
        results = format.count(len(_results(fingerprint)), "result")
        st.caption(f"Remove it and its {results} from this workspace")
        about = "*Undo*, above, brings it back. Its files stay on the disk: the Storage page frees the space."
        actions.button("Remove", key="manage.remove", on_click=_removed, args=(fingerprint, name), help=about)


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


def _removed(fingerprint, name):
    if jobs.active(fingerprint=fingerprint):
        workspace.notify(f"{name} is not removed: a job of it runs. Stop it first: the sidebar lists it.")
        return
    removed.remove("datasets", [fingerprint], name, tuple(_results(fingerprint)))
    workspace.notify(f"{name} is removed from this workspace.")
