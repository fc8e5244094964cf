"""A row is explained: by the path to a label, against another label, and as it would be if it were changed."""

import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from explain.fitted import NAMES, D, L, data, ldsm, log_proba, plt, unit

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


MODELS = ("PLT", "PLTs", "OneVsRest", "LdSM")


@pytest.mark.parametrize("name", MODELS)
def test_contrasts_add_up_to_the_difference_of_the_scores(models, name):
    model = models[name]
    X, _ = data(7, n=6)
    for i in range(6):
        frame = explain.contrast(model, X[[i]], 2, 9)
        one, other = (explain.contributions(model, X[[i]], j).set_index("feature") for j in (2, 9))
        assert frame.attrs["kind"] == one.attrs["kind"] and frame["contribution"].any()
        assert frame.attrs["total"] == pytest.approx(one.attrs["total"] - other.attrs["total"], abs=1e-9)
        expected = (one["contribution"] - other["contribution"])[frame["feature"]]
        np.testing.assert_allclose(frame["contribution"], expected, atol=1e-9)
        assert frame.attrs["baseline"] + frame["contribution"].sum() == pytest.approx(frame.attrs["total"], abs=1e-9)
        assert (np.diff(frame["contribution"].abs()) <= 0).all()


def test_a_contrast_of_pairs_adds_up_to_the_difference_of_f(models):
    model, (X, _) = models["pairs"], data(12, n=1)
    frame = explain.contrast(model, X, 3, 8).set_index("name")
    one, other = model.pair_features(X, np.array([[3, 8]]))[0]
    assert frame["value"].loc[model.feature_names_].tolist() == pytest.approx((one - other).tolist())
    assert frame["contribution"].sum() == pytest.approx((one - other) @ model.weights_) == frame.attrs["total"]


def test_a_row_without_features_has_nothing_to_compare(models):
    for name in NAMES:
        frame = explain.contrast(models[name], sp.csr_array((1, 30), dtype=np.float32), 0, 1)
        assert frame.empty and frame.attrs["total"] == pytest.approx(frame.attrs["baseline"], abs=1e-12)


def test_what_is_no_label_is_refused(models):
    with pytest.raises(ValueError, match="other"):
        explain.contrast(models["PLT"], data()[0][[0]], 0, 99)


@pytest.mark.parametrize("name", NAMES)
def test_values_of_labels_are_what_explanations_add_up_to(models, name):
    X, _ = data(3, n=4)
    for i in range(4):
        totals = [explain.contributions(models[name], X[[i]], j).attrs for j in range(L)]
        wanted = [explain.probability(one["kind"], one["total"]) for one in totals]
        np.testing.assert_allclose(explain.label_values(models[name], X[[i]], np.arange(L)), wanted, atol=1e-6)
        assert explain.label_values(models[name], X[[i]], np.array([], int)).size == 0


def test_values_of_labels_of_pairs_are_f(models):
    X, _ = data(3, n=1)
    wanted = [explain.contributions(models["pairs"], X, j).attrs["total"] for j in (4, 0)]
    np.testing.assert_allclose(explain.label_values(models["pairs"], X, np.array([4, 0])), wanted)


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_row_is_predicted_beside_the_row_itself(models, name):
    model, (X, _) = models[name], data(5, n=2)
    before, after = X[[0]], X[[1]]
    found = explain.what_if(model, before, after, k=3)
    ranked = {way: model.predict_topk(x, 3).labels[0].tolist() for way, x in (("before", before), ("after", after))}
    assert set(found["label"]) == set(ranked["before"] + ranked["after"]) - {-1}
    for way, x in (("before", before), ("after", after)):
        for line in found.itertuples():
            place, j = getattr(line, f"rank_{way}"), line.label
            assert j not in ranked[way] if pd.isna(place) else ranked[way][place - 1] == j
        np.testing.assert_allclose(found[way], explain.label_values(model, x, found["label"].to_numpy()))
    first = found["rank_after"].dropna().tolist()
    assert first == sorted(first) and found["rank_after"].isna().to_numpy()[len(first) :].all()


def frame(**parts):
    names = list(parts)
    return pd.DataFrame({"feature": [ord(n) for n in names], "name": names, "contribution": list(parts.values())})


def test_a_feature_of_one_explanation_adds_0_to_the_other():
    found = explain.side_by_side(frame(a=3.0, b=-2.0, c=0.5), frame(b=-4.0, d=1.0), 2)
    assert found[["name", "first", "second"]].values.tolist() == [["b", -2, -4], ["a", 3, 0], ["d", 0, 1]]
    assert len(explain.side_by_side(frame(a=3.0, b=-2.0, c=0.5), frame(b=-4.0, d=1.0))) == 4


def test_a_score_says_which_probability_it_stands_for():
    assert explain.probability("log_proba", math.log(0.25)) == pytest.approx(0.25)
    assert explain.probability("margin", 0.0) == 0.5
    assert explain.probability("margin", -1e4) == 0.0
    assert explain.probability("share", 0.3) == 0.3
    assert explain.probability("score", 7.0) is None
