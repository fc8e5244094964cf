"""The comparison with Annif: its corpus, its settings, and the table."""

import gzip
import json
import urllib.request

from benchmarks import annif


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
    about = {"date": "2020-01-01", "versions": {"python": "3.12"}, "threads": 2, "xmlcore_code": "abc",
             "machine": {"cpu": "a processor", "cores": 2, "memory_gib": None, "system": "Linux"}}  # fmt: skip
    runs = [one | {"what": "omikuji", "cached": took, "evaluating": took}, one | {"what": "same rows"},
            one | {"what": "xmlcore", "evaluating": took, "server_peak_bytes": 2**27}]  # fmt: skip
    text = annif.markdown(about | {"runs": runs})
    assert "| Annif's omikuji backend | 50.00 | 50.00 | 50.00 | 50.00 | 20.0 | 4.0 | 20.0 | 256 | 20.0 | 256 |" in text
    assert "| TextClassifier, served to Annif |" in text and "| 20.0 | 128 |" in text
