"""The study of double sampling: parts from beginning to end, what is chosen by which rows, and what the tables say."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import double_sampling
from benchmarks.library import data as library_data
from benchmarks.library import studies
from tests.benchmarks import making
from xmlcore import DoubleSampling, metrics

STUDY = double_sampling.STUDY


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for seed, name in enumerate(double_sampling.DATA):
        sizes = {"n_train": 160, "n_features": 60, "n_labels": 9, "labels_per_row": 1.0}
        making.write_data(folder, name, **sizes, random_state=seed)
    return making.options(folder, out=folder / "results.json", rivals=None)


def test_settings_are_judged_by_rows_that_they_did_not_learn_from():
    X, Y = sp.csr_array(np.arange(1, 51, dtype=np.float32)[:, None]), sp.csr_array(np.ones((50, 1), bool))
    for split in double_sampling.SPLITS:
        mine, _, others, _ = double_sampling.held_out(X, Y, split)
        assert others.shape[0] == 10 and set(mine.data) | set(others.data) == set(X.data)
        assert not set(mine.data) & set(others.data)


def test_what_is_chosen_has_the_largest_sum_of_its_part(tmp_path):
    def run(part, setting, params, values):
        fits = [
            {"params": params, "q": q, "split": split, "accuracy": a, "macro_f1": 0, "recall": 1, "train_s": 1,
             "ms": 1, "risk": 0}
            for q, both in values.items() for split, a in enumerate(both)
        ]  # fmt: skip
        return {"data": "aloi", "setting": setting, "fits": fits}

    out = tmp_path / "results.json"
    parts = {
        "choose": {"runs": [
            run("choose", "", {"n_adversarial": 1}, {3: (9, 1), 5: (6, 5)}),
            run("choose", "", {"n_adversarial": 2}, {3: (4, 4), 5: (4, 4)}),
        ]},
        "extensions": {"runs": [
            run("extensions", "linear SVM", {"loss": "squared_hinge"}, {3: (99, 99)}),
            run("extensions", "leave one out", {"leave_one_out": True}, {3: (2, 2), 10: (3, 3)}),
        ]},
    }  # fmt: skip
    out.write_text(json.dumps({"format": 1, "parts": parts}))
    assert double_sampling.chosen(SimpleNamespace(out=out)) == {
        "aloi": {
            "chosen": {"n_adversarial": 1, "n_candidates": 5},
            "extended": {"leave_one_out": True, "n_candidates": 10},
        }
    }
    assert double_sampling.chosen(SimpleNamespace(out=tmp_path / "none.json")) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param("choose", marks=[pytest.mark.slow, pytest.mark.long]), "extensions", "beside", "scaling"]
)
def test_a_part_goes_from_data_to_tables(options, name, monkeypatch, request):
    if name != "choose":  # one part as it is measured, each point in a process of its own
        request.getfixturevalue("in_this_process")
    plan = STUDY.parts[name].plan

    def few(given):
        return list({(one.job["what"], one.job["model"]): one for one in plan(given)}.values())[:2]

    monkeypatch.setitem(STUDY.parts, name, STUDY.parts[name]._replace(plan=few))
    part = studies.run_part(STUDY, name, options)
    assert part["complete"] and not [run for run in part["runs"] if "failed" in run]
    text = studies.part_markdown(STUDY, name, part)
    assert making.is_whole(text)
    assert str(options.folder) not in json.dumps(part)


def test_the_figures_of_a_point_are_those_of_the_model(options):
    one = double_sampling.plan_beside(options)[0]
    data = library_data.read_real(options.folder / one.named["data"])
    found = double_sampling.by_frequency(data.Y_train, data.Y_test, np.full(40, 3))
    assert sum(bucket["rows"] for bucket in found) == 40
    model = DoubleSampling(n_candidates=3).fit(data.X_train, data.Y_train)
    candidates = model.candidates(data.X_test, 3)
    hit = [c in row for row, c in zip(candidates.tolist(), data.Y_test.indices.tolist())]
    assert double_sampling.recall(model, data.X_test, data.Y_test, 3) == pytest.approx(100 * np.mean(hit))
    ranking = model.predict_topk(data.X_test, 1)
    assert double_sampling.quality(data.Y_test, ranking)["accuracy"] == 100 * metrics.accuracy(data.Y_test, ranking)
