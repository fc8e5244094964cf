"""Overlap between labels: how much of what two labels keep is the same."""

import streamlit as st

from pages.shared import format, tables
from pages.shared.figures import charts
from xmlcore import figures
from xmlcore.selection import frames


def overlap(view, labels, alike: bool) -> None:
    """Draw a heat map of how alike labels are, and list the most alike pairs; ``alike`` says how labels were chosen."""
    st.header("Overlap between labels")
    if view.closest is None:
        st.caption("There is only one label.")
        return
    left, right = st.columns(2, gap="large")
    with left:
        _heat(view, labels, alike)
    with right:
        _pairs(view)


def _heat(view, labels, alike):
    selection, data = view.selection, view.data
    table = frames.overlap_frame(selection.selected, selection.n_features, labels)
    table = table.assign(a_name=tables.label_names(data, table["a"]), b_name=tables.label_names(data, table["b"]))
    which = "most alike" if alike else "most frequent"
    charts.show_figure(
        figures.overlap_heat(table, n_labels=selection.n_labels),
        table,
        f"{view.files}-overlap-{'alike' if alike else 'frequent'}-{len(labels)}labels",
        f"Share of the features of one label that the other keeps, too, for the {len(labels):,} {which} of "
        f"{format.count(selection.n_labels, 'label')}; alike ones are next to each other, and columns have the order "
        "of the lines. Stronger blue is more in common; the highest hundredth of the values shares one colour.",
        counted="labels",
        key="features.overlap",
    )


def _pairs(view):
    selection, data = view.selection, view.data
    pairs, n_compared = view.closest[:2]
    shown = pairs.assign(
        a_name=tables.label_names(data, pairs["a"]),
        b_name=tables.label_names(data, pairs["b"]),
        together=frames.together(data.Y_train, pairs["a"], pairs["b"]),
    )
    st.markdown("**Pairs of labels with most in common**")
    tables.show(
        shown.assign(together=100 * shown["together"], share=100 * shown["share"]),
        "features.pairs",
        {
            "a_name": tables.text("Label"),
            "b_name": tables.text("and"),
            "share": tables.number(
                "Shared, %", 85, "%.0f", "Share of the features of one label that the other keeps, too."
            ),
            "together": tables.number(
                "Rows, %",
                75,
                "%.0f",
                "Training rows with both labels, as a share of those of the rarer one; empty if it has none.",
            ),
        },
        most=560,
        widest=155,  # so all fits into half of a page
    )
    which = "all labels"
    if n_compared < selection.n_labels:
        which = f"the {n_compared:,} most frequent of {selection.n_labels:,} labels"
    st.caption(f"Showing {len(shown):,} of the {n_compared * (n_compared - 1) // 2:,} pairs of {which}.")
    charts.csv_button("Pairs, CSV", shown, f"{view.files}-pairs", "The pairs of this table with ids")
