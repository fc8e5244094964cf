"""What Annif's http backend asks for."""

from datetime import datetime
from urllib.parse import parse_qs

import pytest
from serve.conftest import LABELS, TEXTS, uri

from xmlcore import decisions
from xmlcore.serve import annif
from xmlcore.serve.limits import Limits

FORM = "application/x-www-form-urlencoded"
SUGGEST = "/v1/projects/animals/suggest"


def test_suggestions_are_uris_with_words_and_scores(client, of_texts, served):
    answer = client.post(SUGGEST, data={"text": "a red cat", "limit": 2})
    assert answer.status_code == 200
    labels, scores = of_texts.predict_topk(["a red cat"], 2)
    found = answer.json()["results"]
    assert [one["uri"] for one in found] == [of_texts.label_name(j) for j in labels[0]]
    assert [one["score"] for one in found] == scores[0].tolist()
    words = {one["uri"]: one["label"] for one in found}
    assert words[uri("cat")] == "cats" and words[uri("red")] == uri("red")  # the vocabulary names only one
    project = client.get("/v1/projects/animals").json()
    assert project["is_trained"] is True and project["project_id"] == "animals"
    assert datetime.fromisoformat(project["modification_time"]) == served[0].modified
    assert [one["project_id"] for one in client.get("/v1/projects").json()["projects"]] == ["animals", "sizes"]
    answer = client.post("/v1/projects/sizes/suggest", data={"text": "a"})
    assert answer.status_code == 422 and "takes rows" in answer.json()["error"]


def test_limit_and_threshold_bound_forms_and_json(client):
    assert len(client.post(SUGGEST, data={"text": "a red cat", "limit": "1"}).json()["results"]) == 1
    every = client.post(SUGGEST, data={"text": "a red cat"}).json()["results"]
    least = every[1]["score"]
    found = client.post(SUGGEST, data={"text": "a red cat", "threshold": str(least)}).json()["results"]
    assert found == [one for one in every if one["score"] >= least] and len(found) < len(every) == 5
    form = client.post(SUGGEST, data={"text": "a red cat", "limit": 3, "language": "en"}).json()
    assert client.post(SUGGEST, json={"text": "a red cat", "limit": 3}).json() == form
    assert client.post(SUGGEST, data={"text": "  "}).json() == {"results": []}


def test_rules_of_vocabularies_leave_out_subjects(client):
    def found(rules, address=""):
        answer = client.post(SUGGEST + address, data={"text": "a red cat"} | rules)
        return {one["uri"] for one in answer.json()["results"]} if answer.status_code == 200 else answer.status_code

    every = found({})
    two = f"{uri('cat')}|{uri('red')}|{uri('of another vocabulary')}"
    assert found({"exclude": two}) == every - {uri("cat"), uri("red")}
    assert found({"exclude": "*", "include": two}) == {uri("cat"), uri("red")} == found({}, f"?exclude=*&include={two}")
    assert found({"include": two}) == every and found({"exclude": "*"}) == 422


def test_a_form_is_decoded_in_pieces_as_in_one(served, monkeypatch):
    sent = b"text=%C3%A9+a%%+red%20c%C3%A1t&limit=3&text=" + b"%c3%a9%+%%2b%%%" * 5
    for size in range(3, 20):
        monkeypatch.setattr(annif, "PIECE", size)
        found, limit, *_ = annif.asked(sent, FORM, served[0], Limits(), {})
        assert (found, limit) == (parse_qs(sent.decode())["text"][-1], 3)


def test_where_a_decision_is_kept_its_labels_are_the_suggestions(client, of_texts):
    every = client.post(SUGGEST, data={"text": "a red cat"}).json()["results"]
    model = of_texts.model
    try:
        decisions.learn(of_texts.estimator, TEXTS, [[uri(name) for name in row] for row in LABELS], "macro F1@2").keep()
        found = client.post(SUGGEST, data={"text": "a red cat"}).json()["results"]
    finally:
        del model.rule_
    assert len(found) == 2 < len(every) and {one["uri"] for one in found} == {uri("red"), uri("cat")}


@pytest.mark.parametrize("sent, status, reason", [
    ({"data": {"limit": 3}}, 422, "the field text is missing"),
    ({"data": {"text": "a", "limit": "many"}}, 422, "limit must be a whole number"),
    ({"data": {"text": "a", "limit": "-1"}}, 422, "limit must be a whole number"),
    ({"data": {"text": "a", "limit": "1001"}}, 422, "limit must be a whole number from 1 to 1,000"),
    ({"data": {"text": "a", "limit": "9" * 9999}}, 422, "limit must be"),
    ({"data": {"text": "a", "threshold": "nan"}}, 422, "threshold must be a number"),
    ({"content": b"text=%ff", "headers": {"Content-Type": FORM}}, 400, "no form"),
    ({"content": b"a=1&" * 200, "headers": {"Content-Type": FORM}}, 400, "no form"),
    ({"files": {"text": b"a"}}, 415, FORM),
    ({"json": {"text": 3}}, 422, "text must be a text"),
])  # fmt: skip
def test_a_wrong_request_is_refused_with_a_reason(client, sent, status, reason):
    answer = client.post(SUGGEST, **sent)
    assert answer.status_code == status and reason in answer.json()["error"]
