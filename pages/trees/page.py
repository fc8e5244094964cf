"""Trees: what have the trees of an LdSM learned, and how do they predict?"""

import math

import numpy as np
import streamlit as st

from pages.explain import explained
from pages.shared import (
    begin,
    charts,
    format,
    predictions,
    results,
    selectors,
    server,
    settings,
    tables,
    tasks,
    workspace,
)
from xmlcore import experiment, figures
from xmlcore.models.ldsm import frames as tree_frames

MODEL = "LdSM"
K = 5
KS = (1, 3, 5)
LEVELS = 4  # drawn at first, when that is no more than FIRST_NODES
FIRST_NODES = 63
MOST_NODES = 400  # drawn at once
MOST_LEVELS = 12
FIRST_OF_LABEL = 100  # drawn at first of a label's nodes: what is said of a node stays near the table
LEAST_OF_LABEL = 10
LISTED_NODES = 200
LISTED_LABELS = 200
LISTED_LEAVES = 200
CRUMBS = 6
COLORS = {
    "purity": "Purity",
    "objective": "J of the split",
    "balance": "Balance",
    "integrity": "Class integrity",
    "multiway": "Multi-way penalty",
}
WITH_LABEL = "share_with_label"
COLORS_OF_LABEL = {WITH_LABEL: "Rows with the label", **COLORS}
SCALE = (0.05, 0.95)  # quantiles over the tree's nodes at the ends of the colour scale
MODES = ("Part of the tree", "Path of a test row", "Rows of a label")
PART, PATH, LABEL = 0, 1, 2


def main() -> None:
    st.title("Trees")
    fingerprint = workspace.get("dataset")
    if fingerprint is None:
        begin.no_data("Trees can be trained on it in a moment.", "so there are no trees to look at.")
        return
    data = server.dataset(fingerprint)
    name = workspace.get("known").get(fingerprint, {}).get("name", data.name)
    runs = [r for r in results.kept("runs", fingerprint) if r["model"] == MODEL]
    if not runs:
        said = (
            "This page shows the trees of an LdSM, what their objective J came to in training, and how they predict a "
            f"row. {begin.not_trained(name, 'None has')}"
        )
        link = "Other settings on the Train page"
        begin.no_run(said, data, fingerprint, name, "trees", MODEL, K, link, model=MODEL)
        return
    key = results.chosen(workspace.TREE_RUN, fingerprint, runs)
    shown = next(r for r in runs if r["key"] == key)
    both = results.run_and_model(shown)
    if both is None:
        if len(runs) > 1:
            _choose_run(fingerprint, runs, key)
        begin.watch_training(fingerprint, model=MODEL)
        return
    run, model = both
    _sentence(data, name, model)
    _cards(data, model)
    if len(runs) > 1:
        _choose_run(fingerprint, runs, key)
    else:
        st.caption(_about(runs[0]))
    results.mark(shown)
    for warning in dict.fromkeys(run.warnings):
        st.warning(format.plain(settings.in_form(run.model, warning)))
    begin.watch_training(fingerprint, model=MODEL)
    files = f"{format.file_name(name)}-{MODEL}-{key[:6]}"
    # Fragments: a click in the drawing does not draw the figures below again.
    st.fragment(_explore)(data, run, model, key, files, _mark(key))
    st.fragment(_shape)(data, model, key, files)
    _parts(model, key, files)
    st.fragment(_all_nodes)(data, model, key, files)


# --- the run ---


def _choose_run(fingerprint, runs, key):
    said = "All LdSM results of this workspace on this data set, newest first."
    titles = {r["key"]: _about(r) for r in runs}
    results.choose(workspace.TREE_RUN, fingerprint, titles, key, "Result shown", said)


def _about(record):
    said = settings.changed(MODEL, record["params"]) or "default settings"
    return f"{MODEL}, {said} ({format.when(record['created'])})"


def _weights(model):
    return float(model.integrity_weight), float(model.multiway_weight)


def _arity(model):
    return model.trees_[0].children.shape[1]


def _log(data, model):
    return math.log(max(data.n_labels, 2)) / math.log(_arity(model))


def _sentence(data, name, model):
    trees = model.trees_
    sizes = [tree.parent.size for tree in trees]
    same = f"{sizes[0]:,} nodes" + (" each" if len(sizes) > 1 else "")
    nodes = same if min(sizes) == max(sizes) else f"{min(sizes):,} to {max(sizes):,} nodes"
    deepest, log = max(int(tree.depth.max()) for tree in trees), _log(data, model)
    one = len(trees) == 1
    said = (
        f"On **{format.plain(name)}** LdSM has grown **{format.count(len(trees), 'tree')}** of {nodes}. "
        f"The deepest leaf lies at depth **{deepest}**, {deepest / log:.1f} times "
        f"log{_sub(_arity(model))} L = {log:.1f}"
    )
    split = np.concatenate([tree.objective for tree in trees])
    if np.isfinite(split).any():
        roots = np.array([tree.objective[0] for tree in trees])
        said += (
            f"; J, which training makes small, is **{_signed(np.nanmean(roots))}** at the root"
            f"{'' if one else 's'} and **{_signed(np.nanmean(split))}** over all splits on average."
        )
    else:
        said += "; no split was made."
    st.markdown(said)


def _sub(number):
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(c)] for c in str(number))


def _signed(value):
    return f"{value:.2f}".replace("-", "−")


def _cards(data, model):
    trees = model.trees_
    leaf = [tree.children[:, 0] < 0 for tree in trees]
    leaves = sum(int(mask.sum()) for mask in leaf)
    rows = sum(int(tree.n_samples[mask].sum()) for tree, mask in zip(trees, leaf))
    labels = sum(int(np.diff(tree.histograms.indptr)[mask].sum()) for tree, mask in zip(trees, leaf))
    occurrences = sum(int(tree.n_samples[0]) for tree in trees)
    largest = max(int(tree.n_samples[mask].max()) for tree, mask in zip(trees, leaf))
    tables.cards(
        [
            ("Leaves", f"{leaves:,}", f"Of {sum(t.parent.size for t in trees):,} nodes in {len(trees):,} trees."),
            (
                "Deepest leaf",
                f"{max(int(t.depth.max()) for t in trees)}",
                f"Steps from the root, over all trees. In the paper the deepest tree of an ensemble is between 1 and 3 "
                f"times log_M L deep; here M = {_arity(model)} children and L = {data.n_labels:,} labels make "
                f"{_log(data, model):.1f}.",
            ),
            ("Rows per leaf", f"{rows / leaves:,.1f}", "Training rows, mean over leaves."),
            (
                "Largest leaf",
                f"{largest:,}",
                "Training rows. A leaf stays large when its split would have sent all rows one way, or when the tree "
                "is full before its turn comes.",
            ),
            ("Labels per leaf", f"{labels / leaves:,.1f}", "Different labels of its rows, mean over leaves."),
            ("Leaves per row", f"{rows / occurrences:.2f}", "In each tree, mean over training rows; 1 is one way."),
        ]
    )


# --- the drawing, one node, one row ---


def _tree_number(key, model) -> int:
    return min(max(workspace.chosen_row(f"tree {key}"), 0), len(model.trees_) - 1)


def _mark(key):
    """What the page around the drawing was drawn from."""
    return workspace.chosen_row(f"tree {key}")


def _explore(data, run, model, key, files, mark):
    if _mark(key) != mark:
        st.rerun()  # another tree: the figures below belong to it
    st.header("One tree")
    t = _tree_number(key, model)
    tree, row = model.trees_[t], min(max(workspace.chosen_row(f"run {key}"), 0), data.n_test - 1)
    mode = workspace.chosen_row("trees mode")
    mode = mode if 0 <= mode < len(MODES) else PART
    st.session_state[workspace.TREE_MODE] = MODES[mode]
    st.radio(
        "Drawn",
        MODES,
        key=workspace.TREE_MODE,
        horizontal=True,
        on_change=lambda: workspace.choose_row("trees mode", MODES.index(st.session_state[workspace.TREE_MODE])),
        help="The nodes below one of them; or the ways a test row takes and the nodes it passes by; or where the "
        "training rows of a label went.",
    )
    label = None
    if mode == LABEL:
        names, scope = server.label_names(run.fingerprint), _label_scope(run.fingerprint)
        label = selectors.choose_label(data, names, scope, workspace.TREE_LABEL, "trees.query")
    view = _View(key, t, tree, row, data, model, mode, label)
    color = _controls(view)
    if mode == LABEL:
        _rows_of_label(view, files)
    if view.nodes.size:
        hint = (
            "one with **+** to draw the tree from there" if mode == PART else "and a button draws the tree from there"
        )
        st.caption(f"Click a node to look at it, {hint}.")
        if mode == PART:
            _crumbs(view)
        _drawing(view, color, files)
        _node(view, run, files)
    _row(view, run, files)


def _label_scope(fingerprint):
    """The label looked at belongs to the data set: all its trees show the same one."""
    return f"trees label {fingerprint}"


def _controls(view):
    """Tree, what is drawn of it, node and colour; returns the colour."""
    key, tree, several = view.key, view.tree, len(view.model.trees_) > 1
    controls = st.columns(3 + several, vertical_alignment="bottom")
    if several:
        with controls[0]:
            st.session_state[workspace.TREE_NUMBER] = view.t + 1
            st.number_input(
                f"Tree, 1 to {len(view.model.trees_):,}",
                min_value=1,
                max_value=len(view.model.trees_),
                key=workspace.TREE_NUMBER,
                on_change=lambda: workspace.choose_row(f"tree {key}", st.session_state[workspace.TREE_NUMBER] - 1),
            )
    with controls[-3]:
        if view.mode == PART:
            _levels(view)
        elif view.mode == PATH:
            _path_row(view)
        else:
            _most_of_label(view)
    with controls[-2]:
        st.session_state[workspace.TREE_NODE] = view.node
        st.number_input(
            f"Node, 0 to {tree.parent.size - 1:,}",
            min_value=0,
            max_value=tree.parent.size - 1,
            key=workspace.TREE_NODE,
            on_change=lambda: view.choose(st.session_state[workspace.TREE_NODE]),
            help="The node looked at: the same as a click on it in the drawing. 0 is the root.",
        )
    colors = COLORS_OF_LABEL if view.mode == LABEL else COLORS
    widget, first = ("trees.color.label", WITH_LABEL) if view.mode == LABEL else ("trees.color", "purity")
    with controls[-1]:
        return st.selectbox(
            "Colour",
            list(colors),
            format_func=colors.get,
            **workspace.keep(widget, first, options=list(colors)),
            help="Purity is the share of a node's training rows that have its most frequent label. J and its parts "
            "belong to splits, so leaves have none.",
        )


class _View:
    """What is drawn of a tree, as the workspace remembers it."""

    def __init__(self, key, t, tree, row, data, model, mode, label):
        self.key, self.t, self.tree, self.row, self.data, self.model = key, t, tree, row, data, model
        self.mode, self.label = mode, label
        self.scope = f"{key} {t}"
        n = tree.parent.size
        self.top = self._within(workspace.chosen_row(f"top {self.scope}"), n)
        self.fit = min(tree_frames.levels_that_fit(tree, self.top, MOST_NODES), MOST_LEVELS)
        first = min(LEVELS, tree_frames.levels_that_fit(tree, 0, FIRST_NODES))
        self.levels = min(max(workspace.chosen_row("trees levels", first), 1), self.fit)
        self.leaves = np.sort(model.apply(data.X_test[[row]], n_trees=t + 1).of(0, t)) if self.mode == PATH else None
        if self.mode == PATH:
            visited = tree_frames.visited(tree, self.leaves)
            self.nodes = tree_frames.with_siblings(tree, visited)
            if self.nodes.size > MOST_NODES:  # a row that goes nearly everywhere: its ways without what they pass by
                self.nodes = visited
        elif self.mode == LABEL:
            self._of_label()
        else:
            self.nodes = tree_frames.below(tree, self.top, self.levels)
        if self.mode == LABEL:
            return
        if self.mode == PATH:
            node = workspace.chosen_row(f"path {self.scope}", -1)
            mine = workspace.chosen_row(f"path of {self.scope}", -1) == row and node in self.nodes
            self.node = node if mine else int(self.leaves[0])
        else:
            node = self._within(workspace.chosen_row(f"node {self.scope}"), n)
            self.node = node if node in self.nodes else self.top

    def _of_label(self):
        """The nodes that hold the label's rows; first looked at is the leaf with most of them."""
        self.having = tree_frames.rows_with_label(self.tree, self.label)
        self.label_leaves = tree_frames.leaves_of_label(self.tree, self.label)
        first = int(self.label_leaves["node"].iloc[0]) if len(self.label_leaves) else 0
        node = workspace.chosen_row(f"label node {self.scope}", -1)
        mine = workspace.chosen_row(f"label node of {self.scope}", -1) == self.label and 0 <= node < self.having.size
        node = node if mine else first
        self.most = min(max(workspace.chosen_row("trees most", FIRST_OF_LABEL), LEAST_OF_LABEL), MOST_NODES)
        self.nodes = tree_frames.nodes_of_label(self.tree, self.label, self.most, node)
        self.node = node if node in self.nodes else first

    @staticmethod
    def _within(node, n):
        return node if 0 <= node < n else 0

    def set(self, **values):
        """Remember what is looked at.

        ``node`` and ``top``, ``path`` (a node) and ``path_of`` (its row), ``label_node`` and ``label_node_of`` (its
        label) belong to the tree, ``mode``, ``levels`` and ``most`` (nodes of a label drawn) to all.
        """
        of_tree = ("node", "top", "path", "path_of", "label_node", "label_node_of")
        names = {name: f"{name.replace('_', ' ')} {self.scope}" for name in of_tree}
        named = {names.get(name, f"trees {name}"): int(value) for name, value in values.items()}
        workspace.update(lambda data: data["rows"].update(named))

    def choose(self, node):
        """Look at a node; one that hides others, or that is not drawn, becomes the top of the drawing."""
        inner = self.tree.children[node, 0] >= 0
        drawn = node in self.nodes
        if self.mode == PATH and drawn:
            self.set(path=node, path_of=self.row)
        elif self.mode == LABEL and (drawn or self.having[node]):
            self.set(label_node=node, label_node_of=self.label)
        elif not drawn or (inner and self.tree.children[node, 0] not in self.nodes):
            self.set(node=node, top=node if inner else max(int(self.tree.parent[node]), 0), mode=PART)
        else:
            self.set(node=node)

    def draw_from(self, node):
        self.set(node=node, top=node, mode=PART)

    @property
    def label_name(self):
        return self.data.label_name(self.label)

    def follow(self, fingerprint, label):
        """Show where the rows of a label of the node looked at went."""
        workspace.choose_row(_label_scope(fingerprint), label)
        self.set(label_node=self.node, label_node_of=label, mode=LABEL)


def _levels(view):
    if view.fit < 2:
        st.session_state[workspace.TREE_LEVELS] = 1
        st.number_input("Levels below the top", min_value=1, max_value=1, key=workspace.TREE_LEVELS, disabled=True)
        return
    st.session_state[workspace.TREE_LEVELS] = view.levels
    st.number_input(
        f"Levels below the top, 1 to {view.fit}",
        min_value=1,
        max_value=view.fit,
        key=workspace.TREE_LEVELS,
        on_change=lambda: view.set(levels=st.session_state[workspace.TREE_LEVELS]),
        help=f"At most {MOST_NODES} nodes and {MOST_LEVELS} levels are drawn at once.",
    )


def _most_of_label(view):
    st.session_state[workspace.TREE_MOST] = view.most
    st.number_input(
        f"Most nodes drawn, {LEAST_OF_LABEL} to {MOST_NODES}",
        min_value=LEAST_OF_LABEL,
        max_value=MOST_NODES,
        step=50,
        key=workspace.TREE_MOST,
        on_change=lambda: view.set(most=st.session_state[workspace.TREE_MOST]),
        help="When rows of the label reach more nodes, those with most of them are drawn.",
    )


def _path_row(view):
    key = f"{workspace.TREE_ROW}.path"
    st.session_state[key] = view.row
    st.number_input(
        f"Test row, 0 to {view.data.n_test - 1:,}",
        min_value=0,
        max_value=view.data.n_test - 1,
        key=key,
        on_change=lambda: workspace.choose_row(f"run {view.key}", st.session_state[key]),
    )


def _crumbs(view):
    """The way from the root to the top of the drawing, back up by a press."""
    path = tree_frames.path_to(view.tree, view.top)
    if len(path) < 2:
        return
    shown = path if len(path) <= CRUMBS else [path[0], *path[-CRUMBS + 1 :]]
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="trees-crumbs"):
        for v in shown:
            if v == path[-1]:
                st.markdown(f"**node {v}**")
                continue
            st.button(
                "Root" if v == 0 else f"node {v}",
                key=f"trees.crumb.{v}",
                on_click=view.draw_from,
                args=(v,),
                type="tertiary",
                help="Draw the tree from here",
            )
            st.markdown("›" if v != 0 or len(shown) == len(path) else f"› {len(path) - len(shown)} more ›")


def _drawing(view, color, files):
    tree, total = view.tree, view.tree.parent.size
    numbers = server.nodes(view.key, view.t)
    drawn = tree_frames.drawing_frame(
        tree,
        view.nodes,
        view.data.label_name,
        _weights(view.model),
        leaves=view.leaves,
        label=view.label,
        all_nodes=numbers,
    )
    of = f"{len(drawn):,} of {format.count(total, 'node')}"
    if view.mode == PATH:
        title = f"Test row {view.row:,} in tree {view.t + 1}: {of}"
        place = f"row{view.row}"
    elif view.mode == LABEL:
        title = f"{explained.in_title(view.label_name, 16)} in tree {view.t + 1}: {of}"  # short enough for a phone
        place = f"label{view.label}"
    else:
        title = f"Tree {view.t + 1} below {'the root' if view.top == 0 else f'node {view.top}'}: {of}"
        place = f"node{view.top}"
    if color == WITH_LABEL:
        known = [0.0, float((view.having / tree.n_samples).max())]
    else:  # a few odd nodes must not make all others look alike
        known = numbers[color].dropna().quantile(SCALE).to_list()
    figure = figures.tree(
        drawn,
        color,
        color_range=tuple(known) if known[0] < known[1] else None,
        chosen=view.node,
        title=title,
        total=total,
    )
    chart = f"trees.chart.{view.key[:8]}.{view.t}.{view.mode}.{place}.{view.levels}"

    def clicked():
        points = st.session_state[chart]["selection"]["points"]
        if points and points[0].get("customdata"):
            view.choose(int(points[0]["customdata"][0]))

    charts.show_figure(
        figure,
        lambda: tables.csv_safe(drawn),
        f"{files}-tree{view.t + 1}-{place}",
        _about_drawing(view, color),
        key=chart,
        on_click=clicked,
    )


def _about_drawing(view, color):
    said = "From left to right by depth. Circles are splits, squares are leaves; the larger, the more training rows. "
    said += {
        "purity": "Colour is purity: the share of the node's training rows that have its most frequent label. ",
        "objective": "Colour is J of the split, small is good; leaves, which have none, are grey. ",
        "balance": "Colour is the balance of the split, 0 is balanced; leaves, which have none, are grey. ",
        "integrity": "Colour is class integrity without its weight, "
        f"{_arity(view.model) - 1} is each label in one child; leaves, which have none, are grey. ",
        "multiway": "Colour is the multi-way penalty without its weight, 0 is every row in one child; leaves, which "
        "have none, are grey. ",
        WITH_LABEL: "Colour is the share of the node's training rows that have the label; the lighter, the more. ",
    }[color]
    if color != WITH_LABEL:
        said += "Lighter is better. The scale ends at the 5th and the 95th percentile of the tree's nodes. "
    if view.mode == LABEL:
        return said + _about_label_drawing(view)
    said += "Beside a node is the label whose share has grown most from its parent; **+37** are 37 nodes below it that "
    said += "are not drawn. "
    if view.mode == PATH:
        ways = format.count(view.leaves.size, "leaf", "leaves")
        return said + f"The row reaches {ways} by the thick line; small marks are the nodes it passes by."
    return said.rstrip()


def _about_label_drawing(view):
    said = (
        "The thicker the line, the more of the label's rows take it; small marks are nodes that none of them reaches. "
        "Beside a node is the share of the label's rows in it, and its most frequent other label. "
    )
    reached, drawn = int((view.having > 0).sum()), int((view.having[view.nodes] > 0).sum())
    if drawn < reached:
        said += f"Drawn are {drawn:,} of the {reached:,} nodes that rows of the label reach, those with most of them; "
        said += "a leaf chosen in the table above is drawn with its path. "
    elif drawn == view.nodes.size < tree_frames.with_siblings(view.tree, view.nodes).size:
        said += "Nodes that none of them reaches are left out. "
    return said + "**+37** are 37 nodes below it that are not drawn."


def _rows_of_label(view, files):
    """Where the label's training rows went, in a sentence and leaf by leaf."""
    found = view.label_leaves
    name = format.plain(view.label_name)
    if found.empty:
        st.info(f"No training row has **{name}**, so no node of the tree holds it, and it is never predicted.")
        return
    st.markdown(_label_said(view, found))
    st.subheader("Leaves that hold them")
    shown = tree_frames.with_names(found.head(LISTED_LEAVES), view.data.label_name)
    table = shown.assign(
        share_of_label=100 * shown["share_of_label"],
        share_with_label=100 * shown["share_with_label"],
        labels=_top_labels(shown),
    )
    columns = ["node", "depth", "with_label", "share_of_label", "rows", "share_with_label", "place", "labels"]
    key = f"trees.holding.{view.key[:8]}.{view.t}.{view.label}"
    st.dataframe(
        table[columns],
        hide_index=True,
        height=tables.height(len(table), 260),
        key=key,
        on_select=lambda: _look_at_leaf(view, shown, key),
        selection_mode="single-row",
        column_config={
            "node": st.column_config.NumberColumn("Leaf", format="%d", width=60),
            "depth": st.column_config.NumberColumn("Depth", format="%d", width=55),
            "with_label": st.column_config.NumberColumn(
                "Label's rows", format="localized", width=90, help="Training rows with the label in the leaf."
            ),
            "share_of_label": st.column_config.NumberColumn(
                "Of the label, %", format="%.1f", width=100, help="Share of all training rows with the label."
            ),
            "rows": st.column_config.NumberColumn(
                "Rows", format="localized", width=65, help="All training rows in it."
            ),
            "share_with_label": st.column_config.NumberColumn(
                "Of the leaf, %", format="%.1f", width=95, help="Share of the leaf's training rows that have the label."
            ),
            "place": st.column_config.NumberColumn(
                "Place", format="localized", width=60, help="Of the label in the leaf: 1, none is more frequent."
            ),
            "labels": st.column_config.TextColumn("The leaf's most frequent labels", width=330),
        },
    )
    of = format.count(len(found), "leaf", "leaves")
    of = f"Showing {len(table):,} of {of}" if len(table) < len(found) else of
    st.caption(f"{of}, most rows of the label first. Tick one to look at it below.")
    charts.csv_button(
        "Leaves of the label, CSV",
        lambda: tables.csv_safe(tree_frames.with_names(found, view.data.label_name)),
        f"{files}-tree{view.t + 1}-label{view.label}-leaves",
        "Every leaf that holds training rows of the label",
    )


def _label_said(view, found):
    tree, rows = view.tree, int(view.having[0])
    ends, leaves = int(found["with_label"].sum()), int((tree.children[:, 0] < 0).sum())
    best = found.iloc[0]
    place = int(best["place"])
    where = f"leaf {int(best['node']):,}, where " + (
        "no label is more frequent" if place == 1 else f"it is the {format.ordinal(place)} most frequent label"
    )
    said = f"**{format.plain(view.label_name)}** has **{format.count(rows, 'training row')}**, which "
    one, of = len(found) == 1, format.count(leaves, "leaf", "leaves")
    whose = f" of tree {view.t + 1}" if len(view.model.trees_) > 1 else ""
    if one:
        said += f"{'ends' if rows == 1 else 'all end'} in **1 of {of}**{whose}: {where}."
    else:
        said += f"{'ends' if rows == 1 else 'end'} in **{len(found):,} of {of}**{whose}"
        share = tree_frames.percent(float(best["share_of_label"]))
        said += f"; the largest part, **{share}**, in {where}." if rows > 1 else f", first in {where}."
    if ends > rows:
        went = f"it goes {ends:,} ways" if rows == 1 else f"these go {ends / rows:.2f} ways on average"
        said += f" Rows may go several ways: {went}, so shares add up to {100 * ends / rows:,.0f} %."
    if not one:
        whole = tree_frames.together_until(tree, view.label)
        kind = "Node" if tree.children[whole, 0] >= 0 else "Leaf"
        said += (
            " Already the root sends them apart."
            if whole == 0
            else f" {kind} {whole:,} at depth {tree.depth[whole]} is the deepest that has them all."
        )
    return said


def _look_at_leaf(view, found, key):
    ticked = st.session_state[key]["selection"]["rows"]
    if ticked and ticked[0] < len(found):
        view.choose(int(found["node"].iloc[ticked[0]]))


def _top_labels(frame):
    """The most frequent labels of nodes, with their shares, in words."""
    return [
        ", ".join(f"{r[f'name_{i}']} {tree_frames.percent(r[f'share_{i}'])}" for i in (1, 2, 3) if r[f"label_{i}"] >= 0)
        for r in frame.to_dict("records")
    ]


def _node(view, run, files):
    tree, v = view.tree, view.node
    inner = bool(tree.children[v, 0] >= 0)
    st.subheader(f"{'Node' if inner else 'Leaf'} {v:,} of tree {view.t + 1}")
    purity = float(server.nodes(view.key, view.t)["purity"].iloc[v])
    facts = (
        f"{format.count(int(tree.n_samples[v]), 'training row')} at depth {tree.depth[v]}, purity {100 * purity:.0f} %"
    )
    if inner:
        sent = tree.n_samples[tree.children[v]] / tree.n_samples[v]
        facts += "; sends " + ", ".join(
            f"{tree_frames.percent(share)} to node {child:,}" for share, child in zip(sent, tree.children[v])
        )
        more = float(sent.sum()) - 1
        facts += f" (rows that go several ways make {100 * (1 + more):.0f} %)." if more > 0.0005 else "."
    else:
        facts += "; it predicts its rows' labels by how often they occur."
    if view.mode == LABEL:
        facts += f" {_label_in_node(view)}"
    st.markdown(facts)
    with st.container(horizontal=True, gap="small"):
        if inner and (view.mode != PART or v != view.top):
            st.button("Draw the tree from here", key="trees.from", on_click=view.draw_from, args=(v,))
        if v > 0:
            st.button(
                f"Up to node {tree.parent[v]:,}", key="trees.up", on_click=view.choose, args=(int(tree.parent[v]),)
            )
    left, right = st.columns(2, gap="large")
    with left:
        _labels_of_node(view, run, inner, files)
    with right:
        if inner and tree.trace.shape[1]:
            trace = tree_frames.training_trace(tree, v, _weights(view.model))
            lambdas = _weights(view.model)
            charts.show_figure(
                figures.objective_in_training(trace, f"J while node {v:,} was trained"),
                trace,
                f"{files}-tree{view.t + 1}-node{v}-training",
                f"Estimates after each epoch. J = balance − {lambdas[0]:g} × class integrity + {lambdas[1]:g} × "
                "multi-way penalty; parts are drawn with their signs and weights, so they add up to J. Open marks at "
                "the end are what the split came to by where rows were sent; estimates use margins, so they differ.",
                key=f"trees.trace.{view.key[:8]}",
            )
        elif not inner:
            st.caption("A leaf has no split, so there is no J to draw. Go up to see the split that made it.")


def _label_in_node(view):
    rows, name = int(view.having[view.node]), format.plain(view.label_name)
    if rows == 0:
        return f"None of its rows has **{name}**."
    own, of_all = rows / view.tree.n_samples[view.node], rows / view.having[0]
    return (
        f"**{format.count(rows, 'row')}** with **{name}**: {tree_frames.percent(own)} of the node's rows, "
        f"{tree_frames.percent(of_all)} of the label's."
    )


def _labels_of_node(view, run, inner, files):
    tree, v = view.tree, view.node
    count = int(tree.histograms.indptr[v + 1] - tree.histograms.indptr[v])
    found = tree_frames.labels_of_node(tree, v, view.data.label_name, LISTED_LABELS)
    shown = found.copy()
    shares = [c for c in found.columns if c == "share" or c.startswith("to_")]
    shown[shares] *= 100
    ways = {
        f"to_{c}": st.column_config.NumberColumn(
            f"To {child}, %", format="%.0f", help=f"Share of the label's rows that go to node {child}."
        )
        for c, child in enumerate(tree.children[v], 1)
    }
    key = f"trees.labels.{view.key[:8]}.{view.t}.{v}.{view.label}"
    st.dataframe(
        shown[["name", "rows", *shares, "label"]],
        hide_index=True,
        height=tables.height(len(shown), 330),
        key=key,
        on_select=lambda: _follow_label(view, run, found, key),
        selection_mode="single-row",
        column_config={
            "name": st.column_config.TextColumn("Label", width=170),
            "rows": st.column_config.NumberColumn("Rows", format="localized", width=70),
            "share": st.column_config.NumberColumn("Share, %", format="%.1f", width=75, help="Of the node's rows."),
            "label": st.column_config.NumberColumn("Id", format="%d", width=60),
            **(ways if inner else {}),
        },
    )
    of = (
        f"Showing {len(shown):,} of {format.count(count, 'label')}"
        if len(shown) < count
        else format.count(count, "label")
    )
    integrity = " Class integrity is high when each goes to one child." if inner else ""
    st.caption(
        f"{of} of the node's training rows, most frequent first.{integrity} Tick one to see where its rows went."
    )
    charts.csv_button(
        "Labels of the node, CSV",
        lambda: tables.csv_safe(tree_frames.labels_of_node(tree, v, view.data.label_name)),
        f"{files}-tree{view.t + 1}-node{v}-labels",
        "All labels of the node, and where it sends them",
    )


def _follow_label(view, run, found, key):
    ticked = st.session_state[key]["selection"]["rows"]
    if ticked and ticked[0] < len(found):
        view.follow(run.fingerprint, int(found["label"].iloc[ticked[0]]))


def _row(view, run, files):
    st.header("How a test row is predicted")
    data, model = view.data, view.model
    row = selectors.choose_test_row(data, run, f"run {view.key}", workspace.TREE_ROW)
    leaves = tree_frames.leaves_frame(model.trees_, model.apply(data.X_test[[row]]), 0, data.label_name)
    left, right = st.columns(2, gap="medium")
    with left:
        _leaves(view, leaves, row, files)
    with right:
        rated = f"the mean of {format.count(len(leaves), 'leaf', 'leaves')}"
        how = "its share among all label occurrences of a leaf, averaged over a tree's leaves, then over trees"

        def held(frame):
            trees = _trees_with(model, leaves, frame["label"].to_numpy())
            return frame.assign(trees=trees)[["rank", "name", "correct", "score", "trees", "label"]]

        predictions.show(
            data,
            run,
            row,
            K,
            key="trees.predicted",
            extra=held,
            extra_config={
                "name": st.column_config.TextColumn("Predicted label", width=150),
                "trees": st.column_config.NumberColumn(
                    "Trees", format="%d", width=60, help="Trees in which a leaf of this row has the label."
                ),
            },
        )
        again = " It is mixed with nearness to the label's mean (re-ranking)." if model.rerank_beta < 1 else ""
        st.caption(f"The prediction is {rated}: a label's score is {how}.{again}")


def _leaves(view, leaves, row, files):
    shown = leaves.assign(
        tree=leaves["tree"] + 1,
        weight=100 * leaves["weight"],
        labels=_top_labels(leaves),
    )[["tree", "node", "depth", "rows", "weight", "labels"]]
    key = f"trees.leaves.{view.key[:8]}.{row}"
    st.dataframe(
        shown,
        hide_index=True,
        height=tables.height(len(shown), 330),
        key=key,
        on_select=lambda: _open_leaf(view, leaves, key),
        selection_mode="single-row",
        column_config={
            "tree": st.column_config.NumberColumn("Tree", format="%d", width=50),
            "node": st.column_config.NumberColumn("Leaf", format="%d", width=60),
            "depth": st.column_config.NumberColumn("Depth", format="%d", width=55),
            "rows": st.column_config.NumberColumn("Rows", format="localized", width=60, help="Training rows in it."),
            "weight": st.column_config.NumberColumn(
                "Weight, %", format="%.1f", width=75, help="What the leaf counts in the mean."
            ),
            "labels": st.column_config.TextColumn("Its most frequent labels", width=260),
        },
    )
    st.caption(
        f"{format.count(len(leaves), 'leaf', 'leaves')} in {format.count(len(view.model.trees_), 'tree')}. Tick one to "
        "see the row's path in its tree, above."
    )
    charts.csv_button(
        "Leaves of the row, CSV", lambda: tables.csv_safe(leaves), f"{files}-row{row}-leaves", "Every leaf it reaches"
    )


def _open_leaf(view, leaves, key):
    ticked = st.session_state[key]["selection"]["rows"]
    if not ticked or ticked[0] >= len(leaves):
        return
    leaf = leaves.iloc[ticked[0]]
    chosen = {
        f"tree {view.key}": int(leaf["tree"]),
        f"path {view.key} {int(leaf['tree'])}": int(leaf["node"]),
        f"path of {view.key} {int(leaf['tree'])}": view.row,
        "trees mode": PATH,
    }
    workspace.update(lambda data: data["rows"].update(chosen))


def _trees_with(model, leaves, labels):
    """In how many trees a leaf of the row has each label."""
    found = np.zeros(labels.size, np.int64)
    for t, part in leaves.groupby("tree"):
        hist = model.trees_[int(t)].histograms
        present = np.concatenate([hist.indices[hist.indptr[v] : hist.indptr[v + 1]] for v in part["node"]])
        found += np.isin(labels, present)
    return found


# --- depth, and J by depth ---


def _shape(data, model, key, files):
    st.header("Depth and objective")
    t, trees = _tree_number(key, model), model.trees_
    one, two = st.columns(2, gap="large", vertical_alignment="bottom")
    everything = True
    if len(trees) > 1:
        choices = {
            "all": f"All {len(trees):,} trees",
            "one": "The tree above",
        }  # the same words for each: a new option is a new widget
        with one:
            scope = st.radio(
                "Trees",
                list(choices),
                format_func=choices.get,
                horizontal=True,
                **workspace.keep("trees.scope", "all", options=list(choices)),
            )
        everything = scope == "all"
    chosen = trees if everything else [trees[t]]
    whose = f"tree {t + 1}" if not everything else f"all {len(trees)} trees" if len(trees) > 1 else "the tree"
    parts = [tree_frames.OBJECTIVE, *tree_frames.PARTS]
    with two:
        part = st.radio(
            "J or a part of it",
            parts,
            format_func=lambda p: p[:1].upper() + p[1:],
            horizontal=True,
            **workspace.keep("trees.part", parts[0], options=parts),
        )
    left, right = st.columns(2, gap="large")
    with left:
        depths = tree_frames.depth_frame(chosen)
        figure = figures.leaf_depths(depths, data.n_labels, _arity(model), f"Depth of the leaves, {whose}")
        meta = figure.layout.meta
        charts.show_figure(
            figure,
            depths,
            f"{files}-depth-{'all' if everything else t + 1}",
            f"Deepest leaf: {meta['deepest']}. Dotted lines: the logarithm of the number of labels to the base of the "
            "children, and 3 times it; the paper finds the deepest trees of its ensembles between the two (Figure 2).",
            key=f"trees.depth.{key[:8]}",
        )
    with right:
        found = tree_frames.objective_by_depth(chosen, _weights(model))
        if found.empty:
            st.caption("There is no split, so there is no J.")
            return
        lambdas = _weights(model)
        best = ""
        if lambdas[1] > lambdas[0] * (_arity(model) - 3):  # Lemma 2; otherwise rows that go several ways are better yet
            best = f" At best J is −{lambdas[0] * (_arity(model) - 1):g}, of a balanced and pure split."
        weight = {
            tree_frames.OBJECTIVE: best,
            tree_frames.PARTS[1]: f" It counts −{lambdas[0]:g} times in J, as drawn.",
            tree_frames.PARTS[2]: f" It counts {lambdas[1]:g} times in J, as drawn.",
        }.get(part, "")
        charts.show_figure(
            figures.objective_by_depth(found, part, f"{part[:1].upper()}{part[1:]} of the splits, {whose}"),
            found,
            f"{files}-objective-{'all' if everything else t + 1}",
            "Least, mean and greatest over the splits at each depth; smaller is better (Figure 1 of the paper)."
            + weight,
            key=f"trees.objective.{key[:8]}",
        )


# --- parts of the model ---


def _parts(model, key, files):
    st.header("What fewer or smaller trees would bring")
    task = experiment.task("prefixes", {"run": key})
    if not task.exists():
        st.markdown(
            "The first trees of the ensemble, and the first nodes of each tree, are what training with fewer trees or "
            "a smaller T_max would have given. Measuring them needs predictions only."
        )
    tasks.shown(
        task,
        lambda found: st.fragment(_curves)(found.measures, model, key, files),
        button="Measure parts of the model",
        key="trees.measure",
    )


def _curves(found, model, key, files):
    measures = [m for m in ("P@k", "nDCG@k", "PSP@k") if (found["measure"] == m).any()]
    chosen = st.pills(
        "Measures",
        measures,
        selection_mode="multi",
        default=workspace.keep("trees.measures", measures[:2], _some_of(measures))["value"],
        key="trees.measures",
        on_change=lambda: workspace.update(
            lambda data: data["widgets"].__setitem__("trees.measures", st.session_state["trees.measures"])
        ),
    )
    chosen = [m for m in measures if m in chosen] or measures[:1]
    left, right = st.columns(2, gap="large")
    with left:
        mine = found[found["axis"] == "n_trees"]
        charts.show_figure(
            figures.measures_of_prefixes(found, "n_trees", chosen, KS, "Fewer trees"),
            mine,
            f"{files}-fewer-trees",
            "Measures of the first trees alone, each as large as trained; the last point is the whole model. "
            + _same(chosen),
            key=f"trees.fewer.{key[:8]}",
        )
    with right:
        mine = found[found["axis"] == "max_nodes"]
        charts.show_figure(
            figures.measures_of_prefixes(found, "max_nodes", chosen, KS, "Smaller trees"),
            mine,
            f"{files}-smaller-trees",
            "Measures of all trees, cut to the nodes that a smaller T_max would have made, and their depth on the "
            "right axis; the last point is the whole model (Figure 3 of the paper).",
            key=f"trees.smaller.{key[:8]}",
        )


def _some_of(measures):
    return lambda value: isinstance(value, list) and all(m in measures for m in value)


def _same(chosen):
    return "nDCG@1 is P@1, and drawn once. " if {"P@k", "nDCG@k"} <= set(chosen) else ""


# --- all nodes ---


def _all_nodes(data, model, key, files):
    t = _tree_number(key, model)
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
        purity=100 * shown["purity"],
        labels=_top_labels(shown),
    )
    columns = ["node", "parent", "depth", "kind", "rows", "purity", "labels"]
    columns += ["objective", "balance", "integrity", "multiway", "below"]
    digits = {"format": "%.3f", "width": 80}
    st.dataframe(
        table[columns],
        hide_index=True,
        height=tables.height(len(table), 360),
        key="trees.nodes",
        **tables.EMPTY_CELLS,
        column_config={
            "node": st.column_config.NumberColumn("Node", format="%d", width=60),
            "parent": st.column_config.NumberColumn("Parent", format="%d", width=60, help="−1: none, the root."),
            "depth": st.column_config.NumberColumn("Depth", format="%d", width=60),
            "kind": st.column_config.TextColumn("Kind", width=60),
            "rows": st.column_config.NumberColumn("Rows", format="localized", width=70, help="Training rows."),
            "purity": st.column_config.NumberColumn("Purity, %", format="%.0f", width=75),
            "labels": st.column_config.TextColumn("Most frequent labels", width=300),
            "objective": st.column_config.NumberColumn("J", **digits),
            "balance": st.column_config.NumberColumn("Balance", **digits),
            "integrity": st.column_config.NumberColumn("Integrity", help="Without its weight.", **digits),
            "multiway": st.column_config.NumberColumn("Multi-way", help="Without its weight.", **digits),
            "below": st.column_config.NumberColumn("Nodes below", format="localized", width=90),
        },
    )
    whole = f" The CSV holds all {len(numbers):,}." if len(table) < len(numbers) else ""
    st.caption(f"Showing {len(table):,} of {format.count(len(numbers), 'node')}, {orders[order]}.{whole}")
    charts.csv_button(
        "All nodes, CSV",
        lambda: tables.csv_safe(tree_frames.with_names(numbers, data.label_name)),
        f"{files}-tree{t + 1}-nodes",
        "Every node with its parent, depth, rows, J and its parts, purity and most frequent labels",
    )


main()
