"""Promises hold as often as they say, and a rule tells rows unlike those that it was learnt from."""

import bisect
import copy
import json

import numpy as np
import pytest
import scipy.sparse as sp
from decisions.held_out_examples import parts
from scipy.stats import chi2_contingency

from xmlcore import PLT, datasets, decisions, load_model
from xmlcore.decisions.promises import p_values
from xmlcore.models import rules
from xmlcore.models.saving import ModelFormatError


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


def test_about_one_draw_in_twenty_of_the_same_source_alarms():
    data = datasets.make_synthetic(n_train=500, n_test=6000, n_features=300, n_labels=20, random_state=1)
    model = PLT(C=1.0, max_leaf_labels=20, arity=2).fit(data.X_train, data.Y_train)
    rng, alarms = np.random.default_rng(1), 0
    for _ in range(40):
        order = rng.permutation(6000)
        held_out, new = order[:1000], order[1000:1500]
        rule = decisions.learn(model, data.X_test[held_out], data.Y_test[held_out])
        alarms += rule.drift(data.X_test[new]).p_value < 0.05
    assert 1 <= alarms <= 5


def test_rows_with_noise_are_found_and_so_by_a_saved_model(tmp_path):
    shared, held_out, (X_test, _) = parts()
    model = copy.copy(shared)
    rule = decisions.promise(model, *held_out, precision=0.3)
    assert rule.drift(X_test).p_value > 0.01
    found = rule.drift(X_test[:, np.random.default_rng(0).permutation(X_test.shape[1])])
    assert found.p_value < 1e-3 and found.distance > 0.1 and found.rows == 500
    rule.keep()
    model.save(tmp_path / "model")
    assert decisions.rule_of(load_model(tmp_path / "model")).drift(X_test) == rule.drift(X_test)
    told = json.loads((tmp_path / "model/params.json").read_text())
    for damage in ([1], {"largest": {"edges": [0.5, 0.4], "counts": [1, 1, 1]}}, {"largest": {"edges": 1}}):
        told["values"]["rule"]["seen"] = damage
        (tmp_path / "model/params.json").write_text(json.dumps(told))
        with pytest.raises(ModelFormatError):
            load_model(tmp_path / "model")


def test_one_ranking_gives_the_sets_and_the_drift(monkeypatch):
    model, held_out, (X, _) = parts()
    rule = decisions.learn(model, *held_out)
    sets, drift, ranked = rule.predict(X), rule.drift(X), []
    rank = type(model).predict_topk
    monkeypatch.setattr(type(model), "predict_topk", lambda self, X, *k: ranked.append(X.shape[0]) or rank(self, X, *k))
    monkeypatch.setattr(rules, "ROWS_AT_ONCE", 200)
    both = rule.predict_with_drift(X)
    assert ranked == [200, 200, 100] and (both[0] != sets).nnz == 0 and both[1] == drift


def test_the_p_value_is_that_of_scipy():
    model, held_out, (X, _) = parts()
    rule, rows = decisions.learn(model, *held_out), rules.Watch()
    rule.decided(model, model._check_input(X), rows)
    tables = [
        [of["counts"], rules.in_bins(rows.numbers()[name], np.array(of["edges"]))] for name, of in rule.seen.items()
    ]
    p = min(chi2_contingency(table, correction=False).pvalue for table in tables)
    assert rule.drift(X).p_value == pytest.approx(min(1, 2 * p))


def test_of_many_rows_the_last_ones_are_watched():
    rows = rules.Watch(3)
    for first in (0, 2, 4):
        rows.add(sp.csr_array(np.arange(first, first + 2)[:, None] / 10.0))
    assert rows.numbers()["largest"].tolist() == [0.3, 0.4, 0.5] == rows.numbers()["sum"].tolist()


def test_where_there_is_nothing_to_compare_it_is_said():
    model, held_out, (X, _) = parts()
    rule = decisions.learn(model, *held_out)
    with pytest.raises(ValueError, match="no rows"):
        rule.drift(X[:0])
    rule.seen.clear()
    with pytest.raises(ValueError, match="learn it again"):
        rule.drift(X)
