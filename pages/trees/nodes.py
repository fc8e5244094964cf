"""The table of all nodes of a tree."""

import streamlit as st

from pages.shared import format, server, tables
from pages.shared.figures import charts
from pages.shared.workspaces import workspace
from pages.trees import looked_at, words
from xmlcore.models.ldsm import frames as tree_frames

LISTED_NODES = 200  # nodes in the table at most


def show(data, model, key, files) -> None:
    t = looked_at.tree_number(model)
    numbers = server.nodes(key, t)
    st.header(f"Nodes of tree {t + 1}")
    orders = {
        "node": "in the order they were made",
        "rows": "most training rows first",
        "depth": "deepest first",
        "purity": "least pure first",
        "objective": "greatest J first",
    }
    order = st.selectbox(
        "Order",
        list(orders),
        format_func=lambda o: orders[o][:1].upper() + orders[o][1:],
        **workspace.keep("trees.order", "node", options=list(orders)),
    )
    ordered = numbers.sort_values(order, ascending=order in ("node", "purity"), kind="stable", na_position="last")
    shown = tree_frames.with_names(ordered.head(LISTED_NODES), data.label_name)
    table = shown.assign(
        parent=shown["parent"].where(shown["parent"] >= 0),
        purity=100 * shown["purity"],
        labels=words.top_labels(shown),
    )
    columns = ["node", "parent", "depth", "kind", "rows", "purity", "labels"]
    columns += ["objective", "balance", "integrity", "multiway", "below"]
    digits = {"format": "%.3f", "width": 70}
    tables.show(
        table[columns],
        "trees.nodes",
        {
            "node": st.column_config.NumberColumn("Node", format="%d", width=60),
            "parent": st.column_config.NumberColumn("Parent", format="%d", width=60, help="Empty for the root."),
            "depth": st.column_config.NumberColumn("Depth", format="%d", width=60),
            "kind": st.column_config.TextColumn("Kind", width=60),
            "rows": st.column_config.NumberColumn("Rows", format="localized", width=70, help="Training rows."),
            "purity": st.column_config.NumberColumn("Purity, %", format="%.0f", width=75),
            "labels": st.column_config.TextColumn("Most frequent labels", width=220),
            "objective": st.column_config.NumberColumn("J", width=70),
            "balance": st.column_config.NumberColumn("Balance", **digits),
            "integrity": st.column_config.NumberColumn("Integrity", help="Without its weight.", **digits),
            "multiway": st.column_config.NumberColumn("Multi-way", help="Without its weight.", **digits),
            "below": st.column_config.NumberColumn("Nodes below", format="localized", width=90),
        },
        signs={"objective": "{:.3f}"},
        height=tables.height(len(table), 360),
        **tables.EMPTY_CELLS,
    )
    whole = f" The CSV holds all {len(numbers):,}." if len(table) < len(numbers) else ""
    st.caption(f"Showing {len(table):,} of {format.count(len(numbers), 'node')}, {orders[order]}.{whole}")
    charts.csv_button(
        "All nodes, CSV",
        lambda: tables.csv_safe(tree_frames.with_names(numbers, data.label_name)),
        f"{files}-tree{t + 1}-nodes",
        "Every node with its parent, depth, rows, J and its parts, purity and most frequent labels",
    )
