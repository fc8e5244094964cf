"""The label trees of PLT: how a tree is drawn, and of a node its labels and its features."""

import contextlib

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import cached, fields, format, label_trees, selectors, tables, tasks
from pages.shared.figures import charts
from pages.shared.view import look, now
from pages.shared.workspaces import workspace
from pages.trees import one_tree
from xmlcore import experiment, figures, store
from xmlcore.models.plt import frames
from xmlcore.models.rows import counted
from xmlcore.selection.frames import overlap_frame

MOST_NODES = 270  # nodes drawn at most: a browser takes about a millisecond for each
MOST_ALIKE = 40  # labels of a flat tree that are compared
FEATURES = 10  # features drawn for each sign
LISTED = 200  # nodes in the table at most
POSITIVE = 5  # test rows with a label below a node that it takes to be listed, at first
WHOLE, BELOW = "whole", "below"
PARTS = {WHOLE: "The whole tree", BELOW: "The selected node and those below it"}
OF_NODES = {"rows": "Training rows", "n_labels": "Labels"}
OF_QUALITY = {"auc": "AUC", "recall": "Recall", "precision": "Precision", "base_rate": "Base rate"}
MEANINGS = {  # of a node: in the drawing, and in the table of the worst
    "rows": "training rows with a label at or below the node",
    "n_labels": "labels at or below the node",
    "auc": "how often the node’s classifier gives a larger margin to a row with a label below the node than to a row "
    "without, among test rows with a label below its parent; 50\u00a0% is guessing",
    "recall": "of the test rows that have a label below the node, the share that gets a probability of 50\u00a0%",
    "precision": "of the test rows with a label below its parent that get a probability of 50\u00a0%, the share that "
    "has a label below the node",
    "base_rate": "of the test rows with a label below its parent, the share that has a label below the node",
}


class LabelTreeView(one_tree.TreeView):
    """A label tree of a result; ``quality`` says how well nodes decide on test rows, None while that is not known."""

    frames, followed, is_drawn = frames, "walk to it", True

    def __init__(self, ready):
        super().__init__(ready, experiment.label_tree_model(ready.model))
        self.nodes, self.quality = nodes(self.key, self.t), None
        self.classifiers = self.model.linear_nodes(self.t)
        self.task = experiment.task("node_quality", {"run": self.key}, {"tree": self.t})
        with contextlib.suppress(store.StoreError):  # it is not made, or damaged: "How well nodes decide" says so
            self.set_quality(cached.loaded(self.task) if self.task.exists() else None)

    def set_quality(self, quality) -> None:
        self.quality = quality
        if quality is not None:
            self.nodes = nodes(self.key, self.t).merge(quality.nodes, on="node")

    def is_leaf(self, node: int) -> bool:
        return bool(self.tree.label[node] >= 0)

    def short_name(self, node: int, letters: int = 20) -> str:
        """Return a name of so many letters: the most frequent label, and ``+12`` for the labels that are not named."""
        return self.short_names(self.nodes.iloc[[node]], letters)[0]

    def short_names(self, frame: pd.DataFrame, letters: int = 20) -> list[str]:
        columns = (frame[name].tolist() for name in ("node", "label", "label_1", "n_labels"))
        return [label_trees.node_name(self.data, *values, letters) for values in zip(*columns)]

    def with_names(self, frame: pd.DataFrame) -> pd.DataFrame:
        named = frame.copy()
        named.insert(named.columns.get_loc("node") + 1, "name", self.short_names(frame, 60))
        return named

    def follow(self, label: int) -> None:
        self.choose(int(self.tree.leaf_of_label[label]))

    def controls(self, picture) -> None:
        left, right = st.columns([2 if self.several else 1, 3], vertical_alignment="bottom")
        columns = left.columns(1 + self.several, vertical_alignment="bottom")
        if self.several:
            one_tree.tree_field(self, columns[0])
        one_tree.node_field(self, columns[-1])
        with right:
            label = selectors.choose_label(self.data, "of", "trees.label", "trees.query")
        before = f"Path to {format.plain(self.data.label_name(label))}:"
        one_tree.crumbs(self, int(self.tree.leaf_of_label[label]), "trees.label.path", before)
        if int(self.tree.depth[-1]) < 2:
            with picture:
                _alike(self)
        else:
            _draw(self, label, picture)

    def heading(self) -> str:
        kind = "Label: " if self.is_leaf(self.node) else "Node: " if self.node else ""
        return f"{kind}{format.plain(self.short_name(self.node, 60))}"

    def facts(self) -> str:
        line = self.nodes.iloc[self.node]
        labels = "" if self.is_leaf(self.node) else f", **{format.count(int(line['n_labels']), 'label')}**"
        rows = f"**{format.count(int(line['rows']), 'training row')}**"
        text = f"Node {self.node:,} at depth {int(line['depth'])}{labels}, {rows}"
        above = int(self.nodes["rows"].iloc[int(line["parent"])]) if self.node else 0
        if above:
            text += f", {100 * line['rows'] / above:.1f}\u00a0% of the {above:,} of the node above"
        if self.quality is not None and line["measured"] > 0:
            numbers = ", ".join(f"{name} {format.percent(line[column])}" for column, name in OF_QUALITY.items())
            text += f". On {format.count(int(line['measured']), 'test row')}: {numbers}"
        return f"{text}."

    def labels(self, most: int):
        if self.is_leaf(self.node):
            return None
        of_label, v = counts(self.run.fingerprint), self.node
        shown = frames.labels_of_node(self.tree, v, of_label, self.data.label_name, most)
        if (self.tree.label[frames.children_of(self.tree, v)] < 0).any():
            shown = shown.assign(child=[self.short_name(child, 40) for child in shown["child"]])
        else:
            shown = shown.drop(columns="child")
        columns = {
            "name": tables.text("Label", 240),
            "rows": tables.number("Rows", 60, "localized", "Training rows."),
            "child": tables.text("In the child"),
            "label": tables.number("Id", 60, "%d"),
        }
        total = int(self.nodes["n_labels"].iloc[v])
        return shown, columns, total, lambda: frames.labels_of_node(self.tree, v, of_label, self.data.label_name)

    def features(self):
        nodes, v = self.classifiers, self.node
        if v == 0 and not nodes.root_has_factor:
            return "No classifier leads to the root: every row starts here."
        bias, every = float(nodes.bias[v]), frames.features_of_node(nodes, v)
        if not np.isfinite(bias) or every.empty:
            return "This node uses no features: its probability is the same for all rows."
        positive, negative = every[every["weight"] > 0], every[every["weight"] < 0]
        drawn = pd.concat([positive.head(FEATURES), negative.head(FEATURES)[::-1]])
        has = "has the label" if self.is_leaf(v) else "has a label below the node"
        drawn = drawn.assign(
            name=[self.data.feature_name(int(j)) for j in drawn["feature"]],
            sign=np.where(drawn["weight"] > 0, f"more probably {has}", "less probably"),
            about=[f"feature {j}" for j in drawn["feature"]],
        )
        figure = self.features_figure(drawn, "weight", "sign", axis="Weight", total=len(every))
        caption = (
            f"The largest weights of the node’s linear classifier, of {len(positive):,} positive and "
            f"{len(negative):,} negative ones. The bias, for rows without any of them, is {format.signed(bias)}."
        )
        return figure, lambda: frames.features_of_node(nodes, v, self.data.feature_name), caption


def _draw(view, label: int, place) -> None:
    part, value, depths = _choose(view)
    top = view.node if part == BELOW else 0
    path = view.path_to(int(view.tree.leaf_of_label[label]))
    frame = _frame(view, top, depths, always=[*path, *view.path_to(view.node)])
    if frame.empty:
        st.caption("No node has these depths: choose other depths.")
        return
    total, every = frame.attrs["total"], view.tree.n_nodes
    below = "" if top == 0 else f" below {figures.short(view.short_name(top, 16), 16)}"
    figure = figures.label_tree(
        frame,
        value,
        axis=(OF_NODES | OF_QUALITY)[value],
        percent=value in OF_QUALITY,
        log=value in OF_NODES,
        chosen=view.node,
        path=path,
        title=f"Label tree{below}: {len(frame):,} of {format.count(every, 'node')}",
        total=every,
    )
    caption = (
        f"Each bar is a node above its children. Colour: {MEANINGS[value]}"
        f"{', on a log scale' if value in OF_NODES else '; grey: unknown'}. Dotted outlines lead to "
        f"{format.bold(view.data.label_name(label))}. Click a bar to walk to that node."
    )
    if len(frame) < total:
        caption += f" Drawn are {len(frame):,} of the {total:,} nodes here, those with most labels and training rows."
    with place:
        charts.show_figure(
            figure,
            lambda: _frame(view, top, depths, most=every).drop(columns="about"),
            f"{view.files}-whole" if top == 0 else f"{view.files}-below{top}",
            caption,
            key=f"trees.whole.{view.key[:8]}.{view.t}.{top}.{value}.{depths}",
            on_click=view.choose,
        )


def _alike(view) -> None:
    """Draw what the classifiers of the most frequent labels have in common: a flat tree groups no labels."""
    weights = view.classifiers.weights[view.tree.leaf_of_label]
    frequent = cached.label_names(view.run.fingerprint)["label"].to_numpy()
    labels = frequent[np.diff(weights.indptr)[frequent] >= FEATURES][:MOST_ALIKE]
    st.caption("The tree has one level: each label has a classifier at the root, and no labels are grouped.")
    if labels.size < 2:
        return
    largest = [row.indices[np.argsort(-np.abs(row.data), kind="stable")[:FEATURES]] for row in weights[labels]]
    frame = overlap_frame(np.array(largest), view.model.n_features_in_, range(labels.size))
    frame = frame.assign(a=labels[frame["a"]], b=labels[frame["b"]])
    frame = frame.assign(**{f"{one}_name": tables.label_names(view.data, frame[one]) for one in "ab"})
    charts.show_figure(
        figures.overlap_heat(frame, n_labels=view.tree.n_labels),
        frame,
        f"{view.files}-labels",
        f"Stronger blue: more of the {FEATURES} largest weights of two frequent labels are of the same features.",
        key=f"trees.whole.map.{view.key[:8]}",  # on a phone as wide as a drawn tree: see pages/shared/style.css
    )


def _choose(view):
    deepest, down_to = int(view.tree.depth[-1]), np.cumsum(np.bincount(view.tree.depth))
    how = st.popover("How the tree is drawn", icon=":material/tune:", key="trees.whole.drawn")
    part = fields.radio("Drawn", PARTS, "trees.whole.part", WHOLE, place=how)
    kept = workspace.keep(
        f"trees.whole.depths {view.key[:8]} {view.t}",
        (0, max(1, int(np.count_nonzero(down_to <= MOST_NODES)) - 1)),
        lambda pair: isinstance(pair, (list, tuple)) and len(pair) == 2 and 0 <= pair[0] <= pair[1] <= deepest,
    )
    kept["value"] = tuple(kept["value"])
    with how:
        columns = OF_NODES | (OF_QUALITY if view.quality is not None else {})
        about = "For more, see *How well nodes decide*."
        value = fields.choice("Colour", columns, "trees.whole.color", "rows", help=about)
        return part, value, tuple(st.slider("Depths", 0, deepest, **kept))


def _frame(view, top, depths, most=MOST_NODES, always=()) -> pd.DataFrame:
    """Return the nodes to draw, with names and hover texts; those in ``always`` come before those with more labels."""
    frame = frames.layout_frame(view.tree, view.nodes, top, depths, most, always)
    named = frame.assign(name=view.short_names(frame), about=[_about(view, line) for line in frame.itertuples()])
    named.attrs = frame.attrs
    return named


def _about(view, line) -> str:
    text = f"node {line.node:,}, depth {line.depth}, {format.count(int(line.rows), 'training row')}"
    if line.label < 0:
        first, labels = figures.short(view.data.label_name(line.label_1), 40), format.count(int(line.n_labels), "label")
        text += f"<br>{first} and others, {labels}; {format.count(int(line.n_children), 'child', 'children')}"
    if view.quality is not None:
        text += f"<br>AUC {format.percent(line.auc)}, base rate {format.percent(line.base_rate)}"
    return text


@cached.shared("Reading the label tree")
def nodes(key: str, t: int) -> pd.DataFrame:
    data = cached.dataset(cached.run(key).fingerprint)
    return frames.nodes_frame(experiment.label_tree_model(cached.model(key)).trees_[t], data.Y_train)


@cached.shared()
def counts(fingerprint: str):
    return counted(cached.dataset(fingerprint).Y_train)


def worst_nodes(view) -> None:
    """Show how well nodes decide on test rows, once that is measured: the worst come first."""
    quality = tasks.ready(view.task, button="Measure all nodes", key="trees.measure.nodes")
    if quality is None:
        return
    view.set_quality(quality)
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
    rows = f"on {quality.n_rows:,} of {format.count(quality.n_test, 'test row')}"
    after = f"measured {rows}, lowest {OF_QUALITY[measure]} first: {MEANINGS[measure]}. Tick one to walk to it."
    tables.counted(len(shown), len(found), "node", after)
    charts.csv_button("Quality of all nodes, CSV", lambda: view.with_names(every), f"{view.files}-nodes")
