"""The path of a test row to a label: the probability at each node, where it is lost, and which features did that."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import format, selectors, tables
from pages.shared.figures import charts
from pages.shared.results import predictions, results
from pages.shared.rows import path_table, row_text
from pages.shared.view import look, now
from pages.trees.plt_view import WalkedTree
from xmlcore import figures
from xmlcore.models.plt import frames

LISTED = 50  # most true labels in the table
FEATURES = 10  # features drawn for a step
LOST = 0.995  # a step whose node has a larger probability given its parent loses nothing


def show(key, data, run, model, files) -> None:
    view = WalkedTree(key, data, run, model, files)
    row = selectors.choose_test_row(data, run, "trees.row")
    row_text.show(data, "test", row)
    x = data.X_test[[row]]
    found = labels_of_row(view, row)
    if found.empty:
        st.info("This row has no label, and none is predicted for it.")
        return
    label = now().label
    if label not in found["label"].to_list():
        label = int(found["label"].iloc[0])
    st.markdown(_sentence(view, found))
    _labels(view, found, row)
    path = frames.paths_frame(view.classifiers, x, [label])
    path = path.assign(tree=view.t, depth=view.tree.depth[path["node"]], name=[view.name(v) for v in path["node"]])
    left, right = st.columns(2, gap="large")
    with left:
        _path(view, path, row, label)
        _steps(view, path)
    with right:
        step = _choose_step(view, path, row, label)
        _features(view, path[path["step"] == step].iloc[0], x, row)


def labels_of_row(view, row: int) -> pd.DataFrame:
    truth = tables.ids(view.data.Y_test, row)
    predicted = view.run.ranking.labels[row, : results.K]
    predicted = predicted[predicted >= 0]
    labels = np.concatenate([np.setdiff1d(truth, predicted)[:LISTED], predicted]).astype(np.int64)
    if labels.size == 0:
        return pd.DataFrame({"label": labels})
    paths = frames.paths_frame(view.classifiers, view.data.X_test[[row]], labels)
    found = frames.hardest_steps(paths)
    place = {int(label): i + 1 for i, label in enumerate(predicted)}
    return found.assign(
        name=tables.label_names(view.data, found["label"]),
        true=np.isin(found["label"], truth),
        place=[place.get(int(label), np.nan) for label in found["label"]],
    )


def _sentence(view, lines):
    true = lines[lines["true"]]
    if true.empty:
        return "This test row has no true label among the labels that the model knows."
    hit = int(true["place"].notna().sum())
    text = f"**{hit:,} of {format.count(len(true), 'true label')}** {'is' if hit == 1 else 'are'} among the "
    text += f"{results.K} predicted."
    missed = true[true["place"].isna()]
    if missed.empty:
        return text
    worst = missed.loc[missed["probability"].idxmin()]
    node = int(worst["node"])
    at = "its own leaf" if view.is_leaf(node) else f"the node “{format.plain(view.short_name(node, 40))}”"
    reached, there = (format.score(worst[column], view.are_probabilities) for column in ("probability", "factor"))
    return text + (
        f" **{format.plain(worst['name'])}** gets {reached}. Most is lost at depth "
        f"{int(view.tree.depth[node])}, {at}: its classifier gives it {there}."
    )


def _labels(view, lines, row):
    key = f"trees.plt.row.{view.key[:8]}.{view.t}.{row}"
    percent, full = view.are_probabilities, 100 if view.are_probabilities else 1
    shown = lines.assign(
        state=[_state(line) for line in lines.itertuples()],
        probability=full * lines["probability"],
        factor=full * lines["factor"],
        at=[view.short_name(v, 40) for v in lines["node"]],
    )
    nothing_lost = (lines["factor"] > LOST).to_numpy()
    shown["depth"] = pd.Series(view.tree.depth[lines["node"]], shown.index, float).mask(nothing_lost)
    shown["at"] = shown["at"].mask(nothing_lost, "nothing is lost")
    tables.show(
        shown,
        key,
        {
            "name": tables.text("Label"),
            "state": tables.text("Right?", 75),
            "place": tables.number("Rank", 55, "%d", "Rank among the predicted labels."),
            "probability": path_table.score_column(
                "{}", shown["probability"], percent, 65, "Of the label in this tree."
            ),
            "at": tables.text("Lost most at", None, "The node on the label’s path that gets least."),
            "depth": tables.number("Depth", 58, "%d", "Depth of that node; the root has 0."),
            "factor": path_table.score_column(
                "{} there", shown["factor"], percent, 85, "What its classifier gives that node, given its parent."
            ),
        },
        most=360,
        **tables.on_tick(key, lines["label"], lambda label: look(label=label)),
    )
    missing = int(np.setdiff1d(tables.ids(view.data.Y_test, row), lines["label"]).size)
    left_out = f" {missing:,} more true labels are not listed." if missing else ""
    st.caption(
        f"{format.count(int(lines['true'].sum()), 'true label')} and the {int(lines['place'].notna().sum())} predicted "
        f"ones; true labels that are not predicted come first.{left_out} Tick a label to see its path."
    )


def _state(line):
    if not line.true:
        return predictions.WRONG
    return predictions.RIGHT if line.place == line.place else "– missed"


def _path(view, path, row, label):
    title = f"Path to {figures.short(view.data.label_name(label))}"
    several = f" This is tree {view.t + 1}; the prediction is the mean of all trees." if view.several else ""
    noun = "probability" if view.are_probabilities else "score"
    charts.show_figure(
        figures.path_products(path, title=title, percent=view.are_probabilities),
        path,
        f"{view.files}-row{row}-label{label}-path",
        f"The number beside a node is its {noun} given its parent. The height is the product so far: at the label’s "
        f"own leaf, the label’s {noun}.{several}",
        key=f"trees.plt.path.{view.key[:8]}",
    )


def _steps(view, path) -> None:
    named = path.assign(name=[view.short_name(v, 40) for v in path["node"]])
    shown, config, signs = path_table.table(named, view.are_probabilities)
    tables.show(shown, f"trees.plt.steps.{view.key[:8]}", config, signs=signs, most=360)


def _choose_step(view, path, row, label) -> int:
    steps = path["step"].tolist()
    hardest = int(path["step"].iloc[int(path["factor"].to_numpy().argmin())])
    lost = len(steps) > 1 and float(path["factor"].min()) <= LOST
    short = [view.short_name(v, 40) for v in path["node"]]
    names = {s: f"Depth {d}: {n}" for s, d, n in zip(steps, path["depth"], short)}
    return st.selectbox(
        "Node whose features are shown",
        steps,
        index=steps.index(hardest),
        format_func=lambda s: names[s] + (" (lost most)" if s == hardest and lost else ""),
        key=f"trees.plt.step.{view.key[:8]}.{view.t}.{row}.{label}",
    )


def _features(view, line, x, row):
    node = int(line["node"])
    parts = frames.margin_parts(view.classifiers, x, node, view.data.feature_name)
    if parts.empty or not np.isfinite(line["margin"]):
        st.caption(
            f"No feature of the row has a weight at this node: the margin is the bias, {format.signed(line['bias'])}."
        )
        return
    figure = figures.contribution_bars(
        parts,
        FEATURES,
        unit="the margin",
        title=f"Depth {int(line['depth'])}: what made the margin",
        start=("bias", line["bias"]),
    )
    meta = figure.layout.meta
    of = f"Showing {meta['shown']:,} of {meta['total']:,} features" if meta["others"] else f"{meta['total']:,} features"
    charts.show_figure(
        figure,
        parts,
        f"{view.files}-row{row}-node{node}-margin",
        f"{of} of the row that have a weight at {format.plain(view.short_name(node, 40))}. A bar is the feature’s "
        f"value{', in the row scaled to length 1,' if view.classifiers.normalize == 'l2' else ''} times its weight.",
        key=f"trees.plt.margin.{view.key[:8]}",
    )
