"""Tables of selections: against sets and loops in plain Python."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from xmlcore.selection import frames


def some_selection(n_labels=12, n_features=30, k=6, seed=0):
    rng = np.random.default_rng(seed)
    selected = np.array([rng.permutation(n_features)[:k] for _ in range(n_labels)], dtype=np.int32)
    selected[1] = selected[0][::-1]  # the same set in another order
    return selected, -np.sort(-rng.random((n_labels, k)), axis=1).astype(np.float32)


def jaccard(a, b):
    return len(set(a) & set(b)) / len(set(a) | set(b))


def test_closest_pairs_do_not_depend_on_the_blocks(monkeypatch):
    selected, _ = some_selection()
    pairs = [(a, b) for a in range(12) for b in range(a + 1, 12)]
    common = sorted(((len(set(selected[a]) & set(selected[b])), -a, -b) for a, b in pairs), reverse=True)
    mean = np.mean([jaccard(selected[a], selected[b]) for a, b in pairs])
    for cells in (frames.BLOCK_CELLS, 24):
        monkeypatch.setattr(frames, "BLOCK_CELLS", cells)
        table, compared, found, share = frames.closest_pairs(selected, 30, n=5)
        assert compared == 12 and found == pytest.approx(mean)
        assert share == pytest.approx(np.mean([count for count, _, _ in common]) / 6) != 2 * mean / (1 + mean)
        assert table["common"].tolist() == [count for count, _, _ in common[:5]]
        assert table["share"].tolist() == [count / 6 for count, _, _ in common[:5]]
        assert (table["a"][0], table["b"][0], table["jaccard"][0]) == (0, 1, 1.0)
    everything = frames.closest_pairs(selected, 30, n=1000)[0]
    assert len(everything) == len(pairs) == len(set(zip(everything["a"], everything["b"])))


def test_of_too_many_labels_the_first_ones_are_compared(monkeypatch):
    selected, _ = some_selection()
    monkeypatch.setattr(frames, "MOST_WORK", 100.0)
    order = np.arange(12)[::-1]
    table, compared, *_ = frames.closest_pairs(selected, 30, order=order)
    assert 2 <= compared < 12
    assert set(table["a"]) | set(table["b"]) <= set(order[:compared].tolist())
    table, compared, mean, share = frames.closest_pairs(np.array([[1, 2]]), 5)
    assert table.empty and compared == 1 and np.isnan(mean) and np.isnan(share)


def test_label_frame_counts_rows_and_labels():
    X = sp.csr_array(np.array([[1, 0, 2], [0, 3, 0], [1, 1, 0], [0, 0, 0.0]]))
    Y = sp.csr_array(np.array([[1, 0], [1, 1], [0, 1], [0, 0]], dtype=bool))
    selected, scores = np.array([[0, 1], [1, 2]]), np.array([[2.0, 1.0], [5.0, 4.0]])
    table = frames.label_frame(selected, scores, None, 0, X, Y)
    assert table["feature"].tolist() == [0, 1] and table["n_labels"].tolist() == [1, 2]
    assert table["with_label"].tolist() == [0.5, 0.5] and table["without_label"].tolist() == [0.5, 0.5]
    assert "standard_error" not in table.columns
    with_errors = frames.label_frame(selected, scores, scores / 10, 1, X, Y)
    assert with_errors["standard_error"].tolist() == [0.5, 0.4]


def counted(selected, X, Y, labels):
    X, Y = X.toarray() != 0, Y.toarray()
    rows = [Y[:, label] for label in labels]
    return [
        [[X[some, j].mean() if some.any() else np.nan for j in selected[label]] for label, some in zip(labels, which)]
        for which in (rows, [~some for some in rows])
    ]


def test_scores_are_weighted_by_the_excess_in_the_labels_rows(monkeypatch):
    selected, scores = some_selection()
    rng = np.random.default_rng(3)
    X = sp.csr_array(rng.random((40, 30)) * (rng.random((40, 30)) < 0.2))
    Y = sp.csr_array(rng.random((40, 12)) < np.linspace(0.6, 0.0, 12))  # the last label has no row
    labels = [11, 2, 7]
    for cells in (frames.BLOCK_CELLS, 31):
        monkeypatch.setattr(frames, "BLOCK_CELLS", cells)
        shares = frames.shares_of_features(selected, labels, X, Y)
        excess = np.maximum(shares[0] - shares[1], 0)
        np.testing.assert_allclose(shares, counted(selected, X, Y, labels), rtol=1e-6)
        best, values = frames.weighted(selected, scores, labels, X, Y)
        assert best[0].tolist() == selected[11].tolist() and not values[0].any()
        for at, label in ((1, 2), (2, 7)):
            products = dict(zip(selected[label].tolist(), scores[label] * excess[at]))
            np.testing.assert_allclose(values[at], sorted(products.values(), reverse=True), rtol=1e-6)
            np.testing.assert_allclose([products[j] for j in best[at].tolist()], values[at], rtol=1e-6)
            table = frames.label_frame(selected, scores, None, label, X, Y).sort_values("weighted_rank")
            assert table["feature"].tolist() == best[at].tolist()
            np.testing.assert_allclose(table["weighted_score"], values[at], rtol=1e-6)


def test_the_frame_of_a_selection_has_both_rankings():
    selected, scores = np.array([[4, 1, 2], [3, 0, 1]]), np.array([[5.0, 4.0, 1.0], [3.0, 2.0, 1.0]])
    shares = np.array([[0.0, 0.75, 1.0], [np.nan, np.nan, np.nan]]), np.array([[0.5, 0.25, 0.0], [0.0, 0.0, 0.0]])
    table = frames.selection_frame(selected, scores, "label {}".format, "word {}".format, shares)
    assert table["label"].tolist() == [0] * 3 + [1] * 3 and table["label_name"].tolist()[2:4] == ["label 0", "label 1"]
    assert table["feature"].tolist() == selected.ravel().tolist() and table["name"].tolist()[:2] == ["word 4", "word 1"]
    assert table["rank"].tolist() == [1, 2, 3] * 2 and table["weighted_rank"].tolist() == [3, 1, 2, 1, 2, 3]
    assert table["weighted_score"][:3].tolist() == [0.0, 2.0, 1.0]
    assert table["score"].tolist() == scores.ravel().tolist()


def test_heat_frame_has_every_label_once():
    selected, scores = some_selection()
    labels = [0, 1, 5, 7]
    table = frames.heat_frame(selected, scores, 30, labels, most_features=10)
    assert len(table) == 4 * 10 and sorted(set(table["label"])) == labels
    assert table.attrs["n_kept"] == np.unique(selected[labels]).size
    for line in table.to_dict("records"):
        place = np.flatnonzero(selected[line["label"]] == line["feature"])
        if place.size:
            assert line["rank"] == place[0] + 1
            assert line["value"] == pytest.approx(scores[line["label"], place[0]] / scores[line["label"], 0])
        else:
            assert line["rank"] == 0 and np.isnan(line["value"])


def test_alike_rows_are_neighbours():
    matrix = np.array([[1, 0, 0], [0, 1, 0], [1, 0.1, 0], [0, 1, 0.1], [0, 0, 1.0]])
    place = np.argsort(frames.alike_order(matrix))
    assert abs(place[0] - place[2]) == 1 and abs(place[1] - place[3]) == 1


def test_together_is_the_share_of_the_rarer_labels_rows():
    Y = sp.csr_array(np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=bool))
    np.testing.assert_allclose(frames.together(Y, [0, 0], [1, 2]), [2 / 3, np.nan])


def test_labels_of_the_most_alike_pairs_come_first():
    pairs = pd.DataFrame({"a": [4, 2], "b": [1, 4]})
    assert frames.most_alike(pairs, [0, 1, 2, 3, 4], 2) == [4, 1]
    assert frames.most_alike(pairs, [0, 1, 2, 3, 4], 5) == [4, 1, 2, 0, 3]


def test_overlap_is_listed_for_each_pair_of_labels():
    selected = np.array([[0, 1], [1, 2], [3, 4]])
    found = frames.overlap_frame(selected, 5, [0, 1, 2])
    assert len(found) == 9 and found["a"].nunique() == 3
    values = found.set_index(["a", "b"])
    for column, common in (("jaccard", 1 / 3), ("share", 1 / 2)):
        assert [values[column][pair] for pair in ((0, 0), (0, 1), (1, 2))] == pytest.approx([1, common, 0])
