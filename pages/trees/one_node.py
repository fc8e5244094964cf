"""The node looked at: its rows, its labels, the objective J during its training, and its features."""

import numpy as np
import streamlit as st

from pages.shared import format, server, tables
from pages.shared.figures import charts
from pages.trees import looked_at, words
from xmlcore import figures
from xmlcore.models.ldsm import frames as tree_frames

LISTED_LABELS = 200  # most labels in the table
FEATURES = 10  # features drawn for each child


def show(view, run, files) -> None:
    tree, v = view.tree, view.node
    inner = bool(tree.children[v, 0] >= 0)
    st.subheader(f"{'Node' if inner else 'Leaf'} {v:,} of tree {view.t + 1}")
    purity = float(server.nodes(view.key, view.t)["purity"].iloc[v])
    rows = format.count(int(tree.n_samples[v]), "training row")
    facts = f"{rows} at depth {tree.depth[v]}, purity {100 * purity:.0f}\u00a0%"
    if inner:
        shares = tree.n_samples[tree.children[v]] / tree.n_samples[v]
        facts += "; of the rows, " + ", ".join(
            f"{words.percent(share)} go to node {child:,}" for share, child in zip(shares, tree.children[v])
        )
        more = float(shares.sum()) - 1
        facts += (
            f" (rows that go to several children count more than once: {100 * (1 + more):.0f}\u00a0% in all)."
            if more > 0.0005
            else "."
        )
    else:
        facts += "; it predicts the labels of its training rows, each with its frequency as the score."
    if view.mode == looked_at.LABEL:
        facts += f" {_label_in_node(view)}"
    st.markdown(facts)
    with st.container(horizontal=True, gap="small"):
        if inner and (view.mode != looked_at.PART or v != view.top):
            st.button("Draw the tree from here", key="trees.from", on_click=view.draw_from, args=(v,))
        if v > 0:
            st.button(
                f"Up to node {tree.parent[v]:,}", key="trees.up", on_click=view.choose, args=(int(tree.parent[v]),)
            )
    left, right = st.columns(2, gap="large")
    with left:
        _labels_of_node(view, inner, files)
    with right:
        if inner and tree.trace.shape[1]:
            lambdas = words.weights(view.model)
            trace = tree_frames.training_trace(tree, v, lambdas)
            charts.show_figure(
                figures.objective_in_training(trace, f"J while node {v:,} was trained"),
                trace,
                f"{files}-tree{view.t + 1}-node{v}-training",
                f"Estimates after each epoch. J = balance − {lambdas[0]:g} × class integrity + {lambdas[1]:g} × "
                f"multi-way penalty. {words.BALANCE} Parts are drawn with their signs and weights, so they add up to "
                "J. Open marks at the end are exact: they count where rows were sent. The estimates differ because "
                "they use the values of the regressors.",
                key=f"trees.trace.{view.key[:8]}",
            )
        elif not inner:
            st.caption("A leaf has no split, so there is no J to draw. Go up to see the split that made it.")
    if inner:
        _features(view, run, files)


def _features(view, run, files):
    model, v, name = view.model, view.node, view.data.feature_name
    values = mean_values(run.fingerprint)
    every = tree_frames.features_of_node(model, view.t, v, values=values)
    if every.empty:
        st.caption("No feature has a weight at this node: the same children get all rows.")
        return
    drawn = tree_frames.features_of_node(model, view.t, v, name, FEATURES, values).sort_values("to", kind="stable")
    children = view.tree.children[v]
    drawn = drawn.assign(
        child=[f"to node {children[c - 1]:,}" for c in drawn["to"]],
        about=[
            ", ".join(f"weight {row[f'weight_{c + 1}']:+.3g} for node {child:,}" for c, child in enumerate(children))
            for row in drawn.to_dict("records")
        ],
    )
    of = ", ".join(
        f"{min(int(count), FEATURES):,} of {count:,} to node {children[to - 1]:,}"
        for to, count in every["to"].value_counts(sort=False).sort_index().items()
    )
    charts.show_figure(
        figures.feature_bars_of_node(
            drawn,
            "effect",
            "child",
            axis="Weight less that of the next child, × mean value",
            title=f"Features that send rows from node {v:,}",
            total=len(every),
        ),
        lambda: tree_frames.features_of_node(model, view.t, v, name, values=values),
        f"{files}-tree{view.t + 1}-node{v}-features",
        f"The features that send rows most clearly to one child: {of}. Each child has a weight for each feature. A row "
        "goes to a child if the sum of weight times value, and a bias, is at least 0.5, or else to the child with the "
        "largest sum. A bar is the largest weight less the next one, times the mean value of the feature over all "
        "training rows: a feature that few rows have decides for few rows.",
        key=f"trees.node.features.{view.key[:8]}",
    )


@server.shared()
def mean_values(fingerprint: str):
    return np.asarray(server.dataset(fingerprint).X_train.mean(axis=0), np.float64).ravel()


def _label_in_node(view):
    rows, name = int(view.rows_with_label[view.node]), format.plain(view.label_name)
    if rows == 0:
        return f"None of its rows has **{name}**."
    own, of_all = rows / view.tree.n_samples[view.node], rows / view.rows_with_label[0]
    return (
        f"**{format.count(rows, 'row')}** with **{name}**: {words.percent(own)} of the node's rows, "
        f"{words.percent(of_all)} of the label's."
    )


def _labels_of_node(view, inner, files):
    tree, v = view.tree, view.node
    count = int(tree.histograms.indptr[v + 1] - tree.histograms.indptr[v])
    found = tree_frames.labels_of_node(tree, v, view.data.label_name, LISTED_LABELS)
    shown = found.copy()
    shares = [c for c in found.columns if c == "share" or c.startswith("to_")]
    shown[shares] *= 100
    ways = {
        f"to_{c}": tables.number(f"To {child}, %", 64, "%.0f", f"Share of the label's rows that go to node {child}.")
        for c, child in enumerate(tree.children[v], 1)
    }
    key = f"trees.labels.{view.key[:8]}.{view.t}.{v}.{view.label}"
    tables.show(
        shown,
        key,
        {
            "name": tables.text("Label"),
            "rows": tables.number("Rows", 55, "localized"),
            "share": tables.number("Share, %", 65, "%.1f", "Share of the node's rows that have the label."),
            **ways,
            "label": tables.number("Id", 55, "%d"),
        },
        most=330,
        **tables.on_tick(key, found["label"], view.follow),
    )
    of = (
        f"Showing {len(shown):,} of {format.count(count, 'label')}"
        if len(shown) < count
        else format.count(count, "label")
    )
    integrity = " Class integrity is high when each label goes to one child." if inner else ""
    st.caption(
        f"{of} of the node's training rows, most frequent first.{integrity} Tick a label to see where its rows went."
    )
    charts.csv_button(
        "Labels of the node, CSV",
        lambda: tree_frames.labels_of_node(tree, v, view.data.label_name),
        f"{files}-tree{view.t + 1}-node{v}-labels",
        "All labels of the node, and where it sends them",
    )
