"""Labels of a row on the scale of its explanations, two explanations side by side, and rows that are changed."""

import math

import numpy as np
import pandas as pd
import pytest
from explain.fitted import NAMES, L, data

from xmlcore import explain


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
