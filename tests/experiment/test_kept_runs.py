"""The table of all kept runs."""

import json
import time

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from benchmarks.library.many_runs import make
from tests.pages.small import small_data
from xmlcore import experiment, metrics, store
from xmlcore.experiment import kept_runs


@pytest.fixture(scope="module")
def small():
    return small_data()


def test_a_line_has_what_the_run_has(data):
    from xmlcore.datasets import save_dataset

    task = experiment.task("train", {"dataset": save_dataset(data)}, {"model": "PLT", "params": {"n_estimators": 2}})
    key = experiment.keep(task)
    run, (_, line) = task.load(), next(experiment.runs().iterrows())
    assert (line["key"], line["model"], line["dataset"]) == (key, "PLT", "toy")
    assert line["params"] == run.params and line["seed"] == run.params["random_state"]
    for measure in ("P", "nDCG", "PSP", "R", "PSnDCG"):
        own = run.measures[run.measures["measure"] == f"{measure}@k"].set_index("k")["value"]
        assert [line[f"{measure}@{k}"] for k in (1, 3, 5)] == own[[1, 3, 5]].tolist()
    assert line["fit_cpu_s"] == run.times["fit_cpu_s"] > 0
    assert line["fit_s"] == run.times["fit_s"] and line["model_bytes"] == run.size["model_bytes"]
    assert line["training_bytes"] == run.memory["peak_bytes"] - run.memory["before_bytes"] < 2e8, "the data are small"
    assert line["problem"] == ""
    sets = experiment.load_run_model(key).predict(data.X_test)
    micro, macro = (metrics.precision_recall_f1(data.Y_test, sets, average=name).f1 for name in ("micro", "macro"))
    assert [line["micro F1"], line["macro F1"]] == pytest.approx([micro, macro])
    assert line["labels"] == sets.nnz / data.n_test


def test_memory_that_was_not_noted_is_unknown(small):
    records = make(3, small)
    path = store.folder("runs", records[0]["key"]) / store.META
    facts = json.loads(path.read_text())
    del facts["summary"]["memory"]
    path.write_text(json.dumps(facts))
    frame = experiment.runs([record["key"] for record in records])
    assert frame["training_bytes"].isna().tolist() == [True, False, False]
    (mean,) = experiment.seeds_grouped(frame)["training_bytes"]
    assert mean == frame["training_bytes"][1:].mean()


def test_no_predictions_are_read_and_300_runs_take_moments(small, monkeypatch):
    records = make(300, small)
    monkeypatch.setattr(store, "load", lambda *_: pytest.fail("a run was read"))
    start = time.process_time()
    frame = experiment.runs(record["key"] for record in records)
    grouped = experiment.seeds_grouped(frame)
    shown = experiment.parameters(grouped, seed=False)
    assert time.process_time() - start < 2.0  # processor time counts for more on a busy machine
    assert frame["key"].tolist() == [record["key"] for record in records]
    assert grouped["n"].sum() == 300 and set(shown.columns) == {"noise_ratio", "C"}


def test_a_run_without_a_summary_is_listed_with_the_reason(small):
    keys = [record["key"] for record in make(1, small) + make(1, small, first=3, summary=False)]
    frame = experiment.runs(keys)
    assert frame["problem"].tolist() == ["", f"the record of the run {keys[1]} has no summary; make the run again"]
    assert frame["P@1"].isna().tolist() == [False, True]


def test_seeds_are_grouped_with_mean_and_interval(small):
    keys = [record["key"] for record in make(9, small, seeds=3)]
    frame = experiment.runs(keys)
    grouped = experiment.seeds_grouped(frame)
    assert grouped["n"].tolist() == [3, 3, 1, 1, 1], "OneVsRest has no seed"
    assert grouped["keys"][0] == keys[:3] and grouped["seeds"][0] == [0, 1, 2]
    values = frame["P@1"][:3].to_numpy()
    reach = t.ppf(0.975, 2) * values.std(ddof=1) / np.sqrt(3)
    assert grouped["P@1"][0] == pytest.approx(values.mean())
    assert grouped["P@1 low"][0] == pytest.approx(max(0, values.mean() - reach))
    assert grouped["P@1 high"][0] == pytest.approx(min(1, values.mean() + reach))
    assert np.isnan(grouped["P@1 low"][2])
    assert {f"{measure} low" for measure in experiment.MORE_MEASURES} <= set(grouped)


def test_only_parameters_that_differ_within_a_model_are_columns(small):
    frame = experiment.runs(record["key"] for record in make(6, small, seeds=3))
    assert set(experiment.parameters(frame).columns) == {"random_state"}, "PLT and LdSM have other parameters"
    every = experiment.parameters(frame, every=True)
    assert {"C", "n_estimators", "noise_sigma"} <= set(every.columns)
    assert set(experiment.parameters(frame[:3], seed=False).columns) == set()


@pytest.mark.parametrize(
    ("one", "other", "differ"),
    [(1, 1.0, True), (1, True, True), (0.5, 0.5, False), (float("nan"), float("nan"), False), (0.0, -0.0, True),
     ("a", "a", False), (None, "None", True), ([1, 2], [1, 2], False), ({"a": 1}, {"a": 2}, True)],
)  # fmt: skip
def test_parameters_differ_if_json_writes_them_so(one, other, differ):
    frame = pd.DataFrame({"model": ["PLT"] * 3, "params": [{"x": one}, {"x": one}, {"x": other}]})
    assert ("x" in experiment.parameters(frame)) == differ


def test_without_runs_there_is_an_empty_table(own_cache):
    frame = experiment.runs()
    assert "mine" not in experiment.seeds_grouped(frame.assign(mine=1)), "the same columns as with runs"
    assert frame.empty and "P@1" in frame and "n" in experiment.seeds_grouped(frame)
    assert experiment.parameters(frame).empty


def test_noisy_counterparts_differ_by_the_noise_alone():
    def record(key, model="PLT", **params):
        return {"key": key, "model": model, "params": experiment.full_params(model, params)}

    plain, noisy = record("a", C=1.0), record("b", C=1.0, noise_sigma=0.05, noise_support="nonzero")
    assert kept_runs.noisy_counterparts([plain, noisy, record("c"), record("d", "LdSM")]) == [(plain, noisy)]
