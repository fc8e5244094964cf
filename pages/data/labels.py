"""The table of labels on the Data page, and the rows of one of them."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.data import label_rows
from pages.shared import fields, format, selectors, tables
from pages.shared.figures import charts
from xmlcore.metrics.buckets import MEANING

SHOWN_LABELS, LABELS_HEIGHT = 500, 320  # most labels in the table, and its greatest height in pixels
ORDERS = {
    "most frequent first": ("rank", True),
    "rarest first": ("rank", False),
    "largest SCUMBLE first": ("scumble", False),
    "smallest SCUMBLE first": ("scumble", True),
    "by name": ("name", True),
}


def show(data, labels, examination, name) -> None:
    """Show a table of labels that can be searched, and the rows of the label that is ticked."""
    query_box, rows_box, order_box = st.columns([3, 1, 2])
    key = selectors.query_key("labels.query", data)
    query = fields.text("Find labels by name or id", key, place=query_box, placeholder="part of a name")
    most = fields.whole("Training rows, at most", 0, None, "labels.most", None, place=rows_box, placeholder="any")
    order = fields.choice("Order", tuple(ORDERS), "labels.order", place=order_box)
    column, ascending = ORDERS[order]
    among = labels if most is None else labels[labels["n_train"] <= most]
    found_labels = tables.find_labels(among.sort_values(column, ascending=ascending, kind="stable"), query)
    if found_labels.empty:
        rows = "" if most is None else f" with at most {format.count(most, 'training row')}"
        has = f" has “{format.plain(query)}” in its name or as its id" if query.strip() else " is there"
        st.info(f"No label{rows}{has}. Try {'a shorter part of it' if query.strip() else 'a larger number'}.")
        return
    shown = found_labels.head(SHOWN_LABELS)
    label = _table(data, shown, examination, f"{data.fingerprint[:8]}.{query.strip()}.{most}.{order}")
    matching = (
        f"{format.count(len(found_labels), 'matching label')} ({len(labels):,} in all)"
        if query.strip() or most is not None
        else format.count(len(found_labels), "label")
    )
    ordered = f", {order}" if len(shown) > 1 else ""
    whole = f" “All labels, CSV” has all {len(labels):,}." if len(shown) < len(labels) else ""
    st.caption(f"Showing {len(shown):,} of {matching}{ordered}. Tick a label to see its rows.{whole}")
    charts.csv_button(
        "All labels, CSV",
        lambda: labels.assign(partners=[", ".join(names) for names in partners(data, labels["label"], examination)]),
        f"{name}-labels",
        "Every label with its counts, imbalance, propensity and partners",
    )
    if label is not None:
        label_rows.show(data, rows_of(data, label), data.label_name(label), f"{name}-rows-of-label-{label}")


def partners(data, labels, examination) -> list[tuple[str, ...]]:
    """Return, for each label, the names of the labels that go with it most, with their correlations."""
    if examination is None:
        return [()] * len(labels)
    mine = examination.partners[examination.partners["label"].isin(labels)]
    texts = {}
    for pair in mine.itertuples():
        texts.setdefault(pair.label, []).append(f"{data.label_name(pair.partner)} ({pair.phi:.2f})")
    return [(*texts.get(label, ()),) for label in labels]


def _table(data, shown, examination, key):
    frame = shown.assign(partners=partners(data, shown["label"], examination))
    ticked = tables.show(
        frame,
        f"labels.table.{key}",
        {
            "name": tables.text("Label", 150),
            "n_train": tables.number("Training rows", 95, "localized"),
            "n_test": tables.number("Test rows", 75, "localized"),
            "partners": tables.text(
                "Strongest partners",
                400,
                "Labels with the largest correlation (phi, in brackets) on at least two common rows.",
            ),
            "bucket": tables.text("Bucket", 60, MEANING),
            "irlbl": tables.number(
                "IRLbl",
                60,
                "%.1f",
                "Rows of the most frequent label / rows of this label, in training and test rows together.",
            ),
            "scumble": tables.number(
                "SCUMBLE",
                80,
                "%.3f",
                "Mean over its rows. Near 1: it stands on the same rows as much more, or less, frequent labels.",
            ),
            "inverse_propensity": tables.number(
                "Inverse propensity",
                120,
                "%.2f",
                "The weight of a right prediction in PSP@k and PSnDCG@k: rare labels count more.",
            ),
            "rank": tables.number("Rank", 50, "localized", "1 is the label with most training rows."),
            "label": tables.number("Id", 55, "%d"),
        },
        most=LABELS_HEIGHT,
        on_select="rerun",
        selection_mode="single-row",
    )
    rows = ticked.selection.rows
    return int(frame["label"].iloc[rows[0]]) if rows and rows[0] < len(frame) else None


def rows_of(data, label: int) -> pd.DataFrame:
    frames = []
    for part in tables.PARTS:
        _, Y, _ = tables.part(data, part)
        entries = np.flatnonzero(Y.indices == label)
        frames.append(pd.DataFrame({"part": part, "row": np.searchsorted(Y.indptr, entries, side="right") - 1}))
    return pd.concat(frames, ignore_index=True)
