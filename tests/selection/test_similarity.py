"""Jaccard, Spearman, agreement of methods and seeds, Wilcoxon: by hand and by scipy."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from xmlcore.selection import ChiSquaredSelection, agreement, jaccard, significance_graph, spearman, wilcoxon


def scored(seed, n_labels=3, n_features=30, k=6):
    scores = np.random.default_rng(seed).random((n_labels, n_features)).astype(np.float32)
    return SimpleNamespace(scores_=scores, selected_=np.argsort(-scores, axis=1)[:, :k].astype(np.int32))


def test_jaccard_by_hand_and_for_sets_of_different_sizes():
    assert jaccard([[0, 1], [2, 3], [4, 5]], [[1, 0], [3, 9], [6, 7]]).tolist() == [1.0, 1 / 3, 0.0]
    assert jaccard([[0, 1, 2]], [[2]]).tolist() == [1 / 3]
    assert jaccard([[0, 1]], [[0, 1], [1, 2]]).tolist() == [1.0, 1 / 3]  # shared by all labels


def test_spearman_is_the_papers_formula_and_scipys():
    a, b = scored(0), scored(1)
    unions = [sorted({*own, *other}) for own, other in zip(a.selected_.tolist(), b.selected_.tolist())]
    found = spearman(a.scores_, a.selected_, b.scores_, b.selected_)
    for label, union in enumerate(unions):
        ranks = [stats.rankdata(one.scores_[label, union]) for one in (a, b)]
        n = len(union)
        assert found[label] == pytest.approx(1 - 6 * ((ranks[0] - ranks[1]) ** 2).sum() / (n * (n**2 - 1)))
    a.scores_, b.scores_ = np.round(a.scores_, 1), np.round(b.scores_, 1)
    found = spearman(a.scores_, a.selected_, b.scores_, b.selected_)
    for label, union in enumerate(unions):
        expected = stats.spearmanr(a.scores_[label, union], b.scores_[label, union]).statistic
        assert found[label] == pytest.approx(expected)


def test_spearman_of_few_features_is_a_sign_or_nan():
    assert np.isnan(spearman([[1.0, 1.0, 0.0]], [[0, 1]], [[1.0, 0.5, 0.0]], [[0, 1]])).all()
    one = spearman([[3.0, 2.0, 1.0, 0.0]], [[0, 1]], [[3.0, 2.0, 0.0, 1.0]], [[0, 1]])
    assert one.tolist() == [1.0]
    scores = np.array([[0.9, 0.8, 0.1]])
    found = spearman(scores, [[0]], scores[:, [1, 0, 2]], [[1]])
    assert found.tolist() == [-1.0] and np.isnan(spearman(scores, [[0]], scores, [[0]])).all()


def test_agreement_has_every_pair_once_with_means_over_labels():
    runs = {"A": [scored(0), scored(1)], "B": scored(2)}
    found = agreement(runs)
    pairs = [tuple(row) for row in found[["a", "seed_a", "b", "seed_b"]].values]
    assert pairs == [("A", 0, "A", 1), ("A", 0, "B", 0), ("A", 1, "B", 0)]
    first, second = runs["A"]
    assert found["jaccard"][0] == pytest.approx(jaccard(first.selected_, second.selected_).mean())
    both = spearman(first.scores_, first.selected_, second.scores_, second.selected_)
    assert found["spearman"][0] == pytest.approx(both.mean())
    each = agreement(runs, per_label=True)
    assert len(each) == 9 and each["label"].tolist() == [0, 1, 2] * 3
    assert each["spearman"][:3].tolist() == both.tolist()


def test_agreement_does_without_scores():
    random = np.random.default_rng(0)
    X, Y = random.integers(0, 3, (40, 20)), random.random((40, 3)) < 0.4
    own = ChiSquaredSelection().fit(X, Y)
    found = agreement({"own": own, "shared": ChiSquaredSelection(per_label=False).fit(X, Y)})
    assert len(found) == 1 and 0 <= found["jaccard"][0] <= 1
    unscored = SimpleNamespace(selected_=own.selected_)
    found = agreement({"own": own, "unscored": unscored})
    assert found["jaccard"][0] == 1.0 and np.isnan(found["spearman"][0])
    assert agreement({"own": own}).empty


def test_wilcoxon_is_scipys_for_each_pair_in_any_table():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.random((8, 3)), columns=["A", "B", "C"])
    frame["D"] = frame["A"]
    found = wilcoxon(frame)
    assert found.loc["A", "B"] == stats.wilcoxon(frame["A"], frame["B"]).pvalue == found.loc["B", "A"]
    assert found.loc["A", "D"] == 1.0 and (np.diag(found) == 1.0).all()
    values = random.random((7, 3))
    expected = wilcoxon(pd.DataFrame(values))
    assert list(expected.columns) == [0, 1, 2] == list(expected.index)
    mixed = pd.DataFrame(values).astype({0: object, 1: "Float64"})
    for table in (values, values.tolist(), mixed):
        pd.testing.assert_frame_equal(wilcoxon(table), expected)


def test_the_graph_joins_methods_that_do_not_differ():
    p = pd.DataFrame([[1.0, 0.3, 0.07], [0.3, 1.0, 0.01], [0.07, 0.01, 1.0]], list("ABC"), list("ABC"))
    nodes, edges = significance_graph(p)
    assert edges.values.tolist() == [["A", "B", 0.3, "thick"], ["A", "C", 0.07, "thin"]]
    assert nodes["method"].tolist() == list("ABC")
    np.testing.assert_allclose(nodes[["x", "y"]].iloc[0], [0, 1], atol=1e-12)
    np.testing.assert_allclose(nodes["x"] ** 2 + nodes["y"] ** 2, 1)
    assert significance_graph(p * 0).edges.empty
    assert significance_graph(p.where(p != 0.07, 0.1)).edges["line"].tolist() == ["thick", "thick"]


@pytest.mark.parametrize("call, error, message", [
    (lambda: jaccard([[0], [1]], [[0], [1], [2]]), ValueError, "a has 2 labels, but b has 3"),
    (lambda: jaccard([[0, 0]], [[0, 1]]), ValueError, "a has feature 0 twice for label 0"),
    (lambda: jaccard([[0, 1]], [[0, -1]]), ValueError, "b holds -1"),
    (lambda: jaccard([[0.5]], [[0]]), TypeError, "whole numbers"),
    (lambda: spearman([[1.0]], [[1]], [[1.0, 2.0]], [[1]]), ValueError, "1 features, but feature 1 is selected"),
    (lambda: spearman([[1.0, 2]], [[1]], [[1.0, 2, 3]], [[1]]), ValueError, "scores_b has 3"),
    (lambda: spearman([1.0, 2], [[1]], [[1.0, 2]], [[1]]), ValueError, "scores_a has shape"),
    (lambda: spearman([["x", "y"]], [[1]], [[1.0, 2]], [[1]]), TypeError, "scores_a holds .*real numbers"),
    (lambda: jaccard([[0, 1], [2]], [[0], [1]]), ValueError, "a is no array, as its parts have different lengths"),
    (lambda: wilcoxon(pd.DataFrame({"A": [1.0]})), ValueError, "at least two methods"),
    (lambda: wilcoxon(np.zeros(3)), ValueError, r"frame is a ndarray of shape \(3,\): a DataFrame or rows"),
    (lambda: wilcoxon([[1, 2], [3]]), ValueError, r"frame is a list of shape \(2,\): .* rows of equal length"),
    (lambda: wilcoxon(pd.DataFrame({"A": [1], "B": ["x"]})), TypeError, "'x' for B on 0: real numbers are needed"),
    (lambda: wilcoxon([[1, 2], [1, "x"]]), TypeError, "'x' for 1 on 1"),
    (lambda: wilcoxon(np.array([[1, 1], [np.inf, np.inf]])), ValueError, "has inf for 0 on 1: infinite values"),
    (lambda: wilcoxon(pd.DataFrame({"A": [1.0], "B": [np.nan]})), ValueError, "nan for B on 0: leave"),
])  # fmt: skip
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
