"""The study of readers: the files that it makes, its measurements, and its tables."""

import sys
from types import SimpleNamespace

import pytest

from benchmarks import readers
from benchmarks.library import reading
from xmlcore.datasets import read_matrix


@pytest.mark.filterwarnings("ignore::xmlcore.datasets.DatasetWarning")
@pytest.mark.parametrize("kind", readers.TITLES)
def test_files_have_the_size_that_is_asked_for_and_can_be_read(kind, tmp_path):
    made = readers.block(kind, 80)
    for megabytes in (0, 0.3, 2):
        n_rows = readers.write_file(tmp_path / "file", kind, megabytes, made)
        X, Y, _, _ = read_matrix(tmp_path / "file")
        assert X.shape[0] == Y.shape[0] == n_rows and Y.nnz
        size = (tmp_path / "file").stat().st_size
        assert megabytes < 0.5 or abs(size - megabytes * 1e6) < 5000
    assert reading.measure("xmlcore", tmp_path / "file", tmp_path / "file")["rows"] == n_rows


def test_a_measurement_has_a_process_of_its_own(tmp_path):
    readers.write_file(tmp_path / "file", "xmlc", 0, readers.block("xmlc", 80))
    run = readers.measure("xmlcore", sys.executable, tmp_path / "file", tmp_path / "file", 1, 1)
    assert run["rows"] == 1 and len(run["seconds"]) > 1
    run = readers.measure("xmlcore", sys.executable, tmp_path / "file", tmp_path / "file", 1, 1, keeps=True)
    assert len(run["seconds"]) == len(run["system"]) > 2 and min(run["system"]) >= 0
    run = readers.measure("xmlcore", sys.executable, tmp_path / "none", tmp_path / "file", 1, 1)
    assert "FileNotFoundError" in run["failed"]


def test_tables_compare_with_xmlcore_and_show_the_cost_per_byte():
    base = {"kind": "arff", "reader": "xmlcore", "mb": 10, "bytes": 10_000_000, "rise": 20_000_000, "others_cpu": 0.02}
    base |= {"keeps": False}
    kept = base | {"keeps": True, "system": [0.03, 0, 0]}
    machine = {"cpu": "a processor", "cores": 2, "memory_gib": 8.0, "system": "Linux"}
    results = {
        "date": "2025-01-01", "machine": machine, "versions": {"numba": "1"}, "threads": 2, "rivals_mb": 10,
        "xmlcore_code": "abc", "runs": [
            base | {"seconds": [0.1, 0.2, 0.1]},
            base | {"reader": "liac-arff", "seconds": [2.5]},
            kept | {"mb": 1, "bytes": 1_000_000, "seconds": [0.05, 0.02, 0.02], "rise": None},
            kept | {"mb": 100, "bytes": 100_000_000, "seconds": [3.0, 1.5, 0.5]},
            {"kind": "dense", "reader": "scipy", "mb": 10, "keeps": False, "failed": "exit code 1", "others_cpu": None},
        ],
    }  # fmt: skip
    text = readers.markdown(results)
    assert "| ARFF, sparse | liac-arff | 2.5 | 4 | 25.00× | 2.0× |" in text
    assert "| ARFF, sparse | 1 | 0.02 | 20 | 2.00× | 0.05 | 0.03 | – |" in text
    assert "| ARFF, sparse | 100 | 1 | 10 | 1.00× | 3 | 0.03 | 0.2× |" in text
    assert "ARFF, dense, 10 MB, scipy: failed, exit code 1." in text


def test_a_reader_that_loses_rows_ends_the_study(monkeypatch, tmp_path):
    monkeypatch.setattr(readers, "block", lambda kind: (b"", b"0 0:1\n" * 4))
    monkeypatch.setattr(readers, "measure", lambda *_: {"seconds": [1.0], "rows": 3, "rise": None, "others_cpu": 0.0})
    options = SimpleNamespace(largest=0, rivals=None, rivals_mb=0.001, attempts=1, out=tmp_path / "a.json")
    with pytest.raises(SystemExit, match="xmlcore read 3 rows of"):
        readers.study(options)
