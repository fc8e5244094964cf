"""Controls above the drawing of a tree: which tree, how much of it, which node, which colour."""

import streamlit as st

from pages.shared import fields
from pages.shared.view import look
from pages.trees import looked_at

COLORS = {  # columns of the table of nodes, and what the control calls them
    "purity": "Purity",
    "objective": "J of the split",
    "balance": "Balance",
    "integrity": "Class integrity",
    "multiway": "Multi-way penalty",
}
WITH_LABEL = "share_with_label"
COLORS_OF_LABEL = {WITH_LABEL: "Rows with the label", **COLORS}


def tree_field(view) -> None:
    n_trees = len(view.model.trees_)
    st.session_state["trees.tree"] = view.t + 1
    st.number_input(
        f"Tree, 1 to {n_trees:,}",
        min_value=1,
        max_value=n_trees,
        key="trees.tree",
        on_change=lambda: look(tree=st.session_state["trees.tree"] - 1),
    )


def show(view):
    """Show the controls; return the quantity that colours nodes, a key of :data:`COLORS_OF_LABEL`."""
    tree, several = view.tree, len(view.model.trees_) > 1
    controls = st.columns(3 + several, vertical_alignment="bottom")
    if several:
        with controls[0]:
            tree_field(view)
    with controls[-3]:
        if view.mode == looked_at.PART:
            _levels(view)
        elif view.mode == looked_at.PATH:
            _path_row(view)
        else:
            _most_of_label(view)
    with controls[-2]:
        st.session_state["trees.node"] = view.node
        st.number_input(
            f"Node, 0 to {tree.parent.size - 1:,}",
            min_value=0,
            max_value=tree.parent.size - 1,
            key="trees.node",
            on_change=lambda: view.choose(st.session_state["trees.node"]),
            help="The node whose details are shown; a click on a node in the drawing does the same. 0 is the root.",
        )
    colors = COLORS_OF_LABEL if view.mode == looked_at.LABEL else COLORS
    widget, first = ("trees.color.label", WITH_LABEL) if view.mode == looked_at.LABEL else ("trees.color", "purity")
    with controls[-1]:
        return fields.choice(
            "Colour",
            colors,
            widget,
            first,
            help="Purity is the share of a node's training rows that have its most frequent label. J and its parts "
            "belong to splits, so leaves have none.",
        )


def _levels(view):
    if view.fit < 2:
        st.session_state["trees.levels"] = 1
        st.number_input("Levels below the top", min_value=1, max_value=1, key="trees.levels", disabled=True)
        return
    st.session_state["trees.levels"] = view.levels
    st.number_input(
        f"Levels below the top, 1 to {view.fit}",
        min_value=1,
        max_value=view.fit,
        key="trees.levels",
        on_change=lambda: look(levels=st.session_state["trees.levels"]),
        help=f"At most {looked_at.MOST_NODES} nodes and {looked_at.MOST_LEVELS} levels are drawn at once.",
    )


def _most_of_label(view):
    st.session_state["trees.most"] = view.most
    st.number_input(
        f"Most nodes drawn, {looked_at.LEAST_OF_LABEL} to {looked_at.MOST_NODES}",
        min_value=looked_at.LEAST_OF_LABEL,
        max_value=looked_at.MOST_NODES,
        step=50,
        key="trees.most",
        on_change=lambda: look(most=st.session_state["trees.most"]),
        help="When rows of the label reach more nodes than this, the nodes with most of these rows are drawn.",
    )


def _path_row(view):
    key = "trees.row.path"
    st.session_state[key] = view.row
    st.number_input(
        f"Test row, 0 to {view.data.n_test - 1:,}",
        min_value=0,
        max_value=view.data.n_test - 1,
        key=key,
        on_change=lambda: look(row=st.session_state[key], node=None),
    )
