"""Maps place like rows and labels together, and the same seed gives the same map."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from xmlcore import figures
from xmlcore.datasets import Dataset, map_of


def data(n=90, n_features=12, n_labels=3):
    """Groups of rows with features of their own, each with a label; rows 0 and 3 are equal, row 1 is empty."""
    rng = np.random.default_rng(0)
    group = np.arange(n) % 3
    X = rng.random((n, n_features)) * (np.arange(n_features) % 3 == group[:, None])
    X[3], X[1] = X[0], 0
    Y = sp.csr_array((np.ones(n, bool), (np.arange(n), np.minimum(group, n_labels - 1))), shape=(n, n_labels))
    X, kept = sp.csr_array(X.astype(np.float32)), n * 2 // 3
    return Dataset("groups", X[:kept], Y[:kept], X[kept:], Y[kept:])


def test_like_rows_lie_together_and_equal_ones_in_one_place():
    found, group = map_of(data()), np.arange(90) % 3
    assert found.dtype == np.float32 and np.flatnonzero(np.isnan(found).any(axis=1)).tolist() == [1]
    assert np.allclose(found[0], found[3], atol=1e-3)
    left = np.delete(np.arange(90), 1)
    apart = np.linalg.norm(found[left, None] - found[left], axis=2) + 1e9 * np.eye(89)
    assert (group[left][apart.argmin(axis=1)] == group[left]).mean() > 0.95


@pytest.mark.parametrize("of", ["rows", "labels"])
def test_a_seed_gives_one_map_with_any_number_of_threads(of):
    with threadpool_limits(2):
        found = map_of(data(), of, 3)
    assert np.array_equal(found, map_of(data(), of, 3), equal_nan=True)


@pytest.mark.parametrize("shape", [{"n_labels": 1}, {"n": 6}, {"n_features": 3}, {"n": 6, "n_features": 1}])
def test_few_rows_labels_and_features_have_maps(shape):
    made = data(**shape)
    for of, n in (("rows", made.n_train + made.n_test), ("labels", made.n_labels)):
        found = map_of(made, of)
        assert found.shape == (n, 2) and np.isfinite(found).any() and not np.isinf(found).any()


def test_data_without_features_or_of_another_kind():
    empty = Dataset("none", sp.csr_array((3, 2)), [[0], [1], []], sp.csr_array((1, 2)), [[0]])
    assert np.isnan(map_of(empty)).all() and map_of(empty, "labels").shape == (empty.n_labels, 2)
    with pytest.raises(ValueError, match="columns"):
        map_of(empty, "columns")


def test_many_points_share_the_marks_of_squares():
    places = np.random.default_rng(0).normal(size=(25_000, 2))
    places[7] = np.nan
    frame = pd.DataFrame(places, columns=["x", "y"]).assign(value=1.0)
    marks, figure = figures.marks_of(frame), figures.point_map(frame, "m", "v", str, (3,))
    assert marks[7] == -1 and figure.layout.meta["marks"] == marks.max() + 1 < 10_000
    assert figures.marks_of(frame[:9]).tolist() == [*range(7), -1, 7]
