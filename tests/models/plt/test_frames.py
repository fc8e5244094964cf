"""Frames of label trees against plain loops over nodes, rows and labels."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from models.plt.plt_problems import problem
from sklearn.metrics import precision_score, recall_score, roc_auc_score

from xmlcore import PLT, LabelTree
from xmlcore.models.plt import frames

TREES = {
    "k-means": {"max_leaf_labels": 5, "arity": 2},
    "one level": {"max_leaf_labels": 100, "arity": 100},
    "Huffman": {"tree": "huffman", "arity": 3},
}


@pytest.fixture(scope="module", params=TREES)
def fitted(request):
    X, Y, X_test, Y_test = problem()
    settings = {"arity": 2, "max_leaf_labels": 5, **TREES[request.param]}
    model = PLT(loss="squared_hinge", C=1.0, n_jobs=1, **settings).fit(X, Y)
    return model, Y, X_test, Y_test


@pytest.fixture(scope="module")
def nodes_of_tree(fitted):
    model, Y, *_ = fitted
    return model.trees_[0], frames.nodes_frame(model.trees_[0], Y)


def above(tree, node):
    """Nodes from the root to a node, by its parents."""
    return ([] if node == 0 else above(tree, int(tree.parent[node]))) + [node]


def labels_of(tree):
    """Sets of labels at or below each node."""
    found = [set() for _ in range(tree.n_nodes)]
    for node in np.flatnonzero(tree.label >= 0).tolist():
        for v in above(tree, node):
            found[v].add(int(tree.label[node]))
    return found


def rows_of(tree, Y):
    """Masks of the rows that have a label at or below each node."""
    return [Y.toarray()[:, sorted(labels)].any(axis=1) for labels in labels_of(tree)]


def test_nodes_have_rows_and_labels_most_frequent_first(fitted):
    model, Y, _, _ = fitted
    tree, frame = model.trees_[0], frames.nodes_frame(model.trees_[0], Y)
    counts = Y.toarray().sum(axis=0)
    assert frame["node"].tolist() == list(range(tree.n_nodes)) and frame["parent"].tolist() == tree.parent.tolist()
    assert frame["depth"].tolist() == tree.depth.tolist() and frame["n_children"].tolist() == tree.n_children.tolist()
    assert frame["rows"].tolist() == [mask.sum() for mask in rows_of(tree, Y)]
    for line, labels in zip(frame.itertuples(), labels_of(tree)):
        best = sorted(labels, key=lambda j: (-counts[j], j))[:3]
        assert line.n_labels == len(labels)
        assert [line.label_1, line.label_2, line.label_3] == best + [-1] * (3 - len(best))


def test_labels_of_a_node_name_the_child_that_has_them(fitted):
    model, Y, _, _ = fitted
    tree, counts = model.trees_[0], Y.toarray().sum(axis=0)
    for node, labels in enumerate(labels_of(tree)):
        assert frames.labels_below(tree, node).tolist() == sorted(labels)
        assert frames.path_to(tree, node) == above(tree, node)
        assert frames.children_of(tree, node).tolist() == np.flatnonzero(tree.parent == node).tolist()
        found = frames.labels_of_node(tree, node, counts, "label {}".format)
        assert found["label"].tolist() == sorted(labels, key=lambda j: (-counts[j], j))
        assert found["rows"].tolist() == counts[found["label"]].tolist()
        for line in found.itertuples():
            path = above(tree, int(tree.leaf_of_label[line.label]))
            assert line.child == path[min(path.index(node) + 1, len(path) - 1)] and line.name == f"label {line.label}"
    assert len(frames.labels_of_node(tree, 0, counts, k=4)) == 4


def test_labels_without_rows_have_nodes_without_rows():
    tree = LabelTree.from_nested([[0, 1], 2])
    frame = frames.nodes_frame(tree, sp.csr_array(np.array([[0, 0, 1], [0, 0, 1]], bool)))
    assert frame["rows"].tolist() == [2, 0, 2, 0, 0]
    assert frame["label_1"].tolist() == [2, 0, 2, 0, 1]


def test_quality_is_measured_on_rows_below_the_parent(fitted):
    model, _, X, Y = fitted
    tree, nodes, reach = model.trees_[0], model.linear_nodes(), rows_of(model.trees_[0], Y)
    said = []
    found = frames.quality_frame(nodes, tree, X, Y, lambda phase, share, detail="": said.append(share))
    assert 0 <= min(said) and max(said) <= 1 and said == sorted(said)
    dense = X.toarray().astype(np.float64)
    unit = dense / np.linalg.norm(dense, axis=1, keepdims=True)
    margins = unit @ nodes.weights.toarray().T.astype(np.float64) + nodes.bias
    for v in range(tree.n_nodes):
        line = found.loc[v]
        if v == 0 and not nodes.root_has_factor:
            assert line["measured"] == 0 and np.isnan(line["base_rate"])
            continue
        rows = reach[tree.parent[v]] if v else np.ones(X.shape[0], bool)
        truth, margin = reach[v][rows], margins[rows, v]
        chosen = np.exp(-(np.maximum(0, 1 - margin) ** 2)) >= 0.5
        assert (line["measured"], line["positive"]) == (rows.sum(), truth.sum())
        expected = {"base_rate": truth.mean() if rows.any() else np.nan}
        expected["auc"] = roc_auc_score(truth, margin) if 0 < truth.sum() < truth.size else np.nan
        expected["recall"] = recall_score(truth, chosen) if truth.any() else np.nan
        expected["precision"] = precision_score(truth, chosen) if chosen.any() else np.nan
        for name, value in expected.items():
            assert line[name] == pytest.approx(value, nan_ok=True), (v, name)


def test_quality_does_not_depend_on_margins_at_once(fitted, monkeypatch):
    model, _, X, Y = fitted
    whole = frames.quality_frame(model.linear_nodes(), model.trees_[0], X, Y)
    monkeypatch.setattr("xmlcore.models.plt.frames.MARGINS_AT_ONCE", 40)
    pd.testing.assert_frame_equal(frames.quality_frame(model.linear_nodes(), model.trees_[0], X, Y), whole)


def test_features_of_a_node_are_its_weights_largest_first(fitted):
    model, _, _, _ = fitted
    nodes = model.linear_nodes()
    node = int(np.argmax(np.diff(nodes.weights.indptr)))
    found = frames.features_of_node(nodes, node, "word {}".format)
    dense = nodes.weights.toarray()[node]
    assert sorted(found["feature"]) == np.flatnonzero(dense).tolist()
    assert found["weight"].tolist() == dense[found["feature"]].tolist()
    assert found["weight"].abs().is_monotonic_decreasing
    assert found["name"].iloc[0] == f"word {found['feature'].iloc[0]}"
    assert len(frames.features_of_node(nodes, node, k=2)) == 2


def test_nodes_that_do_not_exist_are_refused(fitted):
    tree = fitted[0].trees_[0]
    for refuse in (frames.path_to, frames.labels_below):
        with pytest.raises(ValueError, match="node"):
            refuse(tree, tree.n_nodes)
    with pytest.raises(ValueError, match="node"):
        frames.features_of_node(fitted[0].linear_nodes(), -1)


def test_children_share_the_width_of_their_parent(nodes_of_tree):
    tree, nodes = nodes_of_tree
    laid = frames.layout_frame(tree, nodes)
    assert len(laid) == laid.attrs["total"] == tree.n_nodes and laid["start"].iloc[0] == 0
    key = list(zip(-nodes["rows"], -nodes["n_labels"], nodes["node"]))
    for v in range(tree.n_nodes):
        place = laid["start"].iloc[v]
        for child in sorted(frames.children_of(tree, v), key=lambda c: key[c]):
            assert laid["start"].iloc[child] == place
            place += nodes["n_labels"].iloc[child]
        assert tree.label[v] >= 0 or place == laid["start"].iloc[v] + nodes["n_labels"].iloc[v]


def test_a_part_of_the_layout_lies_below_its_top(nodes_of_tree):
    tree, nodes = nodes_of_tree
    whole = frames.layout_frame(tree, nodes)
    for top in (1, tree.n_nodes // 3, tree.n_nodes - 1):
        below = [v for v in range(tree.n_nodes) if top in above(tree, v)]
        part = frames.layout_frame(tree, nodes, top)
        assert part["node"].tolist() == below and part["start"].iloc[0] == 0
        moved = whole["start"].iloc[below].to_numpy() - whole["start"].iloc[top]
        np.testing.assert_array_equal(part["start"], moved)
    here = frames.layout_frame(tree, nodes, depths=(1, 1))
    assert here["node"].tolist() == frames.children_of(tree, 0).tolist()


def test_nodes_with_fewest_labels_are_left_out_first(nodes_of_tree):
    tree, nodes = nodes_of_tree
    drawn = frames.layout_frame(tree, nodes, most=9)
    assert len(drawn) == 9 and drawn.attrs["total"] == tree.n_nodes
    assert set(drawn["parent"]) <= {-1, *drawn["node"]}
    left = nodes[~nodes["node"].isin(drawn["node"])]
    kept = drawn.sort_values(["n_labels", "rows"]).iloc[0]
    assert all((n, rows) <= (kept["n_labels"], kept["rows"]) for n, rows in zip(left["n_labels"], left["rows"]))


def test_nodes_that_are_always_drawn_come_first(nodes_of_tree):
    tree, nodes = nodes_of_tree
    path = frames.path_to(tree, tree.n_nodes - 1)
    rare = set(path) - set(frames.layout_frame(tree, nodes, most=9)["node"])
    drawn = frames.layout_frame(tree, nodes, most=9, always=path)
    assert rare and len(drawn) == 9 and set(path) <= set(drawn["node"])
    assert path[-1] not in frames.layout_frame(tree, nodes, depths=(0, 0), always=path)["node"].to_numpy()
