"""Predictions over HTTP: those of the model itself, and a reason for each request that is refused."""

import asyncio
import json
import re
import shlex
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from serve.conftest import FEATURES, LABELS, TEXTS, client_of, uri

from xmlcore import PLT, TextClassifier, decisions
from xmlcore.models import PackedModel
from xmlcore.progress import silent
from xmlcore.ranking import Ranking
from xmlcore.serve import Served, commands, listen, make_app
from xmlcore.serve.running import is_local

PREDICT = "/v1/models/{}/predict"
JSON = {"Content-Type": "application/json"}
SCOPE = {
    "type": "http",
    "method": "POST",
    "path": "/predict",
    "query_string": b"",
    "headers": [(b"content-type", b"application/json")],
}


def predictions(answer):
    assert answer.status_code == 200, answer.text
    return answer.json()["predictions"]


def as_lists(packed, inputs, k):
    labels, scores = packed.predict_topk(inputs, k)
    return [
        [{"label": packed.label_name(j), "id": j, "score": score} for j, score in zip(*row) if j >= 0]
        for row in zip(labels.tolist(), scores.tolist())
    ]


def test_texts_get_the_labels_of_the_model(client, of_texts):
    found = predictions(client.post(PREDICT.format("animals"), json={"texts": TEXTS[:4], "k": 3}))
    assert found == as_lists(of_texts, TEXTS[:4], 3)
    one = predictions(client.post(PREDICT.format("animals"), json={"text": TEXTS[1]}))
    assert one == as_lists(of_texts, TEXTS[1:2], 5) and one[0][0]["label"] == uri("red")
    texts = ["", " ", "\x00", "é" * 1000, "😀", "\u202e", "a" * 100_000, "red"]
    answer = client.post(PREDICT.format("animals"), json={"texts": texts})
    assert [len(row) for row in predictions(answer)] == [0] * 7 + [5] and answer.json()["nothing_known"] == [*range(7)]
    answer = client.post(PREDICT.format("animals"), json={"texts": ["a", 3]})
    assert answer.status_code == 422 and answer.json()["error"] == "texts[1] is a number, not a text"


def test_labels_below_a_threshold_are_left_out(client, of_texts):
    scores = of_texts.predict_topk(TEXTS[:1], 5).scores[0].tolist()
    sent = {"text": TEXTS[0], "threshold": scores[1]}
    assert [one["score"] for one in predictions(client.post(PREDICT.format("animals"), json=sent))[0]] == scores[:2]
    for strange in ({"threshold": 1.1}, {"threshold": True}, {"threshold": 0.5, "decided": True}):
        answer = client.post(PREDICT.format("animals"), json={"text": "red"} | strange)
        assert answer.status_code == 422 and "threshold" in answer.json()["error"]


def test_a_kept_decision_answers_unless_a_ranking_is_asked_for(of_rows, of_texts):
    X = np.random.default_rng(1).random((20, 4), np.float32)
    rows = [dict(zip(FEATURES, row)) for row in X.astype(float).tolist()]
    model = of_rows.model
    try:
        decisions.learn(model, X, [[i % 3] for i in range(20)], "macro F1@2").keep()
        client = client_of([Served("sizes", of_rows)])
        found = predictions(client.post(PREDICT.format("sizes"), json={"rows": rows, "decided": True}))
        expected = [{*row.indices.tolist()} for row in model.predict(X)]
        assert [{one["id"] for one in row} for row in found] == expected and {len(row) for row in found} == {2}
        for asked, decided in (({}, True), ({"k": 3}, False), ({"threshold": 0}, False), ({"decided": False}, False)):
            answer = client.post(PREDICT.format("sizes"), json={"rows": rows} | asked)
            assert answer.json()["decided"] == decided and (predictions(answer) == found) == decided, asked
        decisions.learn(model, X, [[i % 3] for i in range(20)], "macro F1@3").keep()
        few = client_of([Served("sizes", of_rows)], k=2)
        for more, n_labels in (({}, 3), ({"k": 2}, 2)):  # the bound of k does not cut what was decided
            asked = {"row": {}, "decided": True} | more
            assert len(predictions(few.post(PREDICT.format("sizes"), json=asked))[0]) == n_labels
    finally:
        del model.rule_
    answer = client.post(PREDICT.format("sizes"), json={"row": {}, "decided": 1})
    assert answer.status_code == 422 and "decided must be true or false" in answer.json()["error"]


def test_a_server_tells_drift_of_the_rows_it_decided_for(of_rows):
    rng = np.random.default_rng(1)
    X = rng.random((300, 4), np.float32)
    served, place = Served("sizes", of_rows), "/v1/models/sizes"
    client = client_of([served])
    assert "drift" not in client.get(place).json()
    try:
        decisions.learn(of_rows.model, X, [[i % 3] for i in range(300)], "macro F1@2").keep()

        def told(X, **more):
            rows = [dict(zip(FEATURES, row)) for row in X.astype(float).tolist()]
            assert client.post(PREDICT.format("sizes"), json={"rows": rows} | more).status_code == 200
            return client.get(place).json()["drift"]

        assert told(X[:50], k=5) == {"rows": 0, "p": None} and told(X[:99]) == {"rows": 99, "p": None}
        alike = told(rng.random((900, 4), np.float32))
        assert alike["rows"] == 999 and alike["p"] > 0.01
        others = told(X * [[0, 0, 0, 1]])
        assert others["rows"] == 1000 and others["p"] < 1e-6
        assert client.get("/v1/models").json()["models"][0]["drift"] == others
    finally:
        del of_rows.model.rule_


def test_rows_get_the_labels_of_the_model_by_names_and_ids(client, of_rows):
    X = np.random.default_rng(1).random((3, 4), np.float32)
    want = as_lists(of_rows, X, 2)
    ids = ["0", "1", "12", "3"]  # a name goes before an id: "12" is a name here
    for names in (FEATURES, ids):
        rows = [dict(zip(names, row)) for row in X.astype(float).tolist()]
        assert predictions(client.post(PREDICT.format("sizes"), json={"rows": rows, "k": 2})) == want
    assert predictions(client.post(PREDICT.format("sizes"), json={"row": rows[0], "k": 2})) == want[:1]
    large = json.dumps({"rows": rows, "k": 2}).encode().ljust(100_000)
    assert predictions(client.post(PREDICT.format("sizes"), content=large, headers=JSON)) == want
    many = predictions(client.post(PREDICT.format("sizes"), json={"rows": rows * 300, "k": 2}))
    assert many == want * 300, "an answer that is sent in pieces"
    found = predictions(client.post(PREDICT.format("sizes"), json={"row": {}, "k": 1000}))
    assert sorted(one["id"] for one in found[0]) == [0, 1, 2]
    rows = [{"weight": 1, "colour": 2, "smell": 3}, {"age": 1}]
    answer = client.post(PREDICT.format("sizes"), json={"rows": rows, "unknown": "ignore"})
    assert answer.json()["unknown"] == [["colour", "smell"], []]
    want = np.array([[1, 0, 0, 0], [0, 0, 0, 1]], np.float32)
    assert predictions(answer) == as_lists(of_rows, want, 5)


def test_vectors_stand_beside_texts_if_the_model_has_learnt_such():
    vectors = np.eye(3, dtype=np.float32)[np.arange(len(TEXTS)) % 3]
    packed = PackedModel(TextClassifier(PLT(max_leaf_labels=2)).fit([TEXTS, vectors], LABELS))
    client, want = client_of([Served("both", packed)]), packed.predict_topk([TEXTS[:2], vectors[:2]], 2)
    sent = {"texts": TEXTS[:2], "vectors": vectors[:2].tolist(), "k": 2}
    found = predictions(client.post(PREDICT.format("both"), json=sent))
    assert [[one["id"] for one in row] for row in found] == want.labels.tolist()
    assert client.get("/v1/models/both").json()["vectors"] == 3
    for wrong in (None, [[1, 0, 0]], [[1, 0], [1, 0]], [[1, 0, "0"], [1, 0, 0]]):
        answer = client.post(PREDICT.format("both"), json=sent | {"vectors": wrong})
        assert answer.status_code == 422 and "a list of 3 finite numbers for each text" in answer.json()["error"]
    assert "beside texts" in client.post("/v1/projects/both/suggest", data={"text": "cat"}).json()["error"]
    assert json.loads(shlex.split(commands(packed, "cat"))[-1])["vectors"] == [[0, 0, 0]]


REFUSED = {
    "not JSON": (b"{", 400, "no JSON"),
    "NaN": (b'{"row": {"age": NaN}}', 400, "NaN is not allowed"),
    "nested": (b"[" * 100_000, 400, "no JSON: it is nested too deeply"),
    "not UTF-8": (b'{"text": "\xff"}', 400, "no JSON"),
    "half a character": (b'{"row": {"age": "\\ud800"}}', 400, "no JSON: .* surrogates not allowed"),
    "half a character in bytes": (b'{"row": {"age": "\xed\xa0\x80"}}', 400, "no JSON"),
    "many lists": (b'{"rows": [' + b"[]," * 30_000 + b"[]]}", 413, "more than 10,000 lists and objects"),
    "a list": (b"[1]", 422, "the body is a list"),
    "nothing": (b"{}", 422, "the body has none of them"),
    "both": (b'{"row": {}, "rows": [{}]}', 422, "the body has row and rows"),
    "an unknown field": (b'{"row": {}, "n": 3}', 422, "no field 'n'"),
    "a text": (b'{"text": "a"}', 422, "takes rows of features, not texts"),
    "no rows": (b'{"rows": []}', 422, "an empty list"),
    "rows that are no list": (b'{"rows": {}}', 422, "rows is an object"),
    "a short list": (b'{"rows": [{}, [1]]}', 422, r"rows\[1\] has 1 values: send one for each of the 4 features"),
    "a list in a list": (b'{"row": [1, [2], 3, 4]}', 422, "'1' of row is a list: values are finite numbers"),
    "null in a list": (b'{"row": [1, 2, null, 4]}', 422, "'2' of row is null: values are finite numbers"),
    "text in a list": (b'{"row": ["1", 2, 3, 4]}', 422, "'0' of row is the text \"1\": values are finite"),
    "a row that is a number": (b'{"row": 1}', 422, "row is a number: send an object, such as .*, or a list"),
    "an unknown name": (b'{"rows": [{"a": 1, "b": 2}]}', 422, r"rows\[0\] has features .*'a', 'b'; send \"unknown\""),
    "an id beyond": (b'{"row": {"4": 1}}', 422, "row has the feature 4; ids go from 0 to 3"),
    "a long id": (b'{"row": {"' + b"9" * 5000 + b'": 1}}', 422, "ids go from 0 to 3"),
    "a value that is text": (b'{"row": {"age": "1"}}', 422, "'age' of row is the text \"1\": values are finite"),
    "a value that is true": (b'{"row": {"age": true}}', 422, "row is true: values are finite numbers"),
    "a large value": (b'{"row": {"age": 1e39}}', 422, "values are finite numbers"),
    "infinity by digits": (b'{"row": {"age": 1e999}}', 422, "values are finite numbers"),
    "a large whole number": (b'{"row": {"age": ' + b"9" * 400 + b"}}", 422, "values are finite numbers"),
    "too many digits": (b'{"row": {"age": ' + b"9" * 9000 + b"}}", 400, "no JSON"),
    "a feature twice": (b'{"row": {"age": 1, "3": 2}}', 422, "a feature twice"),
    "k of 0": (b'{"row": {}, "k": 0}', 422, "k must be a whole number from 1 to 1,000"),
    "k as text": (b'{"row": {}, "k": "5"}', 422, "k must be"),
    "k of true": (b'{"row": {}, "k": true}', 422, "k must be"),
    "a large k": (b'{"row": {}, "k": 1001}', 422, "k must be"),
    "no labels": (b'{"row": {}, "labels": []}', 422, "a list of names and ids of labels, not this one"),
    "vectors of rows": (b'{"row": {}, "vectors": [[1]]}', 422, "vectors must be left out"),
    "unknown": (b'{"row": {}, "unknown": "x"}', 422, '"error" or "ignore"'),
    "too many": (json.dumps({"rows": [{}] * 1001}).encode(), 413, "rows has 1,001 items; at most 1,000"),
    "too large": (b" " * (17 << 20), 413, "more than 16,777,216 bytes"),
}


@pytest.mark.parametrize("size", [0, 100_000], ids=["small", "large"])
@pytest.mark.parametrize("what", list(REFUSED))
def test_a_wrong_request_is_refused_with_a_reason(client, what, size):
    body, status, reason = REFUSED[what]
    answer = client.post(PREDICT.format("sizes"), content=body.ljust(size), headers=JSON)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json" and len(answer.text) < 500
    assert re.search(reason, answer.json()["error"]), answer.json()["error"]


def test_another_type_a_compressed_or_an_endless_body_is_refused(client, served):
    answer = client.post(PREDICT.format("sizes"), content=b'{"row": {}}')
    assert answer.status_code == 415 and "Content-Type: application/json" in answer.json()["error"]
    compressed = JSON | {"Content-Encoding": "gzip"}
    assert client.post(PREDICT.format("sizes"), content=b"x", headers=compressed).status_code == 415
    client, endless = client_of(served, bytes=5000), (b" " * 1000 for _ in range(100))
    assert client.post(PREDICT.format("sizes"), content=endless, headers=JSON).status_code == 413


def test_health_cards_and_addresses_say_what_there_is(client, of_texts):
    health = client.get("/health").json()
    assert (health["status"], health["models"], health["busy"]) == ("ok", ["animals", "sizes"], 0)
    assert client.get("/").json()["predict"] == [PREDICT.format("animals"), PREDICT.format("sizes")]
    listed = client.get("/v1/models").json()["models"]
    said = [(one["name"], one["takes"], one["labels"]) for one in listed]
    assert said == [("animals", "texts", 5), ("sizes", "rows", 3)]
    assert listed[0]["decision"] == "labels with a score of at least 0.5"
    card = client.get("/v1/models/animals").json()
    assert card["title"] == "Animals" and card["card"] == of_texts.card
    answer = client.post("/v1/models/other/predict", json={"row": {}})
    assert answer.status_code == 404 and "use /v1/models/animals, /v1/models/sizes" in answer.json()["error"]
    assert client.post("/predict", json={"row": {}}).status_code == 404  # there are two models
    assert client.get("/nowhere").json()["error"].startswith("there is nothing at /nowhere")
    answer = client.get(PREDICT.format("sizes"))
    assert answer.status_code == 405 and "GET is not possible" in answer.json()["error"]


def test_a_single_model_needs_no_name(served, of_rows, tmp_path):
    client = client_of(served[1:])
    assert predictions(client.post("/predict", json={"row": {"age": 1}, "k": 1}))
    assert client.get("/card").json()["name"] == "sizes"
    path = of_rows.save(tmp_path / "My model (2).zip")
    served = Served.read(path)
    assert served.name == "My-model-2" and served.about()["takes"] == "rows"
    with pytest.raises(ValueError, match="two models have the name 'My-model-2'"):
        make_app([served, served])
    with pytest.raises(ValueError, match="cannot be the name"):
        Served.read(path, "a/b")
    with pytest.raises(ValueError, match="no models"):
        make_app([])


def test_requests_at_the_same_time_get_their_own_answers(client, of_texts, of_rows):
    wrong, rng = [], np.random.default_rng(3)
    rows = rng.random((30, 4), np.float32)

    def ask(i):
        text, row = TEXTS[i % 7], dict(zip(FEATURES, rows[i].astype(float).tolist()))
        for address, body, want in (
            (PREDICT.format("animals"), {"text": text, "k": 2}, as_lists(of_texts, [text], 2)),
            (PREDICT.format("sizes"), {"row": row, "k": 2}, as_lists(of_rows, rows[i : i + 1], 2)),
            (PREDICT.format("sizes"), {"row": {"x": 1}}, None),
        ):
            answer = client.post(address, json=body)
            if answer.json().get("predictions") != want:
                wrong.append((i, body))

    with ThreadPoolExecutor(30) as threads:
        list(threads.map(ask, range(30)))
    assert not wrong


class Stub:
    """A model that calls a function for rows that are not empty."""

    n_features_in_, n_labels_, rule_ = 4, 3, None

    def __init__(self, work):
        self.work = work

    def _check_fitted(self):
        pass

    def get_params(self, deep):
        return {}

    def predict_topk(self, X, k, progress=silent):
        if X.nnz:
            self.work(progress)
        return Ranking(np.zeros((X.shape[0], k), np.int32), np.ones((X.shape[0], k), np.float32))


def stub(work):
    return [Served("stub", PackedModel(Stub(work)))]


def test_a_request_that_takes_too_long_is_given_up():
    steps = []

    def work(progress):
        for step in range(100):
            steps.append(step)
            progress("Predicting", step / 100)
            time.sleep(0.05)

    answer = client_of(stub(work), seconds=1).post("/predict", json={"row": {"0": 1}})
    assert answer.status_code == 503 and "more than 1 seconds" in answer.json()["error"]
    assert answer.headers["retry-after"] == "1" and len(steps) < 40


def test_requests_beyond_those_that_may_wait_are_refused_at_once():
    statuses, go = [], threading.Event()
    client = client_of(stub(lambda progress: go.wait(20)), at_once=1, waiting=1)

    def ask(i):
        statuses.append(client.post("/predict", json={"row": {"0": 1}}).status_code)
        if statuses.count(503) == 3:
            go.set()

    with client:  # one event loop for all threads
        with ThreadPoolExecutor(5) as threads:
            list(threads.map(ask, range(5)))
        assert sorted(statuses) == [200, 200, 503, 503, 503]
        assert client.get("/health").json()["busy"] == 0


LARGE = [b'{"row": {"0": 1}}'.ljust(100_000), json.dumps({"rows": [{"0": 1}] * 1000, "k": 1000}).encode()]


@pytest.mark.parametrize("large", LARGE, ids=["of many bytes", "for many labels"])
def test_a_small_request_does_not_wait_for_large_ones(large):
    begun, go, statuses = threading.Event(), threading.Event(), []

    def first_waits(progress):
        if not begun.is_set():
            begun.set()
            go.wait(20)

    def ask(_):
        statuses.append(client.post("/predict", content=large, headers=JSON).status_code)

    client = client_of(stub(first_waits), at_once=1, waiting=4)
    with client, ThreadPoolExecutor(3) as threads:
        asked = threads.map(ask, range(3))
        assert begun.wait(20)
        while not statuses:
            time.sleep(0.01)
        assert statuses == [503] and client.get("/health").json()["busy"] == 2
        assert client.get("/ready").status_code == 200
        assert client.post("/predict", json={"row": {"0": 1}}).status_code == 200
        go.set()
        list(asked)
    assert statuses == [503, 200, 200]


def test_a_request_whose_client_has_gone_is_given_up():
    steps, messages = [], [{"type": "http.request", "body": b'{"row": {"0": 1}}', "more_body": False}]

    def work(progress):
        for step in range(400):
            steps.append(step)
            progress("Predicting", 0.0)
            time.sleep(0.05)

    async def receive():
        while not messages and not steps:
            await asyncio.sleep(0.01)
        return messages.pop() if messages else {"type": "http.disconnect"}

    async def send(message):
        messages.append(message)

    asyncio.run(make_app(stub(work))(SCOPE, receive, send))
    assert 1 <= len(steps) < 100


def test_others_have_a_turn_between_the_rows_of_a_large_answer(of_rows):
    turns, seen, body = [], [], json.dumps({"rows": [{"0": 1}] * 1000, "k": 3}).encode()
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive():
        while not messages:
            await asyncio.sleep(0.01)
        return messages.pop()

    async def send(message):
        if message.get("body"):
            seen.append(len(turns))

    async def answered():
        async def other():
            while True:
                turns.append(None)
                await asyncio.sleep(0)

        task = asyncio.create_task(other())
        await make_app([Served("sizes", of_rows)])(SCOPE, receive, send)
        task.cancel()

    asyncio.run(answered())
    assert len(seen) > 1000 and len(set(seen)) == len(seen)


def test_an_error_of_the_program_is_not_shown():
    def fail(progress):
        raise RuntimeError("secret")

    answer = client_of(stub(fail)).post("/predict", json={"row": {"0": 1}})
    assert answer.status_code == 500 and "secret" not in answer.text and "error" in answer.json()


def test_a_port_in_use_or_a_foreign_host_is_said():
    """asyncio switches the delay of small packets off for sockets that name their protocol."""
    with listen(port=0) as made:
        assert made.proto == socket.IPPROTO_TCP
    with listen(port=0) as busy, pytest.raises(OSError, match="cannot listen at 127.0.0.1, port"):
        listen(port=busy.getsockname()[1])
    with pytest.raises(OSError, match="cannot listen at 192.0.2.1"):
        listen("192.0.2.1", 0)
    hosts = ("127.0.0.1", "localhost", "::1", "0.0.0.0", "example.org")
    assert [is_local(host) for host in hosts] == [True, True, True, False, False]


def test_a_request_says_which_labels_may_be_predicted(client, of_rows):
    rows = [{"weight": 0.5, "age": 0.1}]
    for asked, left in (({"labels": ["large", 0]}, {0, 2}), ({"exclude": ["large"]}, {0, 1}), ({}, {0, 1, 2})):
        for more in ({"k": 3}, {"decided": True}):
            answer = client.post("/v1/models/sizes/predict", json={"rows": rows} | asked | more).json()
            found = {one["id"] for one in answer["predictions"][0]}
            assert found == left if "k" in more else found <= left
    for asked, says in (({"labels": ["larg"]}, "Did you mean large?"), ({"labels": []}, "must be a list of"),
                        ({"exclude": [0, 1, 2]}, "leave no label"), ({"exclude": [True]}, "must be")):  # fmt: skip
        answer = client.post("/v1/models/sizes/predict", json={"rows": rows} | asked)
        assert answer.status_code == 422 and says in answer.json()["error"]
