"""LIFT: distances to clusters of the rows with and without a label, from which a tree learns."""

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from selection.test_rivals import data
from sklearn.tree import DecisionTreeClassifier

from xmlcore.selection import LIFT
from xmlcore.selection.decision_trees import label_seed
from xmlcore.selection.lift import cluster_centers, distances


def test_each_label_has_as_many_clusters_of_both_sides():
    X, Y = data()
    Y[:, 1], Y[:, 2] = False, True
    model = LIFT(ratio=0.25).fit(X, Y)
    least = np.minimum(Y.sum(axis=0), (~Y).sum(axis=0))
    np.testing.assert_array_equal(model.n_centers_, 2 * np.ceil(0.25 * least))
    assert model.n_centers_.tolist()[1:3] == [0, 0]
    assert (model.predict_proba(X)[:, 1:3] == [0, 1]).all()


def test_trees_learn_from_the_distances_to_the_centres():
    X, Y = data()
    model = LIFT().fit(X[:100], Y[:100])
    ends = np.concatenate([[0], np.cumsum(model.n_centers_)])
    for label in range(4):
        away = distances(sp.csr_array(X), model._centers[:, ends[label] : ends[label + 1]].copy())
        tree = DecisionTreeClassifier(random_state=label_seed(0, label)).fit(away[:100], Y[:100, label])
        found = model.predict_proba(X[100:])[:, label]
        np.testing.assert_allclose(found, tree.predict_proba(away[100:])[:, 1], rtol=1e-6)


def test_rows_are_in_the_cluster_whose_mean_is_nearest():
    X, _ = data(n=90)
    rows = sp.csr_array(X)
    centers = cluster_centers(rows, 7, np.random.default_rng(0))
    np.testing.assert_allclose(distances(rows, centers.T.copy()), cdist(X, centers), rtol=1e-3, atol=2e-3)
    own = cdist(X, centers).argmin(axis=1)
    for cluster in range(7):
        np.testing.assert_allclose(X[own == cluster].mean(axis=0), centers[cluster], atol=1e-5)
    equal = cluster_centers(sp.csr_array(np.ones((9, 3), np.float32)), 4, np.random.default_rng(0))
    assert (equal == 1).all(), "clusters without rows are filled"
