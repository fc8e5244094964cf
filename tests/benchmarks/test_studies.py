"""What all studies keep, and small studies: a cluster, cold starts, the dashboard, texts, readers and partial fits."""

import json
import sys
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import cluster, cold_start, dashboard, frontier, many_results, one_vs_rest, partial_fit, readers, texts
from benchmarks.library import browser, comparison, default_data, files, reading, scaling_tables, studies
from tests.benchmarks.making import ABOUT
from xmlcore import PLT, Ranking, metrics
from xmlcore.datasets import make_synthetic, read_matrix, read_texts

STUDIES = ("ldsm", "fals", "double_sampling", "robustness")


def tables(name):
    """Return the file of results, and the tables that its study makes of them."""
    path = files.RESULTS / f"{name}.json"
    results = json.loads(path.read_text(encoding="utf-8"))
    if name in STUDIES:
        return path, studies.markdown(import_module(f"benchmarks.{name}").STUDY, results)
    return path, (comparison if name == "comparison" else scaling_tables).markdown(results)


@pytest.mark.parametrize("name", [*STUDIES, "scaling", "amazon-670k", "comparison"])
def test_committed_tables_are_those_of_the_committed_results(name):
    path, made = tables(name)
    assert path.with_suffix(".md").read_text(encoding="utf-8") == made


@pytest.mark.parametrize(
    ("path", "study"),
    [(frontier.RESULTS, frontier), (partial_fit.RESULT, partial_fit), (one_vs_rest.RESULTS, one_vs_rest)],
)
def test_committed_tables_of_small_studies_are_those_of_their_results(path, study):
    results = files.read_json(path)
    assert path.with_suffix(".md").read_text(encoding="utf-8") == study.markdown(results)
    if study is frontier:
        assert frontier.as_json(results) == path.read_text(encoding="utf-8")
    elif study is partial_fit:
        assert {run["model"] for run in results["runs"]} == partial_fit.MODELS.keys()
    else:
        assert set(results["data"]) == set(one_vs_rest.DATA)


def test_the_table_has_the_gain_and_the_model_counts_rounds_of_jobs():
    one = {"workers": 1, "first_s": 9.0, "seconds": 40.0, "job_s": 1.9, "fit_s": 1.5, "data_bytes": 4e6,
           "result_bytes": 2e6}  # fmt: skip
    two = {**one, "workers": 2, "seconds": 25.0}
    text = cluster.markdown(
        {**ABOUT, "threads": 1, "runs": [one, two], "count": 20, "data": "api-docs", "model": "PLT"}
    )
    assert "| 2 | 25.0 | 1.60 | 1.90 | 1.50 | 9.0 |" in text and "| 4 | 10.0 | 100.0 |" in text
    assert cluster.cost(2.0, 16, 20) == cluster.cost(2.0, 10, 20) == 4.0  # two rounds


def test_processes_begin_with_different_pieces_and_everything_is_what_users_compile():
    (alone,) = cold_start.commands("label trees", 1, "api-docs")
    one, other = cold_start.commands("label trees", 2, "api-docs")
    assert alone == one and set(one) == set(other)
    assert one[-2:] == other[:-3:-1] == list(cold_start.LABEL_TREES)
    (command,) = cold_start.commands("everything", 2, "api-docs")
    assert command[1:] == ["-m", "xmlcore.warm_up", "--jobs", "2"]


def test_tables_name_each_measurement_with_its_processes():
    base = {"processes": 2, "seconds": 9.96, "cpu_s": 18.5, "bytes": 3_100_000, "others_cpu": 0.02}
    results = {
        **ABOUT, "data": "toy", "runs": [
            base | {"what": "label trees"}, base | {"what": "everything", "processes": 1},
            base | {"what": "PLT", "press_to_result_s": 11.26, "compile_s": 9.0, "fit_s": 0.75},
        ],
    }  # fmt: skip
    text = cold_start.markdown(results)
    assert "| kernels of label trees | 2 | 10.0 | 18.5 | 3.1 |" in text
    assert "| all kernels | 1 |" in text
    assert "| PLT | 11.3 | 9.0 | 0.8 |" in text and "on toy" in text


@pytest.mark.slow
def test_every_part_of_making_the_default_data_set_is_timed():
    found = default_data.measure()
    parts = ("importing_s", "reading_s", "counting_s", "saving_s", "loading_s", "describing_s")
    assert list(found) == [*parts, "total_s", "cpu_s"]
    assert all(seconds > 0 for seconds in found.values())
    assert found["total_s"] == sum(found[part] for part in parts)


def test_the_table_has_percentiles_and_names_what_takes_longer_than_a_second():
    values = np.random.default_rng(0).permutation(100).tolist()
    assert browser.percentile_95(values) == 94
    assert browser.percentile_95([3.0]) == 3.0
    results = {
        **ABOUT, "data": "toy", "rounds": 2, "runs": [
            {"page": "Train", "what": "open", "seconds": [0.5, 1.5]},
            {"page": "Data", "what": "random row", "seconds": [0.2, 0.4]},
        ],
    }  # fmt: skip
    text = dashboard.markdown(results)
    assert "2 interactions, 2 rounds" in text and "at most 1.50 s" in text
    assert "Longer than one second in a round: Train: open." in text
    assert "| Data | random row | 0.30 | 0.40 |" in text and "While a training runs" not in text
    results["busy"] = [{"page": "Trees", "what": "open", "seconds": [1.0, 2.5]}]
    text = dashboard.markdown(results)
    assert "on all cores: median 1.75 s, at most 2.50 s." in text and "| Trees | open | 1.75 | 2.50 |" in text


def test_28_interactions_with_the_compare_page_and_55_with_all_pages_are_timed():
    assert len(many_results.INTERACTIONS["Compare"]) == 28
    runs = [{"page": "Compare", "what": "open", "seconds": [0.5, 0.7]}]
    results = {**ABOUT, "data": "toy", "rounds": 2, "count": 1000, "runs": runs}
    text = many_results.markdown(results)
    assert "With 1,000 results on toy: 1 interactions, 2 rounds." in text and "in a round: none." in text
    assert sum(1 + len(interactions) for interactions in dashboard.INTERACTIONS.values()) == 55


DOCUMENTS = ["one, text", 'a "second" one', "third"], [["a", "b"], ["b"], ["c d"]]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_files_of_texts_have_the_size_that_is_asked_for_and_can_be_read(kind, tmp_path, capsys):
    count = texts.write_file(tmp_path / "file", kind, *DOCUMENTS, 0.01, 2)
    found, label_lists = read_texts(tmp_path / "file")
    assert len(found) == count > 400 and found[0] == 'one, text\na "second" one' and label_lists[0] == ["a", "b"]
    texts.read_once(tmp_path / "file")
    run = json.loads(capsys.readouterr().out)
    assert run["documents"] == count and run["seconds"] >= 0 and run["rise"] >= 0


def test_tables_name_what_was_measured():
    words = [texts.vectorised(["one two three", "one two"] * 20, ngrams) for ngrams in texts.NGRAMS]
    reading = {"step": "reading", "kind": "csv", "bytes": 2e8, "documents": 160_000, "seconds": 3.0, "rise": 2.1e8}
    training = {"step": "training", "labels": 15, "seconds": 9.0}
    results = {"runs": [reading, *(run | {"seconds": 1.0} for run in words), training], "documents": 40}
    shown = texts.markdown(ABOUT | results)
    assert "| csv | 160,000 | 200 | 3 | 210 |" in shown and "| up to 2 words |" in shown
    assert "for 15 labels, takes 9 s of processor time: words are 10 % of both." in shown


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
    results = {
        **ABOUT, "rivals_mb": 10, "runs": [
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


@pytest.mark.parametrize("name, params", [("LdSM", {"n_estimators": 2, "max_nodes": 9}), ("DoubleSampling", {})])
def test_the_three_models_are_measured_on_the_test_rows(name, params):
    data = make_synthetic(n_train=330, n_test=40, n_features=200, n_labels=8, random_state=0)
    found = partial_fit.measured(partial_fit.MODELS[name], data, 1, params)
    for which in partial_fit.NAMES:
        assert found[which]["seconds"] >= 0 and 5 < found[which]["P@1"] <= 100
    first, rest = partial_fit.divided(330, 1)
    assert (first.size, rest.size) == (300, 30) and np.array_equal(np.sort([*first, *rest]), np.arange(330))


def test_the_table_has_the_change_and_the_cost():
    def fit(more):
        return {"seconds": 0.5 * more + 1, "P@1": 60.0 - more, "P@3": 40.0, "P@5": 30.0}

    fits = [{"all": fit(0), "first": fit(3), "more": fit(at) | {"seconds": 0.1}} for at in (0, 2)]
    shown = partial_fit.markdown({**ABOUT, "runs": [{"model": "LdSM", "data": "bibtex", "fits": fits}], "threads": 1})
    assert "| bibtex | 60.00 / 40.00 / 30.00 | 57.00 / 40.00 / 30.00 | 59.00 / 40.00 / 30.00 | -1.00 ± 12.71 |" in shown
    assert shown.splitlines()[-4].endswith("| 10.0 % |") or "| 1 | 10.0 % |" in shown


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
def test_the_chosen_C_is_at_most_half_a_point_worse_than_1(name):
    """What the documentation says of the committed figures."""
    found = files.read_json(one_vs_rest.RESULTS)["data"][name]
    assert all(chosen >= fixed - 0.005 for chosen, fixed in zip(found["chosen"]["P"], found["fixed"]["P"]))


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
