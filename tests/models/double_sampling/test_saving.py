"""A saved model is the same when it is read; a damaged one is refused."""

import json

import numpy as np
import pytest
from models.double_sampling.problems import EXTENSIONS, binary, problem

from xmlcore import DoubleSampling, load_model
from xmlcore.models import ModelFormatError


@pytest.mark.parametrize(
    "params", [{}, {"distance": "euclidean", "weighting": "counts", "loss": "squared_hinge"}, *EXTENSIONS], ids=str
)
def test_a_saved_model_is_the_same_when_it_is_read(params, tmp_path):
    X, _, labels = problem(skip=(2,), most=2)
    model = DoubleSampling.preset("paper", **params).fit(X, binary(labels))
    loaded = load_model(model.save(tmp_path / "model"))
    assert loaded.get_params() == model.get_params() and loaded.size() == model.size()
    for name in ("n_pairs_", "empirical_risk_", "multiclass_", "n_unlabelled_", "feature_names_"):
        assert getattr(loaded, name) == getattr(model, name)
    for name in ("weights_", "feature_scale_", "class_size_", "sampled_size_"):
        assert np.array_equal(getattr(loaded, name), getattr(model, name))
    found, expected = loaded.predict_topk(X), model.predict_topk(X)
    assert np.array_equal(found.labels, expected.labels) and np.array_equal(found.scores, expected.scores)
    assert np.array_equal(loaded.candidates(X, 6), model.candidates(X, 6))
    assert np.array_equal(loaded.pair_features(X, found.labels), model.pair_features(X, found.labels), equal_nan=True)


@pytest.mark.parametrize(
    "harm",
    [
        lambda a: a.update(sums=-a["sums"]),
        lambda a: a.update(sums=a["sums"] * np.float32(np.nan)),
        lambda a: a.update(sums=a["sums"].astype(np.float64)),
        lambda a: a.update(classes=a["classes"] + np.int32(7)),
        lambda a: a.update(classes=a["classes"][::-1].copy()),
        lambda a: a.update(classes=a["classes"] - np.int32(1)),
        lambda a: a.update(ptr=a["ptr"][::-1].copy()),
        lambda a: a.update(ptr=a["ptr"] * 2),
        lambda a: a.update(class_size=a["class_size"] * 0),
        lambda a: a.update(class_size=a["class_size"] - 1),
        lambda a: a.update(document_counts=a["document_counts"] - 100),
        lambda a: a.update(document_counts=a["document_counts"] + 10**6),
        lambda a: a.update(weights=a["weights"][:9]),
        lambda a: a.update(weights=a["weights"] * np.inf),
        lambda a: a.update(sampled_size=a["sampled_size"][1:]),
        lambda a: a.update(sampled_size=-a["sampled_size"]),
        lambda a: a.update({"plt.classes": a["plt.classes"] + np.int32(1)}),
        lambda a: a.update({"plt.classes": a["plt.classes"][1:]}),
        lambda a: a.update(feature_of_column=a["feature_of_column"] * 0),
    ],
)
def test_a_damaged_model_is_refused(harm, tmp_path):
    X, _, labels = problem()
    folder = DoubleSampling.preset("paper", candidates_from="plt").fit(X, binary(labels)).save(tmp_path / "model")
    with np.load(folder / "arrays.npz") as stored:
        arrays = dict(stored)
    harm(arrays)
    np.savez(folder / "arrays.npz", **arrays)
    with pytest.raises(ModelFormatError):
        load_model(folder)


@pytest.mark.parametrize(
    "name, value",
    [
        ("n_features", 3), ("n_features", "x"), ("n_labels", 6), ("n_labels", 8), ("n_rows", 0), ("n_pairs", -1),
        ("distance", "l1"), ("weighting", 3), ("empirical_risk", 2.0), ("empirical_risk", None), ("n_unlabelled", None),
        ("features", "all"), ("features", "extended"), ("tree", {}), ("tree", 3),
    ],
)  # fmt: skip
def test_impossible_values_are_refused(name, value, tmp_path):
    X, _, labels = problem()
    folder = DoubleSampling.preset("paper").fit(X, binary(labels)).save(tmp_path / "model")
    description = json.loads((folder / "params.json").read_text())
    description["values"][name] = value
    (folder / "params.json").write_text(json.dumps(description))
    with pytest.raises(ModelFormatError):
        load_model(folder)


def test_changing_parameters_after_fit_does_not_change_what_was_fitted(tmp_path):
    X, _, labels = problem()
    model = DoubleSampling.preset("paper").fit(X, binary(labels))
    expected = model.predict_topk(X)
    model.set_params(distance="euclidean", weighting="counts")
    loaded = load_model(model.save(tmp_path / "model"))
    for other in (model, loaded):
        assert np.array_equal(other.predict_topk(X).scores, expected.scores)
