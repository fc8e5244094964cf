"""Decisions among some labels alone."""

from copy import copy

import numpy as np
import pytest
from decisions.held_out_examples import parts

from xmlcore import decisions, load_model
from xmlcore.models import PackedModel
from xmlcore.models.rules import Watch, decided_ranking, row_decided

NAMES = [f"label {chr(97 + j // 26)}{chr(97 + j % 26)}" for j in range(40)]


@pytest.fixture(scope="module")
def learnt():
    model, held_out, (X, _) = parts()
    return {name: decisions.learn(copy(model), *held_out, name) for name in ("micro F1", "macro F1@3")}, X


def test_labels_keep_the_probability_that_they_have_among_all(learnt):
    rules, X = learnt
    rule, allowed = rules["micro F1"], np.arange(40) % 3 > 0
    expected = rule.probabilities(X).toarray() * allowed
    np.testing.assert_allclose(rule.within(exclude=~allowed).probabilities(X).toarray(), expected)
    found = rules["macro F1@3"].within(labels=allowed)
    assert (np.diff(found.predict(X).indptr) == 3).all() and not found.predict(X)[:, ~allowed].nnz
    narrow = decisions.learn(rule.model, *parts()[1], "macro F1@3", n_candidates=4).within(labels=[3, 7])
    assert np.unique(narrow.predict(X).indices).tolist() == [3, 7]
    full, every = rule.model.predict_topk(X, 40), np.zeros((X.shape[0], 40))
    np.put_along_axis(every, full.labels, narrow.calibration(full.scores), axis=1)
    found = narrow.probabilities(X).toarray()
    np.testing.assert_allclose(found, np.where(found > 0, every, 0), rtol=1e-9)


def test_what_is_allowed_is_saved_with_the_decision(learnt, tmp_path):
    rules, X = learnt
    rule = rules["macro F1@3"].within(NAMES[3:30], "label af", aliases={"five": "label af", "six": 6}, names=NAMES)
    model = rule.keep()
    packed = PackedModel(model, NAMES)
    packed.save(tmp_path / "model.zip")
    kept = decisions.rule_of(load_model(tmp_path / "model.zip"))
    np.testing.assert_array_equal(kept.allowed, rule.allowed)
    assert kept.aliases == {"five": 5, "six": 6} and kept.allowed.sum() == 26
    assert "of 26 allowed labels" in packed.describe()
    np.testing.assert_array_equal(kept.predict(X).toarray(), model.predict(X).toarray())
    assert {*np.unique(packed.predict_topk(X, 40).labels)} == {-1, *range(3, 30)} - {5}
    assert {*np.unique(packed.decided(X, labels=["six", "label ah"]).labels)} == {6, 7}
    values, cuts = row_decided(model, X[:1])
    assert np.isnan(cuts[:3]).all() and np.isfinite(cuts[6]) and np.isfinite(values[:3]).any()
    seen, before = Watch(), Watch()
    decided_ranking(model, X, watch=seen)
    rules["macro F1@3"].decided(model, X, before)
    np.testing.assert_array_equal(seen.numbers()["sum"], before.numbers()["sum"])
    with pytest.raises(ValueError, match="none of the labels that are asked for"):
        packed.allowed(["five"])


def test_a_model_without_a_rule_decides_among_allowed_labels():
    model, _, (X, _) = parts()
    allowed = np.arange(40) < 9
    found = decided_ranking(model, X, allowed=allowed)
    row, place = np.nonzero(found.labels >= 0)
    sets = np.zeros((X.shape[0], 40), bool)
    sets[row, found.labels[row, place]] = True
    np.testing.assert_array_equal(sets, model.predict(X).toarray() & allowed)


def test_labels_that_cannot_be_allowed_are_refused(learnt):
    for given, says in (
        ({"aliases": {"a": 41}}, "aliases has the id 41"),
        ({"exclude": ["label zz"], "names": NAMES}, "exclude has 'label zz', which is no label"),
    ):
        with pytest.raises(ValueError, match=says):
            learnt[0]["micro F1"].within(**given)
    with pytest.raises(ValueError, match="a promise is about all labels"):
        decisions.promise(parts()[0], *parts()[1], recall=0.5).within([1])
