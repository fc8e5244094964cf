"""What was kept before results were plain values opens: data sets, runs, and what was measured of them."""

import json
import sys
from types import ModuleType

import joblib
import numpy as np
import pandas as pd
import pytest

from xmlcore import Ranking, experiment, store
from xmlcore.artifact_keys import key_with_code
from xmlcore.datasets import Dataset, load_saved
from xmlcore.experiment.engine import earlier

OLD_CODE = "0123456789abcdef"


def keep_as_before(folder, source, params, module, name, value, **facts):
    """Write an artifact as the earlier program did: a pickled instance, under a key that holds the code's hash."""
    key = key_with_code(folder, source, params, OLD_CODE)
    if module is not None:
        made_of = ModuleType(module)
        cls = type(name, (), {"__module__": module})
        setattr(made_of, name, cls)
        instance = cls()
        vars(instance).update(value)
        sys.modules[module] = made_of
        value = instance
    try:
        path = store.folder(folder, key)
        path.mkdir(parents=True)
        joblib.dump(value, path / store.VALUE)
    finally:
        sys.modules.pop(module, None)
    size = (path / store.VALUE).stat().st_size
    record = {"kind": folder, "key": key, "created": "2026-11-01T10:00:00+00:00", "code_version": OLD_CODE}
    (path / store.META).write_text(json.dumps(record | {"bytes": size, "value_bytes": size} | facts))
    return key


def keep_run(data, model="PLT", params=None, fitted=None):
    """An old run."""
    full = experiment.full_params(model, params)
    fitted = experiment.estimator(model, full).fit(data.X_train, data.Y_train) if fitted is None else fitted
    ranking = fitted.predict_topk(data.X_test, 5)
    value = {
        "model": model,
        "params": full,
        "dataset_name": data.name,
        "fingerprint": data.fingerprint,
        "k": 5,
        "measures": pd.DataFrame({"measure": ["P@k"], "k": [1], "value": [0.5]}),
        "times": {"fit_s": 1.0, "predict_s": 0.1, "compile_s": 0.0, "predict_ms_per_row": 0.2},
        "size": {"n_nodes": 3},
        "ranking": Ranking(ranking.labels, ranking.scores),
        "warnings": [],
        "created": "2026-11-01T10:00:00+00:00",
    }
    asked = {"model": model, "params": full, "k": 5}
    facts = {"model": model, "fingerprint": data.fingerprint, "dataset": data.name}
    key = keep_as_before("runs", data.fingerprint, asked, "xmlcore.experiment._runs", "Run", value, **facts)
    fitted.save(store.folder("runs", key) / "model")
    return key


@pytest.fixture
def uploaded(data):
    """A data set as it was kept: a pickled instance under its fingerprint."""
    facts = {"name": data.name}
    path = store.folder("datasets", data.fingerprint)
    path.mkdir(parents=True)
    joblib.dump(data, path / store.VALUE)
    size = (path / store.VALUE).stat().st_size
    record = {"kind": "datasets", "key": data.fingerprint, "created": "2026-11-01", "code_version": OLD_CODE}
    (path / store.META).write_text(json.dumps(record | {"bytes": size, "value_bytes": size} | facts))
    return data


def test_an_uploaded_data_set_opens_and_is_kept_as_plain_values_from_then_on(uploaded):
    for _ in range(2):
        found = load_saved(uploaded.fingerprint)
        assert type(found) is Dataset and found.fingerprint == uploaded.fingerprint and found.notes == uploaded.notes
        for name in ("X_train", "Y_train", "X_test", "Y_test"):
            one, two = getattr(found, name), getattr(uploaded, name)
            assert (one != two).nnz == 0 and one.dtype == two.dtype and not one.data.flags.writeable
            assert one.has_canonical_format
    assert isinstance(store.load("datasets", uploaded.fingerprint), dict)
    assert store.info("datasets", uploaded.fingerprint)["name"] == "toy"
    rebuilt = Dataset(*(getattr(found, name) for name in ("name", "X_train", "Y_train", "X_test", "Y_test")))
    assert rebuilt.fingerprint == found.fingerprint


def test_an_uploaded_data_set_is_not_removed_when_its_class_has_moved(uploaded, monkeypatch):
    monkeypatch.delattr(sys.modules["xmlcore.datasets.dataset"], "Dataset")
    with pytest.raises(store.UnreadableArtifactError):
        load_saved(uploaded.fingerprint)
    monkeypatch.undo()


def test_a_run_that_a_workspace_names_opens_and_is_marked(uploaded):
    key = keep_run(uploaded)
    found = experiment.load("train", key)
    assert type(found) is experiment.Run and type(found.ranking) is Ranking and found.size == {"n_nodes": 3}
    model = experiment.load_run_model(key)
    np.testing.assert_array_equal(model.predict_topk(uploaded.X_test, 5).scores, found.ranking.scores)
    assert experiment.made_by("runs", key) == "earlier code"


def test_a_run_of_earlier_code_is_found_by_its_task(uploaded):
    key = keep_run(uploaded, params={"C": 3.0})
    made = experiment.task("train", {"dataset": uploaded.fingerprint}, {"params": {"C": 3}})
    assert made.state() == "earlier" and made.earlier() == key and made.load_earlier().params["C"] == 3.0
    assert experiment.provenance(made) == "earlier version"
    experiment.keep(made)
    assert made.state() == "kept" and made.load().times != made.load_earlier().times
    other = experiment.task("train", {"dataset": uploaded.fingerprint}, {"params": {"C": 4}})
    assert other.state() is None


def test_an_old_run_can_be_measured(uploaded):
    made = experiment.task("explanations", {"run": keep_run(uploaded)}, {"n_rows": 5})
    assert made.title == "Explaining 5 rows of toy" and made.estimate().seconds > 0
    experiment.keep(made)
    assert made.load().rows.size == 5 and experiment.provenance(made) == "current"


def test_a_selection_opens_and_its_share_is_told_from_a_count(uploaded):
    value = {
        "method": "ChiSquared",
        "params": {"n_features": 1.0, "per_label": True},
        "dataset_name": "toy",
        "fingerprint": uploaded.fingerprint,
        "selected": np.zeros((12, 20), np.int32),
        "selected_scores": np.zeros((12, 20), np.float32),
        "standard_error": None,
        "n_features": 20,
        "n_labels": 12,
        "n_rows": 120,
        "times": {"fit_s": 1.0},
    }
    asked = {"method": "ChiSquared", "params": {"n_features": ["share", 1.0], "per_label": True}}
    facts = {"fingerprint": uploaded.fingerprint}
    where = ("xmlcore.experiment._selection", "Selection")
    key = keep_as_before("selections", uploaded.fingerprint, asked, *where, value, **facts)
    of = {"dataset": uploaded.fingerprint}
    share = experiment.task("select", of, {"method": "ChiSquared", "params": {"n_features": 1.0}})
    count = experiment.task("select", of, {"method": "ChiSquared", "params": {"n_features": 1}})
    assert share.earlier() == key and share.load_earlier().n_selected == 20 and count.earlier() is None


@pytest.mark.parametrize(
    "kind, module, name, source, value",
    [
        ("compare_selections", "_judged", "Judged", "dataset",
         {"frame": pd.DataFrame(), "n_rows": 1, "n_train": 1, "n_test_rows": 1, "n_test": 1, "fingerprint": "ab"}),
        ("selection_stability", "_judged", "Stability", "dataset",
         {"method": "FALS", "params": {}, "seeds": [0], "pairs": pd.DataFrame(), "labels": np.zeros((2, 1)),
          "share": 1.0, "chance": 0.1, "n_selected": 1, "n_features": 2}),
        ("prefixes", None, None, "run", pd.DataFrame({"axis": ["n_trees"]})),
        ("robustness", "_robustness", "Robustness", "run",
         {"run_key": "ab", "kind": "words", "levels": [0.1], "options": {}, "n_repeats": 3, "seed": 0, "n_rows": 3,
          "n_test": 3, "frame": pd.DataFrame()}),
        ("explanations", "_explanations", "Explanations", "run",
         {"run_key": "ab", "rows": np.arange(3), "n_test": 3, "deletion": pd.DataFrame(), "importance": pd.DataFrame(),
          "stability": pd.DataFrame()}),
        ("sampling", "_sampling", "Sampling", "run",
         {"run_key": "ab", "params": {}, "sweep": pd.DataFrame(), "candidates": pd.DataFrame(),
          "buckets": pd.DataFrame(), "n_repeats": 1, "n_rows": 1, "n_test": 1}),
        ("reduced", "_reduced", "Reduced", "selection",
         {"selection_key": "ab", "model": "PLT", "params": {}, "per_label": False, "n_per_label": 1, "n_used": 1,
          "n_features": 2, "k": 5, "run_key": "ab", "measures": pd.DataFrame(), "numbers": pd.DataFrame(),
          "select_s": 1.0}),
    ],
)  # fmt: skip
def test_every_other_kind_opens(kind, module, name, source, value):
    params = {
        "compare_selections": {"selections": [["ChiSquared", {}], None]},
        "robustness": {"kind": "words", "levels": [0.1]},
    }
    made = experiment.task(kind, {source: "cd" * 16}, params.get(kind))
    module = module and f"xmlcore.experiment.{module}"
    key = keep_as_before(made.folder, "cd" * 16, made.params_in_key(), module, name, value)
    assert made.state() == "earlier" and made.earlier() == key
    found = made.load_earlier()
    assert type(found) is made.result
    if kind == "prefixes":
        pd.testing.assert_frame_equal(found.measures, value)


def test_old_modules_are_gone_after_reading(uploaded):
    experiment.load("train", keep_run(uploaded))
    assert not set(earlier.CLASSES) & set(sys.modules)
