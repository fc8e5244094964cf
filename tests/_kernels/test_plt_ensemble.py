"""Kernels see every tree of an ensemble as it is."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from _kernels.plt_problems import sparse_rows

from xmlcore import PLT
from xmlcore._kernels._jit import kernel
from xmlcore._kernels.plt_ensemble import as_ensemble, fields_of, member_at

NO_GAINS = [np.zeros(0)] * 3


@kernel
def sums_of_tree(ensemble, t):
    """A number that depends on a tree's labels, weights, sizes and root."""
    tree = member_at(ensemble.first, ensemble.table, t).arrays
    leaves = member_at(ensemble.first, ensemble.table, t).leaf_of_label
    return tree.label.size, tree.label.sum(), tree.bias.size, leaves.sum(), tree.root_group, tree.entry_value.size


@pytest.fixture(scope="module")
def ensemble():
    Y = np.random.default_rng(0).random((60, 17)) < 0.15
    return PLT(n_estimators=3, max_leaf_labels=2, n_jobs=1).fit(sparse_rows(60, 25, 0), Y)


def test_each_tree_is_read_where_it_is_in_memory(ensemble):
    together = as_ensemble(ensemble.fitted_, ensemble.leaves_, NO_GAINS)
    for t in range(3):
        tree, leaves = naive.plt_ensemble.member_at(ensemble.fitted_, ensemble.leaves_, t)
        found = sums_of_tree(together, t)
        expected = (
            tree.label.size, tree.label.sum(), tree.bias.size, leaves.sum(), tree.root_group, tree.entry_value.size
        )  # fmt: skip
        assert tuple(map(int, found)) == tuple(map(int, expected))


def test_a_table_has_two_columns_for_each_field(ensemble):
    together = as_ensemble(ensemble.fitted_, ensemble.leaves_, NO_GAINS)
    assert together.table.shape == (3, 2 * len(fields_of(together.first)))


def test_a_tree_with_arrays_of_other_types_is_refused(ensemble):
    one, two, three = ensemble.fitted_
    with pytest.raises(TypeError, match="bias of a tree must be a contiguous array of float32, not of float64"):
        as_ensemble([one, two._replace(bias=two.bias.astype(np.float64)), three], ensemble.leaves_, NO_GAINS)
    with pytest.raises(TypeError, match="leaf_of_label of a tree must be a contiguous array"):
        as_ensemble([one, two], [ensemble.leaves_[0], np.repeat(ensemble.leaves_[1], 2)[::2]], NO_GAINS)


@pytest.mark.parametrize("n_labels", [1, 2])
def test_an_ensemble_over_one_or_two_labels_ranks_them(n_labels):
    Y = sp.csr_array(np.ones((8, n_labels), bool))
    found = PLT(n_estimators=2, n_jobs=1).fit(sparse_rows(8, 5, 0), Y).predict_topk(sparse_rows(4, 5, 1), 2)
    assert found.labels.tolist() == [[0, 1] if n_labels == 2 else [0, -1]] * 4
