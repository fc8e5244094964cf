"""Clustering of labels does what its plain-Python twin does."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from _kernels.plt_problems import sparse_rows

from xmlcore._kernels import plt_clusters
from xmlcore.models.plt.building import build_tree, label_representations
from xmlcore.validation import check_labels, csr_parts


def test_normalise_rows_leaves_empty_rows_alone():
    X = sparse_rows(12, 9, 0)
    X = sp.csr_array(sp.vstack([X, sp.csr_array((1, 9), dtype=np.float32)], format="csr"))
    expected = naive.plt_clusters.normalise_rows(X.toarray().astype(float))
    plt_clusters.normalise_rows(csr_parts(X)[0], X.data)
    np.testing.assert_allclose(X.toarray(), expected, rtol=1e-6)


@pytest.mark.parametrize("n, k", [(7, 2), (10, 3), (5, 5), (31, 4)])
def test_assignment_is_balanced_and_takes_the_surest_first(n, k):
    similarity = np.random.default_rng(n).random((n, k)).astype(np.float32)
    capacity = np.array([n // k + (c < n % k) for c in range(k)])
    clusters = np.empty(n, np.int32)
    plt_clusters.assign_balanced(similarity, capacity, clusters)
    assert clusters.tolist() == naive.plt_clusters.assign_balanced(similarity.tolist(), capacity.tolist())
    assert np.bincount(clusters, minlength=k).tolist() == capacity.tolist()


def test_two_clusters_get_the_best_balanced_split_there_is():
    from itertools import combinations

    similarity = np.random.default_rng(5).random((8, 2)).astype(np.float32)
    clusters = np.empty(8, np.int32)
    plt_clusters.assign_balanced(similarity, np.array([4, 4]), clusters)
    best = max(
        sum(similarity[i, 0] if i in first else similarity[i, 1] for i in range(8))
        for first in combinations(range(8), 4)
    )
    assert similarity[np.arange(8), clusters].sum() == pytest.approx(best)


@pytest.mark.parametrize("n_clusters, seed", [(2, 0), (2, 1), (3, 2), (5, 3)])
def test_split_labels(n_clusters, seed):
    representations = sparse_rows(23, 15, seed)
    representations = sp.csr_array(sp.vstack([representations, sp.csr_array((2, 15), dtype=np.float32)], format="csr"))
    plt_clusters.normalise_rows(csr_parts(representations)[0], representations.data)
    labels = np.setdiff1d(np.arange(25), [3, 8]).astype(np.int32)
    found = plt_clusters.split_labels(
        *csr_parts(representations), labels, 15, n_clusters, np.float32(1e-4), 20, seed, 4
    )
    dense = representations.toarray().astype(float)
    assert found.tolist() == naive.plt_clusters.split_labels(dense, labels, n_clusters, 1e-4, 20, seed, 4)


def test_representation_of_a_label_is_the_mean_direction_of_its_rows():
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
