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
CRUMBS = 6  # most nodes listed on the way from the root to a node
WITH_LABEL = "share_with_label"
COLORS_OF_LABEL = {WITH_LABEL: "Rows with the label", **COLORS}


def tree_field(view, place=st) -> None:
    n_trees = len(view.model.trees_)
    label = f"Tree, 1 to {n_trees:,}"
    fields.number(label, 1, n_trees, "trees.tree", view.t + 1, lambda number: look(tree=number - 1), place=place)


def node_field(place, last: int, node: int, choose, about: str) -> None:
    fields.number(f"Node, 0 to {last:,}", 0, last, "trees.node", node, choose, place=place, help=about)


def crumbs(path, here: int, name, choose, key: str, about, before: str = "") -> None:
    """Show the nodes of a path as buttons, after a text; the one that the user is at is written in bold."""
    shown = path if len(path) <= CRUMBS else [path[0], *path[-CRUMBS + 1 :]]
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"{key.replace('.', '-')}s"):
        if before:
            st.caption(before, width="content")
        for place, v in enumerate(shown):
            if place:
                left_out = len(path) - len(shown)
                st.markdown(f"› {left_out} more ›" if place == 1 and left_out else "›", width="content")
            if v == here:
                st.markdown(f"**{name(v)}**", width="content")
            else:
                st.button(name(v), key=f"{key}.{v}", on_click=choose, args=(v,), type="tertiary", help=about(v))


def show(drawn):
    """Show the controls; return the quantity that colours nodes, a key of :data:`COLORS_OF_LABEL`."""
    several, last = len(drawn.model.trees_) > 1, drawn.tree.parent.size - 1
    is_path = drawn.mode == looked_at.PATH
    controls = st.columns(2 + several + is_path, vertical_alignment="bottom")
    if several:
        tree_field(drawn, controls[0])
    how = controls[-1].popover("What is drawn", icon=":material/tune:", key="trees.drawn", width="stretch")
    if is_path:
        _path_row(drawn, controls[-3])
    else:
        (_levels if drawn.mode == looked_at.PART else _most_of_label)(drawn, how)
    about = "The node whose details are shown; a click on a node in the drawing does the same. 0 is the root."
    node_field(controls[-2], last, drawn.node, drawn.choose, about)
    of_label = drawn.mode == looked_at.LABEL
    return fields.choice(
        "Colour",
        COLORS_OF_LABEL if of_label else COLORS,
        "trees.color.label" if of_label else "trees.color",
        place=how,
        help="Purity is the share of a node's training rows that have its most frequent label. J and its parts "
        "belong to splits, so leaves have none.",
    )


def _levels(drawn, place):
    if drawn.fit < 2:
        st.session_state["trees.levels"] = 1
        place.number_input("Levels below the top", min_value=1, max_value=1, key="trees.levels", disabled=True)
        return
    fields.number(
        f"Levels below the top, 1 to {drawn.fit}",
        1,
        drawn.fit,
        "trees.levels",
        drawn.levels,
        lambda number: look(levels=number),
        place=place,
        help=f"At most {looked_at.MOST_NODES} nodes and {looked_at.MOST_LEVELS} levels are drawn at once.",
    )


def _most_of_label(drawn, place):
    low, high = looked_at.LEAST_OF_LABEL, looked_at.MOST_NODES
    fields.number(
        f"Most nodes drawn, {low} to {high}",
        low,
        high,
        "trees.most",
        drawn.most,
        lambda number: look(most=number),
        place=place,
        step=50,
        help="When rows of the label reach more nodes than this, the nodes with most of these rows are drawn.",
    )


def _path_row(drawn, place):
    last, key = drawn.data.n_test - 1, "trees.row.path"
    label = f"Test row, 0 to {last:,}"
    fields.number(label, 0, last, key, drawn.row, lambda row: look(row=row, node=None), place=place)
