"""Every measure on cases small enough to work out on paper."""

import re
import warnings
from math import log2
from pathlib import Path

import numpy as np
import pytest

from xmlcore import Ranking, metrics

# Two rows over four labels. Row 0 is about labels 0 and 1, and its ranking is right at places 1 and 3;
# row 1 is about label 3 alone, found at place 2.
Y = [[0, 1], [3]]
RANKING = np.array([[1, 2, 0], [2, 3, 1]])
WEIGHTS = np.array([4.0, 1.0, 1.0, 3.0])
D2, D3 = 1 / log2(3), 1 / log2(4)  # discounts of places 2 and 3; that of place 1 is 1


BEST = (4 + D2) / (1 + D2) + 3  # the best gain of row 0 over its ideal, from place 2 on, and that of row 1
BY_HAND = {
    # right at places 1 to 3: row 0 has 1, 1, 2 and row 1 has 0, 1, 1
    "precision_at_k": [(1 + 0) / 2, (1 / 2 + 1 / 2) / 2, (2 / 3 + 1 / 3) / 2],
    "recall_at_k": [(1 / 2 + 0) / 2, (1 / 2 + 1) / 2, (2 / 2 + 1) / 2],
    # best possible for row 0: 1 at place 1, then 1 + D2 as it has two labels; for row 1 always 1
    "ndcg_at_k": [(1 + 0) / 2, (1 / (1 + D2) + D2) / 2, ((1 + D3) / (1 + D2) + D2) / 2],
    # gained: row 0 has 1, 1, 1 + 4 and row 1 has 0, 3, 3; best: row 0 has 4, 4 + 1, 5 and row 1 has 3, 3, 3
    "psprecision_at_k": [1 / 7, 4 / 8, 8 / 8],
    "psrecall_at_k": [(1 / 2) / (4 / 2 + 3), (1 / 2 + 3) / (5 / 2 + 3), (5 / 2 + 3) / (5 / 2 + 3)],
    "psdcg_at_k": [1 / (4 + 3), (1 + 3 * D2) / (4 + D2 + 3), (1 + 4 * D3 + 3 * D2) / (4 + D2 + 3)],
    "psndcg_at_k": [1 / (4 + 3), (1 / (1 + D2) + 3 * D2) / BEST, ((1 + 4 * D3) / (1 + D2) + 3 * D2) / BEST],
}


@pytest.mark.parametrize("name", BY_HAND)
def test_each_measure_is_what_it_says(name):
    weights = {"inv_ps": WEIGHTS} if name.startswith("ps") else {}
    np.testing.assert_allclose(getattr(metrics, name)(Y, RANKING, 3, **weights), BY_HAND[name], rtol=1e-12)


def test_a_row_without_labels_counts_as_zero():
    with_empty = [*Y, []]
    ranking = np.vstack([RANKING, [0, 1, 2]])
    for name, value in metrics.measures(with_empty, ranking, 3, WEIGHTS).items():
        alone = metrics.measures(Y, RANKING, 3, WEIGHTS)[name]
        np.testing.assert_allclose(value, alone if name.startswith("PS") else alone * 2 / 3, err_msg=name)


def test_k_beyond_the_number_of_labels_keeps_dividing_by_k():
    full = np.array([[1, 2, 0, 3], [2, 3, 1, 0]])
    np.testing.assert_allclose(metrics.precision_at_k(Y, full, 6), [1 / 2, 1 / 2, 1 / 2, 3 / 8, 3 / 10, 3 / 12])
    assert metrics.recall_at_k(Y, full, 6)[-1] == 1
    six, four = metrics.measures(Y, full, 6, WEIGHTS), metrics.measures(Y, full, 4, WEIGHTS)
    for name in ("R@k", "nDCG@k", "PSP@k", "PSnDCG@k"):
        np.testing.assert_allclose(six[name][4:], four[name][-1], err_msg=name)


def test_empty_places_are_not_taken_for_the_end():
    ranking = np.array([[-1, -1, -1, -1, 0], [-1, -1, -1, -1, 3]])
    np.testing.assert_allclose(metrics.precision_at_k(Y, ranking, 5), [0, 0, 0, 0, 1 / 5])
    np.testing.assert_allclose(metrics.recall_at_k(Y, ranking, 7)[3:], [0, 3 / 4, 3 / 4, 3 / 4])


def test_hits_mark_the_right_labels_in_place():
    assert metrics.hits(Y, RANKING).tolist() == [[True, False, True], [False, True, False]]
    assert metrics.hits(Y, RANKING, 1).tolist() == [[True], [False]]
    assert metrics.hits(Y, np.array([[1, -1], [3, -1]])).tolist() == [[True, False], [True, False]]


@pytest.mark.parametrize("empty", [[[], []], np.zeros((2, 4)), np.zeros((2, 4), dtype=bool)])
def test_measures_without_any_true_label(empty):
    with warnings.catch_warnings(action="error"):
        result = metrics.measures(empty, RANKING, 3, WEIGHTS)
    for name, value in result.items():
        np.testing.assert_array_equal(value, np.full(3, np.nan if name.startswith("PS") else 0.0), err_msg=name)
    np.testing.assert_array_equal(metrics.psdcg_at_k(empty, RANKING, 1, inv_ps=WEIGHTS), [np.nan])
    np.testing.assert_array_equal(metrics.psrecall_at_k(empty, RANKING, 1, inv_ps=WEIGHTS), [np.nan])


@pytest.mark.parametrize("ranking", [np.empty((0, 5), int), [], Ranking(np.empty((0, 5), np.int32), np.empty((0, 5)))])
def test_without_rows_everything_is_nan(ranking):
    with warnings.catch_warnings(action="error"):
        result = metrics.measures(np.zeros((0, 8)), ranking, 5, np.ones(8))
    for name, value in result.items():
        np.testing.assert_array_equal(value, np.full(5, np.nan), err_msg=name)


def test_the_documentation_has_the_words_of_the_table():
    lines = (Path(__file__).parents[2] / "docs/measures.md").read_text(encoding="utf-8").splitlines()
    cells = [re.split(r"(?<!\\)\|", line) for line in lines if line.startswith("|")]
    documented = {row[1].strip(): row[3].strip() for row in cells if row[1].strip() in metrics.MEASURES}
    assert len(documented) >= 9
    for name, meaning in documented.items():
        assert meaning.startswith(metrics.MEASURES[name].explained.replace("\u00a0", " "))
