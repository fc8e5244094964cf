"""The Trees page for a run of PLT: its label trees.

From top to bottom: this file has the first sentence and the cards; plt_drawing.py the whole tree; plt_walk.py one node,
the way to it and its children; plt_node.py the labels and the features of that node;
plt_quality.py how well nodes decide on test rows; plt_row.py the path of a test row to a label. plt_view.py remembers
what the user looks at.
"""

import contextlib

import streamlit as st

from pages.shared import format, sections, server, tables, tasks
from pages.trees import looked_at, plt_quality, plt_row, plt_walk
from pages.trees.plt_view import WalkedTree
from xmlcore import experiment, store


def answer(name, title, model) -> None:
    plain = experiment.label_tree_model(model)
    tree, several = plain.trees_[0], len(plain.trees_) > 1
    inner, deepest = tree.n_nodes - tree.n_labels, int(tree.depth[-1])
    has = f"**{len(plain.trees_):,} label trees**. The first one has" if several else "a label tree with"
    text = f"On **{format.plain(name)}** {format.plain(title)} has learned {has} "
    text += f"**{format.count(tree.n_labels, 'label')}** as leaves"
    if deepest == 1:
        text += ", all of them children of the root: each label has its own classifier, and all are tried for each row."
    else:
        text += (
            f" and {format.count(inner, 'inner node')}. A row opens only nodes that are probable for it; the deepest "
            f"label is at depth **{deepest}**."
        )
    st.markdown(text)
    children, size = tree.n_children, plain.size()
    deciding = size["n_nodes"] - sum(arrays.root_group < 0 for arrays in plain.fitted_)
    tables.cards(
        [
            ("Inner nodes", f"{inner:,}", "Nodes with children, the root included" + _of_first(several)),
            ("Depth", f"{deepest:,}", "Steps from the root to the deepest label" + _of_first(several)),
            ("Children of the root", f"{int(children[0]):,}", "Classifiers tried for every row" + _of_first(several)),
            (
                "Weights per node",
                f"{size['n_weights'] / max(deciding, 1):,.0f}",
                "Features that a node’s linear classifier uses, on average over all nodes that have one.",
            ),
        ]
    )


def _of_first(several):
    return ", in the first tree." if several else "."


def show(data, run, model, key, files) -> None:
    tree = looked_at.tree_number(experiment.label_tree_model(model))
    task = experiment.task("node_quality", {"run": key}, {"tree": tree})
    measured = None
    with contextlib.suppress(store.StoreError):  # it is not made, or damaged: "How well nodes decide" says so
        measured = server.loaded(task) if task.exists() else None
    further = {
        "The tree": lambda: plt_walk.show(key, data, run, model, files, measured),
        "Path of a test row": lambda: plt_row.show(key, data, run, model, files),
        "How well nodes decide": lambda: _quality(task, key, data, run, model, files),
    }
    sections.show("trees.plt", further)


def _quality(task, key, data, run, model, files):
    found = tasks.ready(task, button="Measure all nodes", key="trees.measure.nodes")
    if found is not None:
        plt_quality.show(WalkedTree(key, data, run, model, files, found))
