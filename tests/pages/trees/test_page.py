"""The Trees page, opened and used through app.py."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState

from tests.pages import making
from tests.pages.making import numbers, titles
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


def train(session, **params):
    """Put the data set and a run into the workspace, as other pages would."""
    return making.train(session, "LdSM", grouped_data(), **{**PARAMS, **params})


@pytest.fixture
def key(ready):
    return train(ready)


def drawing(page):
    spec = json.loads(page.at.get("plotly_chart")[0].proto.spec)
    nodes = [int(point[0]) for trace in spec["data"] for point in trace.get("customdata", [])]
    return spec["layout"]["title"]["text"], sorted(nodes)


def about_depth(page):
    """The help of the card with the depth of the deepest leaf."""
    return next(one.proto.help for one in page.at.metric if one.label == "Deepest leaf")


@pytest.mark.usefixtures("all_sections_open")
def test_the_first_sentence_and_the_drawing_say_what_the_tree_has_and_how_much_is_shown(page, model):
    said = page.text()
    sizes = [tree.parent.size for tree in model.trees_]
    assert f"{min(sizes)} to {max(sizes)} nodes" in said or f"{sizes[0]} nodes each" in said
    deepest = max(tree.depth.max() for tree in model.trees_)
    assert f"deepest group is **{deepest} splits** below the root" in said
    assert "A leaf for each of the 12 labels takes at least 4" in about_depth(page)
    assert "smaller is better" in said and f"the smallest possible is −{model.integrity_weight:.2f}" in said
    objective = np.concatenate([tree.objective for tree in model.trees_])
    assert f"**{np.nanmean(objective):.2f}** on average over all splits".replace("-", "−") in said
    leaves = sum(int((tree.children[:, 0] < 0).sum()) for tree in model.trees_)
    assert page.metrics()["Leaves"] == f"{leaves:,}"
    title, nodes = drawing(page)
    tree = model.trees_[0]
    assert nodes == [v for v in range(tree.parent.size) if tree.depth[v] <= 4]
    assert title == f"Tree 1 below the root: {len(nodes)} of {tree.parent.size} nodes"
    page.at.number_input(key="trees.levels").set_value(1)
    assert drawing(page.run())[1] == [0, 1, 2]


@pytest.mark.usefixtures("all_sections_open")
def test_another_tree_is_drawn_figures_follow_and_all_is_kept_after_a_page_switch_and_a_reload(page, model, session):
    page.at.number_input(key="trees.tree").set_value(2)
    page.at.radio(key="trees.scope").set_value("one")
    page.run().run()
    assert drawing(page)[0].startswith("Tree 2 below")
    assert "Depth of the leaves, tree 2" in titles(page)
    assert len(page.frame("node", "parent", "below")) == model.trees_[1].parent.size
    page.at.number_input(key="trees.tree").set_value(3)
    page.run()
    page.at.selectbox(key="trees.color").set_value("objective")
    page.at.number_input(key="trees.levels").set_value(2)
    page.at.radio(key="trees.part").set_value("balance")
    page.run()
    said = drawing(page)
    for again in (page.go("data").go("trees"), session(page.token, page.view).go("trees")):
        assert drawing(again) == said and said[0].startswith("Tree 3")
        assert again.at.selectbox(key="trees.color").value == "objective"
        assert again.at.radio(key="trees.part").value == "balance"


def test_a_node_and_a_leaf_are_looked_at_by_their_numbers(page, model):
    tree = model.trees_[0]
    inner = int(tree.children[0].max() if tree.children[tree.children[0].max(), 0] >= 0 else tree.children[0].min())
    page.at.number_input(key="trees.levels").set_value(1)
    page.run()
    page.at.number_input(key="trees.node").set_value(inner)
    page.run()
    assert f"below node {inner}:" in drawing(page)[0]
    assert any(f"Node {inner} of tree 1" in s.value for s in page.at.subheader)
    labels = page.frame("share", "to_1", "to_2")
    assert labels["name"].str.startswith("topic").all()
    expected = tree.histograms[[inner]].toarray()[0]
    assert labels["rows"].tolist() == sorted(expected[expected > 0], reverse=True)
    assert f"J while node {inner} was trained" in titles(page)
    page.press("trees.crumb.0")
    assert "below the root" in drawing(page)[0]
    leaf = int(np.flatnonzero(model.trees_[0].children[:, 0] < 0)[-1])
    page.at.number_input(key="trees.node").set_value(leaf)
    page.run()
    assert any(f"Leaf {leaf} of tree 1" in s.value for s in page.at.subheader)
    assert "A leaf has no split" in page.text()
    page.press("trees.up")
    assert any(f"Node {model.trees_[0].parent[leaf]} of tree 1" in s.value for s in page.at.subheader)


def rows_of(page, query):
    page.at.radio(key="trees.mode").set_value("Rows of a label")
    page.run()
    page.search("trees.query", query)
    return page.run()


def without_label(label):
    """The grouped data, with no training row that has ``label``."""
    data = grouped_data()
    Y = data.Y_train.toarray()
    Y[:, label] = False
    Y[:, 0] |= ~Y.any(axis=1)
    return datasets.Dataset("grouped", data.X_train, Y, data.X_test, data.Y_test, label_names=data.label_names)


@pytest.mark.usefixtures("all_sections_open")
def test_the_path_of_a_test_row_has_its_leaves_margins_and_the_features_that_decide(page, model):
    data = grouped_data()
    leaf = int(model.apply(data.X_test[[0]]).of(0, 0).min())
    assert f"The way to leaf {leaf} of tree 1" in page.text()
    steps = page.frame("margin", "other", "features")
    expected = tree_frames.steps_frame(model, 0, data.X_test[[0]], leaf, data.feature_name, 4)
    assert len(steps) == model.trees_[0].depth[leaf]
    assert steps["margin"].tolist() == expected["margin"].tolist()
    assert steps["features"].tolist() == expected["features"].tolist()
    page.at.number_input(key="trees.tree").set_value(2)
    page.run()
    assert "of tree 2" in next(one.value for one in page.at.subheader if one.value.startswith("The way"))
    page.at.number_input(key="trees.tree").set_value(1)
    data = grouped_data()
    page.at.number_input(key="trees.row").set_value(7)
    page.run()
    page.at.radio(key="trees.mode").set_value("Path of a test row")
    page.run()
    leaves = model.apply(data.X_test[[7]])
    title, nodes = drawing(page)
    assert title.startswith("Test row 7 in tree 1: ")
    assert set(leaves.of(0, 0).tolist()) <= set(nodes)
    table = page.frame("tree", "node", "weight")
    assert table["node"].tolist() == np.concatenate([np.sort(leaves.of(0, t)) for t in range(3)]).tolist()
    assert table["weight"].sum() == pytest.approx(100)
    page.at.number_input(key="trees.row.path").set_value(3)  # the same row, chosen beside the drawing
    page.run()
    assert "**Test row 3**" in page.text() and page.at.number_input(key="trees.row").value == 3
    predicted = page.frame("rank", "correct", "trees")
    assert predicted["rank"].tolist() == list(range(1, len(predicted) + 1))
    assert predicted["trees"].between(1, 3).all()
    page.go("train")
    assert page.at.number_input(key="train.row").value == 3  # and on the Train page


def test_the_rows_of_a_label_are_followed_to_their_leaves_of_which_not_all_need_be_drawn(page, model, monkeypatch):
    tree = model.trees_[0]
    rows_of(page, "topic 7")
    count = tree.histograms.toarray()[:, 7]
    leaves = np.flatnonzero((tree.children[:, 0] < 0) & (count > 0))
    all_leaves = int((tree.children[:, 0] < 0).sum())
    title, nodes = drawing(page)
    assert title == f"topic 7 in tree 1: {len(nodes)} of {tree.parent.size} nodes"
    assert set(np.flatnonzero(count)) <= set(nodes)
    assert f"**topic 7** has **{count[0]} training rows**" in page.text()
    assert f"**{leaves.size} of {all_leaves} leaves** of tree 1" in page.text()
    assert ("so shares add up to" in page.text()) == (count[leaves].sum() > count[0])
    table = page.frame("node", "with_label", "share_of_label", "place")
    assert sorted(table["node"]) == leaves.tolist()
    assert table["with_label"].tolist() == sorted(count[leaves], reverse=True)
    assert table["share_of_label"].tolist() == pytest.approx((100 * table["with_label"] / count[0]).tolist())
    best = table["node"].iloc[0]
    assert page.at.number_input(key="trees.node").value == best
    assert any(f"Leaf {best} of tree 1" in s.value for s in page.at.subheader)
    assert f"**{count[best]} rows** with **topic 7**" in page.text()
    page.at.number_input(key="trees.node").set_value(0)  # the root is drawn: the drawing stays
    assert drawing(page.run())[0] == title and any("Node 0 of tree 1" in s.value for s in page.at.subheader)
    page.at.number_input(key="trees.node").set_value(0)
    count = model.trees_[0].histograms.toarray()[:, 3]
    monkeypatch.setattr("xmlcore.models.ldsm.frames.nodes_of_label", limited(7))
    rows_of(page, "topic 3")
    assert drawing(page)[0].endswith(f"7 of {model.trees_[0].parent.size} nodes")
    assert f"Drawn are 7 of the {(count > 0).sum()} nodes that rows of the label reach" in page.text()
    last = int(page.frame("node", "with_label", "place")["node"].iloc[-1])
    page.at.number_input(key="trees.node").set_value(last)
    assert last in drawing(page.run())[1]


def test_a_label_is_found_by_its_id_a_search_says_what_is_not_found_and_not_more_is_drawn_than_asked_for(page, model):
    rows_of(page, "11")
    assert page.at.selectbox(key="trees.label").value == 11
    rows_of(page, "no such label")
    assert "No label has “no such label” in its name or as its id" in page.text()
    assert page.at.selectbox(key="trees.label").value == 11 and "topic 11 in tree 1" in drawing(page)[0]
    page.at.selectbox(key="trees.label").set_value(4)
    assert "topic 4 in tree 1" in drawing(page.run())[0]
    rows_of(page, "topic 5")
    page.walk(at=page.view.replace("of-5", "of-8"))
    assert page.at.selectbox(key="trees.label").label == "Label (1 found, not the one shown)"
    rows_of(page, "topic 3")
    reached = int((model.trees_[0].histograms.toarray()[:, 3] > 0).sum())
    assert page.at.number_input(key="trees.most").value == 100
    page.at.number_input(key="trees.most").set_value(10)
    page.run()
    assert len(drawing(page)[1]) == 10
    assert f"Drawn are 10 of the {reached} nodes that rows of the label reach" in page.text()
    assert page.go("data").go("trees").at.number_input(key="trees.most").value == 10


def test_a_choice_among_labels_that_are_no_longer_listed_changes_nothing(page, monkeypatch):
    """A second change may be sent before the browser has the labels of a search."""
    rows_of(page, "topic 5")
    box = page.at.selectbox(key="trees.label")
    late, other = WidgetState(id=box.id, string_value="topic 7"), type(box)._widget_state
    monkeypatch.setattr(
        type(box), "_widget_state", property(lambda self: late if self.id == box.id else other.fget(self))
    )
    page.run()
    monkeypatch.undo()
    assert page.at.selectbox(key="trees.label").value == 5 and drawing(page)[0].startswith("topic 5 in tree 1")


def test_labels_of_one_name_are_told_apart_by_their_ids(ready, monkeypatch):
    data = grouped_data()
    names = ["same", "same", "", *data.label_names[3:]]
    named = datasets.Dataset("grouped", data.X_train, data.Y_train, data.X_test, data.Y_test, label_names=names)
    monkeypatch.setitem(globals(), "grouped_data", lambda: named)
    train(ready)
    page = rows_of(ready.go("trees"), "same")
    box = page.at.selectbox(key="trees.label")
    assert sorted(box.options) == ["same (0)", "same (1)"]
    box.set_value(1 - box.value)
    first = page.run().at.selectbox(key="trees.label").value
    page.at.selectbox(key="trees.label").set_value(1 - first)
    assert page.run().at.selectbox(key="trees.label").value == 1 - first
    rows_of(page, "2")
    assert page.at.selectbox(key="trees.label").options == ["(2)"]


def test_the_label_looked_at_is_that_of_all_trees_and_outlives_a_page_switch_and_a_reload(page, session):
    rows_of(page, "topic 5")
    page.at.number_input(key="trees.tree").set_value(2)
    page.run().run()
    said = drawing(page)
    assert said[0].startswith("topic 5 in tree 2")
    page.at.selectbox(key="trees.color.label").set_value("purity")
    page.run()
    for again in (page.go("data").go("trees"), session(page.token, page.view).go("trees")):
        assert drawing(again) == said and again.at.selectbox(key="trees.label").value == 5
        assert again.at.selectbox(key="trees.color.label").value == "purity"
    page.at.radio(key="trees.mode").set_value("Part of the tree")
    assert drawing(page.run())[0].startswith("Tree 2 below the root")


def limited(most):
    from xmlcore.models.ldsm import frames as tree_frames

    whole = tree_frames.nodes_of_label
    return lambda tree, label, _, node: whole(tree, label, most, node)


def test_a_label_without_training_rows_is_said_to_be_nowhere(ready, monkeypatch):
    data = without_label(9)
    monkeypatch.setitem(globals(), "grouped_data", lambda: data)
    train(ready)
    page = rows_of(ready.go("trees"), "topic 9")
    assert "No training row has topic 9" in page.text().replace("*", "")
    assert not any("in tree 1" in title for title in titles(page))
    assert "How a test row is predicted" in [h.value for h in page.at.header]


@pytest.mark.usefixtures("all_sections_open")
def test_the_csv_of_nodes_is_complete_and_parts_of_the_model_are_measured_once(page, key, server, model, monkeypatch):
    page.until(lambda s: "Fewer trees" in titles(s))
    assert {"Fewer trees", "Smaller trees"} <= set(titles(page))
    chart = next(c for c in page.at.get("plotly_chart") if '"Fewer trees"' in c.proto.spec)
    line = next(t for t in json.loads(chart.proto.spec)["data"] if t["name"] == "P@1")
    run = experiment.load("train", key)
    assert numbers(line["x"]) == [1, 2, 3]
    assert numbers(line["y"])[-1] == pytest.approx(100 * run.measures["value"].iloc[0])
    before = len(server.jobs())
    page.go("train").go("trees")
    assert len(server.jobs()) == before  # once
    from pages.shared.figures import charts

    made = {}
    monkeypatch.setattr(charts, "csv_button", lambda label, make, *rest, **_: made.__setitem__(label, make))
    page.run()
    frame = pd.read_csv(io.BytesIO(charts.csv_bytes(made["All nodes, CSV"]())))
    tree = model.trees_[0]
    assert len(frame) == tree.parent.size
    assert frame["parent"].tolist() == tree.parent.tolist()
    np.testing.assert_allclose(frame["objective"], tree.objective, rtol=1e-6)
    assert frame["name_1"].str.startswith("topic").all()
    assert {"Leaves of the row, CSV", "Labels of the node, CSV"} <= set(made)


def test_runs_are_chosen_newest_first_and_the_train_page_shows_the_same(ready):
    older, newer = train(ready), train(ready, arity=3)
    page = ready.go("trees")
    choice = page.at.selectbox(key="trees.run")
    assert choice.value == newer and choice.options == ["LdSM (Arity 3)", "LdSM (Arity 2)"]
    assert "M = 3 children" in about_depth(page)
    choice.set_value(older)
    page.run()
    assert "M = 2 children" in about_depth(page)
    page.go("train")
    assert page.at.selectbox(key="train.shown").value == older
    assert page.go("trees").at.selectbox(key="trees.run").value == older


@pytest.mark.usefixtures("all_sections_open")
def test_a_tree_of_one_leaf_can_be_looked_at(ready, monkeypatch):
    from pages.shared import server

    key = train(ready)
    alone = LdSM(n_estimators=1, max_nodes=1).fit(grouped_data().X_train, grouped_data().Y_train)
    monkeypatch.setattr(server, "model", lambda asked: {key: alone}[asked])
    page = ready.go("trees")
    assert "No split was made" in page.text()
    assert drawing(page) == ("Tree 1 below the root: 1 of 1 node", [0])
    assert "There is no split, so there is no J" in page.text()
    page.at.radio(key="trees.mode").set_value("Path of a test row")
    assert "Test row 0 in tree 1" in drawing(page.run())[0]


@pytest.mark.usefixtures("all_sections_open")
def test_a_model_that_learned_from_noisy_rows_is_shown(ready):
    train(ready, noise_sigma=0.1, noise_support="nonzero")
    page = ready.go("trees")
    assert "has grown **3 decision trees**" in page.text() and page.frame("purity", "rows") is not None
    assert titles(page)[0].startswith("Tree 1 below the root")
