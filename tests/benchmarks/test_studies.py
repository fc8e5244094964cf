"""What all studies keep, and small studies: a cluster, cold starts, the dashboard, texts, readers and partial fits."""

import json
import sys
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import frontier, one_vs_rest, partial_fit, precision, readers, texts
from benchmarks.library import calibrating, comparison, files, reading, scaling_tables, studies
from tests.benchmarks import making
from xmlcore import PLT, Ranking, metrics
from xmlcore.datasets import make_synthetic, read_matrix, read_texts
from xmlcore.decisions.held_out import HeldOut

STUDIES = ("ldsm", "fals", "double_sampling", "robustness")
SMALL = ("annif", "cluster", "cold_start", "dashboard", "decisions", "estimates", "frontier", "load", "many_results",
         "one_vs_rest", "partial_fit", "precision", "readers", "serving", "soak", "texts")  # fmt: skip
LIBRARY = {
    "comparison": comparison.markdown,
    "scaling": scaling_tables.markdown,
    "amazon-670k": scaling_tables.markdown,
}


@pytest.mark.parametrize("name", [*STUDIES, *SMALL, *LIBRARY])
def test_committed_tables_are_those_of_the_committed_results(name):
    results = files.read_json(files.RESULTS / f"{name}.json")
    if name in STUDIES:
        made = studies.markdown(import_module(f"benchmarks.{name}").STUDY, results)
    else:
        made = (LIBRARY.get(name) or import_module(f"benchmarks.{name}").markdown)(results)
    assert (files.RESULTS / f"{name}.md").read_text(encoding="utf-8") == made


DOCUMENTS = ["one, text", 'a "second" one', "third"], [["a", "b"], ["b"], ["c d"]]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_files_of_texts_have_the_size_that_is_asked_for_and_can_be_read(kind, tmp_path, capsys):
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


def test_a_reader_that_loses_rows_ends_the_study(monkeypatch, tmp_path):
    monkeypatch.setattr(readers, "block", lambda kind: (b"", b"0 0:1\n" * 4))
    monkeypatch.setattr(readers, "measure", lambda *_: {"seconds": [1.0], "rows": 3, "rise": None, "others_cpu": 0.0})
    options = SimpleNamespace(largest=0, rivals=None, rivals_mb=0.001, attempts=1, out=tmp_path / "a.json")
    with pytest.raises(SystemExit, match="xmlcore read 3 rows of"):
        readers.study(options)


@pytest.mark.parametrize("name, params", [("LdSM", {"n_estimators": 2, "max_nodes": 9}), ("DoubleSampling", {})])
def test_the_three_models_are_measured_on_the_test_rows(name, params):
    data = make_synthetic(n_train=330, n_test=40, n_features=200, n_labels=8, random_state=0)
    found = partial_fit.measured(partial_fit.MODELS[name], data, 1, params)
    for which in partial_fit.NAMES:
        assert found[which]["seconds"] >= 0 and 5 < found[which]["P@1"] <= 100
    first, rest = partial_fit.divided(330, 1)
    assert (first.size, rest.size) == (300, 30) and np.array_equal(np.sort([*first, *rest]), np.arange(330))


def test_the_chosen_C_is_measured_beside_1_and_the_best_of_a_grid(monkeypatch):
    data = make_synthetic(n_train=700, n_test=10, n_features=60, n_labels=8)
    monkeypatch.setattr(one_vs_rest, "GRID", (1.0, 8.0))
    found = one_vs_rest.measure(data.X_train, data.Y_train)
    assert (found["rows"], found["labels"]) == (560, 8) and found["C"] > 0
    assert found["chosen"]["fit_s"] > 0 and found["fixed"]["fit_s"] > 0
    # A label tree of one level with C = 1 is the model with C = 1, so the grid has that, too.
    assert all(best >= fixed - 0.02 for best, fixed in zip(found["best"], found["fixed"]["P"]))
    text = one_vs_rest.markdown({"data": {"small": found}, "date": "today"})
    gained = 100 * (found["chosen"]["P"][0] - found["fixed"]["P"][0])
    assert f"| small | 560 | 8 | {found['C']:.3g} | {gained:.2f} / " in text


@pytest.mark.parametrize("name", one_vs_rest.DATA)
def test_the_chosen_C_is_at_most_0_7_points_worse_than_1(name):
    """What the documentation says of the committed figures."""
    found = files.read_json(one_vs_rest.RESULTS)["data"][name]
    assert all(chosen >= fixed - 0.007 for chosen, fixed in zip(found["chosen"]["P"], found["fixed"]["P"]))


def test_shares_add_up_to_one_and_weights_are_those_of_the_best_member():
    ranking = Ranking(np.array([[2, 0], [1, -1], [0, 1]], np.int32), np.array([[3, 1], [2, 0], [0, 0]], np.float32))
    assert frontier.shares(ranking, 3).toarray().tolist() == [[0.25, 0, 0.75], [0, 1, 0], [0, 0, 0]]
    Y = sp.csr_array(np.eye(6, dtype=bool))
    right, wrong = sp.csr_array(np.eye(6)), sp.csr_array(np.roll(np.eye(6), 1, axis=1))
    weights = frontier.best_weights([wrong, right], Y, metrics.inverse_propensity(Y))
    assert weights[1] > weights[0] and sum(weights) == pytest.approx(1)


def test_methods_and_their_mixture_are_measured_and_slow_ones_are_left_out(monkeypatch):
    data = make_synthetic(n_train=400, n_test=60, n_features=60, n_labels=8)
    monkeypatch.setattr(frontier, "METHODS", {"a": PLT(n_jobs=1), "b": PLT(n_estimators=2, n_jobs=1)})
    monkeypatch.setattr(frontier, "MEMBERS", ("a", "b"))
    lines = frontier.measure(data, 100.0, say=lambda text: None)
    assert [line["run"] for line in lines] == ["a", "b", "Mixture"]
    assert lines[2]["fit_s"] > lines[0]["fit_s"] + lines[1]["fit_s"] and sum(lines[2]["weights"].values()) == 1
    assert list(frontier.frame_of(lines)["run"]) == ["a", "b", "Mixture"]
    slow = frontier.measure(data, 0.0, say=lambda text: None)
    assert [line["run"] for line in slow] == ["a", "b"] and all("left out" in line["failed"] for line in slow)
    text = frontier.markdown({"data": {"small": {"date": "2026-01-01", "runs": [*lines, *slow]}}})
    assert "left out" in text and "**" in text


@pytest.mark.parametrize("n", [200, 5000])
def test_the_floor_of_the_calibration_error_is_what_chance_leaves(n):
    """The sum of a bin is off by a normal number, whose mean size is sqrt(2 / pi) times its standard deviation."""
    p = np.random.default_rng(1).random((n, 10))
    place = np.tile(np.arange(10), n)
    found = HeldOut(None, place, np.zeros(10 * n), None)
    for k, floor in zip((1, 5), calibrating.floor(p.ravel(), found)):
        bins = np.array_split(np.sort(p[:, :k].ravel()), 15)
        assert floor == pytest.approx(
            100 * sum(np.sqrt(2 / np.pi * (part * (1 - part)).sum()) for part in bins) / (k * n), rel=0.1
        )


def test_settings_are_tried_until_the_time_is_over_and_the_first_of_the_best_is_chosen(monkeypatch):
    Y = sp.csr_array(np.eye(4, dtype=bool))
    right, wrong = np.arange(4)[:, None] + np.array([0, 4, 4, 4, 4]), np.full((4, 5), -1)
    answers = iter([(None, wrong), ("too large", None), (None, right), (None, right), ("stopped after 1 s", None)])
    asked, figures = [], []

    def rank(library, params, **job):
        asked.append(params)
        failed, labels = next(answers)
        return {"failed": failed}, None if labels is None else np.where(labels < 4, labels, -1)

    ranker = SimpleNamespace(rank=rank, data=SimpleNamespace(Y_train=Y, Y_test=Y))
    precision.try_settings("libpecos", ranker, 3, figures, 100, keep=lambda: None)
    assert figures[:2] == [0.0, None] and figures[2] == figures[3] > 0 and len(figures) == 4
    assert asked[4] == precision.SETTINGS["libpecos"][4] | {"n_trees": 3}
    assert precision.best_setting(figures) == 2 and precision.best_setting([None]) is precision.best_setting([]) is None
    assert [precision.with_trees("omikuji", {}, 1), precision.with_trees("scikit-learn", {}, 3)] == [{"n_trees": 1}, {}]
    assert all(len(settings) in (12, 5) for settings in precision.SETTINGS.values())


def test_our_best_stands_beside_the_best_of_the_others_and_failures_are_named(tmp_path):
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
    about = dict.fromkeys(["n_train", "n_test", "n_features", "n_labels"], 20)
    one = making.ABOUT | {"about": about, "tried": {}, "trees_tried": 3, "runs": runs}
    text = precision.markdown(
        {"data": {"whole": one | {"differences": found}, "part": one | {"tried": {"napkinxc": [1.0]}}}}
    )
    assert "| whole | **+70.00 (" in text and "PLT() − a" in text and "PLT() − b" not in text
    assert "| part<br>only 1 of 12 settings tried | not measured to the end |" in text
    assert "failed: stopped after 600 s" in text and "| **best of anyone** |  | **90.00** PLT() |" in text


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
