"""Rules that are learnt from held-out rows, and what they are worth on other rows."""

import json
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from decisions.held_out_examples import parts

from xmlcore import PLT, TextClassifier, decisions, load_model, metrics
from xmlcore.datasets import TextVectorizer
from xmlcore.models import DenseOutput, DoubleSampling, ExtendedPLT, LdSM, OneVsRest, PackedModel
from xmlcore.models.rules import Calibration, Rule, Watch, cut_scores, row_decided
from xmlcore.models.saving import ModelFormatError


def f1(Y, sets, average):
    return metrics.precision_recall_f1(Y, sets, average=average).f1


def plain(ranking, n_labels):
    return sp.csr_array(metrics.at_threshold(_scores(ranking, n_labels), 0.0))


def _scores(ranking, n_labels):
    dense = np.full((len(ranking.labels), n_labels), -1.0)
    np.put_along_axis(dense, ranking.labels, ranking.scores, axis=1)
    return dense


@pytest.mark.parametrize(
    ("measure", "average", "k"),
    [("macro F1@2", "macro", 2), ("macro F1", "macro", 0), ("micro F1", "micro", 0), ("samples F1", "samples", 0)],
)
def test_a_rule_gains_on_rows_that_it_has_not_seen(measure, average, k):
    model, held_out, (X, Y) = parts()
    rule = decisions.learn(model, *held_out, measure)
    found = rule.predict(X)
    without = plain(model.predict_topk(X, k), 40) if k else model.predict(X, 0.5)
    assert found.dtype == bool and found.shape == Y.shape and found.has_canonical_format
    assert not k or (np.diff(found.indptr) == k).all()
    assert f1(Y, found, average) > f1(Y, without, average) + 0.01
    assert rule.about["value"] >= rule.about["plain"] and rule.about["rows"] == 600


def test_what_a_rule_says_of_held_out_rows_is_measured():
    model, (X, Y), _ = parts()
    model = copy(model)
    model.threshold_ = 0.3  # as PLT chooses one: what is predicted without a rule is by it
    for measure, average in (("micro F1", "micro"), ("samples F1", "samples")):
        rule = decisions.learn(model, X, Y, measure)
        assert rule.about["value"] == pytest.approx(f1(Y, rule.predict(X), average), abs=1e-9)
        assert rule.about["plain"] == pytest.approx(f1(Y, model.predict(X), average), abs=1e-9)
    inv_ps = metrics.inverse_propensity(Y)
    for measure, within in (("P@3", 1e-9), ("PSP@3", 0.02), ("macro F1@3", 0.05)):  # the mean over halves of the rows
        rule = decisions.learn(model, X, Y, measure, inv_ps=inv_ps if "PSP" in measure else None)
        labels = np.array([found.indices for found in rule.predict(X)])
        name = measure.replace("@3", "@k")
        expected = metrics.measures(Y, labels, 3, inv_ps=inv_ps, names=[name])[name][-1]
        assert rule.about["value"] == pytest.approx(float(expected), abs=within)


def test_as_much_recall_as_a_bound_on_precision_leaves():
    model, (X, Y), _ = parts()
    rule = decisions.learn(model, X, Y, "micro R", least={"micro P": 0.8})
    found = metrics.precision_recall_f1(Y, rule.predict(X), average="micro")
    assert found.precision >= 0.8 and found.recall == pytest.approx(rule.about["value"])
    table = decisions.cuts(model, X, Y)
    assert table.loc[table["micro P"] >= 0.8, "micro R"].max() == pytest.approx(found.recall)
    with pytest.raises(ValueError, match="micro P cannot be 1 on these rows: with any cut it is at most 0"):
        decisions.learn(model, X, 1 - Y.toarray(), "micro R", least={"micro P": 1.0})


def test_the_table_of_cuts_has_what_each_cut_gives():
    model, (X, Y), _ = parts()
    table = decisions.cuts(model, X, Y)
    calibration = decisions.learn(model, X, Y).calibration
    ranking = model.predict_topk(X, 40)
    scores = sp.csr_array(_scores(ranking._replace(scores=calibration(ranking.scores)), 40))
    for line in table.iloc[[3, len(table) // 3, len(table) // 2]].itertuples(index=False):
        sets = scores >= line.cut - 1e-12
        micro, samples = (metrics.precision_recall_f1(Y, sets, average=average) for average in ("micro", "samples"))
        assert line[1:5] == pytest.approx((*micro, samples.f1), abs=1e-6) and line.labels == sets.nnz / 600
    assert (np.diff(table["cut"]) < 0).all() and (np.diff(table["micro R"]) >= 0).all()


def test_what_is_no_better_on_the_held_out_rows_is_not_taken():
    model, (X, Y), _ = parts()
    rule = decisions.learn(model, X, Y, "P@1")
    assert (rule.slopes == 1).all() and (rule.offsets == 0).all() and rule.about["value"] == rule.about["plain"]
    assert decisions.learn(model, X, Y, "PSP@2000000000").about["value"] == pytest.approx(1), "no memory is taken by k"
    for measure in ("micro F1", "samples F1", "macro F1@2"):
        assert decisions.learn(model, X, Y, {measure: 2.0}).about == decisions.learn(model, X, Y, measure).about


@pytest.mark.parametrize(("k", "fill"), [(0, False), (3, False), (3, True)])
def test_a_label_is_predicted_from_its_cut_on(k, fill):
    rng = np.random.default_rng(0)
    calibration = Calibration(np.array([0.0, 1.0]), np.tile([0.01, 0.99], (5, 1)), "isotonic")
    rule = Rule(None, rng.uniform(0.5, 2, (2, 9)), rng.uniform(-1, 0, (2, 9)), k, fill, calibration, shares=(0.4, 0.6))
    for _ in range(50):
        P = sp.csr_array(rng.random((1, 9)))
        taken = rule.take(P)
        assert (taken == (rule.cuts(P) <= P.data)).all() and (not fill or taken.sum() == k)


def test_a_label_that_is_never_predicted_has_no_cut():
    calibration = Calibration(np.array([0.0, 1.0]), np.tile([0.01, 1.0], (5, 1)), "isotonic")
    rule = Rule(None, np.ones((1, 2)), np.array([[-0.5, -1.2]]), 0, False, calibration)
    P = sp.csr_array([[1.0, 1.0]])
    assert rule.take(P).tolist() == [True, False]
    np.testing.assert_array_equal(rule.cuts(P), [0.5, np.nan])


def test_a_label_beyond_the_candidates_has_no_cut():
    model, held_out, (X, _) = parts()
    rule = decisions.learn(copy(model), *held_out, "micro F1")
    wide, narrow = row_decided(rule.keep(), X[:1]), row_decided(replace(rule, n_candidates=2).keep(), X[:1])
    np.testing.assert_array_equal(narrow[0], wide[0])
    assert np.isfinite(wide[0]).sum() > 2 == np.isfinite(narrow[1]).sum()
    every = cut_scores(replace(rule, n_candidates=2).keep(), X, Watch())[1]
    np.testing.assert_array_equal(every.toarray()[0], np.nan_to_num(wide[0]))


def test_coverage_is_best_by_a_mixture(tmp_path):
    model, held_out, (X, Y) = parts()
    rule = decisions.learn(model, *held_out, "coverage@1")

    def covered(sets):
        return np.unique(sets.multiply(Y).nonzero()[1]).size

    found = rule.predict(X)
    alone = [replace(rule, slopes=rule.slopes[[i]], offsets=rule.offsets[[i]], shares=(1.0,)) for i in range(12)]
    assert len(rule.shares) == 12 and sum(rule.shares) == pytest.approx(1)
    assert covered(found) > max(covered(part.predict(X)) for part in alone)
    assert (rule.predict(X[::-1])[::-1] != found).nnz == 0  # whatever other rows are asked about
    model = PLT(max_leaf_labels=10, C=1.0).fit(*held_out)
    decisions.learn(model, *held_out, "coverage@1").keep()
    assert (load_model(model.save(tmp_path / "m")).predict(X) != model.predict(X)).nnz == 0


def test_the_same_rows_give_the_same_rule():
    model, held_out, (X, _) = parts()
    rules = {decisions.learn(model, *held_out, "macro F1@3") for _ in range(2)}
    first, again = (rule.predict(X) for rule in rules)
    assert (first != again).nnz == 0


@pytest.mark.parametrize("model", [LdSM(n_estimators=3), OneVsRest(C=1.0), DoubleSampling(negative="zero")], ids=repr)
def test_all_models_take_a_rule(model):
    _, (X, Y), (X_test, Y_test) = parts()
    model.fit(X[:400], Y[:400])
    rule = decisions.learn(model, X[400:], Y[400:], "macro F1@2")
    without = f1(Y_test, plain(model.predict_topk(X_test, 2), 40), "macro")
    assert f1(Y_test, rule.predict(X_test), "macro") > without - 0.01  # it was learnt from 200 rows


@pytest.mark.parametrize("names", [np.arange(40), [f"label {j}" for j in range(40)]], ids=["ids", "names"])
def test_one_class_for_each_row_is_read_as_fit_reads_it(names):
    _, (X, Y), _ = parts()
    classes = [names[row.indices[0]] if row.nnz else names[0] for row in Y]
    model = DoubleSampling(negative="zero").fit(X, classes)
    matrix = model.classes_ == np.array(classes)[:, None]
    one, other = (decisions.learn(model, X, given, "macro F1@2") for given in (classes, matrix))
    assert one.about == other.about


def test_the_decision_is_saved_until_the_model_learns_anew(tmp_path):
    _, held_out, (X, Y) = parts()
    model = PLT(max_leaf_labels=10, C=1.0).fit(*held_out)
    before, cut = model.predict(X), model.predict(X, 0.5)
    rule = decisions.learn(model, X[:200], Y[:200], "macro F1@2")
    assert rule.keep() is model
    expected = rule.predict(X)
    assert (model.predict(X) != expected).nnz == 0 and (model.predict(X, 0.5) != cut).nnz == 0
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert (loaded.predict(X) != expected).nnz == 0 and loaded.rule_.about == rule.about
    assert (model.fit(*held_out).predict(X) != before).nnz == 0


@pytest.mark.parametrize("of_texts", [False, True])
def test_the_code_of_a_card_gives_the_deciding_probabilities(tmp_path, monkeypatch, of_texts):
    monkeypatch.chdir(tmp_path)
    _, _, (X, Y) = parts()
    rows, names = ["A text to label", "Others"] * 20, [["one"], ["two"]] * 20
    model = TextClassifier(PLT(), TextVectorizer(min_df=1)).fit(rows, names) if of_texts else PLT().fit(X, Y)
    before = PackedModel(model).describe()
    rule = decisions.learn(model, *((rows, names) if of_texts else (X, Y)), "macro F1@2")
    packed = PackedModel(rule.keep())
    packed.save("model.zip")
    *code, last = packed.describe().partition("```python\n")[2].partition("\n```")[0].splitlines()
    given = {"X": X}
    exec("\n".join(code), given)
    expected = rule.probabilities(rows[:1] if of_texts else X)
    assert expected.nnz and (eval(last, given) != expected).nnz == 0
    assert "rule_of" not in before


def test_a_damaged_rule_is_refused(tmp_path):
    model, held_out, _ = parts()
    model = PLT(max_leaf_labels=10, C=1.0).fit(*held_out)
    decisions.learn(model, *held_out, "macro F1@2").keep()
    path = model.save(tmp_path / "model")
    told, arrays = (path / "params.json").read_text(), dict(np.load(path / "arrays.npz"))
    for name, value in [("k", -1), ("k", 2**63), ("n_knots", 3), ("about", None), ("fill", 1), ("shares", [0.5]),
                        ("shares", [0.5, 0.5])]:  # fmt: skip
        damaged = json.loads(told)
        damaged["values"]["rule"][name] = value
        (path / "params.json").write_text(json.dumps(damaged))
        with pytest.raises(ModelFormatError):
            load_model(path)
    (path / "params.json").write_text(told)
    for name, last in [("scores", np.inf), ("scores", 1.5), ("probabilities", 1.5), ("slopes", np.nan)]:
        damaged = np.append(arrays[f"rule.{name}"][:-1], last)
        np.savez(path / "arrays.npz", **arrays | {f"rule.{name}": damaged})
        with pytest.raises(ModelFormatError):
            load_model(path)


def test_a_classifier_of_texts_predicts_the_names_of_its_rule(tmp_path):
    texts = [f"word{i % 7} word{i % 5} filler" for i in range(140)]
    names = [[f"seven{i % 7}"] + ([f"five{i % 5}"] if i % 5 < 2 else []) for i in range(140)]
    model = TextClassifier(PLT(), TextVectorizer(min_df=1)).fit(texts[:80], names[:80])
    rule = decisions.learn(model, texts[80:], [*names[80:-1], ["unknown", "seven0"]], "macro F1@2")
    rule.keep()
    found = model.predict(texts[:20])
    sets = rule.predict(texts[:20])
    assert [{*row} for row in found] == [{model.labels_[j] for j in row.indices} for row in sets]
    assert load_model(model.save(tmp_path / "model")).predict(texts[:20]) == found


def test_a_wrapped_model_keeps_the_rule_where_it_is_saved(tmp_path):
    _, held_out, (X, Y) = parts()
    model = DenseOutput(PLT(max_leaf_labels=10, C=1.0)).fit(*held_out)
    rule = decisions.learn(model, X, Y, "macro F1@2")
    rule.keep()
    np.testing.assert_array_equal(model.predict(X), rule.predict(X).toarray())
    np.testing.assert_array_equal(load_model(model.save(tmp_path / "m")).predict(X).toarray(), model.predict(X))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"Y": np.zeros((600, 40))}, "none of the 600 held-out rows has a label"),
        ({"Y": np.zeros((600, 3))}, "Y has 3 labels"),
        ({"measure": "micro P", "least": {"recall": 0.5}}, "least has 'recall'"),
        ({"measure": "macro F1@3", "least": {"micro P": 0.5}}, "goes with no bound"),
        ({"measure": "F1"}, "'F1' is not a measure to decide for"),
        ({"measure": "P@1", "inv_ps": np.ones(40)}, "P@1 takes no inv_ps"),
        ({"measure": "macro F1@1" + "0" * 30}, "has a k above"),
        ({"measure": "macro F1", "at_most": True}, "at_most goes with a measure of k labels"),
    ],
)
def test_what_cannot_be_learnt_is_said(changes, says):
    model, (X, Y), _ = parts()
    given = {"X": X, "Y": Y} | changes
    with pytest.raises(ValueError, match=says):
        decisions.learn(model, **given)


def test_one_row_and_no_rows_are_decided():
    model, held_out, (X, _) = parts()
    rule = decisions.learn(model, *held_out, "macro F1@3")
    assert rule.predict(X[:0]).shape == (0, 40) and (rule.predict(X[:1]) != rule.predict(X)[:1]).nnz == 0


def test_a_rule_does_not_decide_for_a_model_of_other_labels():
    _, (X, Y), (X_test, _) = parts()
    model = PLT(max_leaf_labels=10, C=1.0).fit(X, Y)
    rule = decisions.learn(model, X, Y, "macro F1@2")
    model.fit(X, sp.hstack([Y, Y[:, :5]]))
    for use in (lambda: rule.predict(X_test), rule.keep):
        with pytest.raises(ValueError, match="learnt for 40 labels, but the model was fitted anew and has 45"):
            use()


def test_training_with_noisy_copies_forgets_the_decision():
    _, (X, Y), _ = parts()
    model = ExtendedPLT(max_leaf_labels=10, C=1.0).fit(X, Y)
    decisions.learn(model, X, Y, "macro F1@2").keep()
    assert model.fit_for_adversarial_examples(X, sp.hstack([Y, Y[:, :5]])).rule_ is None
