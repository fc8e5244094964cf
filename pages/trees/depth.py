"""Depth of the leaves, and the objective by depth."""

import streamlit as st

from pages.shared import fields
from pages.shared.figures import charts
from pages.trees import looked_at, words
from xmlcore import figures
from xmlcore.models.ldsm import frames as tree_frames


def show(data, model, key, files) -> None:
    t, trees = looked_at.tree_number(model), model.trees_
    first_column, second_column = st.columns(2, gap="large", vertical_alignment="bottom")
    everything = True
    if len(trees) > 1:
        # "The tree looked at" without its number: to Streamlit, a radio with other options would be a new widget.
        choices = {"all": f"All {len(trees):,} trees", "one": "The tree looked at"}
        scope = fields.radio("Trees", choices, "trees.scope", "all", place=first_column)
        everything = scope == "all"
    chosen = trees if everything else [trees[t]]
    whose = f"tree {t + 1}" if not everything else f"all {len(trees)} trees" if len(trees) > 1 else "the tree"
    parts = [tree_frames.OBJECTIVE, *tree_frames.PARTS]
    part = fields.radio(
        "J or a part of it", parts, "trees.part", place=second_column, format_func=lambda p: p[:1].upper() + p[1:]
    )
    left, right = st.columns(2, gap="large")
    with left:
        depths = tree_frames.depth_frame(chosen)
        figure = figures.leaf_depths(depths, data.n_labels, words.arity(model), f"Depth of the leaves, {whose}")
        meta = figure.layout.meta
        charts.show_figure(
            figure,
            depths,
            f"{files}-depth-{'all' if everything else t + 1}",
            f"Deepest leaf: {meta['deepest']}. Dotted lines: the depth of a tree with a leaf for each of L labels and "
            "all leaves at the same depth, and 3 times that. In Figure 2 of Majzoubi and Choromanska (2020), the "
            "deepest trees lie between the two.",
            key=f"trees.depth.{key[:8]}",
        )
    with right:
        objective(model, chosen, part, whose, f"{files}-objective-{'all' if everything else t + 1}", key)


def objective(model, trees, part: str, whose: str, file: str, key: str, place: str = "depth") -> None:
    """Draw J, or a part of it, of the splits of trees by depth."""
    frame = tree_frames.objective_by_depth(trees, words.weights(model))
    if frame.empty:
        st.caption("There is no split, so there is no J.")
        return
    (integrity, multiway), least = words.weights(model), words.best_objective(model)
    best = (
        ""
        if least is None
        else f" The smallest possible J is {least:g}: a balanced split with each label in one child."
    )
    about = {
        tree_frames.OBJECTIVE: best.replace("-", "−"),
        tree_frames.PARTS[1]: f" It counts −{integrity:g} times in J, as drawn.",
        tree_frames.PARTS[2]: f" It counts {multiway:g} times in J, as drawn.",
    }.get(part, "")
    charts.show_figure(
        figures.objective_by_depth(frame, part, f"{part[:1].upper()}{part[1:]} of the splits, {whose}"),
        frame,
        file,
        f"Least, mean and greatest over the splits at each depth; smaller is better (Figure 1 of the paper).{about}",
        key=f"trees.objective.{place}.{key[:8]}",
    )
