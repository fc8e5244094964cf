"""Paths of labels in label trees, and ways of rows in the trees of LdSM."""

import numpy as np
import pytest
from explain.fitted import D, L, data, ldsm, log_proba, plt, unit

from xmlcore import explain

pytestmark = pytest.mark.filterwarnings("ignore:.*sibling groups stopped", "ignore:.*splits separated nothing")


@pytest.mark.parametrize("unlabelled", [False, True])
def test_the_path_of_a_label_tree_ends_in_log_p(unlabelled):
    model = plt(unlabelled, n_estimators=2)
    X, _ = data(10, n=1)
    names = [f"label {j}" for j in range(L)]
    frame = explain.path(model, X, 5, label_names=names)
    for t, part in frame.groupby("tree"):
        nodes = model.linear_nodes(t)
        assert part["node"].tolist() == nodes.path(5).tolist()
        assert part["depth"].tolist() == model.trees_[t].depth[part["node"]].tolist()
        assert part["log_proba"].iloc[-1] == pytest.approx(log_proba(model, t, unit(X, 0), 5), rel=1e-9)
        np.testing.assert_allclose(np.cumprod(part["factor"]), np.exp(part["log_proba"]))
        margins = nodes.weights.astype(np.float64) @ unit(X, 0) + nodes.bias
        np.testing.assert_allclose(part["margin"], margins[part["node"]])
        assert part["label"].tolist() == [-1] * (len(part) - 1) + [5]
        assert part["label_name"].tolist() == [""] * (len(part) - 1) + ["label 5"]
        assert part["n_labels"].iloc[-1] == 1 and (np.diff(part["n_labels"]) <= 0).all()
        assert unlabelled == (part["node"].iloc[0] == 0) == (part["n_labels"].iloc[0] == L)


def test_the_path_of_one_classifier_is_one_row(models):
    X, _ = data(10, n=1)
    frame = explain.path(models["OneVsRest"], X, 5)
    assert len(frame) == 1 and frame["label"][0] == 5 and frame["node"][0] == 0
    assert frame["factor"][0] == pytest.approx(models["OneVsRest"].predict_proba(X)[0, 5], rel=1e-6)


@pytest.mark.parametrize("arity", [2, 3])
def test_ways_through_decision_trees_lead_to_the_leaves_reached(arity):
    model = ldsm(arity=arity, multiway_weight=0.1)
    X, _ = data(11, n=20)
    leaves = model.apply(X)
    row = int(np.argmax(np.diff(leaves.ptr.reshape(-1)[: 20 + 1])))  # of most leaves in the first tree
    frame = explain.path(model, X[[row]], 3)
    ends = frame[frame["node"] == frame["leaf"]]
    for t, tree in enumerate(model.trees_):
        own = frame[frame["tree"] == t]
        reached = np.sort(leaves.of(row, t)).tolist()
        assert ends[ends["tree"] == t]["leaf"].tolist() == reached and set(own["leaf"]) == set(reached)
        np.testing.assert_array_equal(own["n_rows"], tree.n_samples[own["node"]])
        hist = tree.histograms.toarray()[own["node"], 3]
        np.testing.assert_allclose(own["share"], hist / own["n_rows"])
        for leaf, way in own.groupby("leaf"):
            assert way["depth"].tolist() == list(range(len(way)))
            assert way["change"].iloc[1:].sum() + way["share"].iloc[0] == pytest.approx(way["share"].iloc[-1])
            assert np.isnan(way["margin"].iloc[0]) and way["node"].iloc[-1] == leaf
            for (_, above), (_, line) in zip(way.iloc[:-1].iterrows(), way.iloc[1:].iterrows()):
                c = tree.children[int(above["node"])].tolist().index(int(line["node"])) + 1
                assert above[f"entered_{c}"] and above[f"margin_{c}"] == line["margin"]
        inner = own.drop_duplicates("node")
        for _, line in inner[inner["node"] != inner["leaf"]].iterrows():
            children = tree.children[int(line["node"])]
            passed = np.isin(children, own["node"])
            assert [line[f"entered_{c + 1}"] for c in range(arity)] == passed.tolist()
    proba = model.predict_proba(X[[row]]).toarray()[0, 3]
    assert (ends["share"] * ends["weight"]).sum() == pytest.approx(proba, rel=1e-6)
    assert ends["weight"].sum() == pytest.approx(1)


def test_pairs_have_no_path(models):
    with pytest.raises(TypeError, match="DoubleSampling has no tree, so there is no path"):
        explain.path(models["pairs"], np.ones(D), 0)
