"""The matrix of a tree's node classifiers says what the model predicts by."""

import pickle

import naive
import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import PLT
from xmlcore._kernels import plt_gradients
from xmlcore.arrays import read_only
from xmlcore.models.plt import LOSS_NUMBERS
from xmlcore.validation import csr_parts

pytestmark = pytest.mark.filterwarnings("ignore:.*sibling groups stopped")


def data(seed, n=60, D=30, L=14):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, D), density=0.3, rng=rng, dtype=np.float32, format="csr")
    Y = (rng.random((n, L)) < 0.15).astype(bool)
    Y[np.arange(n), rng.integers(0, L, n)] = True
    return X, sp.csr_array(Y)


def test_every_kept_weight_is_there_once():
    X, Y = data(1)
    model = PLT(max_leaf_labels=3).fit(X, Y)
    assert model.linear_nodes().weights.nnz == model.n_weights_
    with pytest.raises(ValueError, match="tree must be"):
        model.linear_nodes(1)
    with pytest.raises(ValueError, match="from 0 to 13"):
        model.log_proba_gradient(X[:2], [0, 14])


def test_gradients_store_features_of_path_and_row_only():
    X, Y = data(4, D=60)
    model = PLT(max_leaf_labels=2, weight_threshold=2.0).fit(X, Y)
    nodes = model.linear_nodes()
    dense = model.log_proba_gradient(X.toarray(), np.arange(60) % 14)[1]
    _, gradient = model.log_proba_gradient(X, np.arange(60) % 14)
    assert gradient.dtype == np.float32 and gradient.has_canonical_format
    np.testing.assert_array_equal(gradient.toarray(), dense.toarray())
    for i in range(60):
        may = set(nodes.weights[nodes.path(i % 14)].indices) | set(X[[i]].indices)
        assert set(gradient[[i]].indices) <= may
    assert gradient.nnz < 0.9 * 60 * 60


def test_zero_rows_and_fixed_factors_have_gradient_zero():
    X, Y = data(6)
    Y = Y.tolil()
    Y[:, 2] = False  # no row has label 2: a factor of 0 at its leaf, or above
    model = PLT(n_estimators=2, max_leaf_labels=2).fit(X, Y.tocsr())
    assert np.isneginf(model.linear_nodes().bias).any()
    log_proba, gradient = model.log_proba_gradient(X[:1], [2])
    assert np.isneginf(log_proba[0]) and gradient.nnz == 0
    log_proba, gradient = model.log_proba_gradient(np.zeros((1, 30)), [1])
    assert np.isfinite(log_proba[0]) and gradient.nnz == 0
    labels = np.arange(60) % 14
    assert np.isfinite(model.log_proba_gradient(X, np.where(labels == 2, 0, labels))[1].data).all()


def test_linear_nodes_are_made_once_and_dropped_by_fit():
    X, Y = data(7)
    model = PLT(max_leaf_labels=2).fit(X, Y)
    before = len(pickle.dumps(model))
    first = model.log_proba_gradient(X, np.zeros(60, int))[1]
    assert model.linear_nodes() is model.linear_nodes(0)
    assert len(pickle.dumps(model)) == before
    again = pickle.loads(pickle.dumps(model)).log_proba_gradient(X, np.zeros(60, int))[1]
    np.testing.assert_array_equal(first.toarray(), again.toarray())
    model.fit(X[30:], Y[30:])
    fresh = PLT(max_leaf_labels=2).fit(X[30:], Y[30:])
    later, expected = (one.log_proba_gradient(X, np.zeros(60, int))[1] for one in (model, fresh))
    np.testing.assert_array_equal(later.toarray(), expected.toarray())


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
# Where touched features are looked through; where they are sorted; and where the arrays have to grow.
@pytest.mark.parametrize("n_features", [30, 400, 3000])
@pytest.mark.parametrize("normalize", ["l2", None])
def test_the_kernel_does_what_its_twin_does(loss, n_features, normalize):
    X, Y = data(8, n=12, D=n_features)
    X = sp.csr_array(X.multiply(sp.random_array(X.shape, density=0.05, rng=np.random.default_rng(1)) > 0), dtype="f4")
    nodes = PLT(loss=loss, max_leaf_labels=2, normalize=normalize).fit(X, Y).linear_nodes()
    weights = nodes.weights[:, :].tolil()
    weights[:, 10:] = 0 if n_features == 400 else weights[:, 10:]
    weights = sp.csr_array(weights)  # with ids and flags as those of models, for which there is compiled code
    weights.indptr, weights.indices = weights.indptr.astype(np.int64), weights.indices.astype(np.int64)
    read_only((weights.indptr, weights.indices, weights.data))
    nodes = nodes._replace(weights=weights)
    labels = np.arange(12, dtype=np.int32)
    flat = plt_gradients.FlatNodes(
        nodes.parent, nodes.leaf_of_label, nodes.root_has_factor, *csr_parts(nodes.weights), nodes.bias
    )
    log_p, ptr, features, values = plt_gradients.path_gradients(
        flat, LOSS_NUMBERS[loss], normalize == "l2", *csr_parts(X), labels, n_features
    )
    assert (features.size > 1024) == (n_features == 3000)
    for i in range(12):
        row = dict(zip(X[[i]].indices.tolist(), X[[i]].data.tolist()))
        expected, gradient = naive.plt_search.path_gradient(nodes, row, i)
        assert log_p[i] == pytest.approx(expected, rel=1e-12)
        found = dict(zip(features[ptr[i] : ptr[i + 1]].tolist(), values[ptr[i] : ptr[i + 1]].tolist()))
        assert list(found) == sorted(found)
        assert {f for f, value in found.items() if value} == {f for f, value in gradient.items() if value}
        assert found == pytest.approx({f: gradient.get(f, 0.0) for f in found}, rel=1e-9, abs=1e-12)
