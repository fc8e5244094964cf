"""The sets of labels that rows have, and the rows of one of them."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.data import label_rows
from pages.shared import format, server, tables
from pages.shared.figures import charts
from xmlcore import datasets

SHOWN = 200  # most label sets in the table


def show(data, fingerprint, name) -> None:
    """Show which sets of labels most rows have, and the rows of the one that is ticked; ``name`` begins files."""
    st.subheader("Label sets")
    frame = found(fingerprint)
    if frame.empty:
        st.caption("No row has a label.")
        return
    once = int((frame["rows"] == 1).sum())
    share = f", of which {once:,} {'occurs' if once == 1 else 'occur'} once" if once else ""
    st.markdown(f"The rows have **{format.count(len(frame), 'different label set')}**{share}.")
    shown = frame.head(SHOWN)
    ticked = tables.show(
        shown.assign(labels=[names(data, row) for row in shown["row"]]),
        f"label_sets.{fingerprint}",
        {
            "rows": tables.number("Rows", 60, "localized", "Rows that have these labels and no others."),
            "labels": tables.text("Labels of a row", 440),
            "size": tables.number("Labels", 60, "localized"),
            "n_train": tables.number("Training rows", 95, "localized"),
            "n_test": tables.number("Test rows", 75, "localized"),
        },
        most=320,
        on_select="rerun",
        selection_mode="single-row",
    )
    st.caption(
        f"Showing {len(shown):,} of {format.count(len(frame), 'label set')}, most frequent first. Tick one to see its "
        "rows."
    )
    charts.csv_button(
        "All label sets, CSV",
        lambda: frame.assign(labels=[names(data, row) for row in frame["row"]]).drop(columns="row"),
        f"{name}-label-sets",
        "Every set of labels with the number of its rows",
    )
    lines = ticked.selection.rows
    if lines and lines[0] < len(shown):
        row = int(shown["row"].iloc[lines[0]])
        label_rows.show(data, rows_with(data, row), names(data, row), f"{name}-rows-of-label-set-{lines[0] + 1}")


@server.shared()
def found(fingerprint):
    return datasets.label_sets(server.dataset(fingerprint))


def rows_with(data, row: int) -> pd.DataFrame:
    """Return the rows with the labels of a row, and no others: ``part``, ``row``; training rows first."""
    every = datasets.rows_of_label_set(data, row)
    test = every >= data.n_train
    return pd.DataFrame({"part": np.where(test, "test", "training"), "row": every - data.n_train * test})


def names(data, row: int) -> str:
    """Return the names of the labels of a row; test rows follow the training rows."""
    Y, row = (data.Y_train, row) if row < data.n_train else (data.Y_test, row - data.n_train)
    return ", ".join(tables.label_names(data, tables.ids(Y, row)))
