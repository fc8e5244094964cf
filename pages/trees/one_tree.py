"""One tree on the Trees page: its drawing beside J by depth, the node looked at, and how it predicts a test row."""

import streamlit as st

from pages.shared import fields, selectors, server
from pages.shared.view import look, now
from pages.trees import choices, depth, drawing, label_rows, looked_at, one_node, test_row
from xmlcore.models.ldsm import frames as tree_frames


def show(data, run, model, key, files) -> None:
    pictures = st.container()
    t = looked_at.tree_number(model)
    tree, row, mode = model.trees_[t], selectors.looked_at_row(data, run), now().mode or looked_at.PART
    mode = mode if mode < len(looked_at.MODES) else looked_at.PART
    fields.pick(
        "Drawn",
        {name: name for name in looked_at.MODES},
        "trees.mode",
        looked_at.MODES[mode],
        lambda name: look(mode=looked_at.MODES.index(name)),
        widget="radio",
        horizontal=True,
        help="The nodes below a node; or the nodes that a test row passes, and their siblings; or where the training "
        "rows of a label went.",
    )
    label = None
    if mode == looked_at.LABEL:
        names = server.label_names(run.fingerprint)
        label = selectors.choose_label(data, names, "of", "trees.label", "trees.query", node=None)
    view = looked_at.DrawnTree(key, t, tree, row, data, model, mode, label)
    color = choices.show(view)
    if mode == looked_at.LABEL:
        label_rows.show(view, files)
    if view.nodes.size:
        with pictures:
            left, right = st.columns([2, 1], gap="medium")
        with left:
            drawing.show(view, color, files)
        with right:
            part, whose, file = tree_frames.OBJECTIVE, f"tree {t + 1}", f"{files}-objective-{t + 1}"
            depth.objective(model, [tree], part, whose, file, key, "one")
        hint = (
            "one with **+** to draw the tree from there"
            if mode == looked_at.PART
            else "and a button draws the tree from there"
        )
        st.caption(f"Click a node to look at it, {hint}.")
        if mode == looked_at.PART:
            drawing.crumbs(view)
        one_node.show(view, run, files)
    if mode == looked_at.PATH:
        test_row.show(view, run, files)
