"""All selected features: a table of labels with their best ones, and a CSV of everything."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.features import choices
from pages.features.view import best_names
from pages.shared import format, selectors, server, tables
from pages.shared.figures import charts
from xmlcore.selection import frames

LISTED_LABELS = 200  # most lines of the table
NAMES = 8  # features named for each label


def all_labels(view) -> None:
    selection, data = view.selection, view.data
    names = server.label_names(view.fingerprint)
    listed = tables.find_labels(names, st.session_state.get(selectors.query_key(choices.QUERY, view.data), ""))
    listed = (names if listed.empty else listed).head(LISTED_LABELS)  # the same labels as in the select box above
    labels = listed["label"].to_numpy()
    counts = np.bincount(data.Y_train.indices, minlength=selection.n_labels)
    table = pd.DataFrame(
        {
            "name": listed["name"].to_numpy(),
            "label": labels,
            "rows": counts[labels],
            "features": best_names(view.key, tuple(labels.tolist()), view.weighted, NAMES),
        }
    )
    tables.show(
        table,
        "features.labels",
        {
            "name": tables.text("Label"),
            "label": tables.number("Id", 60, "%d"),
            "rows": tables.number("Rows", 70, "localized", "Training rows."),
            "features": tables.text(
                "Features of largest score × occurrence" if view.weighted else "Features of largest score", 600
            ),
        },
        most=360,
    )
    st.caption(f"Showing {len(table):,} of {format.count(selection.n_labels, 'label')}, most frequent first.")
    charts.csv_button(
        "All selected features, CSV",
        lambda: _everything(view),
        f"{view.files}-selected",
        f"{format.count(selection.n_labels * selection.n_selected, 'line')}: label, rank, feature, name and score of "
        "everything that is kept",
    )


def _everything(view):
    selection, data, shares = view.selection, view.data, None
    if view.by_gradient:
        shares = frames.shares_with_label(selection.selected, range(selection.n_labels), data.X_train, data.Y_train)
    parts = (selection.selected, selection.selected_scores)
    return frames.selection_frame(*parts, data.label_name, data.feature_name, shares)
