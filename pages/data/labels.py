"""The table of labels on the Data page."""

import streamlit as st

from pages.shared import charts, format, tables, workspace

SHOWN_LABELS, LABELS_HEIGHT = 500, 320  # most labels in the table, and its greatest height in pixels


def show(labels, name) -> None:
    """Show a table of labels that can be searched; ``name`` begins the name of the file with all of them."""
    st.header("Labels")
    query = st.text_input(
        "Find labels by name or id", **workspace.keep("labels.query", ""), placeholder="part of a name"
    )
    found = tables.find_labels(labels.sort_values("rank", kind="stable"), query)
    if found.empty:
        st.info(f"No label has “{format.plain(query)}” in its name or as its id. Try a shorter part of it.")
        return
    shown = found.head(SHOWN_LABELS)
    columns = ["name", "label", "n_train", "n_test", "rank", "bucket", "inverse_propensity"]
    st.dataframe(
        shown[[c for c in columns if c in shown.columns]],
        hide_index=True,
        height=tables.height(len(shown), LABELS_HEIGHT),
        key="labels.table",
        column_config={
            "name": st.column_config.TextColumn("Label", width="medium"),
            "label": st.column_config.NumberColumn("Id", format="%d", width="small"),
            "n_train": st.column_config.NumberColumn("Training rows", format="localized"),
            "n_test": st.column_config.NumberColumn("Test rows", format="localized"),
            "rank": st.column_config.NumberColumn(
                "Rank", format="localized", help="1 is the label with most training rows."
            ),
            "bucket": st.column_config.TextColumn("Head, torso or tail"),
            "inverse_propensity": st.column_config.NumberColumn(
                "Inverse propensity",
                format="%.2f",
                help="The weight of a right prediction in PSP@k and PSnDCG@k: rare labels count more.",
            ),
        },
    )
    matching = (
        f"{format.count(len(found), 'matching label')} ({len(labels):,} in all)"
        if query.strip()
        else format.count(len(found), "label")
    )
    most_first = ", most frequent first" if len(shown) > 1 else ""
    whole = f" “All labels, CSV” has all {len(labels):,}." if len(shown) < len(labels) else ""
    st.caption(f"Showing {len(shown):,} of {matching}{most_first}.{whole}")
    charts.csv_button(
        "All labels, CSV",
        lambda: tables.csv_safe(labels),
        f"{name}-labels",
        "Every label with its counts and propensity",
    )
