"""Where the training rows of a label went in a tree."""

import streamlit as st

from pages.shared import format, tables
from pages.shared.figures import charts
from pages.trees import words
from xmlcore.models.ldsm import frames as tree_frames

LISTED_LEAVES = 200  # most leaves in the table


def show(view, files) -> None:
    ends_of = view.label_leaves
    name = format.plain(view.label_name)
    if ends_of.empty:
        st.info(f"No training row has **{name}**, so no node of the tree holds this label, and it is never predicted.")
        return
    st.markdown(_label_text(view, ends_of))
    st.subheader("Leaves that hold these rows")
    shown = tree_frames.with_names(ends_of.head(LISTED_LEAVES), view.data.label_name)
    table = shown.assign(
        share_of_label=100 * shown["share_of_label"],
        share_with_label=100 * shown["share_with_label"],
        labels=words.top_labels(shown),
    )
    key = f"trees.holding.{view.key[:8]}.{view.t}.{view.label}"
    tables.show(
        table,
        key,
        {
            "node": tables.number("Leaf", 60, "%d"),
            "depth": tables.number("Depth", 55, "%d"),
            "with_label": tables.number("Label's rows", 90, "localized", "Training rows with the label in the leaf."),
            "share_of_label": tables.bar("Of the label, %", 110, "Share of all training rows with the label."),
            "rows": tables.number("Rows", 65, "localized", "All training rows in the leaf."),
            "share_with_label": tables.number(
                "Of the leaf, %", 95, "%.1f", "Share of the leaf's training rows that have the label."
            ),
            "place": tables.number(
                "Place",
                60,
                "localized",
                "Place of the label in the leaf by frequency: 1 means that no label is more frequent.",
            ),
            "labels": tables.text("The leaf's most frequent labels", 330),
        },
        first=("node", "depth", "with_label", "share_of_label", "rows", "share_with_label", "labels"),
        most=260,
        **tables.on_tick(key, shown["node"], view.choose),
    )
    of = format.showing(len(table), len(ends_of), "leaf", "leaves")
    st.caption(f"{of}, most rows of the label first. Tick a leaf to see its details below.")
    charts.csv_button(
        "Leaves of the label, CSV",
        lambda: tree_frames.with_names(ends_of, view.data.label_name),
        f"{files}-tree{view.t + 1}-label{view.label}-leaves",
        "Every leaf that holds training rows of the label",
    )


def _label_text(view, ends_of):
    tree, rows = view.tree, int(view.rows_with_label[0])
    ends, leaves = int(ends_of["with_label"].sum()), int((tree.children[:, 0] < 0).sum())
    best = ends_of.iloc[0]
    place = int(best["place"])
    where = f"leaf {int(best['node']):,}, where " + (
        "no label is more frequent" if place == 1 else f"it is the {format.ordinal(place)} most frequent label"
    )
    text = f"**{format.plain(view.label_name)}** has **{format.count(rows, 'training row')}**, which "
    is_one, of = len(ends_of) == 1, format.count(leaves, "leaf", "leaves")
    whose = f" of tree {view.t + 1}" if len(view.model.trees_) > 1 else ""
    if is_one:
        text += f"{'ends' if rows == 1 else 'all end'} in **1 of {of}**{whose}: {where}."
    else:
        text += f"{'ends' if rows == 1 else 'end'} in **{len(ends_of):,} of {of}**{whose}"
        share = words.percent(float(best["share_of_label"]))
        text += f"; the largest part, **{share}**, in {where}." if rows > 1 else f", first in {where}."
    if ends > rows:
        went = f"it goes {ends:,} ways" if rows == 1 else f"these go {ends / rows:.2f} ways on average"
        text += f" Rows may go several ways: {went}, so shares add up to {100 * ends / rows:,.0f}\u00a0%."
    if not is_one:
        whole = tree_frames.together_until(tree, view.label)
        kind = "Node" if tree.children[whole, 0] >= 0 else "Leaf"
        text += (
            " The root already sends them to different children."
            if whole == 0
            else f" {kind} {whole:,} at depth {tree.depth[whole]} is the deepest node that has all of them."
        )
    return text
