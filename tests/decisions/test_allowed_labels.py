"""Decisions among some labels alone."""

from copy import copy

import numpy as np
import pytest
from decisions.held_out_examples import parts

from xmlcore import decisions, load_model
from xmlcore.models import PackedModel
from xmlcore.models.rules import Watch, decided_ranking, row_decided

NAMES, ALLOWED = [f"label {j:02}." for j in range(40)], np.arange(40) % 3 > 0


def learnt(measure, **options):
    return decisions.learn(copy(parts()[0]), *parts()[1], measure, **options)


def test_labels_keep_the_probability_that_they_have_among_all():
    rule, X = learnt("micro F1"), parts()[2][0]
    found = rule.within(exclude=~ALLOWED).probabilities(X).toarray()
    np.testing.assert_allclose(found, rule.probabilities(X).toarray() * ALLOWED)
    narrow = learnt("macro F1@3", n_candidates=4).within(labels=[3, 7])  # which are often beyond the candidates
    full, every = rule.model.predict_topk(X, 40), np.zeros((X.shape[0], 40))
    np.put_along_axis(every, full.labels, narrow.calibration(full.scores), axis=1)
    found = narrow.probabilities(X).toarray()
    assert np.unique(narrow.predict(X).indices).tolist() == [3, 7]
    np.testing.assert_allclose(found, np.where(found > 0, every, 0), rtol=1e-9)


def test_what_is_allowed_is_saved_with_the_decision(tmp_path):
    before, X = learnt("macro F1@3"), parts()[2][0]
    rule = before.within(NAMES[3:30], NAMES[5], aliases={"five": NAMES[5], "six": 6}, names=NAMES)
    packed = PackedModel(rule.keep(), NAMES)
    packed.save(tmp_path / "model.zip")
    kept = decisions.rule_of(load_model(tmp_path / "model.zip"))
    np.testing.assert_array_equal(kept.allowed, rule.allowed)
    assert kept.aliases == {"five": 5, "six": 6} and "of 26 allowed labels" in packed.describe()
    assert (np.diff(kept.predict(X).indptr) == 3).all() and not kept.predict(X)[:, ~rule.allowed].nnz
    assert kept.within(exclude=[3]).allowed.sum() == rule.allowed.sum() - 1
    assert {*np.unique(packed.predict_topk(X, 40).labels)} == {-1, *range(3, 30)} - {5}
    assert {*np.unique(packed.decided(X, labels=["six", NAMES[7]]).labels)} == {6, 7}
    values, cuts = row_decided(rule.model, X[:1])
    assert np.isnan(cuts[:3]).all() and np.isfinite(cuts[6]) and np.isfinite(values[:3]).any()
    seen, of_all = Watch(), Watch()  # rows are like the held-out ones whatever is allowed
    decided_ranking(rule.model, X, watch=seen)
    before.decided(rule.model, X, of_all)
    np.testing.assert_array_equal(seen.numbers()["sum"], of_all.numbers()["sum"])
    with pytest.raises(ValueError, match="none of the labels that are asked for"):
        packed.allowed(["five"])


def test_a_model_without_a_rule_decides_among_allowed_labels():
    model, _, (X, _) = parts()
    sets = model.predict(X).toarray() & ALLOWED
    for row, labels in zip(sets, decided_ranking(model, X, allowed=ALLOWED).labels):
        assert {*labels} - {-1} == {*np.flatnonzero(row)}


def test_labels_that_cannot_be_allowed_are_refused():
    for rule, given, says in (
        (learnt("micro F1"), {"aliases": {"a": 41}}, "aliases has the id 41"),
        (decisions.promise(parts()[0], *parts()[1], recall=0.5), {"labels": [1]}, "a promise is about all labels"),
    ):
        with pytest.raises(ValueError, match=says):
            rule.within(**given)
