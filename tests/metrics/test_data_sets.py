"""Tests over data sets: SciPy's numbers, and the published table of critical differences."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from xmlcore import metrics, selection


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
def test_the_critical_difference_is_that_of_the_published_quantiles(methods, q):
    found = metrics.friedman(np.random.default_rng(1).random((12, methods)))
    assert found.critical_difference == pytest.approx(q * np.sqrt(methods * (methods + 1) / 72), rel=5e-4)


def test_pairs_are_apart_where_their_ranks_differ_by_the_critical_difference():
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
    with pytest.raises(ValueError, match="alpha is 5"):
        metrics.friedman(np.eye(3), alpha=5)
    with pytest.raises(ValueError, match="no value for B on 0"):
        metrics.friedman(pd.DataFrame({"A": [1.0, 2], "B": [np.nan, 1]}))


def test_the_package_of_selections_has_the_same_wilcoxon():
    assert selection.wilcoxon is metrics.wilcoxon
