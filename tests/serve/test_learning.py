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
    assert suggested(start()) == suggested(again)  # bit for bit: the journal is learnt as its requests came


def test_a_journal_that_cannot_be_written_keeps_no_half_line(start, tmp_path, monkeypatch):
    def full(number):
        raise OSError(28, "No space left on device")

    client = start()
    assert client.post(LEARN, json=FISH, headers=WITH_TOKEN).status_code == 204
    learnt, kept = suggested(client), (tmp_path / "animals.jsonl").read_bytes()
    monkeypatch.setattr("os.fsync", full)
    client = start()
    assert client.post(LEARN, json=FISH, headers=WITH_TOKEN).status_code == 500
    assert (tmp_path / "animals.jsonl").read_bytes() == kept and suggested(client) == learnt


def test_a_journal_of_a_model_that_cannot_learn_is_named(animals, of_texts, tmp_path):
    (tmp_path / "fixed.jsonl").write_text('[["a red fish", ["fish"]]]\n')
    with pytest.raises(ValueError, match=r"fixed\.jsonl, line 1: the model 'fixed' cannot learn texts"):
        client_of([Served("fixed", of_texts)], learner=Learner("secret", tmp_path))


def test_tokens_of_any_letters_and_subjects_in_angle_brackets(animals, tmp_path):
    client = client_of([Served("animals", animals)], learner=Learner("geheim-ü", tmp_path))
    documents = [{"text": "bird dog", "subjects": [{"uri": f"<{uri('dog')}>"}]}, {"text": "bird", "subjects": []}]
    headers = {"Authorization": "Bearer geheim-ü".encode()}
    assert client.post(LEARN, json=documents, headers=headers).status_code == 204
    assert f"<{uri('dog')}>" not in suggested(client)
    assert client.post(LEARN, json=documents[1:], headers=headers).status_code == 204


def test_learning_stands_among_the_addresses_where_it_is_on(start, of_texts):
    name = "/v1/projects/{name}/learn"
    assert name in start().get("/openapi.json").json()["paths"] and start().get("/").json()["learn"] == [LEARN]
    without = client_of([Served("animals", of_texts)])
    assert name not in without.get("/openapi.json").json()["paths"] and "learn" not in without.get("/").json()


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
