"""Pairs of labels against counts of all pairs in a dense matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore import arrays
from xmlcore.datasets.statistics import pairs
from xmlcore.datasets.statistics.pairs import label_pairs


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
