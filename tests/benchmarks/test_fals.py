"""The study of feature selection: parts from beginning to end, fair splits, and what the tables say."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import fals
from benchmarks.library import fals_tables, studies
from tests.benchmarks import making

STUDY = fals.STUDY


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for seed, name in enumerate((*fals.DATA[:2], fals_tables.CUT[0], "bibtex")):
        making.write_data(folder, name, n_train=90, n_test=30, random_state=seed)
    return making.options(folder)


def measured(name, options, keep):
    """A part of which some points are measured, as read from its file; and the study with these points alone."""
    part = STUDY.parts[name]
    study = STUDY._replace(
        parts=STUDY.parts | {name: part._replace(plan=lambda given: [one for one in part.plan(given) if keep(one)])}
    )
    found = json.loads(json.dumps(studies.run_part(study, name, options)))
    assert found["complete"] and found["runs"] and not any("failed" in run for run in found["runs"])
    for n in range(len(found["runs"])):  # tables are written after every point
        studies.part_markdown(study, name, found | {"runs": found["runs"][:n], "complete": False})
    return study, found


def test_splits_are_two_to_one_of_joined_rows_with_labels_cut_to_the_most_frequent(tmp_path):
    X, Y = sp.csr_array(np.arange(1, 61, dtype=np.float32)[:, None]), sp.csr_array(np.ones((60, 1), bool))
    train, _, test, _ = fals.split(X, Y, 0)
    assert train.shape[0] == 40 and test.shape[0] == 20
    assert sorted([*train.data, *test.data]) == sorted(X.data)
    assert set(train.data) != set(fals.split(X, Y, 1)[0].data)
    Y = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 0, 0]], bool)
    for part, matrix in (("X_train", np.eye(5)[:3]), ("X_test", np.eye(5)[3:]), ("Y_train", Y[:3]), ("Y_test", Y[3:])):
        matrix = sp.csr_array(matrix)
        for name in ("data", "indices", "indptr"):
            np.save(tmp_path / f"{part}.{name}.npy", getattr(matrix, name))
    job = {"data": str(tmp_path), "rows": None, "about": {"n_features": 5, "n_labels": 3}}
    joined, labels = fals.joined(job)
    assert np.array_equal(joined.toarray(), np.eye(5)) and np.array_equal(labels.toarray(), Y)
    cut, labels = fals.joined(job | {"n_labels": 2})
    assert np.array_equal(labels.toarray(), Y[[0, 1, 2, 4]][:, [0, 2]]) and cut.shape[0] == 4


def test_every_method_of_the_plan_is_there_and_the_verdict_counts_measures_by_their_direction():
    for how in [*fals_tables.METHODS.values(), *fals.SHARE_METHODS.values()]:
        assert how is None or fals.new_selector(how, 3, {"threads": 1}).n_features == fals_tables.SHARE
    assert set(fals_tables.PAPER) == set(fals.DATA) == set(fals_tables.PAPER_SECONDS)
    for values in fals_tables.PAPER.values():
        assert set(values) == set(fals_tables.FOUR) and all(
            len(v) == len(fals_tables.PAPER_METHODS) for v in values.values()
        )
    found = {"one": {fals_tables.ALL: run((0.1, 0.5, 0.3, 0.6)), "FALS": run((0.2, 0.4, 0.3, 0.7))}}
    text = fals_tables.verdict(found, [fals_tables.ALL, "FALS"], fals_tables.FOUR)
    assert "in **2 of 4** measures" in text
    assert [part.split()[0] for part in text.split(": ", 1)[1].split(", ") if "not" in part] == ["HL", "RL"]
    assert fals_tables.verdict({"one": {"FALS": run((0, 0, 0, 0))}}, [fals_tables.ALL, "FALS"], fals_tables.FOUR) == ""


def run(values):
    return {"fits": [{"measures": dict(zip((*fals_tables.FOUR, "micro-AUC"), values))}]}


@pytest.mark.slow
@pytest.mark.long
def test_the_reproduction_is_measured_from_beginning_to_end(options):
    study, found = measured("reproduction", options, lambda one: one.named["method"] in (fals_tables.ALL, "FALS"))
    text = studies.part_markdown(study, "reproduction", found)
    assert making.is_whole(text) and "A trial" in text and str(options.folder) not in text
    assert "average over 2 data sets" in text and "Wilcoxon" in text and "(0.6193)" in text
    fit = found["runs"][0]["fits"][0]
    assert set(fit["measures"]) == set(fals_tables.MEASURES) and found["runs"][0]["n_rows"] == 120


@pytest.mark.slow
@pytest.mark.usefixtures("in_this_process")
def test_times_of_forests_are_in_proportion_and_limits_are_judged(options):
    study, found = measured("time", options, lambda one: one.named["data"] in ("20ng", fals_tables.CUT[0]))
    run, cut = found["runs"]
    assert run["labels_timed"] == 5 and len(run["fals_s"]) == 4 and set(run["seconds"]) >= {"RF", "RF, one set"}
    text = studies.part_markdown(study, "time", found)
    assert making.is_whole(text) and "20ng 5 of 6" in text and "asked at most 600 s: yes" in text and cut["L"] == 6


@pytest.mark.slow
@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("name, keep", [
    ("scaling", lambda one: one.named["axes"] == ["H"]),
    ("patterns", lambda one: one.named["data"] == "20ng" and one.named["method"] in ("FALS", "FIMS")),
    ("share", lambda one: one.named["data"] == "20ng" and one.named["method"] in (fals_tables.ALL, "FAMS")),
    pytest.param("similarity", lambda one: one.named["data"] == "20ng", marks=[pytest.mark.slow, pytest.mark.long]),
    ("leaves", lambda one: one.named["data"] == "20ng" and one.named["method"] == "FALS"),
])  # fmt: skip
def test_parts_are_measured_from_beginning_to_end(options, monkeypatch, name, keep):
    small = fals.BASE | {"n_train": 150, "n_features": 30, "n_labels": 5, "features_per_row": 6.0}
    monkeypatch.setattr(fals, "QUICK_BASE", small)
    study, found = measured(name, options, keep)
    text = studies.part_markdown(study, name, found)
    assert making.is_whole(text) and "A trial" in text and str(options.folder) not in text
