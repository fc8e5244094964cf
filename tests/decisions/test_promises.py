"""Promises hold as often as they say, and rows for people are those that go wrong."""

import bisect

import numpy as np
import pytest
import scipy.sparse as sp
from decisions.held_out_examples import parts

from xmlcore import PLT, datasets, decisions
from xmlcore.decisions.promises import p_values


def kept(Y, sets, wanted):
    hits = np.asarray(Y.multiply(sets).sum(axis=1)).ravel()
    whole = np.diff((Y if wanted == "recall" else sets.tocsr()).indptr)
    return np.where(whole > 0, hits / np.maximum(whole, 1), 1.0).mean()


@pytest.mark.parametrize(("wanted", "level"), [("recall", 0.8), ("precision", 0.7)])
def test_no_more_promises_fail_than_stated(wanted, level):
    data = datasets.make_synthetic(n_train=500, n_test=1500, n_features=300, n_labels=20, random_state=1)
    model = PLT(C=1.0, max_leaf_labels=20, arity=2, loss="logistic").fit(data.X_train, data.Y_train)
    rng = np.random.default_rng(0)
    promises = failed = 0
    for _ in range(40):
        order = rng.permutation(1500)
        drawn, rest = order[:400], order[400:]
        rule = decisions.promise(model, data.X_test[drawn], data.Y_test[drawn], **{wanted: level}, risk=0.2)
        failed += kept(data.Y_test[rest], rule.predict(data.X_test[rest]), wanted) < level
        promises += 1
    assert failed / promises <= 0.2


def test_without_a_risk_sets_are_smaller():
    model, (X, Y), (X_test, Y_test) = parts()
    sure, average = (decisions.promise(model, X, Y, recall=0.8, risk=risk) for risk in (0.1, None))
    assert average.about["cut"] > sure.about["cut"] and average.about["labels"] < sure.about["labels"]
    assert kept(Y_test, average.predict(X_test), "recall") > 0.75


def test_what_is_told_of_the_held_out_rows_is_measured():
    model, (X, Y), _ = parts()
    Y = sp.csr_array(Y.toarray() & (np.arange(600) % 3 > 0)[:, None])  # the recall of a row without labels is 1
    for wanted, level in (("recall", 0.8), ("precision", 0.4)):
        rule = decisions.promise(model, X, Y, **{wanted: level})
        sets = rule.predict(X)
        sizes = np.diff(sets.indptr)
        told = [rule.about[name] for name in ("value", "labels", "empty")]
        assert told == pytest.approx([kept(Y, sets, wanted), sizes.mean(), (sizes == 0).mean()], abs=1e-9)
        assert rule.about["value"] > level


def test_labels_that_the_model_does_not_know_count_as_missed():
    model, (X, Y), _ = parts()
    known = [row.indices.tolist() for row in Y]
    rules = [decisions.promise(model, X, [[*row, *more] for row in known], recall=0.4) for more in ([], [40], [99, 40])]
    assert rules[0].about["labels"] < rules[1].about["labels"] < rules[2].about["labels"]
    sets = rules[2].predict(X)
    missed = [1 - len({*row} & {*found.indices}) / (len(row) + 2) for row, found in zip(known, sets)]
    assert rules[2].about["value"] == pytest.approx(1 - np.mean(missed))


def test_p_values_are_those_of_mapie():
    risk_control = pytest.importorskip("mapie.risk_control.methods")
    losses, n, alpha = np.linspace(0, 1, 21), 250, np.array([0.1, 0.3])
    theirs = risk_control.compute_hoeffding_bentkus_p_value(losses, n, alpha)
    for column, bound in enumerate(alpha):
        np.testing.assert_allclose(p_values(losses, n, bound), np.minimum(theirs[:, column], 1), atol=1e-12)


def test_the_cut_is_that_of_conformal_risk_control():
    model, (X, Y), _ = parts()
    rule = decisions.promise(model, X, Y, recall=0.8, risk=None)
    ranking = model.predict_topk(X, 40)
    scores = np.zeros((len(ranking.labels), 40))
    np.put_along_axis(scores, ranking.labels, rule.calibration(ranking.scores), axis=1)
    scores = sp.csr_array(scores)

    def risk(cut):
        return 1 - kept(Y, scores >= cut, "recall")

    bound = 0.2 - (1 - 0.2) / 600
    cuts = np.unique(scores.data)
    best = cuts[bisect.bisect_right(cuts, bound, key=risk) - 1]
    assert rule.about["cut"] <= best + 1e-12 and risk(rule.about["cut"]) <= bound
    assert abs(risk(rule.about["cut"]) - risk(best)) < 0.01  # it tries a thousand cuts, not all


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({}, TypeError, "either recall or precision"),
        ({"recall": 0.9, "precision": 0.9}, TypeError, "either recall or precision"),
        ({"recall": 1.0}, ValueError, "recall"),
        ({"precision": 0.9, "risk": None}, ValueError, "needs a risk"),
        ({"recall": 0.999}, ValueError, "no threshold can promise a recall of 0.999: with all candidates it is"),
    ],
)
def test_what_cannot_be_promised_is_said(given, error, says):
    model, (X, Y), _ = parts()
    with pytest.raises(error, match=says):
        decisions.promise(model, X[:50], Y[:50], **given)


def test_rows_that_the_model_is_sure_of_are_better():
    model, _, (X, Y) = parts()
    frame = decisions.abstention(model, X, Y)
    first, last = frame.iloc[0], frame.iloc[-1]
    right = Y[np.arange(500), model.predict_topk(X, 1).labels[:, 0]]
    assert first["P@1"] == pytest.approx(right.mean()) and first["rows"] == 500 and first["by hand"] == 0
    assert last["P@1"] > first["P@1"] + 0.05 and last["rows"] == 10
    assert ((frame["low"] <= frame["P@1"]) & (frame["P@1"] <= frame["high"])).all()
    assert (np.diff(frame["expected"]) >= 0).all()
    assert decisions.abstention(model, X[:1], Y[:1], k=3)["rows"].tolist() == [1]
