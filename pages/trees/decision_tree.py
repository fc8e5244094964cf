"""The decision trees of LdSM: the part of a tree that is drawn; labels, features and objective J of a node."""

import numpy as np
import streamlit as st

from pages.shared import addresses, cached, fields, format, selectors, tables
from pages.shared.figures import charts
from pages.shared.view import look, now
from pages.trees import growth, one_tree
from xmlcore import figures, wording
from xmlcore.models.ldsm import frames

MODES = ("Part of the tree", "Path of a test row", "Rows of a label")
PART, PATH, LABEL = 0, 1, 2
LEVELS = 4  # levels drawn at first; fewer when that would be more than FIRST_NODES nodes
FIRST_NODES = 63
MOST_NODES, MOST_LEVELS = 400, 12  # nodes and levels drawn at most
FIRST_OF_LABEL = 100  # nodes of a label drawn at first: few, so that the text on a node is near the table above
LEAST_OF_LABEL = 10  # the smallest number of nodes of a label that the user can choose
LISTED_LEAVES = 200  # most leaves, or nodes, in a table
NODE_ORDERS = {
    "node": "In the order they were made",
    "rows": "Most training rows first",
    "depth": "Deepest first",
    "share_1": "Most mixed labels first",
    "objective": "Greatest J first",
    "alpha": "Greatest impurity α first",
    "beta": "Greatest imbalance β first",
}
FEATURES = 10  # features drawn for each child
SCALE = (0.05, 0.95)  # quantiles over the tree's nodes at the ends of the colour scale
WITH_LABEL = "share_with_label"
COLORS = {  # columns of the table of nodes: what the control calls them, and what they mean
    "share_1": ("Most frequent label", "the share of a node’s training rows that have its most frequent label"),
    "objective": ("J of the split", "the objective J, small is good"),
    "balance": ("Balance", "the balance of the split in label occurrences, 0 is balanced"),
    "integrity": ("Class integrity", "class integrity without its weight, large is each label in one child"),
    "multiway": ("Multi-way penalty", "the multi-way penalty without its weight, 0 is every row in one child"),
    "alpha": ("Impurity α", "the impurity α of the split, 0 is each label in one child"),
    "beta": ("Imbalance β", "the imbalance β of the split, 0 is all children equally large"),
    WITH_LABEL: ("Rows with the label", "the share of a node’s training rows that have the label"),
}


class DecisionTreeView(one_tree.TreeView):
    """A decision tree of a result, and its ``nodes`` that are drawn: below a node, on a row's path, or of a label.

    ``top`` is the node with which the drawing begins. Only PATH has ``leaves``, those that the row reaches, and only
    LABEL has ``label``, ``rows_with_label`` (in each node) and ``label_leaves``.
    """

    frames, followed = frames, "see where its rows went"

    def __init__(self, ready):
        super().__init__(ready, ready.model)
        mode = now().mode or PART
        self.mode, self.top = mode if mode < len(MODES) else PART, self.within(now().top)
        self.row, self.label, self.leaves = selectors.looked_at_row(self.data, self.run), None, None
        self.nodes = np.empty(0, np.int64)

    def below_top(self) -> None:
        tree = self.tree
        self.fit = min(frames.levels_that_fit(tree, self.top, MOST_NODES), MOST_LEVELS)
        first = min(LEVELS, frames.levels_that_fit(tree, 0, FIRST_NODES))
        self.levels = min(max(now().levels or first, 1), self.fit)
        self.nodes = frames.below(tree, self.top, self.levels)
        self.node = self.node if self.node in self.nodes else self.top

    def on_path(self) -> None:
        """Draw the nodes that the row visits, and their siblings if these are not too many."""
        self.leaves = np.sort(self.model.apply(self.data.X_test[[self.row]], n_trees=self.t + 1).of(0, self.t))
        visited = frames.visited(self.tree, self.leaves)
        siblings = frames.with_siblings(self.tree, visited)
        self.nodes = siblings if siblings.size <= MOST_NODES else visited
        self.node = now().node if now().node in self.nodes.tolist() else int(self.leaves[0])

    def of_label(self, label: int) -> None:
        """Draw the nodes that hold the label's rows; at first, the leaf with most of these rows is selected."""
        self.label, self.rows_with_label = label, frames.rows_with_label(self.tree, label)
        self.label_leaves = frames.leaves_of_label(self.tree, label)
        first = int(self.label_leaves["node"].iloc[0]) if len(self.label_leaves) else 0
        node = first if now().node is None or now().node >= self.n_nodes else now().node
        self.most = min(max(now().most or FIRST_OF_LABEL, LEAST_OF_LABEL), MOST_NODES)
        self.nodes = frames.nodes_of_label(self.tree, label, self.most, node)
        self.node = node if node in self.nodes else first

    @property
    def is_drawn(self) -> bool:
        return self.nodes.size > 0

    @property
    def weights(self) -> tuple[float, float]:
        """λ1 and λ2, the weights of class integrity and of the multi-way penalty in the objective J."""
        return float(self.model.integrity_weight), float(self.model.multiway_weight)

    def is_leaf(self, node: int) -> bool:
        return bool(self.tree.children[node, 0] < 0)

    def short_name(self, node: int, letters: int = 20) -> str:
        return f"node {node}" if node else "Root"

    def with_names(self, frame):
        return frames.with_label_names(frame, self.data.label_name)

    def choose(self, node: int) -> None:
        """Look at a node; the drawing then begins with it if the node or its children are not drawn."""
        drawn, inner = node in self.nodes, not self.is_leaf(node)
        of_label = self.mode == LABEL and (drawn or self.rows_with_label[node])
        undrawn = not drawn or (inner and self.tree.children[node, 0] not in self.nodes)
        if undrawn and not of_label and not (self.mode == PATH and drawn):
            self.draw_from(node, node if inner else max(int(self.tree.parent[node]), 0))
        else:
            look(node=node)

    def draw_from(self, node: int, top: int) -> None:
        look(node=node, top=top, mode=PART)

    def follow(self, label: int) -> None:
        look(of=label, node=self.node, mode=LABEL)

    def controls(self, picture) -> None:
        chosen = MODES[self.mode], lambda name: look(mode=MODES.index(name))
        fields.pick("Drawn", {name: name for name in MODES}, "trees.mode", *chosen, widget="radio", horizontal=True)
        if self.mode == LABEL:
            self.of_label(selectors.choose_label(self.data, "of", "trees.label", "trees.query", node=None))
        else:
            (self.on_path if self.mode == PATH else self.below_top)()
        color = _controls(self)
        if self.mode == LABEL:
            _leaves_of_label(self)
        elif self.mode == PATH:
            addresses.link("Explain", "The margins on the ways of this row", section="Path")
        if self.is_drawn:
            with picture:
                left, right = st.columns([2, 1], gap="medium")
            with left:
                _draw(self, color)
            with right:
                file = f"{self.files}-objective"
                growth.objective(self, [self.tree], frames.OBJECTIVE, f"tree {self.t + 1}", file)

    def heading(self) -> str:
        return f"{'Leaf' if self.is_leaf(self.node) else 'Node'} {self.node:,} of tree {self.t + 1}"

    def facts(self) -> str:
        tree, v = self.tree, self.node
        share, rows = float(cached.nodes(self.key, self.t)["share_1"].iloc[v]), int(tree.n_samples[v])
        text = f"{format.count(rows, 'training row')} at depth {tree.depth[v]}, {percent(share)} with the same label"
        if not self.is_leaf(v):
            sent = zip(tree.n_samples[tree.children[v]] / rows, tree.children[v])
            text += "; of the rows, " + ", ".join(f"{percent(share)} go to node {child:,}" for share, child in sent)
        if self.mode == LABEL:
            of, name = int(self.rows_with_label[v]), format.plain(self.data.label_name(self.label))
            text += f"; **{format.count(of, 'row')}** with **{name}**, {percent(of / max(rows, 1))} of the node’s rows"
        return f"{text}."

    def labels(self, most: int):
        tree, v, name = self.tree, self.node, self.data.label_name
        shown = frames.labels_of_node(tree, v, name, most)
        shares = [column for column in shown.columns if column == "share" or column.startswith("to_")]
        shown[shares] *= 100
        columns = {
            "name": tables.text("Label"),
            "rows": tables.number("Rows", 55, "localized"),
            "share": tables.number("Share, %", 65, "%.1f", "Share of the node's rows that have the label."),
            **{f"to_{c}": tables.number(f"To {child}, %", 64, "%.0f", f"Share of its rows that go to node {child}.")
               for c, child in enumerate(tree.children[v], 1)},
            "label": tables.number("Id", 55, "%d"),
        }  # fmt: skip
        total = int(tree.histograms.indptr[v + 1] - tree.histograms.indptr[v])
        return shown, columns, total, lambda: frames.labels_of_node(tree, v, name)

    def features(self):
        v, children, values = self.node, self.tree.children[self.node], mean_values(self.run.fingerprint)
        if self.is_leaf(v):
            return "A leaf has no split: it predicts the labels of its training rows by their frequency."
        every = frames.features_of_node(self.model, self.t, v, values=values)
        if every.empty:
            return "No feature has a weight at this node: the same children get all rows."
        name = self.data.feature_name
        drawn = frames.features_of_node(self.model, self.t, v, name, FEATURES, values).sort_values("to", kind="stable")
        weights = [[f"weight {line[f'weight_{c}']:+.3g} for node {child:,}" for c, child in enumerate(children, 1)]
                   for line in drawn.to_dict("records")]  # fmt: skip
        drawn = drawn.assign(
            child=[f"to node {children[to - 1]:,}" for to in drawn["to"]], about=[*map(", ".join, weights)]
        )
        axis = "Weight less that of the next child, × mean value"
        figure = self.features_figure(drawn, "effect", "child", axis=axis, total=len(every))
        caption = (
            f"Up to {FEATURES} features for each child. A row goes to a child whose sum of weight times value, and a "
            "bias, is at least 0.5, or else is largest. A bar is the weight less the next one, times the mean value."
        )
        return figure, lambda: frames.features_of_node(self.model, self.t, v, name, values=values), caption

    def more_of_node(self) -> None:
        v = self.node
        if self.is_leaf(v):
            return
        if self.mode != PART or v != self.top:
            st.button("Draw the tree from here", key="trees.from", on_click=self.draw_from, args=(v, v))
        if self.tree.trace.shape[1]:
            trace = frames.training_trace(self.tree, v, self.weights)
            integrity, multiway = self.weights
            charts.show_figure(
                figures.objective_in_training(trace, f"J while node {v:,} was trained"),
                trace,
                f"{self.files}-node{v}-training",
                "Lines are estimates by the margins after each epoch; open marks count where rows went. "
                f"J = balance − {integrity:g} × class integrity + {multiway:g} × multi-way penalty, "
                "in label occurrences; parts have their signs and weights.",
            )


def _controls(view) -> str:
    """Show the controls; return the quantity that colours nodes, a key of :data:`COLORS`."""
    is_path, of_label = view.mode == PATH, view.mode == LABEL
    columns = iter(st.columns(2 + view.several + is_path, vertical_alignment="bottom"))
    if view.several:
        one_tree.tree_field(view, next(columns))
    if is_path:
        last, place = view.data.n_test - 1, next(columns)
        chosen = "trees.row.path", view.row, lambda row: look(row=row, node=None)
        fields.number(f"Test row, 0 to {last:,}", 0, last, *chosen, place=place)
    one_tree.node_field(view, next(columns))
    how = next(columns).popover("How the tree is drawn", icon=":material/tune:", key="trees.drawn", width="stretch")
    if view.mode == PART and view.fit > 1:
        label, chosen = f"Levels below the top, 1 to {view.fit}", lambda number: look(levels=number)
        fields.number(label, 1, view.fit, "trees.levels", view.levels, chosen, place=how)
    if of_label:
        ends = LEAST_OF_LABEL, MOST_NODES
        label, chosen = f"Most nodes drawn, {ends[0]} to {ends[1]}", lambda number: look(most=number)
        fields.number(label, *ends, "trees.most", view.most, chosen, place=how, step=50)
    names = {column: name for column, (name, _) in COLORS.items() if of_label or column != WITH_LABEL}
    key, first = ("trees.color.label", WITH_LABEL) if of_label else ("trees.color", "share_1")
    return fields.choice("Colour", names, key, first, place=how)


def _draw(view, color: str) -> None:
    tree, numbers, where = view.tree, cached.nodes(view.key, view.t), f"tree {view.t + 1}"
    options = {"leaves": view.leaves, "label": view.label, "all_nodes": numbers}
    drawn = frames.drawing_frame(tree, view.nodes, view.data.label_name, view.weights, **options)
    if view.mode == PATH:
        subject, place = f"Test row {view.row:,} in {where}", f"row{view.row}"
    elif view.mode == LABEL:  # short enough for a phone
        subject, place = f"{figures.short(view.data.label_name(view.label), 16)} in {where}", f"label{view.label}"
    else:
        subject, place = f"Tree {view.t + 1} below {f'node {view.top}' if view.top else 'the root'}", f"node{view.top}"
    if color == WITH_LABEL:
        ends = [0.0, float((view.rows_with_label / tree.n_samples).max())]
    else:  # quantiles: a few extreme nodes must not make all others look alike
        ends = numbers[color].dropna().quantile(SCALE).to_list()
    title = f"{subject}: {len(drawn):,} of {format.count(view.n_nodes, 'node')}"
    ends = tuple(ends) if ends[0] < ends[1] else None
    caption = (
        "Circles are splits, squares leaves, larger ones of more training rows. A thick line is where the row, or the "
        f"rows of the label, go. Colour is {COLORS[color][1]}; dark is better. Click a node to look at it."
    )
    charts.show_figure(
        figures.tree(drawn, color, color_range=ends, chosen=view.node, title=title, total=view.n_nodes),
        drawn,
        f"{view.files}-{place}",
        caption,
        key=f"trees.chart.{view.key[:8]}.{view.t}.{view.mode}.{place}.{len(drawn)}",
        place="trees.chart",
        on_click=lambda node: view.choose(int(node)),
    )


def _leaves_of_label(view) -> None:
    """Say where the training rows of a label went, and list the leaves that hold them."""
    ends_of, name = view.label_leaves, format.plain(view.data.label_name(view.label))
    if ends_of.empty:
        st.info(f"No training row has **{name}**, so no node of the tree holds this label, and it is never predicted.")
        return
    tree, rows = view.tree, int(view.rows_with_label[0])
    leaves, together = int((tree.children[:, 0] < 0).sum()), frames.together_until(tree, view.label)
    st.markdown(
        f"**{name}** has **{format.count(rows, 'training row')}**, in **{len(ends_of):,} of "
        f"{format.count(leaves, 'leaf', 'leaves')}**; node {together:,}, at depth {tree.depth[together]}, is the "
        "deepest that has all of them."
    )
    shown = view.with_names(ends_of.head(LISTED_LEAVES))
    shares = {column: 100 * shown[column] for column in ("share_of_label", "share_with_label")}
    key = f"trees.holding.{view.key[:8]}.{view.t}.{view.label}"
    tables.show(
        shown.assign(**shares, labels=top_labels(shown)),
        key,
        {
            "node": tables.number("Leaf", 60, "%d"),
            "depth": tables.number("Depth", 55, "%d"),
            "with_label": tables.number("Label's rows", 90, "localized", "Training rows with the label in the leaf."),
            "share_of_label": tables.bar("Of the label, %", 110, "Share of all training rows with the label."),
            "rows": tables.number("Rows", 65, "localized", "All training rows in the leaf."),
            "share_with_label": tables.number("Of the leaf, %", 95, "%.1f", "Share of its rows that have the label."),
            "place": tables.number("Place", 60, "localized", "Of the label in the leaf by frequency, from 1."),
            "labels": tables.text("The leaf's most frequent labels", 330),
        },
        first=("node", "depth", "with_label", "share_of_label", "rows", "share_with_label", "labels"),
        most=260,
        **tables.on_tick(key, shown["node"], view.choose),
    )
    ways = f"rows may go several ways, here {int(ends_of['with_label'].sum()) / rows:.2f} on average"
    tables.counted(len(shown), len(ends_of), "leaf", f"{ways}. Tick one to see its details below.", "leaves")
    file = f"{view.files}-label{view.label}-leaves"
    charts.csv_button("Leaves of the label, CSV", lambda: view.with_names(ends_of), file)


@cached.shared()
def mean_values(fingerprint: str):
    return np.asarray(cached.dataset(fingerprint).X_train.mean(axis=0), np.float64).ravel()


def percent(share: float) -> str:
    """Return a share as figures of trees have it, with a no-break space before the sign."""
    return wording.rounded(share).replace(" ", "\u00a0")


def top_labels(frame) -> list[str]:
    return [
        ", ".join(f"{r[f'name_{i}']} {percent(r[f'share_{i}'])}" for i in (1, 2, 3) if r[f"label_{i}"] >= 0)
        for r in frame.to_dict("records")
    ]


def all_nodes(view) -> None:
    every = cached.nodes(view.key, view.t)
    order = fields.choice("Order", NODE_ORDERS, "trees.order", "node")
    ordered = every.sort_values(order, ascending=order in ("node", "share_1"), kind="stable", na_position="last")
    shown = view.with_names(ordered.head(LISTED_LEAVES))
    table = shown.assign(parent=shown["parent"].where(shown["parent"] >= 0), share_1=100 * shown["share_1"])
    digits = {"format": "%.3f", "width": 70}
    columns = {
        "node": tables.number("Node", 60, "%d"),
        "parent": tables.number("Parent", 60, "%d", "Empty for the root."),
        "depth": tables.number("Depth", 60, "%d"),
        "kind": tables.text("Kind", 60),
        "rows": tables.number("Rows", 70, "localized", "Training rows."),
        "share_1": tables.bar("First label, %", 100, "Share of its rows with its most frequent label.", form="%.0f"),
        "labels": tables.text("Most frequent labels", 220),
        "objective": tables.number("J", 70),
        "balance": tables.number("Balance", help="Of label occurrences.", **digits),
        "integrity": tables.number("Integrity", help="Without its weight.", **digits),
        "multiway": tables.number("Multi-way", help="Without its weight.", **digits),
        "alpha": tables.number("α", help="Impurity of the split: 0 is each label in one child.", **digits),
        "beta": tables.number("β", help="Imbalance of the split: 0 is all children equally large.", **digits),
        "entropy_fall": tables.number("Entropy", help="By how much a split into two lowers it.", **digits),
        "below": tables.number("Nodes below", 90, "localized"),
    }
    first = ("node", "depth", "kind", "rows", "share_1", "labels", "objective")
    table = table.assign(labels=top_labels(shown))
    tables.show(table, "trees.nodes", columns, signs={"objective": "{:.3f}"}, first=first, most=360)
    after = f"of tree {view.t + 1}, {NODE_ORDERS[order][:1].lower()}{NODE_ORDERS[order][1:]}."
    tables.counted(len(shown), len(every), "node", after)
    charts.csv_button("All nodes, CSV", lambda: view.with_names(every), f"{view.files}-nodes")
