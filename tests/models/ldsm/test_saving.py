"""A loaded LdSM equals the saved one; damaged files are refused."""

import json

import numpy as np
import pytest
from ldsm_examples import assert_same_model, small_data, small_model

from xmlcore import load_model
from xmlcore.models import ModelFormatError


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"max_nodes": 1},
        {"optimizer": "sgd", "arity": 4},
        {"rerank_beta": 0.5},
        {"rerank_beta": 0.5, "rerank_space": "idf"},
    ],
)
def test_a_loaded_model_equals_the_saved_one(params, tmp_path):
    X, labels = small_data()
    model = small_model(**params).fit(X, labels)
    model.set_params(rerank_gamma=7.0)  # which counts from the next fit on
    again = load_model(model.save(tmp_path / "model"))
    assert again.get_params() == model.get_params() and again.optimizer_ == model.optimizer_
    assert again.size() == model.size()
    assert_same_model(model, again, X)


def _set(name, at, value):
    def harm(arrays):
        arrays[name] = arrays[name].copy()
        arrays[name][at] = value

    return harm


@pytest.mark.parametrize(
    "harm",
    [
        _set("first_child", 0, 10**6),
        _set("first_child", 0, 0),
        _set("first_child", 0, -2),
        _set("root", -1, 10**6),
        _set("root", 1, 0),
        _set("columns", 0, 10**6),
        _set("columns", 0, -1),
        _set("column_ptr", 1, -5),
        _set("column_ptr", -1, 10**9),
        _set("hist_labels", 0, 6),
        _set("hist_labels", 1, 0),
        _set("hist_counts", 0, 0),
        _set("hist_ptr", 1, 0),
        _set("weights", 0, np.nan),
        _set("bias", 1, np.inf),
        _set("mean_columns", 0, 12),
        _set("mean_values", 0, np.nan),
        _set("mean_weights", 0, np.inf),
        lambda arrays: arrays.update(mean_weights=arrays["mean_weights"][:-1]),
        lambda arrays: arrays.update(mean_values=arrays["mean_values"][:, None]),
        lambda arrays: arrays.update(mean_ptr=arrays["mean_ptr"].astype(float)),
        lambda arrays: arrays.update(columns=arrays["columns"].astype(np.int64)),
    ],
)  # fmt: skip
def test_a_damaged_model_is_refused(harm, tmp_path):
    X, labels = small_data()
    folder = small_model(rerank_beta=0.5, rerank_space="idf").fit(X, labels).save(tmp_path / "model")
    with np.load(folder / "arrays.npz") as stored:
        arrays = dict(stored)
    harm(arrays)
    np.savez(folder / "arrays.npz", **arrays)
    with pytest.raises(ModelFormatError):
        load_model(folder)


@pytest.mark.parametrize("params", [{"rerank_beta": 0.5}, {"rerank_beta": 0.5, "rerank_space": "idf"}, {}])
def test_a_model_has_the_means_of_labels_exactly_when_it_reranks(params, tmp_path):
    folder = small_model(**params).fit(*small_data()).save(tmp_path / "model")
    description = json.loads((folder / "params.json").read_text())
    description["arrays"] = []  # as a file says that someone else changed
    (folder / "params.json").write_text(json.dumps(description))
    assert load_model(folder).rerank_[0] == params.get("rerank_beta", 1.0)
    with np.load(folder / "arrays.npz") as stored:
        arrays = dict(stored)
    if params:
        del arrays["mean_ptr"]
    else:
        arrays["mean_ptr"] = np.zeros(7, np.int64)
    np.savez(folder / "arrays.npz", **arrays)
    with pytest.raises(ModelFormatError, match="labels' means"):
        load_model(folder)
