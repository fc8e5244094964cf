"""Rows in columns, margins and clusters of labels are those of the plain-Python twins."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from _kernels.plt_problems import sparse_rows

from xmlcore._kernels import plt_clusters, plt_rows
from xmlcore.models.plt.building import build_tree, label_representations
from xmlcore.validation import check_labels, csr_parts, unsigned_parts


def test_zones_come_one_after_the_other():
    indices = np.array([3, 40, 5, 200_000, 130, 600, 3000, 9000, 40_000, 1, 33], np.int32)
    of_feature = np.empty(0, np.int32), np.arange(200_001, dtype=np.int32)
    for part in of_feature:
        part.flags.writeable = False  # as those of models: else the kernel would be compiled once more
    values = np.ones(indices.size, np.float32)
    _, columns, _ = plt_rows.take_rows(np.array([0, 11]), indices, values, 0, 1, *of_feature, True)
    assert columns.tolist() == [3, 5, 1, 40, 33, 130, 600, 3000, 9000, 40_000, 200_000]


@pytest.mark.parametrize("n_clusters, seed", [(2, 0), (2, 1), (3, 2), (5, 3)])
def test_split_labels(n_clusters, seed):
    representations = sparse_rows(23, 15, seed)
    representations = sp.csr_array(sp.vstack([representations, sp.csr_array((2, 15), dtype=np.float32)], format="csr"))
    plt_clusters.normalise_rows(csr_parts(representations)[0], representations.data)
    labels = np.setdiff1d(np.arange(25), [3, 8]).astype(np.int32)
    found = plt_clusters.split_labels(
        *unsigned_parts(representations), labels, 15, n_clusters, np.float32(1e-4), 20, seed, 4
    )
    dense = representations.toarray().astype(float)
    assert found.tolist() == naive.plt_training.split_labels(dense, labels, n_clusters, 1e-4, 20, seed, 4)


def test_a_labels_representation_is_its_rows_mean_direction():
    X = sp.csr_array(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32))
    found = label_representations(X, check_labels([[0, 1], [0], [1]], n_labels=3))
    half = np.sqrt(0.5)
    np.testing.assert_allclose(found.toarray(), [[half, half, 0], [half, 0, half], [0, 0, 0]], rtol=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_clustering_finds_groups_of_labels_wherever_it_starts(seed):
    rng_ = np.random.default_rng(seed)
    group = rng_.permutation(np.repeat([0, 1], 20))
    own = np.where(group[:, None] == [0, 1], 1.0, 0.0)  # what the group shares, and noise of the label's own
    rows = np.hstack([own, 0.8 * rng_.random((40, 30))]).astype(np.float32)
    plt_clusters.normalise_rows(np.arange(0, rows.size + 1, rows.shape[1]), rows.reshape(-1))
    tree = build_tree("kmeans", 40, 2, 20, seed, sp.csr_array(rows))
    halves = [set(group[tree.label[tree.parent == v]]) for v in (1, 2)]
    assert sorted(map(sorted, halves)) == [[0], [1]]
