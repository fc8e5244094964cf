"""Measures where rows, labels or places are missing; hits; and the words of the table of measures."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from xmlcore import Ranking, metrics

# Two rows over four labels.
Y = [[0, 1], [3]]
RANKING = np.array([[1, 2, 0], [2, 3, 1]])
WEIGHTS = np.array([4.0, 1.0, 1.0, 3.0])


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
