"""A decision tree or a label tree: its drawing, the path to a node, and the selected node.

A :class:`TreeView` has the nodes of the drawing, and the name, facts, labels and features of a node.
"""

import streamlit as st

from pages.shared import fields, format, tables
from pages.shared.figures import charts
from pages.shared.view import look, now
from xmlcore import figures

LISTED_LABELS = 200  # most labels in the table of a node
CRUMBS = 6  # most nodes listed on the way from the root to a node


class TreeView:
    """A tree of a result, with the index ``t``, and its selected ``node``; ``model`` has the trees."""

    frames = None  # the module that makes tables of trees of this kind

    def __init__(self, ready, model):
        self.data, self.run, self.key, self.model = ready.data, ready.run, ready.key, model
        self.t, self.several = min(now().tree or 0, len(model.trees_) - 1), len(model.trees_) > 1
        self.tree, self.files = model.trees_[self.t], f"{ready.files}-tree{self.t + 1}"
        self.n_nodes = self.tree.parent.size
        self.node = self.within(now().node)

    def within(self, node) -> int:
        return node if node is not None and node < self.n_nodes else 0

    def choose(self, node: int) -> None:
        look(node=node)

    def more_of_node(self) -> None:
        """Show what else there is of the selected node."""

    def path_to(self, node: int) -> list[int]:
        return self.frames.path_to(self.tree, node)

    def features_figure(self, frame, value, group, *, axis, total):
        title = f"Features that decide at {figures.short(self.short_name(self.node))}"
        return figures.node_bars(frame, value, group, axis=axis, title=title, total=total)


def tree_field(view, place=st) -> None:
    label, n_trees = f"Tree, 1 to {len(view.model.trees_):,}", len(view.model.trees_)
    fields.number(label, 1, n_trees, "trees.tree", view.t + 1, lambda number: look(tree=number - 1), place=place)


def node_field(view, place=st) -> None:
    about = "The node whose details are shown; a click on a node in a figure does the same. 0 is the root."
    last = view.n_nodes - 1
    fields.number(f"Node, 0 to {last:,}", 0, last, "trees.node", view.node, view.choose, place=place, help=about)


def show(view) -> None:
    picture = st.container()
    view.controls(picture)
    if view.is_drawn:
        crumbs(view, view.node, "trees.crumb", "You are at:")
        _node(view)


def crumbs(view, end: int, key: str, before: str) -> None:
    """Show the nodes on the way to a node as buttons, after a text; the selected one is written in bold."""
    path = view.path_to(end)
    shown = path if len(path) <= CRUMBS else [path[0], *path[-CRUMBS + 1 :]]
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"{key.replace('.', '-')}s"):
        st.caption(before, width="content")
        for place, v in enumerate(shown):
            name, left_out = format.plain(view.short_name(v, 30)), len(path) - len(shown)
            if place:
                st.markdown(f"› {left_out} more ›" if place == 1 and left_out else "›", width="content")
            if v == view.node:
                st.markdown(f"**{name}**", width="content")
            else:
                about = {"type": "tertiary", "help": f"Node {v:,}"}
                st.button(name, key=f"{key}.{v}", on_click=view.choose, args=(v,), **about)


def _node(view) -> None:
    """Show the facts of the selected node, its labels, the features that decide there, and what else its kind has."""
    st.header(view.heading())
    st.markdown(view.facts())
    if view.node:
        above = int(view.tree.parent[view.node])
        st.button(f"Up to node {above:,}", key="trees.up", on_click=view.choose, args=(above,))
    listed = view.labels(LISTED_LABELS)
    left, right = st.columns(2, gap="large") if listed is not None else (None, st.container())
    if listed is not None:
        (shown, columns, total, every), key = listed, f"trees.labels.{view.key[:8]}.{view.t}.{view.node}.{now().of}"
        with left:
            tables.show(shown, key, columns, most=340, **tables.on_tick(key, shown["label"], view.follow))
            tables.counted(len(shown), total, "label", f"most frequent first. Tick one to {view.followed}.")
            charts.csv_button("Labels of the node, CSV", every, f"{view.files}-node{view.node}-labels")
    with right:
        found = view.features()
        if isinstance(found, str):
            st.caption(found)
            view.more_of_node()
            return
        figure, frame, caption = found
        charts.show_figure(figure, frame, f"{view.files}-node{view.node}-features", caption)
    view.more_of_node()
