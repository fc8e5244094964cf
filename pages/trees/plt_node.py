"""One node of a label tree: its facts, its labels, and the features that decide there."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import format, tables
from pages.shared.figures import charts
from pages.trees.plt_view import counts, share
from xmlcore import figures
from xmlcore.models.plt import frames

LISTED_LABELS = 200  # most labels in the table
FEATURES = 10  # features drawn for each sign


def facts(view) -> None:
    line = view.with_quality().iloc[view.node]
    leaf = view.is_leaf(view.node)
    kind = "Label: " if leaf else "Node: " if view.node else ""
    st.subheader(f"{kind}{format.plain(view.name(view.node))}")
    rows = format.count(int(line["rows"]), "training row")
    text = f"Node {view.node:,} at depth {int(line['depth'])}. "
    if leaf:
        text += f"**{rows}** {'has' if line['rows'] == 1 else 'have'} the label"
    else:
        text += f"**{format.count(int(line['n_labels']), 'label')}**; **{rows}** "
        text += f"{'has' if line['rows'] == 1 else 'have'} at least one of them"
    if view.node:
        above = int(view.nodes["rows"].iloc[int(line["parent"])])
        if above:
            text += f", {100 * line['rows'] / above:.1f}\u00a0% of the {above:,} rows of the node above"
    text += "."
    if view.quality is not None and line["measured"] > 0:
        below = "the label" if leaf else "a label below this node"
        base = f"{share(line['base_rate'])} have {below}" if line["positive"] else f"none has {below}"
        rows = format.count(int(line["measured"]), "test row") + (" of the node above" if view.node else "")
        text += f" Of the {rows}, {base} (the base rate). AUC {share(line['auc'])}, recall {share(line['recall'])}, "
        text += f"precision {share(line['precision'])}."
    st.markdown(text)


def details(view) -> None:
    if view.is_leaf(view.node):
        _features(view)
        return
    left, right = st.columns(2, gap="large")
    with left:
        _labels(view)
    with right:
        _features(view)


def _labels(view):
    of_label = counts(view.run.fingerprint)
    found = frames.labels_of_node(view.tree, view.node, of_label, view.data.label_name, LISTED_LABELS)
    total = int(view.nodes["n_labels"].iloc[view.node])
    key = f"trees.plt.labels.{view.key[:8]}.{view.t}.{view.node}"
    deeper = bool((view.tree.label[frames.children_of(view.tree, view.node)] < 0).any())
    shown = found.assign(child=[view.short_name(v, 40) for v in found["child"]])
    tables.show(
        shown if deeper else shown.drop(columns="child"),
        key,
        {
            "name": tables.text("Label"),
            "rows": tables.number("Rows", 60, "localized", "Training rows."),
            "child": tables.text("In the child"),
            "label": tables.number("Id", 60, "%d"),
        },
        most=360,
        **tables.on_tick(key, view.tree.leaf_of_label[found["label"]], view.walk),
    )
    of = format.showing(len(shown), total, "label")
    st.caption(f"{of} of the node, most frequent first. Tick a label to walk to it.")
    charts.csv_button(
        "Labels of the node, CSV",
        lambda: frames.labels_of_node(view.tree, view.node, of_label, view.data.label_name),
        f"{view.files}-node{view.node}-labels",
        "All labels at or below the node, most frequent first",
    )


def _features(view):
    nodes, v = view.classifiers, view.node
    if v == 0 and not nodes.root_has_factor:
        st.caption("The root has no classifier: every row starts here. Walk to a child to see what decides there.")
        return
    bias = float(nodes.bias[v])
    if not np.isfinite(bias):
        always = "every" if bias > 0 else "no"
        st.caption(
            f"This node uses no features: {always} training row that reached the node above has a label below this "
            f"node, so its probability is always {1 if bias > 0 else 0}."
        )
        return
    every = frames.features_of_node(nodes, v)
    if every.empty:
        st.caption("This node uses no features: all its weights are 0, and the same probability holds for all rows.")
        return
    positive, negative = every[every["weight"] > 0], every[every["weight"] < 0]
    drawn = pd.concat([positive.head(FEATURES), negative.head(FEATURES)[::-1]])
    has = "has the label" if view.is_leaf(v) else "has a label below the node"
    drawn = drawn.assign(
        name=[view.data.feature_name(int(j)) for j in drawn["feature"]],
        sign=np.where(drawn["weight"] > 0, f"more probably {has}", "less probably"),
        about=[f"feature {j}" for j in drawn["feature"]],
    )
    parts = [_of(len(side), sign) for side, sign in ((positive, "positive"), (negative, "negative")) if len(side)]
    charts.show_figure(
        figures.feature_bars_of_node(
            drawn,
            "weight",
            "sign",
            axis="Weight",
            title=f"Features that decide at {figures.short(view.short_name(v))}",
            total=len(every),
        ),
        lambda: frames.features_of_node(nodes, v, view.data.feature_name),
        f"{view.files}-node{v}-features",
        f"The largest weights of the node’s linear classifier: {format.listed(parts)}. A row with a feature of "
        f"positive weight more probably {has}. The bias, for rows without any of them, is "
        f"{format.signed(bias)}.",
        key=f"trees.plt.features.{view.key[:8]}",
    )


def _of(count, sign):
    return f"{min(count, FEATURES):,} of {count:,} {sign}" if count > FEATURES else f"all {count:,} {sign}"
