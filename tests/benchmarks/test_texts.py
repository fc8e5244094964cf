"""The study of texts: the files that it makes, and its tables."""

import json

import pytest

from benchmarks import texts
from xmlcore.datasets import read_texts

DOCUMENTS = ["one, text", 'a "second" one', "third"], [["a", "b"], ["b"], ["c d"]]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_files_have_the_size_that_is_asked_for_and_can_be_read(kind, tmp_path, capsys):
    count = texts.write_file(tmp_path / "file", kind, *DOCUMENTS, 0.01, 2)
    found, label_lists = read_texts(tmp_path / "file")
    assert len(found) == count > 400 and found[0] == 'one, text\na "second" one' and label_lists[0] == ["a", "b"]
    texts.read_once(tmp_path / "file")
    run = json.loads(capsys.readouterr().out)
    assert run["documents"] == count and run["seconds"] >= 0 and run["rise"] >= 0


def test_tables_name_what_was_measured():
    machine = {"cpu": "a processor", "cores": 2, "memory_gib": 8.0, "system": "Linux"}
    words = [texts.vectorised(["one two three", "one two"] * 20, ngrams) for ngrams in texts.NGRAMS]
    reading = {"step": "reading", "kind": "csv", "bytes": 2e8, "documents": 160_000, "seconds": 3.0, "rise": 2.1e8}
    training = {"step": "training", "labels": 15, "seconds": 9.0}
    results = {"runs": [reading, *(run | {"seconds": 1.0} for run in words), training], "documents": 40}
    about = {"machine": machine, "versions": {}, "xmlcore_code": "a", "date": "today", "threads": 2}
    shown = texts.markdown(results | about)
    assert "| csv | 160,000 | 200 | 3 | 210 |" in shown and "| up to 2 words |" in shown
    assert "for 15 labels, takes 9 s of processor time: words are 10 % of both." in shown
