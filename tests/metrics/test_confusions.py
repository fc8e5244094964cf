"""Pairs of a missed and a wrongly predicted label are counted as plain Python counts them, in any number of blocks."""

import naive
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import confusion_matrix

from tests.metrics.test_labels import case
from xmlcore import arrays, metrics


@pytest.mark.parametrize("k", [None, 1, 3, 5])
def test_confusions_are_those_of_plain_python(k, monkeypatch):
    Y, ranking = case(seed=4)
    true = [set(np.flatnonzero(row).tolist()) for row in Y.toarray()]
    expected = naive.measures.confused(true, ranking.labels.tolist(), k)
    found = metrics.confusions(Y, ranking, k, n=10_000)
    assert found.n_pairs == len(found.pairs) == len(expected) > 50
    assert found.n_swaps == pytest.approx(sum(swaps for swaps, _ in expected.values()))
    for line in found.pairs.itertuples():
        swaps, rows = expected[line.missed, line.wrong]
        assert (line.swaps, line.rows, line.row) == (pytest.approx(swaps), len(rows), min(rows)[1])
        assert metrics.confused_rows(Y, ranking, line.missed, line.wrong, k).tolist() == [i for _, i in sorted(rows)]
    if k is not None:
        of_labels = metrics.by_label(Y, ranking, k)
        for side, counts in (("missed", of_labels["rows"]), ("wrong", of_labels["predicted"])):
            counts = counts - of_labels["right"]
            assert found.pairs[f"n_{side}"].tolist() == counts[found.pairs[side]].tolist()
    order = [(-line.swaps, line.missed, line.wrong) for line in found.pairs.itertuples()]
    assert order == sorted(order)
    monkeypatch.setattr(arrays, "BLOCK", 30)
    first = metrics.confusions(Y, ranking, k, n=7)
    assert first.pairs.equals(found.pairs.head(7)) and first.n_pairs == found.n_pairs
    some = metrics.confusions(Y, ranking, k, n=10_000, labels=[3, 29, 999])
    lines = found.pairs[found.pairs["missed"].isin([3, 29]) | found.pairs["wrong"].isin([3, 29])]
    assert some.pairs.equals(lines.reset_index(drop=True)) and some.n_pairs == len(lines)


def test_with_one_label_per_row_they_are_the_confusion_matrix():
    random = np.random.default_rng(0)
    true, predicted = random.integers(0, 6, (2, 300))
    pairs = metrics.confusions(true[:, None].tolist(), predicted[:, None], 1).pairs
    cells = sp.coo_array((pairs["swaps"], (pairs["missed"], pairs["wrong"])), shape=(6, 6)).toarray()
    matrix = confusion_matrix(true, predicted)
    np.fill_diagonal(matrix, 0)
    assert (cells == matrix).all() and (pairs["rows"] == pairs["swaps"]).all()


def test_no_label_of_a_row_counts_more_than_once():
    assert metrics.confusions([[0, 1, 2]], [[3, 4, 5, -1]]).n_swaps == pytest.approx(3)
    assert metrics.confusions([[0, 1, 2]], [[3, 0, 1, 2]], 1).pairs["swaps"].tolist() == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("rows", [([[0], []], [[0, 1], [2, 3]]), ([[], []], [[-1], [-1]]), ([[0, 1]], [[0, 1]])])
def test_rows_without_mistakes_confuse_nothing(rows):
    found = metrics.confusions(*rows)
    assert found.pairs.empty and (found.n_pairs, found.n_swaps) == (0, 0.0)
    assert metrics.confused_rows(*rows, 0, 7).size == 0
