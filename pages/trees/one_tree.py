"""One tree on the Trees page: its drawing, the node looked at, and how it predicts a test row."""

import streamlit as st

from pages.shared import selectors, server
from pages.shared.workspaces import workspace
from pages.trees import choices, drawing, label_rows, looked_at, one_node, test_row


def show(data, run, model, key, files, drawn_state) -> None:
    """Show one tree of a run."""
    if looked_at.page_state(key) != drawn_state:
        st.rerun()  # another tree: the figures below belong to it; or another mode: the address has it
    st.header("One tree")
    t = looked_at.tree_number(key, model)
    tree, row = model.trees_[t], min(max(workspace.chosen_row(f"run {key}"), 0), data.n_test - 1)
    mode = workspace.chosen_row("trees mode")
    mode = mode if 0 <= mode < len(looked_at.MODES) else looked_at.PART
    st.session_state["trees.mode"] = looked_at.MODES[mode]
    st.radio(
        "Drawn",
        looked_at.MODES,
        key="trees.mode",
        horizontal=True,
        on_change=lambda: workspace.choose_row("trees mode", looked_at.MODES.index(st.session_state["trees.mode"])),
        help="The nodes below a node; or the nodes that a test row passes, and their siblings; or where the training "
        "rows of a label went.",
    )
    label = None
    if mode == looked_at.LABEL:
        names, scope = server.label_names(run.fingerprint), looked_at.label_scope(run.fingerprint)
        label = selectors.choose_label(data, names, scope, "trees.label", "trees.query")
    view = looked_at.View(key, t, tree, row, data, model, mode, label)
    color = choices.show(view)
    if mode == looked_at.LABEL:
        label_rows.show(view, files)
    if view.nodes.size:
        hint = (
            "one with **+** to draw the tree from there"
            if mode == looked_at.PART
            else "and a button draws the tree from there"
        )
        st.caption(f"Click a node to look at it, {hint}.")
        if mode == looked_at.PART:
            drawing.crumbs(view)
        drawing.show(view, color, files)
        one_node.show(view, run, files)
    test_row.show(view, run, files)
