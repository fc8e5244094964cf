"""Saved models whose arrays or description hold what predictions could not use are refused.

``test_copies.py`` tries other types, dimensions and lengths of every array; here are the values.
"""

import json
import tracemalloc
from functools import cache

import numpy as np
import pytest
from contract.estimators import problem

from xmlcore import PLT, DoubleSampling, LdSM, OneVsRest, load_model
from xmlcore.models import LabelTree, ModelFormatError

MODELS = {
    "PLT": PLT(max_leaf_labels=2, n_jobs=1),
    "PLT of many weights": PLT(max_leaf_labels=2, arity=4, loss="logistic", C=10.0, weight_threshold=0.3, n_jobs=1),
    "PLT of few weights": PLT(max_leaf_labels=20, loss="logistic", C=10.0, weight_threshold=2.5, n_jobs=1),
    "PLT of a given tree": PLT(tree=LabelTree.from_nested([[0, 1], [2, 3, 4, 5, 6]]), n_jobs=1),
    "LdSM": LdSM(n_estimators=2, max_nodes=15, n_epochs=5, rerank_beta=0.5, rerank_space="idf"),
    "LdSM without means": LdSM(n_estimators=2, max_nodes=15, n_epochs=5),
    "DoubleSampling": DoubleSampling.preset("paper", candidates_from="plt"),
    "OneVsRest": OneVsRest(),
}
ARRAYS = {  # statements about the arrays of a model, by their names
    "PLT": [
        "tree0_columns += 1000", "tree0_columns[:] = tree0_columns[::-1].copy()", "tree0_group_first[-1] = 0",
        "tree0_label[tree0_label == 3] = 4",
        "tree0_column_ptr[1:4] = [2**63 - 1, -(2**63), -1]",  # no difference is negative in int64
        "tree0_bias = np.array([{}], dtype=object)", "feature_of_column[1] = feature_of_column[0]",
        "feature_of_column += 1",
    ],
    "PLT of many weights": [
        "tree0_dense = tree0_dense[:-2]", "tree0_dense_ptr[tree0_dense_ptr > 0] -= 2", "tree0_dense[1] = np.nan",
    ],
    "PLT of few weights": [
        "tree0_entry_child += np.uint8(200)", "tree0_entry_ptr[2] = tree0_entry_ptr[0]",
        "tree0_entry_ptr += np.uint32(1)", "tree0_sparse_ptr[-1] -= 1", "tree0_entry_at[-1] -= 1",
        "tree0_entry_value[1] = np.inf",
    ],
    "PLT of a given tree": [
        "params_tree_parent[1] = 1", "params_tree_parent = params_tree_parent + 0.5", "del params_tree_label",
    ],
    "LdSM": [
        "first_child[0] = 10**6", "first_child[0] = 0", "first_child[0] = -2", "root[-1] = 10**6", "root[1] = 0",
        "columns[0] = 10**6", "columns[0] = -1", "column_ptr[1] = -5", "column_ptr[-1] = 10**9",
        "hist_labels[0] = 7", "hist_labels[1] = hist_labels[0]", "hist_counts[0] = 0", "hist_ptr[1] = 0",
        "weights[0] = np.nan", "bias[1] = np.inf", "mean_columns[0] = 14", "mean_values[0] = np.nan",
        "mean_weights[0] = np.inf", "del mean_ptr",
    ],
    "LdSM without means": ["mean_ptr = np.zeros(8, np.int64)"],
    "DoubleSampling": [
        "sums *= -1", "sums *= np.nan", "classes += 7", "classes -= 1", "classes[:] = classes[::-1].copy()",
        "ptr[:] = ptr[::-1].copy()", "ptr *= 2", "class_size *= 0", "class_size -= 100", "document_counts -= 100",
        "document_counts += 10**6", "weights *= np.inf", "sampled_size *= -1", "plt_classes += 1",
        "feature_of_column *= 0",
    ],
    "OneVsRest": [
        "weight_ptr[0] = 1", "weight_ptr[2] = -5", "weight_ptr[-1] = 10**9", "weight_labels[0] = 10**6",
        "weight_labels[0] = -1", "weight_labels[0] = weight_labels[1]", "weights[0] = np.nan",
        "weights[0] = np.inf", "intercept[0] = np.nan", "feature_of_column[0] = 10**6",
        "weight_ptr, intercept = weight_ptr[:0], intercept[:0]",
    ],
}  # fmt: skip
VALUES = {
    "PLT": [
        ("n_labels", 7.0), ("n_labels", 2**31), ("n_features", 2**31), ("n_iter", 2**31), ("n_trees", 2**31),
        ("n_labels", 10**8), ("settings", None), ("settings", {"C": 1.0}), ("settings", {"C": "auto"}),
        ("settings", {"arity": 2, "max_leaf_labels": 100, "loss": "logistic", "C": -1}), ("trials", 3), ("trials", [1]),
    ],
    "LdSM": [("n_labels", 8), ("n_features", "x")],
    "DoubleSampling": [
        ("n_features", 3), ("n_features", "x"), ("n_labels", 6), ("n_labels", 8), ("n_rows", 0), ("n_pairs", -1),
        ("distance", "l1"), ("weighting", 3), ("empirical_risk", 2.0), ("empirical_risk", None), ("n_unlabelled", None),
        ("features", "all"), ("features", "extended"), ("tree", {}), ("tree", 3),
    ],
    "OneVsRest": [
        ("loss", "hinge"), ("n_features", -1), ("n_iter", "x"), ("settings", {"C": "auto"}), ("settings", {"C": -1}),
        ("settings", 3), ("trials", [1]),
    ],
}  # fmt: skip


@cache
def fitted(name):
    return MODELS[name].fit(*problem())


def is_refused(folder):
    try:
        load_model(folder)
    except ModelFormatError as error:
        return "model" in str(error)


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_predictions_could_not_use_are_refused(name, tmp_path):
    folder = fitted(name).save(tmp_path / "model")
    description = json.loads((folder / "params.json").read_text())
    description["arrays"] = []  # the file does not say which arrays belong to it
    (folder / "params.json").write_text(json.dumps(description))
    with np.load(folder / "arrays.npz") as stored:
        names = {key.replace(".", "_"): key for key in stored}
        whole, taken = {name: stored[key] for name, key in names.items()}, []
    for statement in ARRAYS[name]:
        arrays = {key: array.copy() for key, array in whole.items()}
        with np.errstate(all="ignore"):
            exec(statement, {"np": np}, arrays)
        np.savez(folder / "arrays.npz", **{names.get(key, key): array for key, array in arrays.items()})
        taken += [] if is_refused(folder) else [statement]
    assert not taken


@pytest.mark.parametrize("name", VALUES)
def test_values_that_cannot_be_are_refused_and_take_no_memory(name, tmp_path):
    folder = fitted(name).save(tmp_path / "model")
    whole, taken = json.loads((folder / "params.json").read_text()), []
    tracemalloc.start()
    try:
        for at, value in VALUES[name]:
            (folder / "params.json").write_text(json.dumps(whole | {"values": whole["values"] | {at: value}}))
            taken += [] if is_refused(folder) else [(at, value)]
        assert not taken and tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("named", ["os.system", ["PLT"], None])
def test_no_class_but_those_of_models_is_looked_up(named, tmp_path):
    folder = fitted("PLT").save(tmp_path / "model")
    description = json.loads((folder / "params.json").read_text())
    (folder / "params.json").write_text(json.dumps(description | {"class": named}))
    with pytest.raises(ModelFormatError, match="class|model"):
        load_model(folder)


@pytest.mark.parametrize("name", ["PLT", "LdSM", "DoubleSampling", "OneVsRest"])
def test_parameters_set_after_fit_change_nothing(name, tmp_path):
    X, Y = problem()
    model = MODELS[name].__class__(**MODELS[name].get_params()).fit(X, Y)
    expected = model.predict_topk(X).scores
    later = {
        "PLT": {"n_estimators": 3, "loss": "squared_hinge", "tol": 0.5, "tree": LabelTree.from_nested([0, 1])},
        "LdSM": {"rerank_gamma": 7.0, "n_estimators": 1},
        "DoubleSampling": {"distance": "euclidean", "weighting": "counts"},
        "OneVsRest": {"loss": "squared_hinge", "C": 0.5},
    }
    model.set_params(**later[name])
    np.testing.assert_array_equal(model.predict_topk(X).scores, expected)
    again = load_model(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(again.predict_topk(X).scores, expected)
    assert again.get_params() == model.get_params()
