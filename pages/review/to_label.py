"""Training rows without labels that should be labelled next, with the labels that a model suggests."""

import numpy as np
import streamlit as st

from pages.shared import actions, fields, format, tables, tasks
from pages.shared.rows import row_text
from xmlcore import experiment
from xmlcore.experiment.kinds.review import ToLabel

LATER = "review.later"  # key of st.session_state: rows that were put off


def unlabelled(data) -> np.ndarray:
    """Return the training rows without labels."""
    return np.flatnonzero(np.diff(data.Y_train.indptr) == 0)


def show(view) -> None:
    by = fields.described(ToLabel.parameter("by"), "review.by", help=None)
    task = experiment.task("to_label", {"run": view.ready.key}, {"by": by})
    tasks.shown(task, lambda found: _next(view, found), button="Choose rows to label")


def _next(view, found) -> None:
    rows, later = found.candidates["row"].unique(), st.session_state.setdefault(LATER, set())
    left = rows[~np.isin(rows, view.decided["row"].to_numpy(np.int64))]
    left = [*(row for row in left if row not in later), *(row for row in left if row in later)]
    rows_without = format.count(found.n_unlabelled, "training row")
    st.caption(f"{rows_without} without labels; of {len(rows):,} chosen, {len(left):,} are left.")
    if not left:
        st.markdown("All chosen rows are labelled. Make the corrected data, train on it, and choose again.")
        return
    row = int(left[0])
    lines = found.candidates[found.candidates["row"] == row]
    st.markdown(f"Which labels does **training row {row:,}** have?")
    row_text.show(view.data, "training", row)
    if view.data.texts_train is None:
        tables.show_features(tables.features(view.data, view.data.X_train, row), "review.features", 240)
    labels, names = lines["label"].tolist(), tables.label_names(view.data, lines["label"])
    shown = {j: f"{format.plain(name)} {100 * p:.0f} %" for j, name, p in zip(labels, names, lines["probability"])}
    ticked = lines["label"][lines["suggested"]].tolist()
    chosen = st.pills(
        "Suggested labels", labels, selection_mode="multi", default=ticked, format_func=shown.get,
        key=f"review.ticked.{row}",
    )  # fmt: skip
    further, unknown = typed(view.data, "Further labels", f"review.further.{row}")
    with st.container(horizontal=True, gap="small"):
        label = actions.button("Label", type="primary", shortcut="l", key="review.label_row", disabled=unknown)
        put_off = actions.button("Later", shortcut="n", key="review.later_row")
        undo = view.found is None and actions.button("Undo", disabled=not view.rows, shortcut="u", key="review.undo")
    if label:
        # asked for and not ticked: the row is kept as it is
        decisions = dict.fromkeys(ticked or labels[:1], "keep") | dict.fromkeys([*chosen, *further], "add")
        view.put([{"row": row, "label": int(j), "decision": one} for j, one in decisions.items()])
    if put_off:
        later.add(row)
    if undo:
        view.undo()
    if label or put_off or undo:
        st.rerun()  # the whole page, which counts decisions


def typed(data, title: str, key: str) -> tuple[list, bool]:
    """Return the ids of labels that users type, by their whole names, and whether no label has one of the names."""
    names = st.text_input(title, key=key, placeholder="names, or ids without names; semicolons between").split(";")
    found, unknown = [], []
    for name in filter(None, map(str.strip, names)):
        ids = tables.ids_named(data.label_names, data.n_labels, "label", name).tolist()
        ids = [j for j in ids if data.label_names is None or data.label_names[j].lower() == name.lower()]
        found += ids[:1]
        unknown += [] if ids else [name]
    if unknown:
        st.error(f"No label is called {format.plain(unknown[0])}.")
    return found, bool(unknown)
