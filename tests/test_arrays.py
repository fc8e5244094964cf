"""Flat arrays: columns of features, list pointers, read-only arrays, the largest values of a row."""

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore.arrays import by_frequency, columns_of, in_columns, read_only


def rows_of(features, n_features, seed=0):
    """Fifty CSR rows with a few of these features each."""
    rng = np.random.default_rng(seed)
    dense = np.zeros((50, n_features))
    dense[:, features] = np.where(rng.random((50, len(features))) < 0.3, rng.random((50, len(features))), 0)
    return sp.csr_array(dense)


@pytest.mark.parametrize("n_features", [12, 40_000])  # counted by feature, and by sorting
def test_features_are_ordered_by_frequency_then_id(n_features):
    X = rows_of([0, 3, 4, 7, 8, 11], n_features)
    counts = {f: int((X[:, [f]] != 0).sum()) for f in (0, 3, 4, 7, 8, 11)}
    X = sp.csr_array(sp.vstack([X, *[rows_of([11], n_features)[:0]]]))
    order = by_frequency(X)
    assert order.dtype == np.int32 and order.tolist() == sorted(counts, key=lambda f: (-counts[f], f))
    tied = sp.csr_array((np.ones(4), [9, 2, 5, 2], [0, 2, 4]), shape=(2, n_features))
    assert by_frequency(tied).tolist() == [2, 5, 9]
    assert by_frequency(sp.csr_array((3, n_features))).tolist() == []


@pytest.mark.parametrize("features", [[], [4], [7, 0, 11, 3]])
@pytest.mark.parametrize("n_features", [12, 40_000])  # a table of all features, and a list of those with a column
def test_rows_in_columns_are_the_rows_with_their_columns_picked(features, n_features):
    X = rows_of([0, 3, 4, 7, 8, 11], n_features)
    feature_of_column = np.array(features, np.int32)
    columns = columns_of(feature_of_column, n_features)
    assert not any(array.flags.writeable for array in columns)
    x = X.indptr.astype(np.int64), X.indices, X.data
    for block in (None, (0, 50), (5, 20), (7, 7)):
        ptr, own, values = in_columns(x, columns, block)
        assert ptr[0] == 0 and values.flags.c_contiguous and own.dtype == np.int32
        found = sp.csr_array((values, own, ptr), shape=(ptr.size - 1, max(1, len(features))))
        expected = X[slice(*(block or (0, 50)))][:, feature_of_column].toarray()
        assert np.array_equal(found.toarray()[:, : len(features)], expected)
        assert found.nnz == np.count_nonzero(expected)


def test_arrays_become_read_only_and_other_parts_of_a_tuple_stay():
    array = np.arange(3)
    parts = read_only((array, 5, None))
    assert parts[0] is array and parts[1:] == (5, None)
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 1
