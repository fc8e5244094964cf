"""The packed model of a run: same predictions, and a card that agrees with the run."""

import json

import numpy as np
import pytest

from xmlcore import experiment, store
from xmlcore.models import read_packed


def test_a_packed_model_predicts_what_the_run_did(key, easy, tmp_path):
    run = experiment.load("train", key)
    got = read_packed(experiment.pack_run(key).save(tmp_path / "m.zip"))
    labels, scores = got.predict_topk(easy.X_test, k=5)
    assert np.array_equal(labels, run.ranking.labels) and np.array_equal(scores, run.ranking.scores)
    card = got.card
    assert card["name"] == "PLT on easy" and card["data"]["fingerprint"] == easy.fingerprint
    assert (card["data"]["training rows"], card["data"]["test rows"], card["labels"]) == (200, 60, 12)
    assert card["parameters"] == run.params and card["created"] == run.created
    values = {(line["measure"], line["k"]): line["value"] for line in card["measures"]}
    assert values == pytest.approx({(m, k): value for m, k, value in run.measures.itertuples(index=False)})
    assert all(line["low"] <= line["value"] <= line["high"] for line in card["measures"])
    facts = store.info("runs", key)
    assert facts["libraries"].items() <= card["versions"].items() and json.dumps(card)
    assert experiment.pack_run(key, "My model").card["name"] == "My model"


def test_a_small_packed_model_is_that_of_a_byte_a_weight(key, easy):
    task = experiment.task("pack_model", {"run": key}, {"small": True})
    experiment.keep(task)
    got, expected = read_packed(task.file()), experiment.pack_run(key).model.compact(8, easy.X_test, easy.Y_test)
    assert np.array_equal(got.predict_topk(easy.X_test, k=5).scores, expected.predict_topk(easy.X_test, k=5).scores)
    said, measured = got.card["compact"], expected.compact_
    assert said == {"bits": 8} | {
        f"{k} {when}": measured[when][k] for k in ("P@1", "P@5") for when in ("before", "after")
    }


def test_a_run_that_is_not_kept_cannot_be_packed():
    with pytest.raises(store.MissingArtifactError):
        experiment.pack_run("0" * 32)
