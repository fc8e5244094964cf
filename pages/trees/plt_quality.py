"""How well the nodes of a label tree decide on test rows: the worst nodes, in a table."""

import streamlit as st

from pages.shared import fields, format, tables
from pages.shared.figures import charts
from pages.shared.view import look, now
from pages.trees.plt_drawing import MEANINGS, OF_QUALITY

LISTED = 100  # nodes in the table at most
POSITIVE = 5  # test rows with a label below a node that it takes to be listed, at first


def show(view) -> None:
    quality = view.quality
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        measures = [name for name in OF_QUALITY if name != "base_rate"]
        measure = fields.choice(
            "Worst nodes by",
            measures,
            "trees.quality.measure",
            "auc",
            format_func=OF_QUALITY.get,
            help="A node’s classifier says whether a row has a label below the node. It is measured on the test rows "
            "that have a label below the node’s parent.",
        )
    least = min(max(now().positive or POSITIVE, 1), quality.n_rows)
    fields.number(
        "Only nodes with so many positive test rows",
        1,
        quality.n_rows,
        "trees.positive",
        least,
        lambda number: look(positive=number),
        place=right,
        help="A test row is positive for a node if it has a label at or below the node. Measures of nodes with few "
        "positive rows change by chance.",
    )
    every = view.with_quality()
    found = every[every["positive"] >= least].dropna(subset=[measure]).sort_values(measure, kind="stable")
    measured = int((every["measured"] > 0).sum())
    sample = (
        f"on a random sample of {quality.n_rows:,} of the {quality.n_test:,} test rows"
        if quality.n_rows < quality.n_test
        else f"on all {format.count(quality.n_test, 'test row')}"
    )
    if found.empty:
        st.info(f"No node has {format.count(least, 'positive test row')} and a value of {OF_QUALITY[measure]}.")
        return
    shown = view.with_names(found.head(LISTED))
    _table(view, shown, f"trees.worst.{view.key[:8]}.{view.t}.{measure}.{least}")
    st.caption(
        f"Showing {len(shown):,} of {len(found):,} nodes with at least {format.count(least, 'positive test row')} (of "
        f"{measured:,} that were measured {sample}), lowest {OF_QUALITY[measure]} first: {MEANINGS[measure]}. Tick a "
        "node to walk to it."
    )
    charts.csv_button(
        "Quality of all nodes, CSV",
        lambda: view.with_names(every),
        f"{view.files}-nodes",
        "Every node with its labels, training rows and quality on test rows",
    )


def _table(view, shown, key):
    shares = ["auc", "recall", "precision", "base_rate"]
    table = shown.assign(**{name: 100 * shown[name] for name in shares})
    percent = {"format": "%.1f", "width": 80}
    tables.show(
        table,
        key,
        {
            "name": tables.text("Node"),
            "depth": tables.number("Depth", 60, "%d"),
            "n_labels": tables.number("Labels", 65, "localized"),
            "positive": tables.number("Positive", 70, "localized", "Test rows with a label at or below the node."),
            "measured": tables.number("Rows", 70, "localized", "Test rows with a label below the node above it."),
            "auc": tables.bar("AUC, %", 110),
            "recall": tables.number("Recall, %", **percent),
            "precision": tables.number("Precision, %", **percent),
            "base_rate": tables.number("Base rate, %", **percent),
            "node": tables.number("Number", 70, "%d"),
        },
        first=("name", "depth", "n_labels", "measured", "auc", "recall", "precision"),
        most=360,
        **tables.on_tick(key, shown["node"], view.walk),
    )
