"""Tests of differences, over the rows of one data set and over data sets."""

import naive.measures
import numpy as np
import pandas as pd
import pytest
from ranking_examples import HIERARCHY, N_LABELS, NAMES, PARENTS, case, matrices
from scipy import stats

from xmlcore import metrics
from xmlcore.metrics import _row_counts
from xmlcore.metrics._row_counts import RowCounts, check_item


def two(seed=0, n=60):
    """Rows with two rankings each, as lists and as matrices."""
    true, one, weights = case(seed, n)
    other = [row[::-1] if i % 3 else row for i, row in enumerate(one)]
    (Y, a), (_, b) = matrices(true, one), matrices(true, other)
    return true, one, other, weights, Y, a, b


@pytest.mark.parametrize("name", metrics.MEASURES)
def test_all_ways_to_swap_rankings_are_measured(name):
    true, one, other, weights, Y, a, b = two(seed=1, n=6)
    item, of = check_item(name, 2, weights, hierarchy=HIERARCHY), {"hierarchy": HIERARCHY}
    parts = [_row_counts.Statistics(RowCounts(Y, ranking, 2, weights, **of), [item]) for ranking in (a, b)]
    found, exact = _row_counts.swapped_differences(*parts, 2**6, 0)
    expected = set()
    for way in range(2**6):
        swapped = [(y, x) if way >> i & 1 else (x, y) for i, (x, y) in enumerate(zip(one, other))]
        others = 2, N_LABELS, weights, None, (NAMES, PARENTS)
        values = [naive.measures.measure(name, true, list(ranking), *others) for ranking in zip(*swapped)]
        expected.add(round(values[0] - values[1], 9))
    assert exact and {round(value, 9) + 0.0 for value in found[:, 0]} == {value + 0.0 for value in expected}


def test_the_permutation_test_of_few_rows_is_scipys():
    *_, Y, a, b = two(seed=2, n=12)
    found = metrics.paired_permutation(Y, a, b, "nDCG@k", 3, n_permutations=5000)
    values = [metrics.per_row(Y, ranking, "nDCG@k", 3) for ranking in (a, b)]
    expected = stats.permutation_test(
        values, lambda x, y, axis: (x - y).mean(axis=axis), permutation_type="samples", n_resamples=np.inf,
        vectorized=True,
    )  # fmt: skip
    assert found.exact and found.n_resamples < 5000
    assert found.p_value == pytest.approx(expected.pvalue)
    assert found.difference == pytest.approx(expected.statistic)
    assert (found.value_a, found.value_b) == pytest.approx([v.mean() for v in values])


def test_the_permutation_test_is_near_the_normal_one():
    *_, Y, a, b = two(seed=3, n=3000)
    b[::5] = a[::5]
    d = metrics.per_row(Y, a, "P@k", 1) - metrics.per_row(Y, b, "P@k", 1)
    d[np.flatnonzero(d > 0)[::2]] = 0
    found = metrics.paired_permutation(Y, a, b, lambda Y, ranking: d if ranking is a else np.zeros(3000))
    expected = 2 * stats.norm.sf(abs(d.sum()) / np.sqrt((d**2).sum()))
    assert not found.exact and found.p_value == pytest.approx(expected, rel=0.25, abs=1e-3)


def test_the_interval_of_a_difference_is_scipys():
    *_, Y, a, b = two(seed=4, n=500)
    found = metrics.paired_bootstrap(Y, a, b, "P@k", 3, n_resamples=5000)
    values = [metrics.per_row(Y, ranking, "P@k", 3) for ranking in (a, b)]
    expected = stats.bootstrap(
        values, lambda x, y, axis: (x - y).mean(axis=axis), paired=True, n_resamples=5000, method="percentile", rng=0,
        vectorized=True,
    ).confidence_interval  # fmt: skip
    width = found.high - found.low
    assert abs(found.low - expected.low) < 0.06 * width and abs(found.high - expected.high) < 0.06 * width
    alone = metrics.intervals(Y, a, [3], measures=["P@k"]).iloc[0]
    assert width < 1.4 * (alone["high"] - alone["low"])


def test_equal_models_are_not_told_apart_and_p_is_never_zero():
    *_, Y, a, _ = two(n=200)
    for test in (metrics.paired_bootstrap, metrics.paired_permutation):
        same = test(Y, a, a, "macro F1@k", 3, n_resamples=200)
        assert (same.difference, same.low, same.high, same.p_value) == (0, 0, 0, 1)
    nothing = np.full_like(a, -1)
    found = metrics.paired_permutation(Y, a, nothing, "P@k", 1, n_permutations=500)
    assert found.p_value == 1 / 501 and not found.exact
    assert metrics.paired_bootstrap(Y, a, nothing, "P@k", 1, n_resamples=500).p_value == 2 / 501


def test_several_models_are_compared_with_holms_correction():
    *_, Y, a, b = two(seed=6, n=300)
    rankings = {"one": a, "other": b, "nothing": np.full_like(a, -1)}
    frame = metrics.compare_rankings(Y, rankings, "nDCG@k", 3, n_permutations=200, n_resamples=100)
    assert list(zip(frame["a"], frame["b"])) == [("one", "other"), ("one", "nothing"), ("other", "nothing")]
    np.testing.assert_allclose(frame["p_holm"], metrics.holm(frame["p_value"]))
    single = metrics.paired_permutation(Y, a, b, "nDCG@k", 3, n_permutations=200, n_resamples=100)
    for column in ("value_a", "value_b", "difference", "low", "high", "p_value"):
        assert frame[column][0] == getattr(single, column)
    against = metrics.compare_rankings(Y, rankings, reference="nothing", n_permutations=50, n_resamples=50)
    assert list(zip(against["a"], against["b"])) == [("nothing", "one"), ("nothing", "other")]


def test_several_measures_are_tested_together_as_alone():
    *_, weights, Y, a, b = two(seed=6, n=300)
    names = ["P@1", "PSP@3", "macro F1@3"]
    rankings, few = {"one": a, "other": b, "nothing": np.full_like(a, -1)}, {"n_permutations": 400, "n_resamples": 100}
    frame = metrics.compare_rankings(Y, rankings, names, reference="one", inv_ps=weights, **few)
    assert [f"{m[:-1]}{k}" for m, k in zip(frame["measure"], frame["k"])] == 2 * names
    np.testing.assert_array_equal(frame["p_holm"], metrics.holm(frame["p_value"]))
    for number, name in enumerate(names):
        measure, k = name.split("@")
        alone = metrics.paired_permutation(Y, a, b, f"{measure}@k", int(k), inv_ps=weights, **few)
        for column in ("value_a", "value_b", "difference", "low", "high"):
            assert frame[column][number] == pytest.approx(getattr(alone, column), abs=1e-12)
        assert frame["p_value"][number] == pytest.approx(alone.p_value, abs=0.1)


def test_holm_by_hand():
    np.testing.assert_allclose(metrics.holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(metrics.holm([0.4, np.nan, 0.6]), [0.8, np.nan, 0.8])
    assert metrics.holm([0.9, 0.8]).max() == 1 and metrics.holm([]).size == 0
    for wrong in ([2.0], ["x" * 50_000]):
        with pytest.raises(ValueError, match=r"between 0 and 1, in one dimension$"):
            metrics.holm(wrong)


def test_measures_of_some_labels_and_of_ones_own():
    true, one, other, _, Y, a, b = two(seed=7)
    chosen = np.arange(N_LABELS) >= 6
    found = metrics.paired_permutation(Y, a, b, "macro R@k", 3, labels=chosen, n_permutations=50, n_resamples=50)
    labels = set(np.flatnonzero(chosen).tolist())
    assert found.value_b == pytest.approx(naive.measures.measure("macro R@k", true, other, 3, N_LABELS, labels=labels))

    def first_is_right(Y, ranking):
        return metrics.hits(Y, ranking)[:, 0]

    mine = metrics.paired_permutation(Y, a, b, first_is_right, n_permutations=50, n_resamples=50)
    named = metrics.paired_permutation(Y, a, b, "P@k", 1, n_permutations=50, n_resamples=50)
    assert mine.measure == "first_is_right" and (mine.difference, mine.p_value) == (named.difference, named.p_value)
    with pytest.raises(ValueError, match=r"<lambda> returned an array of shape \(2,\): 60 finite numbers"):
        metrics.paired_bootstrap(Y, a, b, lambda Y, ranking: np.zeros(2))


@pytest.mark.parametrize("call, error, message", [
    (lambda Y, a: metrics.paired_bootstrap(Y, a, a[:5]), ValueError, "Y_true has 60 rows, but the ranking has 5"),
    (lambda Y, a: metrics.paired_permutation(Y, a, a, "F9"), ValueError, "measure is 'F9'"),
    (lambda Y, a: metrics.compare_rankings(Y, {"a": a}), ValueError, "needs at least two"),
    (lambda Y, a: metrics.compare_rankings(Y, {"a": a, "b": a}, reference="c"), ValueError, "one of a, b"),
    (lambda Y, a: metrics.compare_rankings(Y, {"a": a, "b": a}, []), ValueError, r"measure is \[\]: a list has a"),
    (lambda Y, a: metrics.compare_rankings(Y, {"a": a, "b": a}, ["P"]), ValueError, r"measure is \['P'\]: a list"),
    (lambda Y, a: metrics.compare_rankings(Y, {"a": a, "b": a}, ["F9@1"]), ValueError, "measure is 'F9@k'"),
])  # fmt: skip
def test_bad_input_is_refused(call, error, message):
    *_, Y, a, _ = two()
    with pytest.raises(error, match=message):
        call(Y, a)


def table(seed=0, n=9, methods="ABCD"):
    values = np.random.default_rng(seed).random((n, len(methods))).round(1)
    return pd.DataFrame(values + 0.1 * np.arange(len(methods)), columns=list(methods))


def test_friedman_is_scipys_with_ties():
    frame = table()
    found = metrics.friedman(frame)
    expected = stats.friedmanchisquare(*frame.to_numpy().T)
    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    ranks = frame.rank(axis=1, ascending=False).mean().sort_values()
    assert found.ranks["method"].tolist() == ranks.index.tolist() and found.n_data_sets == 9
    np.testing.assert_allclose(found.ranks["rank"], ranks)
    other = metrics.friedman(-frame, larger_is_better=False)
    pd.testing.assert_frame_equal(found.ranks, other.ranks)


@pytest.mark.parametrize("methods, q", [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_the_critical_difference_is_the_published_one(methods, q):
    found = metrics.friedman(np.random.default_rng(1).random((12, methods)))
    assert found.critical_difference == pytest.approx(q * np.sqrt(methods * (methods + 1) / 72), rel=5e-4)


def test_pairs_are_apart_by_the_critical_difference():
    found = metrics.friedman(table(seed=2, n=30), alpha=0.1)
    rank = found.ranks.set_index("method")["rank"]
    for a in rank.index:
        for b in rank.index:
            apart = abs(rank[a] - rank[b]) > found.critical_difference
            assert (found.p_values.loc[a, b] < 0.1) == apart


def test_equal_methods_do_not_differ():
    found = metrics.friedman(np.ones((4, 3)))
    assert (found.statistic, found.p_value) == (0, 1) and (found.p_values == 1).all(axis=None)
    assert found.ranks["rank"].tolist() == [2, 2, 2]


def test_bad_tables_are_refused():
    with pytest.raises(ValueError, match="frame has 1 data set: mean ranks need at least two"):
        metrics.friedman([[1.0, 2.0]])
    with pytest.raises(ValueError, match="frame has nan for B on 0: leave the method or"):
        metrics.friedman(pd.DataFrame({"A": [1.0, 2], "B": [np.nan, 1]}))
