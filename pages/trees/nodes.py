"""The table of the nodes of a tree: all of a decision tree, or those of a label tree that decide worst."""

import streamlit as st

from pages.shared import fields, format, server, tables, tasks
from pages.shared.figures import charts
from pages.shared.view import look, now
from pages.trees import decision_tree
from pages.trees.label_tree import MEANINGS, OF_QUALITY

LISTED = 200  # nodes in the table at most
POSITIVE = 5  # test rows with a label below a node that it takes to be listed, at first
ORDERS = {
    "node": "In the order they were made",
    "rows": "Most training rows first",
    "depth": "Deepest first",
    "purity": "Least pure first",
    "objective": "Greatest J first",
}


def of_decision_tree(view) -> None:
    every = server.nodes(view.key, view.t)
    order = fields.choice("Order", ORDERS, "trees.order", "node")
    ordered = every.sort_values(order, ascending=order in ("node", "purity"), kind="stable", na_position="last")
    shown = view.with_names(ordered.head(LISTED))
    table = shown.assign(parent=shown["parent"].where(shown["parent"] >= 0), purity=100 * shown["purity"])
    digits = {"format": "%.3f", "width": 70}
    columns = {
        "node": tables.number("Node", 60, "%d"),
        "parent": tables.number("Parent", 60, "%d", "Empty for the root."),
        "depth": tables.number("Depth", 60, "%d"),
        "kind": tables.text("Kind", 60),
        "rows": tables.number("Rows", 70, "localized", "Training rows."),
        "purity": tables.bar("Purity, %", 100, form="%.0f"),
        "labels": tables.text("Most frequent labels", 220),
        "objective": tables.number("J", 70),
        "balance": tables.number("Balance", help="Of label occurrences.", **digits),
        "integrity": tables.number("Integrity", help="Without its weight.", **digits),
        "multiway": tables.number("Multi-way", help="Without its weight.", **digits),
        "below": tables.number("Nodes below", 90, "localized"),
    }
    first = ("node", "depth", "kind", "rows", "purity", "labels", "objective")
    table = table.assign(labels=decision_tree.top_labels(shown))
    tables.show(table, "trees.nodes", columns, signs={"objective": "{:.3f}"}, first=first, most=360)
    of = f"Showing {len(shown):,} of {format.count(len(every), 'node')}"
    st.caption(f"{of} of tree {view.t + 1}, {ORDERS[order][:1].lower()}{ORDERS[order][1:]}.")
    about = "Every node with its parent, depth, rows, J and its parts, purity and most frequent labels"
    charts.csv_button("All nodes, CSV", lambda: view.with_names(every), f"{view.files}-nodes", about)


def of_label_tree(view) -> None:
    """Show how well nodes decide on test rows, once that is measured: the worst come first."""
    quality = tasks.ready(view.task, button="Measure all nodes", key="trees.measure.nodes")
    if quality is None:
        return
    view.measured(quality)
    left, right = st.columns(2, vertical_alignment="bottom")
    measures = {name: text for name, text in OF_QUALITY.items() if name != "base_rate"}
    measure = fields.choice("Worst nodes by", measures, "trees.quality.measure", "auc", place=left)
    least, label = min(max(now().positive or POSITIVE, 1), quality.n_rows), "Only nodes with so many positive test rows"
    ends, about = (1, quality.n_rows), "A test row is positive for a node if it has a label at or below the node."
    chosen = least, lambda number: look(positive=number)
    fields.number(label, *ends, "trees.positive", *chosen, place=right, help=about)
    every = view.nodes
    found = every[every["positive"] >= least].dropna(subset=[measure]).sort_values(measure, kind="stable")
    if found.empty:
        st.info(f"No node has {format.count(least, 'positive test row')} and a value of {OF_QUALITY[measure]}.")
        return
    shown, key = view.with_names(found.head(LISTED)), f"trees.worst.{view.key[:8]}.{view.t}.{measure}.{least}"
    percent = {"format": "%.1f", "width": 80}
    columns = {
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
    }
    first = ("name", "depth", "n_labels", "measured", "auc", "recall", "precision")
    table, ticked = shown.assign(**100 * shown[[*OF_QUALITY]]), tables.on_tick(key, shown["node"], view.choose)
    tables.show(table, key, columns, first=first, most=360, **ticked)
    st.caption(
        f"Showing {len(shown):,} of {len(found):,} nodes, measured on {quality.n_rows:,} of "
        f"{format.count(quality.n_test, 'test row')}, lowest {OF_QUALITY[measure]} first: {MEANINGS[measure]}. Tick a "
        "node to walk to it."
    )
    about = "Every node with its labels, training rows and quality on test rows"
    charts.csv_button("Quality of all nodes, CSV", lambda: view.with_names(every), f"{view.files}-nodes", about)
