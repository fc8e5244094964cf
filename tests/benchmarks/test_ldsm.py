"""LdSM's study: folds, steps, and parts from beginning to end."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import ldsm
from benchmarks.library import ldsm_tables, mixtures, studies
from tests.benchmarks import making
from xmlcore import LdSM, metrics
from xmlcore.datasets import make_synthetic


def test_every_training_row_is_held_out_once_and_a_part_takes_the_place_of_its_former_self_alone():
    found = ldsm.folds(100)
    assert len(found) == ldsm_tables.N_FOLDS
    assert np.array_equal(np.sort(np.concatenate([held for _, held in found])), np.arange(100))
    for rows, held in found:
        assert np.intersect1d(rows, held).size == 0 and rows.size + held.size == 100
    parts = np.array_split(np.random.default_rng(0).permutation(100), 3)
    assert all(np.array_equal(held, np.sort(one)) for (_, held), one in zip(found, parts))
    old = {"format": 1, "parts": {"depth": {"runs": [1]}, "reference": {"runs": [2]}}}
    new = studies.merged(ldsm.STUDY, old, "depth", {"runs": [3]})
    assert new["parts"] == {"reference": {"runs": [2]}, "depth": {"runs": [3]}}
    assert list(new["parts"]) == ["reference", "depth"] and old["parts"]["depth"] == {"runs": [1]}
    assert list(studies.merged(ldsm.STUDY, {}, "scaling", {})["parts"]) == ["scaling"]


def test_steps_keep_the_changes_before_them_and_the_last_is_tested_with_fifty_trees(tmp_path):
    settings = {"a": {}, "b": {"arity": 3}, "c": {"n_epochs": 5}}
    steps = [{"name": name, "params": params} for name, params in settings.items()]
    (tmp_path / "s.json").write_text(json.dumps({"data": {"bibtex": {"steps": steps}}}))
    options = SimpleNamespace(settings=tmp_path / "s.json", folder=tmp_path, threads=2)
    reference, *validated, chosen = ldsm.plan_settings(options)
    assert reference.job["params"] == ldsm_tables.REFERENCE and reference.job["what"] == chosen.job["what"] == "test"
    assert [one.job["params"] for one in validated] == [
        ldsm_tables.REFERENCE, ldsm_tables.REFERENCE | {"arity": 3}, ldsm_tables.REFERENCE | {"arity": 3, "n_epochs": 5}
    ]  # fmt: skip
    assert all(one.job["what"] == "folds" for one in validated)
    assert chosen.job["params"] == validated[-1].job["params"] | {"n_estimators": 50}
    steps[1]["params"] = {"leaves": 3}
    (tmp_path / "s.json").write_text(json.dumps({"data": {"bibtex": {"steps": steps}}}))
    with pytest.raises(ValueError, match="s.json: bibtex, step 'b': LdSM has no leaves"):
        ldsm.read_settings(tmp_path / "s.json")


@pytest.mark.parametrize("method, params", [
    ("LdSM", {"n_estimators": 2, "max_nodes": 30}), ("PLT", {}), ("kernel ridge", {"alpha": 0.1}),
    ("perceptron", {"n_hidden": 20, "learning_rate": 0.01}), ("extremely randomised trees", {"n_estimators": 5}),
])  # fmt: skip
def test_other_methods_are_told_the_labels_by_the_features(method, params):
    labels = np.arange(60) % 3
    X, Y = sp.csr_array(np.eye(3, 5)[labels]), sp.csr_array(np.eye(3)[labels] > 0)
    scores = mixtures.METHODS[method](X, Y, X[:9], 0, 1, params)
    assert scores.shape == (9, 3) and (scores.argmax(axis=1) == labels[:9]).all()


def test_trees_are_mixed_by_the_scores_they_rank_by_as_shares_of_a_row():
    shares = mixtures.as_shares(np.array([[3.0, 1.0, -4.0], [0.0, 0.0, 0.0]]))
    np.testing.assert_allclose(shares, [[0.75, 0.25, 0.0], [0.0, 0.0, 0.0]])
    Y = sp.csr_array(np.array([[1, 0, 0, 1, 0, 0]], bool))
    assert mixtures.precisions(Y, np.array([[5.0, 4.0, 0.0, 3.0, 2.0, 1.0]])) == pytest.approx([100, 200 / 3, 40])
    data = make_synthetic(n_train=150, n_test=30, n_labels=20, n_features=60, features_per_row=8)
    params = {"n_estimators": 3, "max_nodes": 60, "rerank_beta": 0.3, "rerank_gamma": 2.0}
    model = LdSM.preset("program", **params, random_state=4).fit(data.X_train, data.Y_train)
    expected = 100 * metrics.precision_at_k(data.Y_test, model.predict_topk(data.X_test, 5), 5)[[0, 2, 4]]
    scores = mixtures.METHODS["LdSM"](data.X_train, data.Y_train, data.X_test, 4, 1, params)
    assert mixtures.precisions(data.Y_test, scores) == pytest.approx(expected)


def test_every_split_is_timed_with_its_rows_and_nothing_else_changes():
    data = make_synthetic(n_train=150, n_test=1, n_labels=20, n_features=60, features_per_row=8)
    params = {"n_estimators": 1, "n_epochs": 2, "max_nodes": 60, "n_jobs": 1}
    model = ldsm.Timed(**params).fit(data.X_train, data.Y_train)
    tree, plain = model.trees_[0], LdSM(**params).fit(data.X_train, data.Y_train).trees_[0]
    assert sorted(rows for rows, _ in model.nodes_) == sorted(tree.n_samples[tree.inner]) and tree.inner.size > 5
    assert all(seconds > 0 for _, seconds in model.nodes_)
    np.testing.assert_array_equal(tree.parent, plain.parent)


@pytest.fixture
def options(tmp_path, in_this_process):
    """A folder with one tiny set, called bibtex."""
    making.write_data(tmp_path / "data", "bibtex", n_train=150, n_test=30, n_labels=20, n_features=60)
    steps = [{"name": "reference", "params": {}}, {"name": "wider", "params": {"arity": 3}}]
    others = [{"name": "label tree", "method": "PLT", "params": {}}]
    (tmp_path / "s.json").write_text(json.dumps({"data": {"bibtex": {"steps": steps, "others": others}}}))

    return making.options(tmp_path / "data", settings=tmp_path / "s.json", threads=2)


@pytest.mark.parametrize(("name", "points"), [("reference", 3), ("settings", 4), ("others", 1), ("workers", 1)])
def test_parts_are_measured_from_beginning_to_end(options, name, points):
    kept = []
    found = studies.run_part(ldsm.STUDY, name, options, lambda part: kept.append((len(part["runs"]), part["complete"])))
    assert len(found["runs"]) == found["planned"] == points and found["complete"]
    assert kept == [(n, False) for n in range(1, points + 1)] + [(points, True)]
    assert found["xmlcore_code"] == found["xmlcore_code_end"] and not any("failed" in one for one in found["runs"])
    assert ("delicious" in found["absent"]) == (name not in ("settings", "others"))
    text = studies.part_markdown(ldsm.STUDY, name, json.loads(json.dumps(found)))
    assert making.is_whole(text) and "A trial" in text
    assert str(options.folder) not in studies.as_json(studies.merged(ldsm.STUDY, {}, name, found))
    for one in found["runs"]:
        assert one["params"].items() >= {"n_epochs": 2, "max_nodes": 100, "n_estimators": 2}.items()
    if name == "workers":
        assert found["runs"][0]["same"]
