"""Labels measured one by one, and which wrong label stands where a true one is missed."""

import naive
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from xmlcore import Ranking, arrays, metrics


def case(seed=0, n=200, n_labels=30, k=5):
    random = np.random.default_rng(seed)
    Y = random.random((n, n_labels)) < np.geomspace(0.3, 0.005, n_labels)
    scores = Y + random.normal(0, 0.7, (n, n_labels))
    labels = np.argsort(-scores, axis=1)[:, :k].astype(np.int32)
    return sp.csr_array(Y), Ranking(labels, np.take_along_axis(scores, labels, 1).astype(np.float32))


@pytest.mark.parametrize("k", [1, 3, 5])
def test_they_agree_with_scikit_learn(k):
    Y, ranking = case(seed=k)
    predicted = np.zeros(Y.shape, bool)
    np.put_along_axis(predicted, ranking.labels[:, :k], True, 1)
    P, R, F, rows = precision_recall_fscore_support(Y.toarray(), predicted, zero_division=np.nan)
    frame = metrics.by_label(Y, ranking, k)
    assert (frame["rows"] == rows).all() and frame["label"].tolist() == list(range(30))
    for column, expected in (("precision", P), ("recall", R), ("f1", F)):
        np.testing.assert_allclose(frame[column], expected)


def test_labels_by_hand():
    Y, ranking = [[0, 1], [0], [2]], [[0, 3], [1, 3], [-1, -1]]
    frame = metrics.by_label(Y, ranking, 2, n_labels=5)
    assert frame["rows"].tolist() == [2, 1, 1, 0, 0]
    assert frame["predicted"].tolist() == [1, 1, 0, 2, 0]
    assert frame["right"].tolist() == [1, 0, 0, 0, 0]
    np.testing.assert_allclose(frame["precision"], [1, 0, np.nan, 0, np.nan])
    np.testing.assert_allclose(frame["recall"], [0.5, 0, 0, np.nan, np.nan])
    np.testing.assert_allclose(frame["f1"], [2 / 3, 0, 0, 0, np.nan])
    assert metrics.f1_of_labels(frame) == pytest.approx((2 / 8, 2 / 9))


def test_buckets_add_up_to_the_whole():
    Y, ranking = case()
    frame = metrics.by_label(Y, ranking, 3)
    buckets = np.repeat(["head", "torso", "tail"], 10)
    lines = metrics.labels_by_bucket(frame, buckets).set_index("bucket")
    assert lines["rows"].sum() == Y.nnz
    tail = frame[buckets == "tail"]
    assert lines.loc["tail", "recall"] == pytest.approx(tail["right"].sum() / tail["rows"].sum())
    assert lines.loc["tail", "macro_f1"] == pytest.approx(metrics.f1_of_labels(tail)[1])
    assert lines.loc["tail", "never_right"] == ((tail["rows"] > 0) & (tail["right"] == 0)).sum()
    empty = metrics.labels_by_bucket(frame, np.full(30, "head"))
    assert empty["rows"].tolist() == [Y.nnz, 0, 0] and np.isnan(empty.loc[2, "recall"])


@pytest.mark.parametrize("measure", [metrics.by_label, metrics.f1_at_k])
@pytest.mark.parametrize("Y", [[[0], [1], [2]], pd.Series([[0], [1], [2]]), pd.Series(pd.date_range("2020", periods=3)),
                               np.array([[0], [1, 2], None], object)], ids=str)  # fmt: skip
def test_lists_do_not_say_how_many_labels_there_are(measure, Y):
    with pytest.raises(ValueError, match="pass n_labels"):
        measure(Y, [[0], [1], [2]], 1)


@pytest.mark.parametrize("Y", [[[0, 7], [1], [2]], np.eye(3, 8, 5, dtype=int)])
def test_labels_that_are_not_among_n_labels_are_named(Y):
    with pytest.raises(ValueError, match="Y_true has the label id 7, but n_labels is 3"):
        metrics.by_label(Y, [[0], [1], [2]], 1, n_labels=3)


@pytest.mark.parametrize("frame", [pd.DataFrame({"a": [1]}), [[1, 2]], None])
def test_functions_of_frames_say_which_frames_they_take(frame):
    with pytest.raises(ValueError, match="one that by_label returned"):
        metrics.f1_of_labels(frame)
    with pytest.raises(ValueError, match="one that by_label returned"):
        metrics.labels_by_bucket(frame, np.array(["head"]))
    with pytest.raises(ValueError, match="one that reliability returned"):
        metrics.calibration_error(frame)


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
