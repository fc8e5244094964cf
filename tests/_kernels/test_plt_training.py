"""Training of the nodes of label trees does what its plain-Python twins do."""

import naive
import numpy as np
import pytest
from _kernels.plt_problems import sparse_rows

from xmlcore._kernels import plt_clusters, plt_training, plt_tree
from xmlcore.models.plt import LOSS_NUMBERS
from xmlcore.validation import csr_parts, unsigned_parts


def problem(n, n_columns, seed, n_children, share=0.3, drawn=0, density=0.4):
    """Rows of length 1, and which of the children each goes to."""
    X = sparse_rows(n, n_columns, seed, density)
    plt_clusters.normalise_rows(csr_parts(X)[0], X.data)
    return X, np.random.default_rng(drawn).random((n, n_children)) < share


def trained(X, targets, loss, C, tol, max_epochs, seed=9, number=3):
    m, n = targets.shape
    rows = np.arange(m, dtype=np.int32)
    children = [np.flatnonzero(column).astype(np.int32) for column in targets.T]
    rows_ptr = np.concatenate([[0], np.cumsum([c.size for c in children])]).astype(np.int64)
    features, local = plt_training.gather_rows(*unsigned_parts(X), rows, X.shape[1])
    under = plt_training.NodeRows(rows_ptr, np.concatenate(children), np.empty(0, np.float32))
    settings = plt_training.DescentSettings(
        LOSS_NUMBERS[loss], np.float32(C), np.float32(tol), max_epochs, np.float32(0), seed
    )
    mirrored = n == 2 and bool((targets.sum(axis=1) == 1).all())
    found = plt_training.train_siblings(
        local, np.ones(m, np.float32), features.size, rows, under, np.arange(n), mirrored, settings, number
    )  # fmt: skip
    return features, found


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0, 300.0])
@pytest.mark.parametrize("loss", list(LOSS_NUMBERS))
@pytest.mark.parametrize("n_children", [1, 2, 3, 20])
def test_siblings_train_as_their_twin(loss, C, n_children):
    X, targets = problem(30, 12, n_children, n_children)
    if n_children == 2:
        targets[:, 1] = ~targets[:, 0]  # mirror images
    never = -1.0  # a tolerance that nothing reaches: no row rests, which rounding would decide
    features, (weights, epochs, violation) = trained(X, targets, loss, C, never, 5)
    expected, _, worst = naive.plt_training.train_siblings(
        X.toarray()[:, features], targets.astype(float), loss, C, never, 5, 9, 3
    )
    assert epochs == 5
    near = 2e-4 if n_children <= 2 else 2e-3  # both stop near a row's root, not always after as many steps
    np.testing.assert_allclose(weights, expected, atol=near * max(10, C))
    assert violation == pytest.approx(worst, abs=1e-3)


@pytest.mark.parametrize("loss", list(LOSS_NUMBERS))
@pytest.mark.parametrize("n_children", [1, 5])
def test_siblings_stop_at_the_tolerance_and_skip_rows_on_the_way(loss, n_children):
    X, _ = problem(40, 12, 0, n_children)
    targets = np.arange(40).reshape(-1, 1) % (3 + np.arange(n_children)) == 0
    features, (weights, epochs, violation) = trained(X, targets, loss, 10.0, 0.02, 500, 1, 1)
    expected, visited, _ = naive.plt_training.train_siblings(
        X.toarray()[:, features], targets.astype(float), loss, 10.0, 0.02, 500, 1, 1
    )
    assert violation <= 0.02
    assert 1 < epochs < 500
    assert epochs == pytest.approx(visited, rel=0.2)  # float32 and float64 may disagree on who rests
    np.testing.assert_allclose(weights, expected, atol=0.2)


@pytest.mark.parametrize("max_epochs", range(1, 30))
def test_a_descent_cut_short_reports_no_convergence(max_epochs):
    X, targets = problem(60, 12, 1, 2, 0.4, 4)
    _, (weights, epochs, violation) = trained(X, targets, "logistic", 100.0, 0.2, max_epochs)
    _, (finished, enough, _) = trained(X, targets, "logistic", 100.0, 0.2, 1000)
    assert epochs <= max_epochs
    if max_epochs >= enough:
        np.testing.assert_array_equal(weights, finished)
        assert violation <= 0.2
    elif not np.array_equal(weights, finished):
        assert violation > 0.2


def unpacked(pruned, places, size):
    kept, ptr, child, value = pruned
    if ptr.size:
        return {
            int(f): dict(zip(child[ptr[g] : ptr[g + 1]].tolist(), value[ptr[g] : ptr[g + 1]]))
            for g, f in enumerate(kept)
        }
    rows = value.reshape(kept.size, plt_tree.padded_size(size))
    return {int(f): {int(c): w for c, w in zip(places, row[places]) if w} for f, row in zip(kept, rows)}


@pytest.mark.parametrize("size, stored", [(2, "dense"), (17, "sparse")])
def test_prune_keeps_weights_at_the_threshold(size, stored):
    weights = np.array([[0.1, -0.05], [0.0, 0.0], [-0.3, 0.2], [9.0, 9.0]], np.float32)
    places = np.array([0, size - 1])
    pruned = plt_training.prune(weights, np.array([4, 5, 9], np.int32), np.float32(0.1), places, size)
    assert (pruned[1].size > 0) == (stored == "sparse")
    by_column = naive.plt_training.prune(weights, [4, 5, 9], np.float32(0.1))
    assert by_column == {4: {0: np.float32(0.1)}, 9: {0: np.float32(-0.3), 1: np.float32(0.2)}}
    assert unpacked(pruned, places, size) == {
        f: {int(places[c]): w for c, w in row.items()} for f, row in by_column.items()
    }
    all_but_zeros = plt_training.prune(weights[:3], np.array([4, 5], np.int32), np.float32(0), places, size)
    assert unpacked(all_but_zeros, places, size) == {4: {0: weights[0, 0], size - 1: weights[0, 1]}}
