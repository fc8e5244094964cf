"""The drawing of a whole label tree, or of the part of it below a node."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import fields, format, server
from pages.shared.figures import charts
from pages.shared.workspaces import workspace
from pages.trees.plt_view import share
from xmlcore import figures
from xmlcore.metrics.buckets import label_buckets
from xmlcore.models.plt import frames

MOST_NODES = 270  # nodes drawn at most: a browser takes about a millisecond for each
WHOLE, BELOW = "whole", "below"
PARTS = {WHOLE: "The whole tree", BELOW: "The node looked at and what is below it"}
OF_NODES = {"rows": "Training rows", "n_labels": "Labels"}
MEANINGS = {  # of a node: in the drawing, among the children of a node, and in the table of the worst
    "rows": "training rows with a label at or below the node",
    "n_labels": "labels at or below the node",
    "auc": "how often the node’s classifier gives a larger margin to a row with a label below the node than to a row "
    "without, among test rows with a label below its parent; 50\u00a0% is guessing",
    "recall": "of the test rows that have a label below the node, the share to which its classifier gives a "
    "probability of at least 50\u00a0%",
    "precision": "of the test rows with a label below its parent to which the node’s classifier gives a probability of "
    "at least 50\u00a0%, the share that has a label below the node",
    "base_rate": "of the test rows with a label below its parent, the share that has a label below the node",
}
OF_QUALITY = {"auc": "AUC", "recall": "Recall", "precision": "Precision", "base_rate": "Base rate"}


def show(view, label: int, place) -> None:
    """Draw the tree in a place above the fields that say what is drawn; a flat one as a map of its labels."""
    if int(view.tree.depth[-1]) < 2:
        with place:
            _map(view)
        return
    part, value, depths = _choose(view)
    top = view.node if part == BELOW else 0
    path = frames.path_to(view.tree, int(view.tree.leaf_of_label[label]))
    frame = _frame(view, top, depths, always=[*path, *frames.path_to(view.tree, view.node)])
    if frame.empty:
        st.caption("No node has these depths: choose other depths.")
        return
    total, every = frame.attrs["total"], view.tree.n_nodes
    columns = OF_NODES | OF_QUALITY
    drawn = f"{len(frame):,} of {format.count(every, 'node')}"
    chart = f"trees.whole.{view.key[:8]}.{view.t}.{top}.{value}.{depths}"
    below = "" if top == 0 else f" below {figures.short(view.short_name(top, 16), 16)}"
    left_out = ""
    if len(frame) < total:
        left_out = (
            f" Drawn are {len(frame):,} of the {total:,} nodes here, those with most labels and training rows; the "
            "places of the others are empty. Other depths, or the part below a node, show more."
        )
    cut = " or have children that are not drawn" if left_out or depths[1] < int(view.tree.depth[-1]) else ""
    with place:
        charts.show_figure(
            figures.label_tree(
                frame,
                value,
                axis=columns[value],
                percent=value in OF_QUALITY,
                log=value in OF_NODES,
                chosen=view.node,
                path=path,
                title=f"Label tree{below}: {drawn}",
                total=every,
            ),
            lambda: _frame(view, top, depths, most=every).drop(columns="about"),
            f"{view.files}-whole" if top == 0 else f"{view.files}-below{top}",
            f"Each bar is a node above its children, as wide as it has labels; bars without children are single labels"
            f"{cut}. Colour: {MEANINGS[value]}, from light (least) to dark (most)"
            f"{', on a log scale' if value in OF_NODES else '; grey: unknown'}. "
            f"{_about_label(view, frame, label, path)}{_example(view, frame)} Click a bar to walk "
            f"to that node.{left_out}",
            key=chart,
            on_click=view.walk,
        )


def _map(view) -> None:
    counts = np.bincount(view.data.Y_train.indices, minlength=view.data.n_labels)
    frame = server.label_names(view.run.fingerprint)[["label", "name"]]
    frame = frame.assign(size=counts[frame["label"]], group=label_buckets(counts)[frame["label"]])
    charts.show_figure(
        figures.treemap(frame, "Labels, all children of the root", unit="training rows"),
        frame,
        f"{view.files}-labels",
        "Each rectangle is a label, as large as it has training rows. Head labels are the most frequent, tail labels "
        "the rarest.",
        key=f"trees.whole.map.{view.key[:8]}",  # on a phone as wide as a drawn tree: see pages/shared/frame.py
    )


def choose_value(view, title: str, widget: str) -> str:
    """Return which number of each node is shown: a key of ``OF_NODES`` or, once that is measured, of ``OF_QUALITY``."""
    columns = OF_NODES | (OF_QUALITY if view.quality is not None else {})
    return fields.choice(
        title,
        columns,
        widget,
        "rows",
        help=None if view.quality is not None else "The nodes can be measured, too: see *How well nodes decide*.",
    )


def _choose(view):
    deepest = int(view.tree.depth[-1])
    how = st.popover("How the tree is drawn", icon=":material/tune:", key="trees.whole.drawn")
    part = fields.radio("Drawn", PARTS, "trees.whole.part", WHOLE, place=how)
    with how:
        value = choose_value(view, "Colour", "trees.whole.color")
    kept = workspace.keep(
        f"trees.whole.depths {view.key[:8]} {view.t}",
        (0, _first_depth(view.tree)),
        lambda pair: isinstance(pair, (list, tuple)) and len(pair) == 2 and 0 <= pair[0] <= pair[1] <= deepest,
    )
    kept["value"] = tuple(kept["value"])
    with how:
        return part, value, tuple(st.slider("Depths", 0, deepest, **kept))


def _first_depth(tree) -> int:
    down_to = np.cumsum(np.bincount(tree.depth))
    return max(1, int(np.count_nonzero(down_to <= MOST_NODES)) - 1)


def _about_label(view, frame, label, path) -> str:
    name = f"**{format.plain(view.data.label_name(label))}**"
    drawn = frame["node"].isin(path)
    if not drawn.any():
        return f"The label looked for, {name}, is not in this part of the tree."
    if path[-1] not in frame["node"].to_numpy():
        return f"Dotted outlines are the nodes above {name}, the label looked for, which is deeper than these depths."
    return f"Dotted outlines lead to {name}, the label looked for, with a triangle below it."


def _example(view, frame) -> str:
    inner = frame[(frame["label"] < 0) & (frame["node"] != 0)]
    if inner.empty:
        return ""
    line = inner.loc[inner["rows"].idxmax()]
    about = _labels(format.plain(view.data.label_name(int(line["label_1"]))), int(line["n_labels"]))
    return f" “{format.plain(line['name'])}” is a node with {about}."


def _labels(first, count) -> str:
    """Return what ``+12`` in the name of a node means."""
    return f"{first} and {format.count(count - 1, 'more label')}"


def _frame(view, top, depths, most=MOST_NODES, always=()) -> pd.DataFrame:
    """Return the nodes to draw, with names and hover texts; those in ``always`` come before those with more labels."""
    frame = frames.layout_frame(view.tree, view.with_quality(), top, depths, most, always)
    names, inner = view.short_names(frame), (frame["label"] < 0).tolist()
    abouts = [
        f"node {node:,}, depth {depth}"
        + is_inner * f"<br>{_labels(figures.short(view.data.label_name(label), 40), labels)}; {children:,} children"
        for node, depth, label, labels, children, is_inner in zip(
            *(frame[name] for name in ("node", "depth", "label_1", "n_labels", "n_children")), inner
        )
    ]
    if view.quality is not None:
        abouts = [f"{text}<br>AUC {share(auc)}" for text, auc in zip(abouts, frame["auc"].to_numpy(np.float64))]
    named = frame.assign(name=names, about=abouts)
    named.attrs = frame.attrs
    return named
