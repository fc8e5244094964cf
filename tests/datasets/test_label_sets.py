"""Label sets are counted as a plain loop counts them."""

from collections import Counter

import numpy as np

from xmlcore.datasets import Dataset, describe, label_sets, rows_of_label_set


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
