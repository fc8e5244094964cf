"""The table of all nodes of a tree."""

import streamlit as st

from pages.shared import fields, format, server, tables
from pages.shared.figures import charts
from pages.trees import looked_at, words
from xmlcore.models.ldsm import frames as tree_frames

LISTED_NODES = 200  # nodes in the table at most


def show(data, model, key, files) -> None:
    t = looked_at.tree_number(model)
    numbers = server.nodes(key, t)
    orders = {
        "node": "in the order they were made",
        "rows": "most training rows first",
        "depth": "deepest first",
        "purity": "least pure first",
        "objective": "greatest J first",
    }
    order = fields.choice(
        "Order", list(orders), "trees.order", "node", format_func=lambda o: orders[o][:1].upper() + orders[o][1:]
    )
    ordered = numbers.sort_values(order, ascending=order in ("node", "purity"), kind="stable", na_position="last")
    shown = tree_frames.with_names(ordered.head(LISTED_NODES), data.label_name)
    table = shown.assign(
        parent=shown["parent"].where(shown["parent"] >= 0), purity=100 * shown["purity"], labels=words.top_labels(shown)
    )
    digits = {"format": "%.3f", "width": 70}
    tables.show(
        table,
        "trees.nodes",
        {
            "node": tables.number("Node", 60, "%d"),
            "parent": tables.number("Parent", 60, "%d", "Empty for the root."),
            "depth": tables.number("Depth", 60, "%d"),
            "kind": tables.text("Kind", 60),
            "rows": tables.number("Rows", 70, "localized", "Training rows."),
            "purity": tables.bar("Purity, %", 100, form="%.0f"),
            "labels": tables.text("Most frequent labels", 220),
            "objective": tables.number("J", 70),
            "balance": tables.number("Balance", help=words.BALANCE, **digits),
            "integrity": tables.number("Integrity", help="Without its weight.", **digits),
            "multiway": tables.number("Multi-way", help="Without its weight.", **digits),
            "below": tables.number("Nodes below", 90, "localized"),
        },
        signs={"objective": "{:.3f}"},
        first=("node", "depth", "kind", "rows", "purity", "labels", "objective"),
        most=360,
    )
    st.caption(f"Showing {len(table):,} of {format.count(len(numbers), 'node')} of tree {t + 1}, {orders[order]}.")
    charts.csv_button(
        "All nodes, CSV",
        lambda: tree_frames.with_names(numbers, data.label_name),
        f"{files}-tree{t + 1}-nodes",
        "Every node with its parent, depth, rows, J and its parts, purity and most frequent labels",
    )
