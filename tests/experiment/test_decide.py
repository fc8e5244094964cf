"""Decisions of a kept run: test rows decide nothing, and a packed model predicts by the one that is kept."""

import copy
from dataclasses import replace

import numpy as np
import pytest

from xmlcore import experiment, metrics
from xmlcore.decisions.promises import p_values
from xmlcore.experiment.kinds.decide import AS_IT_IS, MEASURES, among, is_decision
from xmlcore.metrics.sets import of_sets
from xmlcore.models import read_packed
from xmlcore.models.rules import decision_of


@pytest.fixture
def found(key):
    task = experiment.task("decide", {"run": key})
    experiment.keep(task)
    return task.load()


def test_what_is_told_of_the_test_rows_is_what_the_rules_give(found, key, easy):
    model = experiment.load_run_model(key)
    by_measure = found.measures.set_index("measure")
    assert [*by_measure.index] == [*MEASURES, AS_IT_IS] and found.n_held_out == 40
    names = {"macro F1@5, at most 5": "macro", "micro F1": "micro", "macro F1": "macro", "macro F1@3": "macro"}
    for measure, average in names.items():
        sets = found.rule(measure).decided(model, easy.X_test).astype(bool)
        told = by_measure.loc[measure]
        assert told["decided"] == pytest.approx(metrics.precision_recall_f1(easy.Y_test, sets, average=average).f1)
        assert found.rule(measure).about["measure"] == measure
        of = metrics.precision_recall_f1(easy.Y_test, sets, average="micro")
        assert [*told[["micro P", "micro R", "labels"]]] == pytest.approx([of.precision, of.recall, sets.nnz / 60])
    as_it_is = metrics.precision_recall_f1(easy.Y_test, model.predict(easy.X_test), average="micro")
    assert by_measure.loc[AS_IT_IS, "micro R"] == pytest.approx(as_it_is.recall)
    line = found.cuts.iloc[len(found.cuts) // 2]
    sets = found.rule(f"cut {float(line['cut'])}").decided(model, easy.X_test).astype(bool)
    assert sets.nnz / 60 == pytest.approx(line["labels"])
    assert line[["micro P", "micro R", "micro F1", "samples F1", "macro F1"]].tolist() == pytest.approx(
        [of_sets(easy.Y_test, sets)[name] for name in ("micro P", "micro R", "micro F1", "samples F1", "macro F1")]
    )


def test_at_most_k_labels_and_half_of_two_measures(found, key, easy):
    model = experiment.load_run_model(key)
    at_most, five, both = (
        np.diff(found.rule(name).decided(model, easy.X_test).indptr)
        for name in ("macro F1@5, at most 5", "macro F1@5", "P@5 and macro F1@5")
    )
    assert at_most.max() <= 5 and at_most.mean() < 5 and (five == 5).all() and (both == 5).all()
    told = found.measures.set_index("measure")["decided"]
    assert told["P@5 and macro F1@5"] > 0.5 * told["macro F1@5"]


def test_a_promise_is_the_cut_of_learn_then_test(found, key, easy):
    model, held = experiment.load_run_model(key), found.cuts["held-out recall of rows"]
    losses = 1 - held.to_numpy()
    for level in (0.5, 0.7):
        kept = np.flatnonzero(p_values(losses, found.n_held_out, 1 - level) <= 0.1)
        assert (np.diff(kept) == 1).all() and kept[-1] == len(held) - 1
        rule, line = found.rule(f"promise {level}"), found.cuts.iloc[kept[0]]
        assert rule.about["cut"] == line["cut"] and rule.about["value"] == held[kept[0]] > level
        said = decision_of(replace(rule, model=copy.copy(model)).keep())
        assert said == f"sets of labels whose recall is at least {level}, with a risk of 0.1"
        sets = rule.decided(model, easy.X_test).astype(bool)
        hits = np.asarray(sets.multiply(easy.Y_test).sum(axis=1)).ravel() / np.diff(easy.Y_test.indptr)
        assert line["recall of rows"] == pytest.approx(hits.mean()) and line["labels"] == sets.nnz / 60
        assert line["empty"] == pytest.approx((np.diff(sets.indptr) == 0).mean())
    with pytest.raises(ValueError, match="no threshold can promise a recall of 0.999 on the 40 held-out rows"):
        found.rule("promise 0.999")


def test_a_name_that_is_no_decision_is_refused(found, key):
    for name in ("macro F2", "cut", "cut x", "cut 2", "promise nan", "0.5", ""):
        assert not is_decision(name)
        with pytest.raises(ValueError, match="there is no decision"):
            found.rule(name)
    assert not is_decision(None) and not is_decision(7) and is_decision("promise 0.8") and is_decision("cut 1e-05")
    with pytest.raises(ValueError, match="there is no decision 'other'"):
        experiment.keep(experiment.task("pack_model", {"run": key}, {"decision": "other"}))


def test_a_decision_among_some_labels_predicts_no_others(found, key, easy):
    few, most = np.isin(np.arange(easy.n_labels), [1, 3]), np.arange(easy.n_labels) != 0
    names = [among(name, allowed) for name in ("micro F1", "cut 0.2") for allowed in (few, most)]
    assert names[0] == "micro F1 among 1;3" and names[3] == "cut 0.2 among -0" and all(map(is_decision, names))
    assert among(names[0], None) == "micro F1" and among("promise 0.8", few) == "promise 0.8"
    assert not is_decision("promise 0.8 among 1") and not is_decision("micro F1 among x")
    task = experiment.task("pack_model", {"run": key}, {"decision": names[0]})
    experiment.keep(task)
    packed = read_packed(task.file())
    sets = packed.model.predict(easy.X_test)
    assert {*sets.indices} == {1, 3} and packed.allowed().tolist() == few.tolist()
    assert packed.card["decided"]["labels"] == sets.sum(axis=1).mean() and "2 allowed labels" in packed.describe()
    assert 0 not in found.rule(names[1]).decided(packed.model, easy.X_test).indices


def test_a_packed_model_predicts_by_its_decision(found, key, easy):
    for name in ("macro F1@3", f"cut {float(found.cuts['cut'].iloc[9])}", "promise 0.5"):
        task = experiment.task("pack_model", {"run": key}, {"decision": name})
        experiment.keep(task)
        packed, line = read_packed(task.file()), found.line(name)
        model, of_card = packed.model, packed.card["decided"]
        assert of_card["micro F1"] == line["micro F1"] and f"| labels | {line['labels']:.6g} |" in packed.describe()
        assert of_card.get(name) == line.get("decided"), "of a cut or a promise there is no one measure"
        expected = found.rule(name).decided(experiment.load_run_model(key), easy.X_test).astype(bool)
        assert (model.predict(easy.X_test) != expected).nnz == 0 and expected.nnz
    above = float(found.cuts["cut"].iloc[9]) + 1e-9  # no cut that was tried, as only Python asks for
    task = experiment.task("pack_model", {"run": key}, {"decision": f"cut {above}"})
    experiment.keep(task)
    packed = read_packed(task.file())
    assert packed.card["decided"]["labels"] == packed.model.predict(easy.X_test).sum(axis=1).mean()
    assert experiment.load_run_model(key).rule_ is None
    np.testing.assert_array_equal(
        model.predict_topk(easy.X_test, 5).labels, experiment.load("train", key).ranking.labels
    )
