"""A rule tells rows of another source from those that it was learnt from."""

import copy
import json

import numpy as np
import pytest
import scipy.sparse as sp
from decisions.held_out_examples import parts
from scipy.stats import chi2_contingency

from xmlcore import PLT, datasets, decisions, load_model
from xmlcore.models import rules
from xmlcore.models.saving import ModelFormatError


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
