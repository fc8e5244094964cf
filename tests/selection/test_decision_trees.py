"""A tree per label on its features: scikit-learn's trees, in sparse and dense columns and blocks of rows."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.tree import DecisionTreeClassifier

from xmlcore import load_model
from xmlcore._kernels import decision_trees as kernels
from xmlcore.models import ModelFormatError
from xmlcore.selection import BRDT, decision_trees


def data(seed=0, n=200, n_features=12, n_labels=5, density=0.4):
    random = np.random.default_rng(seed)
    X = np.where(random.random((n, n_features)) < density, random.integers(1, 5, (n, n_features)), 0).astype(np.float32)
    Y = (X[:, :n_labels] + random.normal(size=(n, n_labels))) > 2
    return X, Y


def of_scikit_learn(X, Y, selected, X_test):
    """What scikit-learn's own trees predict, on dense columns."""
    found = np.empty((X_test.shape[0], Y.shape[1]))
    for label in range(Y.shape[1]):
        columns = np.unique(selected[label])
        seed = decision_trees.label_seed(0, label)
        tree = DecisionTreeClassifier(random_state=seed).fit(X[:, columns], Y[:, label])
        found[:, label] = tree.predict_proba(X_test[:, columns])[:, 1]
    return found


@pytest.mark.parametrize("density", [0.05, 0.5])
def test_predictions_are_those_of_scikit_learns_trees(density):
    (X, Y), (X_test, _) = data(density=density), data(1, density=density)
    selected = np.array([np.random.default_rng(label).permutation(12)[:4] for label in range(5)])
    model = BRDT(selected).fit(sp.csr_array(X), Y)
    expected = of_scikit_learn(X, Y, selected, X_test)
    found = model.predict_proba(X_test)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert np.array_equal(model.predict(X_test).toarray(), expected > 0.5)


def test_the_kernel_predicts_as_its_naive_twin():
    X, Y = data()
    tree = DecisionTreeClassifier(random_state=0).fit(X, Y[:, 0]).tree_
    feature = np.where(tree.children_left >= 0, tree.feature, -1).astype(np.int32)
    nodes = feature, tree.threshold, tree.children_left.astype(np.int32), tree.children_right.astype(np.int32)
    leaves = np.arange(feature.size, dtype=np.float32)
    rows, out = sp.csr_array(X), np.empty((200, 2), np.float32)
    nodes_of_two = [np.concatenate([part, part]) for part in (*nodes, leaves)]
    ptr = np.array([0, feature.size, 2 * feature.size])
    kernels.predict(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data, 12, ptr, *nodes_of_two, out)
    expected = [naive.decision_trees.tree_leaf(row, *nodes) for row in X]
    assert np.array_equal(out, np.stack([expected, expected], axis=1))


@pytest.mark.parametrize("density", [0.03, 0.2])
def test_sparse_and_dense_columns_grow_the_same_trees(density, monkeypatch):
    X, Y = data(n=400, n_features=40, density=density)
    X_test, _ = data(2, n=400, n_features=40, density=density)
    found = []
    for dense_from in (0.0, 2.0):
        monkeypatch.setattr(decision_trees, "DENSE_FROM", dense_from)
        found.append(BRDT().fit(X, Y).predict_proba(X_test))
    assert np.array_equal(*found)


def test_seeds_decide_between_splits_of_equal_worth():
    X = np.zeros((40, 2))
    X[:20] = 1.0  # two features that say the same in training
    Y = X[:, :1] > 0
    test = np.array([[1.0, 0.0]])
    assert len({BRDT(random_state=seed).fit(X, Y).predict_proba(test).item() for seed in range(8)}) == 2


def test_a_label_that_all_rows_have_or_none_is_predicted_so():
    X, Y = data()
    Y[:, 0], Y[:, 1] = False, True
    model = BRDT().fit(X, Y)
    found = model.predict_proba(X[:7])
    assert (found[:, 0] == 0).all() and (found[:, 1] == 1).all() and model.n_nodes_[:2].tolist() == [1, 1]


def test_one_row_of_features_is_for_all_labels():
    X, Y = data()
    shared = BRDT([[3, 1, 2]]).fit(X, Y).predict_proba(X)
    assert np.array_equal(shared, BRDT(np.tile([1, 2, 3], (5, 1))).fit(X, Y).predict_proba(X))
    assert np.array_equal(BRDT().fit(X, Y).predict_proba(X), BRDT([range(12)]).fit(X, Y).predict_proba(X))


def test_blocks_of_rows_do_not_change_predictions(monkeypatch):
    X, Y = data()
    model = BRDT().fit(X, Y)
    proba, labels = model.predict_proba(X), model.predict(X).toarray()
    monkeypatch.setattr(decision_trees, "PREDICT_ROWS", 7)
    monkeypatch.setattr(decision_trees, "PREDICT_VALUES", 11)
    assert np.array_equal(model.predict_proba(X), proba) and np.array_equal(model.predict(X).toarray(), labels)


@pytest.mark.parametrize("params, error, message", [
    ({"selected": [[0, 12]]}, ValueError, "feature id 12 for label 0: ids go from 0 to 11"),
    ({"selected": [[0], [1]]}, ValueError, "a row for each of 5 labels is needed, or one row"),
    ({"selected": [0, 1]}, ValueError, "a row of feature ids for each label is needed"),
    ({"selected": [[0], [1, 2]]}, ValueError, "different lengths"),
    ({"selected": [[0.5]]}, TypeError, "whole numbers"),
])  # fmt: skip
def test_bad_parameters_are_named(params, error, message):
    X, Y = data()
    with pytest.raises(error, match=message):
        BRDT(**params).fit(X, Y)


def test_the_repr_counts_the_selected_features():
    assert repr(BRDT([[1, 2]])) == "BRDT(2 features per label, random_state=0)"


@pytest.mark.parametrize("harm", ["its parent", "another tree", "a feature beyond the last", "a share above 1"])
def test_saved_trees_with_circles_or_bad_ids_are_refused(harm, tmp_path):
    X = np.eye(6)
    model = BRDT().fit(X, np.eye(6, dtype=bool)[:, :3])
    folder = model.save(tmp_path / "model")
    with np.load(folder / "arrays.npz") as stored:
        arrays = {name: stored[name] for name in stored.files}
    inner = int(np.flatnonzero(arrays["feature"] >= 0)[0])
    name, value = {
        "its parent": ("left", 0),
        "another tree": ("right", arrays["nodes_of_tree"][0]),
        "a feature beyond the last": ("feature", 6),
        "a share above 1": ("proba", 1.5),
    }[harm]
    arrays[name][inner] = value
    np.savez(folder / "arrays.npz", **arrays)
    with pytest.raises(ModelFormatError, match="the trees are invalid"):
        load_model(folder)
