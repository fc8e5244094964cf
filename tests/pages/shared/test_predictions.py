"""Tables of predictions beside the truth."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

from pages.shared.results import predictions
from xmlcore import Ranking, metrics
from xmlcore.datasets import Dataset


@pytest.fixture
def data():
    X = [[0, 2.0, -3.0, 1.0], [1.0, 0, 0, 0], [0, 0, 0, 0]]
    Y = np.array([[1, 0, 1], [0, 0, 1], [0, 0, 0]])
    return Dataset(
        "tiny", X, Y, X, Y, feature_names=["ant", "bee", "cat", "bear"], label_names=["North", "East", "South"]
    )


@pytest.fixture
def ranking():
    labels = np.array([[2, 1, 0], [0, 2, -1], [1, -1, -1]], np.int32)
    return Ranking(labels, np.array([[0.9, 0.5, 0.1], [0.8, 0.3, 0], [0.7, 0, 0]], np.float32))


def test_right_predictions_are_told_from_wrong_ones_and_from_padding(data, ranking):
    assert metrics.hits(data.Y_test, ranking).tolist() == [
        [True, False, True],
        [False, True, False],
        [False, False, False],
    ]


def test_right_predictions_agree_with_a_plain_loop():
    rng = np.random.default_rng(1)
    Y = sp.csr_array(rng.random((50, 30)) < 0.1)
    Y.sort_indices()
    labels = np.array([rng.permutation(30)[:7] for _ in range(50)], np.int32)
    labels[::5, 4:] = -1
    expected = [[bool(j >= 0 and Y[i, j]) for j in labels[i]] for i in range(50)]
    assert metrics.hits(Y, Ranking(labels, np.zeros(labels.shape, np.float32))).tolist() == expected


def test_all_predictions_have_a_line_each_without_padding(data, ranking):
    frame = predictions.all_rows(data, ranking, 2)
    assert frame.columns.tolist() == ["row", "rank", "label", "name", "score", "correct"]
    assert frame[["row", "rank", "name", "correct"]].values.tolist() == [
        [0, 1, "South", True],
        [0, 2, "East", False],
        [1, 1, "North", False],
        [1, 2, "South", True],
        [2, 1, "East", False],
    ]


def test_missed_labels_are_named(data, ranking):
    assert predictions.missed(data, ranking, 0, 1) == ["North"]
    assert predictions.missed(data, ranking, 0, 3) == []


def test_worst_mistakes_are_confident_first_and_only_rows_that_could_be_right(data, ranking):
    assert predictions.worst_mistakes(ranking, data.Y_test).tolist() == [1]


def test_predictions_carry_the_names_of_their_rows(data, ranking):
    named = dataclasses.replace(data, row_names_test=["=first", "second", "third"], label_names=["@n", "e", "s"])
    frame = predictions.all_rows(named, ranking, 1)
    assert frame.columns.tolist() == ["row", "row_name", "rank", "label", "name", "score", "correct"]
    assert frame["row_name"].tolist() == ["'=first", "second", "third"]
    assert frame["name"].tolist() == ["s", "'@n", "e"]
