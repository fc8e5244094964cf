"""The Trees page for a run of PLT: its label trees, opened and used through app.py."""

import json

import numpy as np
import pytest

from pages.trees import answer
from tests.pages.making import figure, numbers, titles, train, word_data
from xmlcore import experiment
from xmlcore.models.plt import frames

DEEP = {"arity": 2, "max_leaf_labels": 2, "loss": "logistic", "C": 1.0}


@pytest.fixture
def key(ready):
    return train(ready, "PLT", **DEEP)


@pytest.fixture
def tree(key):
    return experiment.load_run_model(key).trees_[0]


def named(page):
    """The node looked at, as its heading says."""
    return next(s.value for s in page.at.header).replace("\\", "")


def walk_to(page, node):
    return page.set("trees.node", int(node))


def buttons(page, prefix):
    return [button for button in page.at.button if (button.key or "").startswith(prefix)]


def test_the_answer_and_the_drawing_have_the_whole_label_tree(page, tree, key):
    facts = answer.of_label_trees(experiment.load_run_model(key))
    assert facts == ("1 label tree", f"8 labels and {tree.n_nodes - 8} inner nodes", tree.depth[-1])
    assert page.metrics()["Children of the root"] == str(int(tree.n_children[0]))
    drawn, counts = figure(page, "Label tree"), word_data().Y_train.toarray().sum(axis=0)
    rows = frames.nodes_frame(tree, word_data().Y_train)["rows"].to_numpy()
    node = max((v for v in range(1, tree.n_nodes) if tree.label[v] < 0), key=lambda v: rows[v])
    below = frames.labels_below(tree, node)
    name = f"topic *{below[counts[below].argmax()]}* +{below.size - 1}"
    assert name in [text for bars in drawn["data"][1:] for text in bars.get("text", [])]
    drawn = figure(page, f"Label tree: {tree.n_nodes} of {tree.n_nodes} nodes")
    _, bars, _ = drawn["data"]  # the first is for the colour bar
    assert [point[0] for point in bars["customdata"]] == list(range(tree.n_nodes))
    assert numbers(bars["y"]) == tree.depth.tolist()
    colors = bars["marker"]["color"]
    assert colors[0] == "rgba(0,0,0,0)", "the root is quiet"
    assert {colors[1:][rows[1:].argmax()], colors[1:][rows[1:].argmin()]} == {"#1b5a94", "#b9d4ec"}, "the scale's ends"
    hover = next(about for v, about in bars["customdata"] if v == node)
    assert f"topic *{below[counts[below].argmax()]}* and others, {below.size} labels" in hover
    walk_to(page, tree.leaf_of_label[3])
    outlined = [shape for shape in figure(page, "Label tree")["layout"]["shapes"] if shape["name"] == "Selected node"]
    assert len(outlined) == len(frames.path_to(tree, tree.leaf_of_label[3]))
    assert [shape["line"]["width"] for shape in outlined][:2] == [3.0, 1.5]


def test_a_tree_of_one_level_says_which_labels_are_alike(ready):
    key = train(ready, "PLT", arity=16, max_leaf_labels=16, loss="logistic", C=1.0)
    page = ready.go("trees")
    assert page.metrics()["Depth"] == "1"
    drawn = next(chart for chart in page.at.get("plotly_chart") if "Features in common" in chart.proto.spec)
    assert "trees.whole" in drawn.proto.id, "on a phone, boxes are wide enough for names, as in a drawn tree"
    nodes, shares = experiment.load_run_model(key).linear_nodes(), numbers(json.loads(drawn.proto.spec)["data"][0]["z"])
    best = [set(np.argsort(-np.abs(row))[:10]) for row in nodes.weights[nodes.leaf_of_label].toarray()]
    expected = sorted(len(a & b) / 10 for a in best for b in best if a is not b)
    assert sorted(np.ravel(shares)[np.isfinite(np.ravel(shares))]) == pytest.approx(expected)


def test_parts_of_a_tree_are_drawn_as_asked_for(page, tree):
    def depths():
        return next(slider for slider in page.at.slider if slider.label == "Depths")

    assert "labels at or below the node" in page.set("trees.whole.color", "n_labels").text()
    node = int(np.flatnonzero((tree.label < 0) & (tree.depth == 1))[0])
    walk_to(page, node).set("trees.whole.part", "below")
    below = [v for v in range(tree.n_nodes) if node in frames.path_to(tree, v)]
    title = figure(page, "Label tree below")["layout"]["title"]["text"]
    assert title.endswith(f"{len(below)} of {tree.n_nodes} nodes")
    page.set("trees.whole.part", "whole")
    depths().set_value((1, 1))
    assert f"Label tree: {tree.n_children[0]} of {tree.n_nodes} nodes" in titles(page.run())
    page.go("data").go("trees")
    assert depths().value == (1, 1)


def test_a_label_and_a_node_are_found_with_labels_and_features(page, tree, key):
    assert "Path to topic *6*:" in page.search("trees.query", "topic *6*").text()
    path = frames.path_to(tree, tree.leaf_of_label[6])
    found = buttons(page, "trees.label.path.")
    assert [int(button.key.split(".")[-1]) for button in found] == [v for v in path if v]  # the root is looked at
    assert named(page.press(found[-1].key)) == "Label: topic *6*"
    drawn = figure(page, "Label tree")
    dotted = [one["y0"] + 0.43 for one in drawn["layout"]["shapes"] if one["line"].get("dash") == "dot"]
    assert dotted == pytest.approx([0, *range(1, len(path) - 1)]), "the leaf is looked at"
    assert drawn["data"][-1]["customdata"] == [[path[-1]]]
    assert f"**{int(word_data().Y_train[:, [6]].sum())} training rows**" in page.text()
    assert named(page.press(buttons(page, "trees.crumb.")[0].key)) == "Root"
    node = int(np.flatnonzero((tree.label < 0) & (tree.depth == 1))[0])
    counts = word_data().Y_train.toarray().sum(axis=0)
    labels = sorted(frames.labels_below(tree, node), key=lambda j: (-counts[j], j))
    table = walk_to(page, node).frame("name", "rows", "label")
    assert table["label"].tolist() == labels and table["rows"].tolist() == counts[labels].tolist()
    assert f"**{len(labels)} labels**" in page.text()
    drawn = figure(page, "Features that decide at")
    weights = sum((numbers(bars["x"]) for bars in drawn["data"]), [])
    own = experiment.load_run_model(key).linear_nodes().weights[[node]].data
    assert min(weights) == pytest.approx(own.min()) and max(weights) == pytest.approx(own.max())
    assert {bars["name"].split(" probably")[0] for bars in drawn["data"]} == {"more", "less"}


@pytest.mark.sections("How well nodes decide", "The tree")
def test_nodes_are_measured_when_asked_and_the_worst_come_first(session, key, ready):
    page = ready.set("preferences.automatic", False).go("trees")
    assert page.at.selectbox(key="trees.whole.color").options == ["Training rows", "Labels"]
    page.press("trees.measure.nodes").until(lambda s: "lowest AUC first" in s.text())
    nodes = experiment.task("node_quality", {"run": key}, {"tree": 0}).load().nodes
    table = page.frame("auc", "base_rate", "positive")
    expected = nodes[nodes["positive"] >= 5].dropna(subset=["auc"]).sort_values("auc", kind="stable")
    assert table["node"].tolist() == expected["node"].tolist()
    assert table["auc"].tolist() == pytest.approx((100 * expected["auc"]).tolist())
    assert "measured on 30 of 30 test rows" in page.text()
    assert page.set("trees.positive", 9).frame("auc", "positive")["positive"].min() >= 9
    assert "50 % is guessing" in page.set("trees.whole.color", "auc").text()
    assert f"AUC {100 * expected['auc'].iloc[0]:.1f} %" in walk_to(page, expected["node"].iloc[0]).text()
    assert "No node has 30 positive" in page.set("trees.positive", 30).text()


@pytest.mark.sections("all")
def test_the_second_tree_has_nodes_and_quality_of_its_own(ready):
    key = train(ready, "PLT", n_estimators=2, **DEEP)
    page = ready.go("trees")
    assert "**2 label trees**" in page.text()
    page.set("trees.tree", 2).run().until(lambda s: "lowest AUC first" in s.text())
    second = experiment.load_run_model(key).trees_[1]
    assert page.at.number_input(key="trees.node").label == f"Node, 0 to {second.n_nodes - 1}"
    assert experiment.task("node_quality", {"run": key}, {"tree": 1}).exists()
