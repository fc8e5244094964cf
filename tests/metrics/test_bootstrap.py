"""Bootstrap intervals: of the right values, as wide as SciPy's, in bounded memory, the same for the same seed."""

import time
import tracemalloc

import naive.measures
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from ranking_examples import HIERARCHY, N_LABELS, NAMES, PARENTS, case, matrices
from scipy import stats

from xmlcore import Ranking, metrics
from xmlcore.metrics import _row_counts
from xmlcore.metrics._row_counts import RowCounts, check_item

TREE = NAMES, PARENTS


@pytest.mark.parametrize("name", metrics.MEASURES)
def test_the_value_is_the_measure(name):
    true, ranking, weights = case()
    of = {"measures": [name], "inv_ps": weights, "hierarchy": HIERARCHY}
    frame = metrics.intervals(*matrices(true, ranking), 6, n_resamples=5, **of)
    others = N_LABELS, weights, None, TREE
    expected = [naive.measures.measure(name, true, ranking, k, *others) for k in range(1, 7)]
    np.testing.assert_allclose(frame["value"], expected, rtol=1e-12)
    assert frame["k"].tolist() == [1, 2, 3, 4, 5, 6] and set(frame["measure"]) == {name}


@pytest.mark.parametrize("name", metrics.MEASURES)
def test_a_resample_is_measured_as_its_rows_would_be(name):
    true, ranking, weights = case(seed=1, n=30)
    items = [check_item(name, k, weights, hierarchy=HIERARCHY) for k in (1, 4)]
    counts = RowCounts(*matrices(true, ranking), 4, weights, hierarchy=HIERARCHY)
    statistics = _row_counts.Statistics(counts, items)
    times = np.random.default_rng(2).multinomial(30, np.full(30, 1 / 30), size=7)
    found = statistics.values(statistics.sums(times.astype(float)))
    for line, counts in zip(found, times):
        rows = np.repeat(np.arange(30), counts)
        again = [true[i] for i in rows], [ranking[i] for i in rows]
        np.testing.assert_allclose(
            line, [naive.measures.measure(name, *again, k, N_LABELS, weights, None, TREE) for k in (1, 4)], rtol=1e-12
        )


@pytest.mark.parametrize("name", ["micro F1@k", "macro P@k", "macro F1@k", "weighted R@k", "coverage@k"])
def test_some_labels_can_be_measured_alone(name):
    true, ranking, _ = case(seed=3)
    chosen = np.arange(N_LABELS) % 3 == 0
    frame = metrics.intervals(*matrices(true, ranking), [5], measures=[name], labels=chosen, n_resamples=5)
    expected = naive.measures.measure(name, true, ranking, 5, N_LABELS, labels=set(np.flatnonzero(chosen).tolist()))
    assert frame["value"][0] == pytest.approx(expected, rel=1e-12)


def test_an_interval_of_a_mean_is_scipys():
    true, ranking, _ = case(seed=4, n=400)
    Y, ranked = matrices(true, ranking)
    values = metrics.per_row(Y, ranked, "nDCG@k", 3)
    found = metrics.intervals(Y, ranked, [3], measures=["nDCG@k"], n_resamples=8000).iloc[0]
    assert found["value"] == pytest.approx(values.mean(), rel=1e-12)
    width = found["high"] - found["low"]
    for method in ("percentile", "BCa"):
        expected = stats.bootstrap((values,), np.mean, n_resamples=8000, method=method, rng=1).confidence_interval
        assert abs(found["low"] - expected.low) < 0.05 * width
        assert abs(found["high"] - expected.high) < 0.05 * width


def test_intervals_of_macro_measures_are_centred():
    random = np.random.default_rng(7)
    Y = sp.csr_array(
        np.eye(50, dtype=bool)
    )  # every label has one row, so that a third of them is missing in a resample
    ranking = np.argsort(random.random((50, 50)) - 0.7 * np.eye(50), axis=1)[:, :5]
    for _, line in metrics.intervals(Y, ranking, measures=["macro F1@k", "coverage@k"]).iterrows():
        assert line["low"] < line["value"] < line["high"]


def test_intervals_depend_on_the_seed_not_on_blocks(monkeypatch):
    true, ranking, _ = case(seed=8)
    draw = {"measures": ["P@k", "macro F1@k"], "n_resamples": 50}
    first = metrics.intervals(*matrices(true, ranking), 3, random_state=1, **draw)
    assert not first.equals(metrics.intervals(*matrices(true, ranking), 3, random_state=2, **draw))
    monkeypatch.setattr(_row_counts, "BLOCK_VALUES", 500)
    again = metrics.intervals(*matrices(true, ranking), 3, random_state=1, **draw)
    pd.testing.assert_frame_equal(first, again, rtol=1e-12)


def test_several_rankings_have_the_intervals_that_each_has_alone():
    true, ranking, weights = case(seed=11)
    Y, ranked = matrices(true, ranking)
    options = {"measures": ["P@k", "PSP@k", "macro F1@k"], "inv_ps": weights, "n_resamples": 40, "random_state": 3}
    other = np.roll(ranked, 1, axis=0)
    together = metrics.intervals_of_several(Y, [ranked, other], [1, 3], **options)
    for found, one in zip(together, (ranked, other), strict=True):
        pd.testing.assert_frame_equal(found, metrics.intervals(Y, one, [1, 3], **options), rtol=1e-12)
    assert not together[0].equals(together[1])


def test_best_is_what_leads_each_other_by_more_than_chance():
    Y = [[0]] * 300
    right = [np.arange(300) < n for n in (200, 190, 60)]
    ranked = [np.where(one, 0, 1)[:, None] for one in right]
    options = {"k": [1], "measures": ["P@k", "abandonment@k"], "n_labels": 2, "best": True}

    def best(rankings):
        return [table["best"].tolist() for table in metrics.intervals_of_several(Y, rankings, **options)]

    assert best(ranked) == [[True, True], [False, False], [False, False]], "200 rows hold the 190"
    scattered = np.roll(ranked[1], 150)
    assert not np.any(best([ranked[0], scattered])), "as many rows speak for either, nearly"
    assert not np.any(best(ranked[:1])), "there is no other"


def test_the_usual_measures_are_those_of_measures():
    true, ranking, weights = case(seed=9)
    Y, ranked = matrices(true, ranking)
    frame = metrics.intervals(Y, ranked, 4, inv_ps=weights, n_resamples=20)
    for name, values in metrics.measures(Y, ranked, 4, weights).items():
        np.testing.assert_allclose(frame.loc[frame["measure"] == name, "value"], values, rtol=1e-12)
    named = metrics.measures(Y, ranked, 4, weights, names=["PSR@k", "macro P@k"])
    np.testing.assert_allclose(named["PSR@k"], metrics.psrecall_at_k(Y, ranked, 4, inv_ps=weights))
    np.testing.assert_allclose(named["macro P@k"][3], naive.measures.measure("macro P@k", true, ranking, 4, N_LABELS))
    assert list(dict.fromkeys(metrics.intervals(Y, ranked, 1, n_resamples=2)["measure"])) == ["P@k", "R@k", "nDCG@k"]


def test_many_labels_and_rows_take_little_memory():
    random = np.random.default_rng(10)
    n = n_labels = 4000
    labels = np.sort(random.integers(0, n_labels, (n, 6)), axis=1).astype(np.int32)
    labels = np.where(np.diff(labels, prepend=-1, axis=1) > 0, labels, -1)
    Y = [row[row >= 0][::2].tolist() for row in labels]
    Y = metrics._inputs.check_labels(Y, n_labels=n_labels)
    ranking = Ranking(labels, np.zeros(labels.shape, np.float32))
    tracemalloc.start()
    start = time.process_time()
    metrics.intervals(Y, ranking, [5], measures=["P@k", "macro F1@k"], n_resamples=250)
    seconds, peak = time.process_time() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400e6  # 250 resamples of all counts would take 100 MB times the number of temporaries
    assert seconds < 5


def test_without_rows_or_labels_nothing_is_defined():
    assert (
        metrics.intervals([], np.zeros((0, 2), int), 1, n_resamples=3)[["value", "low", "high"]].isna().all(axis=None)
    )
    frame = metrics.intervals([[], []], [[0], [1]], 1, measures=["P@k", "macro F1@k", "micro R@k"], n_resamples=3)
    assert frame["value"].isna().tolist() == [False, True, True]


@pytest.mark.parametrize("arguments, error, message", [
    ({"measures": ["p@k"]}, ValueError, r"Did you mean P@k\?"),
    ({"measures": ["F1"]}, ValueError, "measure is 'F1': it must be a function or one of P@k, R@k"),
    ({"measures": ["PSP@k"]}, TypeError, "PSP@k needs inv_ps"),
    ({"measures": ["P@k"], "labels": np.ones(2, bool)}, ValueError, "P@k is no measure of some labels"),
    ({"measures": ["macro F1@k"], "labels": np.ones(1, bool)}, ValueError, "labels is bool of shape \\(1,\\): a b"),
    ({"measures": ["Hamming loss@k"]}, ValueError, "pass n_labels"),
    ({"measures": []}, ValueError, "there is nothing to measure"),
    ({"k": []}, ValueError, "there is nothing to measure"),
])  # fmt: skip
def test_bad_input_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        metrics.intervals([[0], [1]], [[0], [0]], **{"k": 1, **arguments})


def test_resamples_beyond_memory_are_refused_at_once(monkeypatch):
    monkeypatch.setattr("xmlcore.system.free_bytes", lambda: 1 << 34)
    Y, rankings = [[0], [1]] * 40, ([[0], [1]] * 40, [[0], [0]] * 40)
    for values, function, given, name in (
        (1, metrics.intervals, (rankings[0], 1), "n_resamples"),
        (2, metrics.paired_bootstrap, rankings, "n_resamples"),
        (1, metrics.paired_permutation, rankings, "n_permutations"),
    ):
        more = {"measures": ["P@k"]} if function is metrics.intervals else {"measure": "P@k", "k": 1}
        with pytest.raises(MemoryError, match=f" GB of memory for {values} values of each of 2,147,483,647 resamples"):
            function(Y, *given, **more, **{name: 2**31 - 1})


def test_values_of_rows_are_those_of_means():
    true, ranking, _ = case(seed=11)
    Y, ranked = matrices(true, ranking)
    for name in ("P@k", "R@k", "nDCG@k", "abandonment@k", "samples F1@k", "Hamming loss@k"):
        values = metrics.per_row(Y, ranked, name, 3)
        assert values.shape == (60,) and values.mean() == pytest.approx(
            naive.measures.measure(name, true, ranking, 3, N_LABELS)
        )
    with pytest.raises(ValueError, match="measure is 'PSP@k': means over rows are P@k, R@k"):
        metrics.per_row(Y, ranked, "PSP@k")
