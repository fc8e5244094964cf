"""The load generator, the table of `xmlcore serve`, and the comparison with Annif."""

import gzip
import json
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from benchmarks import annif, serving
from benchmarks.library import load
from tests.benchmarks.making import ABOUT


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
    model = {"texts": 5, "labels": 3, "features": 9, "zip_bytes": 1e6}
    runs = [one | {"what": "xmlcore"}, one | {"what": "plain"}, mixed]
    text = serving.markdown(ABOUT | {"runs": runs, "model": model, "connections": 4})
    assert "| xmlcore serve | 1 | 100 | 100 | 2.0 | 9.0 | 128 | 256 | 0 |" in text
    assert "for 10 minutes: 7 requests, 1 answers" in text and "- this one" in text


def test_documents_become_a_short_text_corpus_of_annif(tmp_path):
    with gzip.open(tmp_path / "a.jsonl.gz", "wt") as file:
        file.writelines(json.dumps({"text": text, "labels": ["x", "y"]}) + "\n" for text in ("a\tb\nc", "d", "e"))
    texts, labels = annif.corpus(tmp_path / "a.jsonl.gz", tmp_path / "a.tsv", most=2)
    assert texts == ["a b c", "d"] and labels == [["x", "y"]] * 2
    line = (tmp_path / "a.tsv").read_text().splitlines()[0]
    assert line == "a b c\t<http://example.org/x> <http://example.org/y>"
    annif.settings(tmp_path, {"rows": "http://127.0.0.1:1/suggest"})
    text = (tmp_path / "projects.cfg").read_text()
    assert "[omikuji]" in text and "[rows]" in text and "endpoint=http://127.0.0.1:1/suggest" in text


def test_subjects_that_are_known_are_looked_up_by_the_text():
    with annif.looked_up({"a b": [{"uri": "u", "label": "u", "score": 0.5}]}) as place:
        with urllib.request.urlopen(place, b"text=a+b%0A&limit=5", timeout=10) as answer:
            assert json.load(answer)["results"][0]["uri"] == "u"
        with urllib.request.urlopen(place.replace("/suggest", ""), timeout=10) as answer:
            assert json.load(answer)["is_trained"] is True


def test_the_table_has_all_contestants():
    took = {"seconds": 20.0, "cpu_s": 4.0, "peak_bytes": 2**28}
    one = {"texts": 5, "test_texts": 2, "labels": 3, "training": took, "measures": dict.fromkeys(annif.MEASURES, 0.5)}
    runs = [one | {"what": "omikuji", "cached": took, "evaluating": took}, one | {"what": "same rows"},
            one | {"what": "xmlcore", "evaluating": took, "server_peak_bytes": 2**27}]  # fmt: skip
    text = annif.markdown(ABOUT | {"runs": runs})
    assert "| Annif's omikuji backend | 50.00 | 50.00 | 50.00 | 50.00 | 20.0 | 4.0 | 20.0 | 256 | 20.0 | 256 |" in text
    assert "| TextClassifier, served to Annif |" in text and "| 20.0 | 128 |" in text
