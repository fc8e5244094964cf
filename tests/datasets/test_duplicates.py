"""Rows that occur twice, and sets of labels, by hand and by plain loops."""

from collections import Counter

import numpy as np

from xmlcore.datasets import Dataset, describe, label_sets, rows_of_label_set
from xmlcore.datasets.statistics.rows import duplicates


def test_duplicates_are_those_that_comparing_all_pairs_finds(monkeypatch):
    monkeypatch.setattr("xmlcore.datasets.statistics.rows.BLOCK", 7)
    rng = np.random.default_rng(4)
    X, Y = rng.integers(0, 2, (90, 6)).astype(float) * 0.25, rng.random((90, 3)) < 0.4
    data = Dataset("d", X[:60], Y[:60], X[60:], Y[60:])
    equal = (X[:, None] == X[None]).all(axis=2) & X.any(axis=1)[:, None]
    same = equal & (Y[:, None] == Y[None]).all(axis=2)
    earlier = np.tri(90, k=-1, dtype=bool)
    assert duplicates(data).summary == {
        "n_repeated_train": (equal & earlier)[:60, :60].any(axis=1).sum(),
        "n_repeated_test": (equal & earlier)[60:, 60:].any(axis=1).sum(),
        "n_test_seen_in_train": equal[60:, :60].any(axis=1).sum(),
        "n_test_same_labels": same[60:, :60].any(axis=1).sum(),
        "n_rows_other_labels": (equal & ~same).any(axis=1).sum(),
    }
    alike = (equal & ~np.eye(90, dtype=bool)).any(axis=1)
    rows = duplicates(data).rows
    listed = np.where(rows["part"] == "test", rows["row"] + 60, rows["row"])
    assert sorted(listed) == np.flatnonzero(alike).tolist()
    for _, group in rows.assign(at=listed).groupby("group"):
        assert equal[np.ix_(group["at"], group["at"])].all()


def test_data_without_duplicates_have_none():
    X = np.eye(4)
    found = duplicates(Dataset("d", X[:2], [[0], [1]], X[2:], [[0], [1]]))
    assert set(found.summary.values()) == {0} and found.rows.empty


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
