"""The load generator, and the table of `xmlcore serve`."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from benchmarks import serving
from benchmarks.library import load


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body go out together

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200 if self.path == "/predict" else 404)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args):
        pass


@pytest.fixture
def port():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def test_the_load_generator_counts_answers_and_names_those_that_are_not_as_expected(port):
    requests = serving.good(["a", "b"], 1) + [(load.request("/x", {}), (404,)), (load.request("/x", {}), (200,))]
    seen = []
    found = load.run("127.0.0.1", port, requests, 0.3, 2, watch=lambda: seen.append(1))
    counts = found["statuses"]
    assert set(counts) == {"200", "404"} and sum(counts.values()) == found["requests"] > 20 and seen
    assert abs(len(found["problems"]) - found["requests"] / 4) < 4 and "404" in found["problems"][0]
    assert 0 < found["p50_ms"] <= found["p99_ms"]


def test_a_server_that_is_not_there_is_a_problem_and_no_crash():
    found = load.run("127.0.0.1", 9, serving.good(["a"], 1), 0.1, 1)
    assert set(found["statuses"]) == {"None"} and found["problems"]


def test_the_table_has_both_servers_and_the_minutes_of_mixed_requests():
    one = {"batch": 1, "requests": 1000, "seconds": 10.0, "p50_ms": 2.0, "p99_ms": 9.0, "problems": [],
           "texts_per_s": 100.0, "idle_bytes": 2**27, "peak_bytes": 2**28}  # fmt: skip
    mixed = {"what": "mixed", "minutes": 10, "requests": 7, "problems": ["this one"], "statuses": {"200": 4, "422": 3},
             "settled_bytes": 2**27, "end_bytes": 2**27}  # fmt: skip
    about = {"date": "2020-01-01", "versions": {"python": "3.12"}, "threads": 2, "xmlcore_code": "abc",
             "machine": {"cpu": "a processor", "cores": 2, "memory_gib": None, "system": "Linux"}}  # fmt: skip
    model = {"texts": 5, "labels": 3, "features": 9, "zip_bytes": 1e6}
    runs = [one | {"what": "xmlcore"}, one | {"what": "plain"}, mixed]
    text = serving.markdown(about | {"runs": runs, "model": model, "connections": 4})
    assert "| xmlcore serve | 1 | 100 | 100 | 2.0 | 9.0 | 128 | 256 | 0 |" in text
    assert "for 10 minutes: 7 requests, 1 answers" in text and "- this one" in text
