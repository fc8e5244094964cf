"""How a test row is predicted: its path to a label in a label tree, or the leaves that it reaches in decision trees."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import format, label_trees, selectors, tables
from pages.shared.figures import charts
from pages.shared.results import predictions, results
from pages.shared.rows import row_text
from pages.shared.view import look, now
from pages.trees import decision_tree, one_tree
from xmlcore import figures
from xmlcore.models.ldsm import frames as tree_frames
from xmlcore.models.plt import frames

LISTED = 50  # most true labels in the table
FEATURES = 10  # features drawn for a step of a label tree
NAMED = 4  # features named for each node on the way in a decision tree
LOST = 0.995  # a step whose node has a larger probability given its parent loses nothing


def _choose(view) -> int:
    row = selectors.choose_test_row(view.data, view.run, "trees.row")
    row_text.show(view.data, "test", row)
    return row


def of_label_trees(view) -> None:
    row = _choose(view)
    found = labels_of_row(view, row)
    if found.empty:
        st.info("This row has no label, and none is predicted for it.")
        return
    label = now().label if now().label in found["label"].to_list() else int(found["label"].iloc[0])
    _labels(view, found, row)
    path = frames.paths_frame(view.classifiers, view.data.X_test[[row]], [label])
    names = [view.short_name(v, 40) for v in path["node"]]
    path = path.assign(tree=view.t, depth=view.tree.depth[path["node"]], name=names)
    left, right = st.columns(2, gap="large")
    with left:
        _path(view, path, row, label)
    with right:
        _features(view, path[path["step"] == _choose_step(view, path, row, label)].iloc[0], row)


def labels_of_row(view, row: int) -> pd.DataFrame:
    """Return the true labels of a row and the predicted ones, with the node where each loses most."""
    truth, predicted = tables.ids(view.data.Y_test, row), view.run.ranking.labels[row, : results.K]
    predicted = predicted[predicted >= 0]
    labels = np.concatenate([np.setdiff1d(truth, predicted)[:LISTED], predicted]).astype(np.int64)
    if labels.size == 0:
        return pd.DataFrame({"label": labels})
    found = frames.hardest_steps(frames.paths_frame(view.classifiers, view.data.X_test[[row]], labels))
    place = {int(label): i + 1 for i, label in enumerate(predicted)}
    found = found.assign(
        name=tables.label_names(view.data, found["label"]),
        true=np.isin(found["label"], truth),
        place=[place.get(int(label), np.nan) for label in found["label"]],
    )
    right = np.where(found["place"].notna(), predictions.RIGHT, "– missed")
    return found.assign(state=np.where(found["true"], right, predictions.WRONG))


def _labels(view, lines, row) -> None:
    key, percent = f"trees.plt.row.{view.key[:8]}.{view.t}.{row}", view.are_probabilities
    full, nothing_lost = 100 if percent else 1, (lines["factor"] > LOST).to_numpy()
    shown = lines.assign(probability=full * lines["probability"], factor=full * lines["factor"])
    shown["depth"] = pd.Series(view.tree.depth[lines["node"]], shown.index, float).mask(nothing_lost)
    shown["at"] = np.where(nothing_lost, "nothing is lost", [view.short_name(v, 40) for v in lines["node"]])
    about = "Of the label in this tree.", "The value of its classifier for that node, given its parent."
    tables.show(
        shown,
        key,
        {
            "name": tables.text("Label"),
            "state": tables.text("Right?", 75),
            "place": tables.number("Rank", 55, "%d", "Rank among the predicted labels."),
            "probability": label_trees.score_column("{}", shown["probability"], percent, 65, about[0]),
            "at": tables.text("Lost most at", None, "The node on the label’s path that gets least."),
            "depth": tables.number("Depth", 58, "%d", "Depth of that node; the root has 0."),
            "factor": label_trees.score_column("{} there", shown["factor"], percent, 85, about[1]),
        },
        most=360,
        **tables.on_tick(key, lines["label"], lambda label: look(label=label)),
    )
    true, every = int(lines["true"].sum()), len(tables.ids(view.data.Y_test, row))
    hit, listed = int((lines["state"] == predictions.RIGHT).sum()), f"; {true:,} are listed" if true < every else ""
    found = f"**{hit:,} of {format.count(every, 'true label')}** predicted{listed}."
    if not every:
        found = "This test row has no true label among those that the model knows."
    st.caption(f"{found} Tick a label to see its path.")


def _path(view, path, row, label) -> None:
    title = f"Path to {figures.short(view.data.label_name(label))}"
    noun = "probability" if view.are_probabilities else "score"
    several = f" This is tree {view.t + 1}; the prediction is the mean of all trees." if view.several else ""
    charts.show_figure(
        figures.path_products(path, title=title, percent=view.are_probabilities),
        path,
        f"{view.files}-row{row}-label{label}-path",
        f"Beside a node is its {noun} given its parent; the height is the product so far.{several}",
        key=f"trees.plt.path.{view.key[:8]}",
    )
    shown, config, signs = label_trees.table(path, view.are_probabilities)
    tables.show(shown, f"trees.plt.steps.{view.key[:8]}", config, signs=signs, most=360)


def _choose_step(view, path, row, label) -> int:
    steps, hardest = path["step"].tolist(), int(path["step"].iloc[int(path["factor"].to_numpy().argmin())])
    lost = len(steps) > 1 and float(path["factor"].min()) <= LOST
    names = {s: f"Depth {d}: {name}" for s, d, name in zip(steps, path["depth"], path["name"])}
    return st.selectbox(
        "Node whose features are shown",
        steps,
        index=steps.index(hardest),
        format_func=lambda s: names[s] + (" (lost most)" if s == hardest and lost else ""),
        key=f"trees.plt.step.{view.key[:8]}.{view.t}.{row}.{label}",
    )


def _features(view, line, row) -> None:
    node, x = int(line["node"]), view.data.X_test[[row]]
    parts = frames.margin_parts(view.classifiers, x, node, view.data.feature_name)
    if parts.empty or not np.isfinite(line["margin"]):
        bias = format.signed(line["bias"])
        st.caption(f"No feature of the row has a weight at this node: the margin is the bias, {bias}.")
        return
    title, scaled = f"Depth {int(line['depth'])}: what made the margin", view.classifiers.normalize == "l2"
    charts.show_figure(
        figures.contribution_bars(parts, FEATURES, unit="the margin", title=title, start=("bias", line["bias"])),
        parts,
        f"{view.files}-row{row}-node{node}-margin",
        f"A bar is the feature’s value{', in the row scaled to length 1,' if scaled else ''} times its weight.",
        key=f"trees.plt.margin.{view.key[:8]}",
    )


def under_decision_tree(view) -> None:
    """Show a decision tree and, if the path of a test row is drawn there, how the row is predicted."""
    one_tree.show(view)
    if view.mode != decision_tree.PATH:
        return
    st.header("How a test row is predicted")
    row = _choose(view)
    trees, reached = view.model.trees_, view.model.apply(view.data.X_test[[row]])
    leaves = tree_frames.leaves_frame(trees, reached, 0, view.data.label_name)
    left, right = st.columns(2, gap="medium")
    with left:
        _leaves(view, leaves, row)
    with right:

        def with_trees(frame):
            counted = frame.assign(trees=_trees_with(view.model, leaves, frame["label"].to_numpy()))
            return counted[["rank", "name", "correct", "score", "trees", "label"]]

        about = {
            "name": tables.text("Predicted label", 125),
            "trees": tables.number("Trees", 60, "%d", "Trees in which a leaf of this row has the label."),
        }
        key = "trees.predicted"
        predictions.show(view.data, view.run, row, results.K, key=key, extra=with_trees, extra_config=about)
        reranked = ", mixed with nearness to the label's mean" if view.model.rerank_beta < 1 else ""
        st.caption(f"A score is the label's share of the label occurrences in a leaf, averaged over leaves{reranked}.")
    _way(view, leaves, row)


def _leaves(view, leaves, row) -> None:
    shown = leaves.assign(tree=leaves["tree"] + 1, weight=100 * leaves["weight"])
    shown["labels"] = decision_tree.top_labels(leaves)
    key, places = f"trees.leaves.{view.key[:8]}.{row}", list(zip(leaves["tree"], leaves["node"]))
    tables.show(
        shown[["tree", "node", "labels", "rows", "weight", "depth"]],  # on a narrow screen, the first are in sight
        key,
        {
            "tree": tables.number("Tree", 50, "%d"),
            "node": tables.number("Leaf", 60, "%d"),
            "depth": tables.number("Depth", 55, "%d"),
            "rows": tables.number("Rows", 60, "localized", "Training rows in it."),
            "weight": tables.number("Weight, %", 75, "%.1f", "Weight of the leaf in the mean."),
            "labels": tables.text("Most frequent labels", 260),
        },
        most=330,
        **tables.on_tick(key, places, lambda at: look(tree=at[0], node=at[1], mode=decision_tree.PATH)),
    )
    of = f"{format.count(len(leaves), 'leaf', 'leaves')} in {format.count(len(view.model.trees_), 'tree')}"
    st.caption(f"{of}. Tick a leaf to see the row's path to it in the drawing above.")
    about = "Every leaf that the row reaches"
    charts.csv_button("Leaves of the row, CSV", leaves, f"{view.files}-row{row}-leaves", about)


def _way(view, leaves, row) -> None:
    """List the nodes above a leaf with the margins that lead to it, and the features that decide there."""
    own = leaves.loc[leaves["tree"] == view.t, "node"].tolist()
    leaf = view.node if view.node in own else own[0]
    st.subheader(f"The way to leaf {leaf:,} of tree {view.t + 1}")
    x = view.data.X_test[[row]]
    steps = tree_frames.steps_frame(view.model, view.t, x, leaf, view.data.feature_name, NAMED)
    if steps.empty:
        st.caption("The root of the tree is a leaf: every row ends there.")
        return
    tables.show(
        steps,
        f"trees.steps.{view.key[:8]}",
        {
            "depth": tables.number("Depth", 55, "%d"),
            "node": tables.number("Node", 60, "%d"),
            "margin": tables.number("Margin", 70, help="Of the child that the row goes to."),
            "features": tables.text("Features that send it there", 330),
            "other": tables.number("Next margin", 95, help="The largest one of another child."),
            "to": tables.number("Goes to", 70, "%d", "The child on the way to the leaf."),
            "ways": tables.number("Ways", 55, "%d", "Children to which the row goes from this node."),
            "rows": tables.number("Rows", 65, "localized", "Training rows of the node."),
        },
        signs={"margin": "{:+.3f}", "other": "{:+.3f}"},
        first=("depth", "node", "margin", "features", "other", "to", "rows"),
        most=360,
    )
    st.caption(
        "The row goes to all children with a margin of at least 0.5, or else to the one with the largest. Named are up "
        f"to {NAMED} features of the row that speak most for this child and against the next one."
    )
    file, about = f"{view.files}-row{row}-leaf{leaf}-way", "Margins and deciding features at each node above the leaf"
    charts.csv_button("The way to the leaf, CSV", steps, file, about)


def _trees_with(model, leaves, labels) -> np.ndarray:
    """Return the number of trees in which a leaf of the row has each label."""
    found = np.zeros(labels.size, np.int64)
    for t, part in leaves.groupby("tree"):
        hist = model.trees_[int(t)].histograms
        present = np.concatenate([hist.indices[hist.indptr[v] : hist.indptr[v + 1]] for v in part["node"]])
        found += np.isin(labels, present)
    return found
