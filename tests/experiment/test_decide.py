"""Decisions of a kept run: test rows decide nothing, and a packed model predicts by the one that is kept."""

import numpy as np
import pytest

from xmlcore import experiment, metrics
from xmlcore.experiment.kinds.decide import AS_IT_IS, MEASURES
from xmlcore.models import read_packed


@pytest.fixture
def found(key):
    task = experiment.task("decide", {"run": key})
    experiment.keep(task)
    return task.load()


def test_what_is_told_of_the_test_rows_is_what_the_rules_give(found, key, easy):
    model = experiment.load_run_model(key)
    by_measure = found.measures.set_index("measure")
    assert [*by_measure.index] == [*MEASURES, AS_IT_IS] and found.n_held_out == 40
    for measure, average in (("micro F1", "micro"), ("macro F1", "macro"), ("macro F1@3", "macro")):
        sets = found.rule(measure).decided(model, easy.X_test).astype(bool)
        told = by_measure.loc[measure]
        assert told["decided"] == pytest.approx(metrics.precision_recall_f1(easy.Y_test, sets, average=average).f1)
        of = metrics.precision_recall_f1(easy.Y_test, sets, average="micro")
        assert [*told[["micro P", "micro R", "labels"]]] == pytest.approx([of.precision, of.recall, sets.nnz / 60])
    as_it_is = metrics.precision_recall_f1(easy.Y_test, model.predict(easy.X_test), average="micro")
    assert by_measure.loc[AS_IT_IS, "micro R"] == pytest.approx(as_it_is.recall)
    line = found.cuts.iloc[len(found.cuts) // 2]
    sets = found.rule(f"cut {float(line['cut'])}").decided(model, easy.X_test).astype(bool)
    assert sets.nnz / 60 == pytest.approx(line["labels"])


def test_a_packed_model_predicts_by_its_decision(found, key, easy, tmp_path):
    for name in ("macro F1@3", f"cut {float(found.cuts['cut'].iloc[9])}"):
        task = experiment.task("pack_model", {"run": key}, {"decision": name})
        experiment.keep(task)
        model = read_packed(task.file()).model
        expected = found.rule(name).decided(experiment.load_run_model(key), easy.X_test).astype(bool)
        assert (model.predict(easy.X_test) != expected).nnz == 0 and expected.nnz
    assert experiment.load_run_model(key).rule_ is None
    np.testing.assert_array_equal(
        model.predict_topk(easy.X_test, 5).labels, experiment.load("train", key).ranking.labels
    )
