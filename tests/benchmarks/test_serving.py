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


def test_the_load_generator_names_unexpected_answers(port):
    requests = serving.good(["a", "b"], 1) + [(load.request("/x", {}), (404,)), (load.request("/x", {}), (200,))]
    seen = []
    found = load.run("127.0.0.1", port, requests, 1.0, 2, watch=lambda: seen.append(1))
    counts = found["statuses"]
    assert set(counts) == {"200", "404"} and sum(counts.values()) == found["requests"] and seen
    assert abs(len(found["problems"]) - found["requests"] / 4) < 4 and "404" in found["problems"][0]
    assert 0 < found["p50_ms"] <= found["p99_ms"]


def test_a_server_that_is_not_there_is_a_problem_and_no_crash():
    found = load.run("127.0.0.1", 9, serving.good(["a"], 1), 0.1, 1)
    assert set(found["statuses"]) == {"None"} and found["problems"]
