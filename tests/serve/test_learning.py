"""Served models learn documents that clients send: with a token, from a journal that outlives the process."""

import json

import numpy as np
import pytest
from serve.conftest import FEATURES, LABELS, TEXTS, client_of, uri

from xmlcore import PLT, DoubleSampling, TextClassifier
from xmlcore.datasets.texts import TextVectorizer
from xmlcore.models import PackedModel
from xmlcore.serve import Learner, Served

LEARN, SUGGEST = "/v1/projects/animals/learn", "/v1/projects/animals/suggest"
WITH_TOKEN = {"Authorization": "Bearer secret"}
FISH = [{"text": "bird dog fish", "subjects": [{"uri": uri("fish"), "label": "fish"}, {"uri": uri("dog")}]}] * 3


@pytest.fixture(scope="module")
def animals():
    model = TextClassifier(DoubleSampling(n_jobs=1), TextVectorizer(min_df=1))
    return PackedModel(model.fit(TEXTS, [[uri(name) for name in row] for row in LABELS]))


@pytest.fixture
def start(animals, tmp_path):
    def start(*others):
        return client_of([Served("animals", animals), *others], learner=Learner("secret", tmp_path))

    return start


def suggested(client):
    found = client.post(SUGGEST, data={"text": "bird dog", "limit": 10}).json()["results"]
    return {item["uri"]: item["score"] for item in found}


def test_what_was_learnt_is_suggested_also_after_a_start_from_the_journal(start, tmp_path):
    client = start()
    assert uri("fish") not in suggested(client)
    assert client.post(LEARN, json=FISH, headers=WITH_TOKEN).status_code == 204
    learnt = suggested(client)
    assert learnt[uri("fish")] > 0.01
    with open(tmp_path / "animals.jsonl", "ab") as journal:
        journal.write(b'[["torn')  # as a killed process leaves it
    again = start()
    assert suggested(again) == pytest.approx(learnt)
    assert again.post(LEARN, json=FISH, headers=WITH_TOKEN).status_code == 204
    assert len([json.loads(line) for line in (tmp_path / "animals.jsonl").read_text().splitlines()]) == 2


def test_a_journal_that_was_damaged_is_named(start, tmp_path):
    (tmp_path / "animals.jsonl").write_text('[["a red fish", ["fish"]]]\n{}[\n')
    with pytest.raises(ValueError, match=r"animals\.jsonl, line 2, has no documents"):
        start()


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer other"}, {"Authorization": "secret"}])
def test_without_the_token_nothing_is_learnt(start, tmp_path, headers):
    client = start()
    refused = client.post(LEARN, json=FISH, headers=headers)
    assert refused.status_code == 401 and "Bearer TOKEN" in refused.json()["error"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "body, text",
    [({"text": "a"}, "an object: send a list"), ([], "0 documents"), ([{"text": 1, "subjects": []}], "document 0"),
     ([FISH[0], {"text": "a", "subjects": [{"label": "a"}]}], "document 1"), (["a"], "document 0")],
)  # fmt: skip
def test_bodies_that_are_no_documents_are_refused(start, tmp_path, body, text):
    refused = start().post(LEARN, json=body, headers=WITH_TOKEN)
    assert refused.status_code == 422 and text in refused.json()["error"]
    assert not list(tmp_path.iterdir())


def test_models_that_cannot_learn_say_so_and_learning_is_off_unless_asked_for(start, of_texts):
    X = np.random.default_rng(0).random((40, 4), np.float32)
    rows = PackedModel(PLT(n_jobs=1).fit(X, [[i % 3] for i in range(40)]), ["a", "b", "c"], FEATURES)
    client = start(Served("sizes", rows), Served("fixed", of_texts))
    for name in ("sizes", "fixed"):
        refused = client.post(f"/v1/projects/{name}/learn", json=FISH, headers=WITH_TOKEN)
        assert refused.status_code == 422 and "cannot learn texts" in refused.json()["error"]
    assert client_of([Served("animals", of_texts)]).post(LEARN, json=FISH, headers=WITH_TOKEN).status_code == 404
    with pytest.raises(ValueError, match="needs a token"):
        Learner("", "journals")
