"""Rows unlike those of the other part, rows that occur twice, and pairs and sets of labels, by plain loops."""

import math
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import arrays
from xmlcore.datasets import Dataset, describe, label_sets, rows_of_label_set
from xmlcore.datasets.statistics import pairs
from xmlcore.datasets.statistics.drift import drift, used_columns
from xmlcore.datasets.statistics.pairs import label_pairs
from xmlcore.datasets.statistics.rows import duplicates


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


def test_duplicates_are_those_that_comparing_all_pairs_finds(monkeypatch):
    monkeypatch.setattr("xmlcore.datasets.statistics.rows.BLOCK", 7)
    rng = np.random.default_rng(4)
    X, Y = rng.integers(0, 2, (90, 6)).astype(float) * 0.25, rng.random((90, 3)) < 0.4
    data = Dataset("d", X[:60], Y[:60], X[60:], Y[60:])
    equal = (X[:, None] == X[None]).all(axis=2) & X.any(axis=1)[:, None]
    same = equal & (Y[:, None] == Y[None]).all(axis=2)
    earlier = np.tri(90, k=-1, dtype=bool)
    assert duplicates(data)[0] == {
        "n_repeated_train": (equal & earlier)[:60, :60].any(axis=1).sum(),
        "n_repeated_test": (equal & earlier)[60:, 60:].any(axis=1).sum(),
        "n_test_seen_in_train": equal[60:, :60].any(axis=1).sum(),
        "n_test_same_labels": same[60:, :60].any(axis=1).sum(),
        "n_rows_other_labels": (equal & ~same).any(axis=1).sum(),
    }
    alike = (equal & ~np.eye(90, dtype=bool)).any(axis=1)
    rows = duplicates(data)[1]
    listed = np.where(rows["part"] == "test", rows["row"] + 60, rows["row"])
    assert sorted(listed) == np.flatnonzero(alike).tolist()
    for _, group in rows.assign(at=listed).groupby("group"):
        assert equal[np.ix_(group["at"], group["at"])].all()


def test_data_without_duplicates_have_none():
    X = np.eye(4)
    summary, rows = duplicates(Dataset("d", X[:2], [[0], [1]], X[2:], [[0], [1]]))
    assert set(summary.values()) == {0} and rows.empty


def test_label_sets_are_those_of_a_plain_count():
    rng = np.random.default_rng(0)
    Y = rng.random((60, 4)) < 0.3
    data = Dataset("some", np.ones((40, 1)), Y[:40], np.ones((20, 1)), Y[40:])
    every = [tuple(np.flatnonzero(row).tolist()) for row in Y]
    counted = Counter(one for one in every if one)
    found = label_sets(data)
    assert [every[row] for row in found["row"]] == [one for one, _ in counted.most_common()]
    assert found["rows"].tolist() == [count for _, count in counted.most_common()]
    assert found["n_train"].tolist() == [every[:40].count(every[row]) for row in found["row"]]
    assert (found["n_train"] + found["n_test"] == found["rows"]).all()
    assert found["size"].tolist() == [len(every[row]) for row in found["row"]]
    assert len(found) == describe(data).summary["n_label_sets"]
    for row in found["row"]:
        assert rows_of_label_set(data, row).tolist() == [i for i in range(60) if every[i] == every[row]]


def test_data_without_labels_has_no_label_sets():
    data = Dataset("bare", np.ones((2, 1)), np.zeros((2, 3), bool), np.ones((1, 1)), np.zeros((1, 3), bool))
    assert label_sets(data).empty


def dense_pairs(Y):
    """Every pair (i, j) of a dense matrix, the more frequent label first, with n_both, expected, lift, phi."""
    n, counts, found = len(Y), Y.sum(axis=0), {}
    for i in range(Y.shape[1]):
        for j in range(Y.shape[1]):
            if i == j or counts[j] > counts[i] or (counts[i] == counts[j] and i > j) or not counts[j]:
                continue
            both, expected = (Y[:, i] & Y[:, j]).sum(), counts[i] * counts[j] / n
            phi = 0.0 if n in (counts[i], counts[j]) else np.corrcoef(Y[:, i], Y[:, j])[0, 1]
            found[i, j] = both, expected, both / expected, phi
    return found


@pytest.fixture
def Y():
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 5, 120)
    Y = (rng.random((120, 40)) < rng.uniform(0.01, 0.3, 40)) | (np.arange(40) == groups[:, None] * 7)
    Y[:, 39] = True  # a label of every row goes with all labels by chance
    Y[:, 38] = False
    return Y


def test_pairs_and_exclusions_are_those_of_a_dense_matrix(Y, monkeypatch):
    expected = dense_pairs(Y)
    found = label_pairs(sp.csr_array(Y), n_pairs=25)
    for frame, sign in ((found.pairs, -1), (found.exclusions, 1)):
        assert len(frame) == 25
        for row in frame.itertuples():
            both, chance, lift, phi = expected[row.first, row.second]
            assert (row.n_both, row.expected, row.lift) == pytest.approx((both, chance, lift))
            assert row.phi == pytest.approx(phi, abs=1e-9)
        enough = [phi for both, _, _, phi in expected.values() if sign == 1 or both >= 2]
        np.testing.assert_allclose(frame["phi"], sorted(enough, key=lambda v: sign * v)[:25], atol=1e-9)
    assert found.n_pairs == sum(both > 0 for both, *_ in expected.values())
    monkeypatch.setattr(arrays, "BLOCK", 200)  # labels in many blocks
    again = label_pairs(sp.csr_array(Y), n_pairs=25)
    assert all(a.equals(b) for a, b in zip(found[:3], again[:3]))


def test_partners_of_a_label_have_its_largest_phi(Y):
    counts = Y.sum(axis=0)
    found = label_pairs(sp.csr_array(Y), n_partners=2).partners
    for j in range(40):
        phi = {i: np.corrcoef(Y[:, i], Y[:, j])[0, 1] for i in range(38) if i != j and 0 < counts[j] < 120}
        best = sorted((v for i, v in phi.items() if v > 1e-12 and (Y[:, i] & Y[:, j]).sum() >= 2), reverse=True)[:2]
        mine = found[found["label"] == j]
        assert mine["place"].tolist() == list(range(1, len(best) + 1))
        np.testing.assert_allclose(mine["phi"], best, atol=1e-9)


def test_exclusions_are_exact_however_the_search_begins():
    rng = np.random.default_rng(2)
    one_of = rng.integers(0, 300, 4000)  # one label per row: no two ever occur together
    Y = sp.csr_array((np.ones(4000, bool), one_of, np.arange(4001)), shape=(4000, 300))
    found = label_pairs(Y, n_pairs=3000).exclusions
    odds = np.bincount(one_of, minlength=300) / (4000 - np.bincount(one_of, minlength=300))
    all_phi = -np.sqrt(np.outer(odds, odds)[np.triu_indices(300, 1)])
    np.testing.assert_allclose(found["phi"], np.sort(all_phi)[:3000], atol=1e-9)
    assert (found["n_both"] == 0).all()


def test_exclusions_that_might_come_after_others_are_not_listed(monkeypatch):
    Y = sp.csr_array(np.repeat(np.eye(6, dtype=bool), [9, 8, 7, 3, 3, 3], axis=0))
    monkeypatch.setattr(pairs, "WIDEST", 3)
    found = label_pairs(Y, n_pairs=10).exclusions
    odds = np.sqrt(np.array([9, 8, 7, 3]) / (33 - np.array([9, 8, 7, 3])))
    sure = [-odds[a] * odds[b] for a, b in ((0, 1), (0, 2), (1, 2)) if odds[a] * odds[b] >= odds[0] * odds[3]]
    np.testing.assert_allclose(found["phi"], sorted(sure), atol=1e-9)


def test_data_without_labels_have_no_pairs():
    found = label_pairs(sp.csr_array((5, 3), dtype=bool))
    assert found.n_pairs == 0 and found.pairs.empty and found.exclusions.empty and found.partners.empty
