"""The matrix of a tree's node classifiers says what the model predicts by."""

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import PLT
from xmlcore._kernels.label_tree import log_probability
from xmlcore.models.plt import LOSSES

pytestmark = pytest.mark.filterwarnings("ignore:.*sibling groups stopped")


def data(seed, n=60, D=30, L=14, unlabelled=False):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, D), density=0.3, rng=rng, dtype=np.float32, format="csr")
    Y = (rng.random((n, L)) < 0.15).astype(bool)
    Y[np.arange(n), rng.integers(0, L, n)] = True
    if unlabelled:
        Y[:5] = False
    return X, sp.csr_array(Y)


@pytest.mark.parametrize("unlabelled", [False, True])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("arity, leaf, L", [(2, 2, 14), (2, 100, 150), (6, 3, 14), (40, 1, 40)])
def test_products_along_the_path_are_the_predicted_probabilities(arity, leaf, L, loss, unlabelled):
    X, Y = data(0, L=L, unlabelled=unlabelled)
    model = PLT(arity=arity, max_leaf_labels=leaf, loss=loss, n_estimators=2, weight_threshold=0.05).fit(X, Y)
    X = X[:20]
    unit = X.toarray() / np.maximum(np.linalg.norm(X.toarray(), axis=1, keepdims=True), 1e-30)
    total = 0
    for tree in range(2):
        nodes = model.linear_nodes(tree)
        assert nodes.root_has_factor is unlabelled
        assert nodes.weights.has_canonical_format
        margins = unit @ nodes.weights.toarray().T + nodes.bias
        logs = np.vectorize(lambda m: log_probability(m, LOSSES[loss]))(margins)
        total = total + np.exp(np.stack([logs[:, nodes.path(label)].sum(axis=1) for label in range(L)], axis=1))
    np.testing.assert_allclose(model.predict_proba(X).toarray(), total / 2, rtol=2e-4, atol=1e-7)


def test_every_kept_weight_is_there_once():
    X, Y = data(1)
    model = PLT(max_leaf_labels=3).fit(X, Y)
    assert model.linear_nodes().weights.nnz == model.n_weights_


def test_a_tree_that_is_not_there_is_refused():
    model = PLT().fit(*data(2))
    with pytest.raises(ValueError, match="tree must be"):
        model.linear_nodes(1)
