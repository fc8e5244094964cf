"""The Trees page, opened and used through app.py."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from pages.shared import cached
from pages.shared.figures import charts
from pages.trees import answer
from tests.pages import making
from tests.pages.making import figure, numbers, titles
from xmlcore import LdSM, datasets, experiment
from xmlcore.models.ldsm import frames as tree_frames

PARAMS = LdSM.PRESETS["program"].values | {"n_estimators": 3, "learning_rate": 1.0}


def grouped_data():
    """200 training and 40 test rows in six groups of two labels each: trees of more than a few nodes."""
    rng = np.random.default_rng(2)
    group = rng.integers(0, 6, 240)
    Y = (rng.random((240, 12)) < 0.1) | (np.arange(12) // 2 == group[:, None]) & (rng.random((240, 12)) < 0.8)
    Y[:, 0] |= ~Y.any(axis=1)
    X = np.repeat(Y, 2, axis=1) * rng.uniform(0.5, 1.5, (240, 24))
    names = [f"topic {j}" for j in range(12)]
    return datasets.Dataset("grouped", X[:200], Y[:200], X[200:], Y[200:], label_names=names)


def train(session, data=None, **params):
    """Put a data set and a run into the workspace, as other pages would."""
    return making.train(session, "LdSM", data or grouped_data(), **{**PARAMS, **params})


@pytest.fixture
def key(ready):
    return train(ready)


def drawing(page):
    spec = json.loads(page.at.get("plotly_chart")[0].proto.spec)
    nodes = [int(point[0]) for trace in spec["data"] for point in trace.get("customdata", [])]
    return spec["layout"]["title"]["text"], sorted(nodes)


@pytest.mark.sections("One tree", "Depth and objective J")
def test_the_answer_and_the_drawing_have_what_the_tree_has(page, model):
    objective = np.concatenate([tree.objective for tree in model.trees_])
    objective, root = np.nanmean(objective), np.nanmean([tree.objective[0] for tree in model.trees_])
    shown = page.metrics()["Objective J"], next(one.delta for one in page.at.metric if one.label == "Objective J")
    assert shown == (f"−{-objective:.2f}", f"−{-root:.2f} at the root")
    _, size, depth = answer.of_decision_trees(model)
    assert depth == max(tree.depth.max() for tree in model.trees_) and size.endswith(" nodes each")
    leaves = sum(int((tree.children[:, 0] < 0).sum()) for tree in model.trees_)
    assert page.metrics()["Leaves"] == f"{leaves:,}" and len(page.metrics()) == 5, "one line, the tree is in sight"
    title, nodes = drawing(page)
    tree = model.trees_[0]
    assert nodes == [v for v in range(tree.parent.size) if tree.depth[v] <= 4]
    assert title == f"Tree 1 below the root: {len(nodes)} of {tree.parent.size} nodes"
    assert titles(page)[1] == "J of the splits, tree 1", "J by depth stands beside its tree"
    drawn = {f"{what}, all 3 trees" for what in ("J in training", "Imbalance β", "Impurity α")}
    assert drawn <= {*titles(page)} and "of the paper." in page.text()
    assert drawing(page.set("trees.levels", 1))[1] == [0, 1, 2]


def test_a_node_and_a_leaf_are_looked_at_by_their_numbers(page, model):
    tree = model.trees_[0]
    inner = int(tree.children[0].max() if tree.children[tree.children[0].max(), 0] >= 0 else tree.children[0].min())
    assert f"below node {inner}:" in drawing(page.set("trees.levels", 1).set("trees.node", inner))[0]
    assert heading(page) == f"Node {inner} of tree 1"
    labels = page.frame("share", "to_1", "to_2")
    assert labels["name"].str.startswith("topic").all()
    expected = tree.histograms[[inner]].toarray()[0]
    assert labels["rows"].tolist() == sorted(expected[expected > 0], reverse=True)
    assert f"J while node {inner} was trained" in titles(page)
    assert re.search(r"of the rows, .* go to node", page.text())
    assert "below the root" in drawing(page.press("trees.crumb.0"))[0]
    leaf = int(np.flatnonzero(model.trees_[0].children[:, 0] < 0)[-1])
    assert heading(page.set("trees.node", leaf)) == f"Leaf {leaf} of tree 1"
    assert heading(page.press("trees.up")) == f"Node {model.trees_[0].parent[leaf]} of tree 1"


def heading(page):
    """The node that is looked at, as the heading of its part names it."""
    return next(s.value for s in page.at.header if s.value.startswith(("Node ", "Leaf "))).partition(":")[0]


def rows_of(page, query):
    page.set("trees.mode", "Rows of a label")
    return page.search("trees.query", query)


@pytest.mark.sections("One tree", "Single predictions")
def test_the_path_of_a_test_row_is_drawn_and_explained(page, model):
    leaves = model.apply(grouped_data().X_test[[7]])
    title, nodes = drawing(page.set("trees.mode", "Path of a test row").set("trees.row.path", 7))
    assert title.startswith("Test row 7 in tree 1: ") and set(leaves.of(0, 0).tolist()) <= set(nodes)
    assert heading(page) == f"Leaf {leaves.of(0, 0).min()} of tree 1"
    assert page.go("train").at.number_input(key="train.row").value == 7


def test_the_rows_of_a_label_are_followed_to_their_leaves(page, model):
    tree = model.trees_[0]
    rows_of(page, "topic 7")
    count = tree.histograms.toarray()[:, 7]
    leaves = np.flatnonzero((tree.children[:, 0] < 0) & (count > 0))
    title, nodes = drawing(page)
    assert title == f"topic 7 in tree 1: {len(nodes)} of {tree.parent.size} nodes"
    assert set(np.flatnonzero(count)) <= set(nodes)
    assert f"**{count[0]} training rows**" in page.text()
    assert f"**{leaves.size} of {(tree.children[:, 0] < 0).sum()} leaves**" in page.text()
    table, expected = page.frame("node", "with_label", "share_of_label", "place"), tree_frames.leaves_of_label(tree, 7)
    assert table[["node", "with_label"]].equals(expected[["node", "with_label"]])
    assert table["share_of_label"].tolist() == pytest.approx((100 * expected["share_of_label"]).tolist())
    best = table["node"].iloc[0]
    assert page.at.number_input(key="trees.node").value == best and heading(page) == f"Leaf {best} of tree 1"
    assert f"**{count[best]} rows** with **topic 7**" in page.text()
    assert drawing(page.set("trees.node", 0))[0] == title, "the root is drawn: the drawing stays"
    assert heading(page) == "Node 0 of tree 1"


@pytest.mark.slow  # the test of the rows of a label has most of it
def test_a_label_is_found_by_its_id_and_drawn_as_asked_for(page, model, monkeypatch):
    def label():
        return page.at.selectbox(key="trees.label")

    rows_of(page, "11")
    assert label().value == 11
    assert "No label has “no such label”" in rows_of(page, "no such label").text()
    assert label().value == 11 and "topic 11 in tree 1" in drawing(page)[0]
    assert "topic 4 in tree 1" in drawing(page.set("trees.label", 4))[0]
    rows_of(page, "topic 5")
    # A second change may be sent before the browser has the labels of a search: it changes nothing.
    late, other = WidgetState(id=label().id, string_value="topic 7"), type(label())._widget_state
    with monkeypatch.context() as patch:
        sent = property(lambda self: late if self.id == late.id else other.fget(self))
        patch.setattr(type(label()), "_widget_state", sent)
        page.run()
    assert label().value == 5 and drawing(page)[0].startswith("topic 5 in tree 1")
    page.walk(at=page.view.replace("of-5", "of-8"))
    assert label().label.startswith("Label (1 found, not")
    rows_of(page, "topic 3")
    assert page.at.number_input(key="trees.most").value == 100
    assert len(drawing(page.set("trees.most", 10))[1]) == 10
    last = int(page.frame("node", "with_label", "place")["node"].iloc[-1])
    assert last in drawing(page.set("trees.node", last))[1]
    assert page.go("data").go("trees").at.number_input(key="trees.most").value == 10


@pytest.mark.sections("One tree", "All nodes", "Fewer and smaller trees")
def test_the_csv_of_nodes_is_complete_and_parts_are_measured(page, key, model, monkeypatch):
    page.until(lambda s: "Fewer trees" in titles(s))
    assert {"Fewer trees", "Smaller trees"} <= set(titles(page))
    line = next(t for t in figure(page, "Fewer trees")["data"] if t["name"] == "P@1")
    run = experiment.load("train", key)
    assert numbers(line["x"]) == [1, 2, 3]
    assert numbers(line["y"])[-1] == pytest.approx(100 * run.measures["value"].iloc[0])
    made = {}
    monkeypatch.setattr(charts, "csv_button", lambda label, make, *rest, **_: made.__setitem__(label, make))
    page.run()
    frame = pd.read_csv(io.BytesIO(charts.csv_bytes(made["All nodes, CSV"]())))
    tree = model.trees_[0]
    assert len(frame) == tree.parent.size
    assert frame["parent"].tolist() == tree.parent.tolist()
    np.testing.assert_allclose(frame["objective"], tree.objective, rtol=1e-6)
    assert frame["name_1"].str.startswith("topic").all()
    assert "Labels of the node, CSV" in made


@pytest.mark.sections("One tree", "Depth and objective J")
def test_a_tree_of_one_leaf_can_be_looked_at(ready, monkeypatch):
    key = train(ready)
    alone = LdSM(n_estimators=1, max_nodes=1).fit(grouped_data().X_train, grouped_data().Y_train)
    monkeypatch.setattr(cached, "model", lambda asked: {key: alone}[asked])
    page = ready.go("trees")
    assert page.metrics()["Objective J"] == "–"
    assert drawing(page)[1] == [0]
    assert "There is no split" in page.text()
    assert "in tree 1" in drawing(page.set("trees.mode", "Path of a test row"))[0]
