"""Committed tables, the steps of reading and of comparing precision, and the growth study from beginning to end."""

import json
import sys
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import precision, readers, scaling, texts
from benchmarks.library import comparison, data, files, reading, scaling_tables
from tests.benchmarks import making
from xmlcore import PLT, metrics
from xmlcore.datasets import make_synthetic, read_matrix, read_texts

COMMANDS = ("cold_start", "dashboard", "labelling", "learning", "load", "memory", "one_tree", "precision", "readers",
            "review", "reviewers", "serving", "soak", "text_rivals", "texts")  # fmt: skip
LIBRARY = {
    "comparison": comparison.markdown,
    "scaling": scaling_tables.markdown,
    "amazon-670k": scaling_tables.markdown,
}


@pytest.mark.parametrize("name", [*COMMANDS, *LIBRARY])
def test_committed_tables_are_those_of_the_committed_results(name):
    made = LIBRARY.get(name) or import_module(f"benchmarks.{name}").markdown
    text = (files.RESULTS / f"{name}.md").read_text(encoding="utf-8")
    assert text == made(files.read_json(files.RESULTS / f"{name}.json"))


DOCUMENTS = ["one, text", 'a "second" one', "third"], [["a", "b"], ["b"], ["c d"]]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_files_of_texts_have_their_size_and_can_be_read(kind, tmp_path, capsys):
    count = texts.write_file(tmp_path / "file", kind, *DOCUMENTS, 0.01, 2)
    found, label_lists = read_texts(tmp_path / "file")
    assert len(found) == count > 400 and found[0] == 'one, text\na "second" one' and label_lists[0] == ["a", "b"]
    texts.read_once(tmp_path / "file")
    run = json.loads(capsys.readouterr().out)
    assert run["documents"] == count and run["seconds"] >= 0 and run["rise"] >= 0


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


def test_a_reader_that_loses_rows_ends_the_study(monkeypatch):
    monkeypatch.setattr(readers, "block", lambda kind: (b"", b"0 0:1\n" * 4))
    monkeypatch.setattr(readers, "measure", lambda *_: {"seconds": [1.0], "rows": 3, "rise": None, "others_cpu": 0.0})
    options = SimpleNamespace(largest=0, rivals=None, rivals_mb=0.001, attempts=1)
    with pytest.raises(SystemExit, match="xmlcore read 3 rows of"):
        next(readers.study(options))


def test_our_best_stands_beside_the_best_of_the_others(tmp_path):
    Y = sp.csr_array(np.eye(20, dtype=bool))
    data, weights, runs = SimpleNamespace(Y_test=Y), metrics.inverse_propensity(Y), []
    usual = {"version": None, "timed": False, "train_s": 1.5, "ms_per_row": 0.5}
    for name, library, right in [("PLT()", "xmlcore", 18), ("OneVsRest()", "xmlcore", 3), ("a", "", 4), ("b", "", 2)]:
        labels = np.full((20, 5), -1)
        labels[:, 0] = np.where(np.arange(20) < right, np.arange(20), 0)
        np.savez(tmp_path / f"{name}.npz", labels=labels)
        measures = precision.with_intervals(data, weights, labels)
        runs.append(usual | {"contestant": name, "library": library, "measures": measures})
    found = precision.differences(data, weights, runs, tmp_path)
    assert found["P@1"]["PLT()"][0] == pytest.approx(70) and found["P@1"]["PLT()"][3] == "a"
    low, high = found["P@1"]["OneVsRest()"][1:3]
    assert low < 0 <= high  # one row of twenty is no difference
    runs.append({"contestant": "c", "library": "", "timed": False, "version": 2, "failed": "stopped after 600 s"})
    here, timing = SimpleNamespace(times=False), SimpleNamespace(times=True)
    assert precision.is_done("a", None, {"runs": runs}, tmp_path, here)
    assert not precision.is_done("a", None, {"runs": runs}, tmp_path, timing)
    assert not precision.is_done("a", None, {"runs": runs}, tmp_path / "lost", here)
    assert [precision.is_done("c", version, {"runs": runs}, tmp_path, here) for version in (2, 3)] == [True, False]


@pytest.mark.parametrize("more", [["--only", "PLT()", "omikuji"], ["--only", "PLT()"], []], ids=str)
def test_libraries_that_are_not_there_are_left_out_once(more, tmp_path, monkeypatch, capsys):
    asked = []

    class Ranker(precision.Ranker):
        def rank(self, library, params, *args, **job):
            asked.append(library)
            labels = np.tile(np.arange(5), (len(self.data.Y_test.indptr) - 1, 1))
            return {"failed": None, "params": params, "train_s": 1.0, "ms_per_row": 1.0}, labels

    making.write_data(tmp_path, "tiny")
    monkeypatch.setattr(precision, "Ranker", Ranker)
    absent = {library: {"error": "No module named it"} for library in precision.RIVALS}
    monkeypatch.setattr(precision, "ask_versions", lambda *given: absent)
    out = ["--out", str(tmp_path / "o.json"), "--labels", str(tmp_path / "labels")]
    monkeypatch.setattr(sys, "argv", ["precision", str(tmp_path), *out, *more])
    precision.main()
    assert set(asked) == {"xmlcore"} and len(asked) == (1 if more else len(precision.OURS))
    assert capsys.readouterr().err.count("omikuji is left out") == ("PLT()" not in more or "omikuji" in more)
    assert "nothing to compare" in (tmp_path / "o.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("folder, message", [("nowhere", "there is no folder"), (".", "no NAME/train.txt.gz")])
def test_a_folder_without_data_is_refused(folder, message, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["precision", str(tmp_path / folder)])
    with pytest.raises(SystemExit):
        precision.main()
    assert message in capsys.readouterr().err


def test_the_seconds_of_each_phase_are_added_up():
    phases = scaling.Phases()
    phases.begun = [("A", 2.0), ("B", 5.0), ("A", 9.0)]
    assert phases.seconds(1.0, 10.0) == {"Checking the input": 1.0, "A": 4.0, "B": 4.0}


@pytest.mark.parametrize("arity", [2, 5])
def test_work_is_counted_as_by_hand(arity):
    data = make_synthetic(n_train=60, n_test=1, n_labels=40, n_features=50, features_per_row=5)
    model = PLT(arity=arity, max_leaf_labels=4, n_jobs=1).fit(data.X_train, data.Y_train)
    tree = model.trees_[0]
    if arity == 5:
        assert np.unique(tree.depth[tree.leaf_of_label]).size > 1  # leaves of several depths
    expected = 0
    for i in range(60):
        labels = data.Y_train.indices[data.Y_train.indptr[i] : data.Y_train.indptr[i + 1]]
        nodes = set()
        for leaf in tree.leaf_of_label[labels]:
            while (leaf := int(tree.parent[leaf])) >= 0:
                nodes.add(leaf)
        expected += len(nodes) * int(data.X_train.indptr[i + 1] - data.X_train.indptr[i])
    assert scaling.node_nonzeros(tree, data.X_train, data.Y_train) == expected


@pytest.fixture
def run(tmp_path):
    """What the two processes of a point do, here in one."""
    sizes = {"n_train": 120, "n_test": 30, "n_features": 80, "n_labels": 150, "features_per_row": 8}
    job = {"threads": 1, "data": str(tmp_path)}
    about = data.make(job | {"make": sizes})
    params = scaling.PARAMS | {"arity": 2, "max_leaf_labels": 20}
    job |= {"about": about, "params": params, "repeat": False, "limit_bytes": None, "tell_every": None}
    found = scaling.measure(job | {"count_work": True})
    return json.loads(json.dumps({"axes": ["N"], "arity": 2, "others_cpu": 0.0} | about | found))


def options(**more):
    defaults = {"threads": 2, "params": {}, "quick": False, "scale": 0.1, "limit_gb": 12.0}
    return SimpleNamespace(**defaults | more)


def test_a_point_is_measured_from_beginning_to_end(run):
    assert run["n_train"] == 120 and run["n_labels"] == 150 and run["depth"] >= 2
    assert run["train_s"] > 0 and run["exact_us"] > 0 and run["beam_us"] > 0
    assert sum(run["phases_s"].values()) == pytest.approx(run["train_s"])
    assert scaling_tables.clustering_s(run) > 0
    assert run["node_nonzeros"] > run["nonzeros"]
    for name in ("exact_precision", "beam_precision", "frequency_precision"):
        assert len(run[name]) == 3 and 0 <= min(run[name]) <= max(run[name]) <= 100


def test_a_part_has_the_most_frequent_labels_and_all_test_rows():
    Y = np.zeros((6, 3), bool)
    Y[[0, 1, 2], 2] = Y[[2, 3], 0] = Y[4, 1] = True  # row 5 has none
    X = np.arange(1, 13, dtype=np.float32).reshape(6, 2)
    toy = data.Dataset("toy", X, Y, X, Y)
    part = data.frequent_part(toy, 2)
    assert part.X_train.toarray().tolist() == X[:4].tolist()
    assert part.Y_train.toarray().tolist() == Y[:4][:, [0, 2]].tolist()
    assert part.Y_test.toarray().tolist() == Y[:, [0, 2]].tolist()
    labels = np.tile(np.array([1, 0, -1, -1, -1], np.int32), (6, 1))
    assert scaling.percent(part.Y_test, labels)[0] == pytest.approx(100 * 3 / 4)  # of the rows that have a label
