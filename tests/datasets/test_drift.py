"""Differences between the columns of training and test rows."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore.datasets.statistics.drift import drift, used_columns


def test_a_difference_is_in_standard_deviations():
    rng = np.random.default_rng(0)
    A, B = rng.random((200, 3)) * (rng.random((200, 3)) < 0.6), rng.random((80, 3)) * (rng.random((80, 3)) < 0.4)
    A, B = A.astype(np.float32), B.astype(np.float32)
    found = drift(sp.csr_array(A), sp.csr_array(B)).set_index("column")
    for j in range(3):
        a, b = A[:, j].astype(float), B[:, j].astype(float)
        row = found.loc[j]
        assert row["difference"] == pytest.approx((b.mean() - a.mean()) / np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2))
        both = np.concatenate([a, b])
        z = (b.mean() - a.mean()) / (both.std(ddof=1) * np.sqrt(1 / 200 + 1 / 80))
        assert row["p"] == pytest.approx(math.erfc(abs(z) / math.sqrt(2)), rel=1e-9)
        assert (row["rows_train"], row["rows_test"]) == ((a > 0).sum(), (b > 0).sum())


def test_a_random_split_has_no_drift_a_changed_feature_has():
    rng = np.random.default_rng(1)
    share = rng.uniform(0.001, 0.4, 400)
    A, B = (rng.random((n, 400)) < share for n in (3000, 900))
    assert not drift(sp.csr_array(A), sp.csr_array(B))["differs"].any()
    B[:, 17] |= rng.random(900) < 0.3
    found = drift(sp.csr_array(A), sp.csr_array(B))
    assert found["differs"].sum() == 1 and found["column"][0] == 17


def test_rare_columns_are_not_tested_empty_ones_not_listed():
    A, B = np.zeros((100, 4)), np.zeros((100, 4))
    A[:5, 0] = B[:4, 0] = 1  # 9 rows: 4.5 would be expected in each part
    A[:5, 1] = B[:5, 1] = 1
    B[:50, 3] = 2
    found = drift(sp.csr_array(A), sp.csr_array(B)).set_index("column")
    assert found.index.tolist() == [3, 0, 1]
    assert found["tested"].to_dict() == {3: True, 0: False, 1: True}
    assert np.isnan(found.loc[0, "p"]) and found["differs"].to_dict() == {3: True, 0: False, 1: False}


def test_two_constants_differ_by_infinity_equal_ones_by_0():
    found = drift(sp.csr_array(np.full((50, 2), [0.3, 1])), sp.csr_array(np.full((50, 2), [0.3, 3]))).set_index(
        "column"
    )
    assert found["difference"].to_dict() == {1: np.inf, 0: 0.0}
    assert found["differs"].to_dict() == {1: True, 0: False}


def test_memory_does_not_grow_with_promised_features():
    wide = sp.csr_array((np.ones(3, np.float32), [5, 2_000_000_000, 5], [0, 2, 3]), shape=(2, 2_000_000_001))
    assert used_columns(wide).tolist() == [5, 2_000_000_000]
    assert drift(wide, wide)["column"].tolist() == [5, 2_000_000_000]
