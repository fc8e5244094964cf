"""What an operator sees of a server, and models that are replaced while it runs."""

import json
import os
import re
import signal
import socket
import threading
import time
import urllib.request

import numpy as np
import pytest
from serve.conftest import client_of
from serve.running import on_thread, running

from xmlcore import PLT
from xmlcore.cli import serve as serve_command
from xmlcore.models import ModelFormatError, PackedModel
from xmlcore.progress import silent
from xmlcore.serve import Served, watching

JSON = {"Content-Type": "application/json"}


def value(client, line):
    text = client.get("/metrics").text
    found = re.search(rf"^{re.escape(line)} (\S+)$", text, re.MULTILINE)
    return None if found is None else float(found[1])


def test_requests_are_counted_by_address_and_status(client):
    predict = "/v1/models/sizes/predict"
    for body in ({"rows": [{}, {"age": 1}]}, {"row": {"height": 1}}, {"row": {}}):
        client.post(predict, json=body)
    client.get("/nothing/there")
    assert value(client, 'xmlcore_requests_total{address="predict",status="200"}') == 2
    assert value(client, 'xmlcore_requests_total{address="predict",status="422"}') == 1
    assert value(client, 'xmlcore_requests_total{address="none",status="404"}') == 1
    assert value(client, 'xmlcore_rows_total{model="sizes"}') == 3
    assert value(client, 'xmlcore_request_seconds_count{address="predict"}') == 3
    assert value(client, "xmlcore_busy") == 0


def test_a_server_is_ready_while_it_takes_requests(served, monkeypatch):
    going_on, begun = threading.Event(), threading.Event()
    client = client_of(served, at_once=1, waiting=1)
    assert client.get("/ready").json() == {"status": "ready"}

    def held(rows, k, progress=silent):
        begun.set()
        going_on.wait(20)
        return PLT.predict_topk(model, rows, k)

    model = served[1].packed.model
    monkeypatch.setattr(model, "predict_topk", held)
    asking = [threading.Thread(target=client.post, args=["/v1/models/sizes/predict"], kwargs={"json": {"row": {}}})
              for _ in range(2)]  # fmt: skip
    with client:
        for thread in asking:
            thread.start()
        begun.wait(20)
        while client.get("/health").json()["busy"] < 2:
            pass
        full = client.get("/ready")
        going_on.set()
        for thread in asking:
            thread.join()
        assert (full.status_code, full.json()) == (503, {"status": "full"})
        assert client.get("/ready").status_code == 200


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has no such signal")
def test_models_are_read_again_without_a_lost_request(tmp_path):
    path = tmp_path / "model.zip"

    def write(n_labels):
        PackedModel(PLT(n_jobs=1).fit(np.eye(n_labels), [[j] for j in range(n_labels)])).save(path)

    write(3)
    with running(path, "--log") as (server, url, log):
        statuses, over = [], threading.Event()

        def n_labels():
            return json.load(urllib.request.urlopen(f"{url}/v1/models"))["models"][0]["labels"]

        def ask():
            while not over.is_set():
                asked = urllib.request.Request(f"{url}/predict", b'{"row": {"0": 1}}', JSON)
                statuses.append(urllib.request.urlopen(asked).status)

        def wait_for(condition):
            end = time.monotonic() + 20
            while not condition():
                assert time.monotonic() < end
                time.sleep(0.05)

        thread = threading.Thread(target=ask)
        thread.start()
        write(5)
        server.send_signal(signal.SIGHUP)
        wait_for(lambda: n_labels() == 5)
        path.write_bytes(b"no model")
        server.send_signal(signal.SIGHUP)
        wait_for(lambda: "the models stay as they were" in log())
        assert thread.is_alive()  # none of its requests has failed
        over.set()
        thread.join()
        assert n_labels() == 5 and len(statuses) > 2 and set(statuses) == {200}
        wait_for(lambda: log().count('"predict"') == len(statuses))  # a line is written after its answer has left
        asked = [json.loads(line) for line in log().splitlines() if '"predict"' in line]
        assert asked[0]["status"] == 200 and asked[0]["seconds"] > 0 and asked[0]["model"] == path.stem


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has no such signal")
def test_a_reload_that_hangs_is_said_and_holds_up_no_other(monkeypatch, capsys):
    hangs, replaced, said = threading.Event(), [], ""
    waiting = iter([lambda: hangs.wait(20) and "first", lambda: "second"])
    monkeypatch.setattr(serve_command, "PATIENCE", 0.05)
    before, end = signal.getsignal(signal.SIGHUP), time.monotonic() + 10
    serve_command._read_again_on_hangup(lambda: next(waiting)(), replaced.append)
    try:
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGHUP)
        while "came too late" not in said and time.monotonic() < end:
            time.sleep(0.01)
            said += capsys.readouterr().err
            if replaced:
                hangs.set()  # what was asked for first comes last: it is left out
    finally:
        signal.signal(signal.SIGHUP, before)
    assert replaced == ["second"] and "reload 1 still reads after 0.05 s" in said and "came too late" in said


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes among files")
def test_a_pipe_is_no_model_and_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "model.zip")
    with pytest.raises(ModelFormatError, match=r"model\.zip is neither a file nor a folder: write"):
        Served.read(tmp_path / "model.zip")


def test_no_answer_leads_to_the_name_in_the_header_host(client, served):
    for path in {route.path.format(name=served[0].name) for route in client.app.routes} - {"/"}:
        for method in ("GET", "POST"):
            answer = client.request(method, f"{path}/", headers={"Host": "evil.example"}, follow_redirects=False)
            assert answer.status_code == 404 and "location" not in answer.headers, path


def test_a_client_that_hangs_up_is_no_failure_of_the_server(capfd):
    packed = PackedModel(PLT(n_jobs=1).fit(np.eye(3), [[0], [1], [2]]))
    with on_thread(packed) as url:
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as connection:
            head = "POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
            connection.sendall(head.encode())
        end = time.monotonic() + 20
        while b'predict",status="400"} 1.0' not in urllib.request.urlopen(f"{url}/metrics").read():
            assert time.monotonic() < end
            time.sleep(0.05)
    assert capfd.readouterr().err == ""


def test_a_log_that_nobody_reads_stops_nothing(monkeypatch):
    written, go = [], threading.Event()
    monkeypatch.setattr(watching, "MOST_LINES", 10)
    monkeypatch.setattr("builtins.print", lambda *line, **_: go.wait(20) and written.append(line))
    log = watching._Log()
    for number in range(100):
        log.write({"number": number})
    go.set()
    while len(written) < 10:
        time.sleep(0.01)
    assert len(written) <= 11
