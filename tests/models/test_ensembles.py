"""Trees that are trained apart are, joined, the ensemble that is trained as a whole, bit for bit."""

import numpy as np
import pytest

from xmlcore import PLT, ExtendedPLT, LdSM, OneVsRest, load_model
from xmlcore.models.ensembles import ensemble_of_trees, n_trees_trained_apart, train_tree

MODELS = [
    PLT(n_estimators=3, random_state=5, arity=3, max_leaf_labels=3, loss="logistic", C=1.0, collapse_layers=1),
    PLT(n_estimators=2, random_state=1),  # settings that are chosen on a sample
    PLT(n_estimators=2, max_leaf_labels=4, normalize="standardize", loss="logistic", C=1.0),
    LdSM(n_estimators=3, random_state=5, max_nodes=15, n_epochs=2),
    LdSM(n_estimators=2, random_state=2, max_nodes=9, n_epochs=1, rerank_beta=0.8),
]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(4)
    Y = rng.random((150, 14)) < 0.15
    Y[:, 0] |= ~Y.any(axis=1)
    return np.repeat(Y, 3, axis=1) * rng.random((150, 42)), Y


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_joined_trees_are_the_model_that_fit_trains(model, rows, tmp_path):
    parts = []
    for number in range(n_trees_trained_apart(model)):
        train_tree(model, *rows, number).save(tmp_path / str(number))  # as they come from other processes
        parts.append(load_model(tmp_path / str(number)))
    joined, whole = ensemble_of_trees(parts), type(model)(**model.get_params()).fit(*rows)
    assert [part.size()["depth"] > 0 for part in parts] == [True] * model.n_estimators
    for (values, arrays), (expected, expected_arrays) in [(joined._state(), whole._state())]:
        times = [{"seconds": 0} | line for line in values.pop("trials", [])]
        assert len(times) == len(expected.pop("trials", []))
        assert values == expected and arrays.keys() == expected_arrays.keys()
        for name, array in arrays.items():
            np.testing.assert_array_equal(array, expected_arrays[name], err_msg=name)
    found, wanted = joined.predict_topk(rows[0], 5), whole.predict_topk(rows[0], 5)
    np.testing.assert_array_equal(found.labels, wanted.labels)
    np.testing.assert_array_equal(found.scores, wanted.scores)
    assert joined.get_params() == whole.get_params() and joined.size() == whole.size()


def test_other_models_are_trained_as_a_whole(rows):
    whole = [PLT(), PLT(n_estimators=3, random_state=None), LdSM(n_estimators=1), OneVsRest(),
             ExtendedPLT(n_estimators=3)]  # fmt: skip
    assert [n_trees_trained_apart(model) for model in whole] == [0] * len(whole)
    with pytest.raises(ValueError, match="no tree 3 to train apart: this model has 3"):
        train_tree(PLT(n_estimators=3), *rows, 3)


def test_a_tree_that_is_missing_is_said(rows):
    only = train_tree(PLT(n_estimators=2, arity=2, max_leaf_labels=4, loss="logistic", C=1.0), *rows, 0)
    with pytest.raises(ValueError, match="1 trees are not the 2 of this model"):
        ensemble_of_trees([only])
