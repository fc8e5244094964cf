"""Labels with names: found in lists and DataFrames, given apart, and refused where they say two things."""

import enum
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from xmlcore.label_names import (
    check_label_names,
    labels_of_model,
    read_label_names,
    read_more_labels,
    read_training_labels,
)

LISTS = [["sport", "news"], ["news"], []]
MATRIX = [[True, True], [True, False], [False, False]]  # news, sport


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@pytest.mark.parametrize("lists", [
    LISTS,
    [tuple(row) for row in LISTS],
    [set(row) for row in LISTS],
    [np.array(row, dtype=str) for row in LISTS],
    pd.Series(LISTS, index=[5, 6, 7]),
    [["sport", "news", "sport"], ["news"], []],
])  # fmt: skip
def test_names_in_lists_are_sorted_and_become_columns(lists):
    Y, names = read_label_names(lists)
    assert Y.toarray().tolist() == MATRIX and names == ["news", "sport"]
    assert all(type(name) is str for name in names)


def test_given_names_decide_the_order_and_which_labels_there_are():
    Y, names = read_label_names(LISTS, ["sport", "law", "news"])
    assert names == ["sport", "law", "news"]
    assert Y.toarray().astype(int).tolist() == [[1, 0, 1], [0, 0, 1], [0, 0, 0]]
    with pytest.raises(ValueError, match="Y row 0 has the label 'sport', which is not in label_names"):
        read_label_names(LISTS, ["law", "news"])


def test_whole_numbers_in_lists_are_ids_whatever_the_names():
    ids = [[1, 0], [2]]
    assert read_label_names(ids) == (ids, None)
    Y, names = read_label_names(ids, np.array([10, 20, 30, 40]))
    assert names == [10, 20, 30, 40] and Y.shape == (2, 4) and Y.indices.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="label id 10, but there are 2 labels"):
        read_label_names([[10]], [10, 20])


def test_the_classes_of_a_label_binarizer_are_names():
    from sklearn.preprocessing import MultiLabelBinarizer

    binarizer = MultiLabelBinarizer()
    Y, names = read_label_names(binarizer.fit_transform(LISTS), binarizer.classes_)
    assert names == ["news", "sport"] and np.asarray(Y).astype(bool).tolist() == MATRIX
    with pytest.raises(ValueError, match="label_names has 2 names, but Y has 3 labels"):
        read_label_names(np.ones((2, 3)), binarizer.classes_)


def test_columns_of_a_frame_are_names_unless_they_only_count():
    frame = pd.DataFrame(np.array(MATRIX, int), columns=["news", "sport"])
    assert read_label_names(frame)[1] == ["news", "sport"]
    assert read_label_names(frame, ["news", "sport"])[1] == ["news", "sport"]
    assert read_label_names(pd.DataFrame(np.array(MATRIX, int)))[1] is None
    with pytest.raises(ValueError, match="name different labels: give one of the two"):
        read_label_names(frame, ["sport", "news"])
    with pytest.raises(ValueError, match=r"the columns of Y\[1\] is 'a', as the columns of Y\[0\]"):
        read_label_names(frame.set_axis(["a", "a"], axis=1))


@pytest.mark.parametrize("labels", [[(1, "b"), (0, "a")], [date(2026, 2, 1), date(2025, 1, 1)]])
def test_any_labels_that_can_be_sorted_are_names(labels):
    assert read_label_names([labels, labels[:1]])[1] == sorted(labels)


def test_labels_without_an_order_need_one():
    lists = [[Colour.RED], [Colour.BLUE]]
    with pytest.raises(TypeError, match=r"Y \(Colour\) cannot be sorted: give them in an order of yours"):
        read_label_names(lists)
    Y, names = read_label_names(lists, list(Colour))
    assert names == list(Colour) and Y.toarray().tolist() == [[True, False], [False, True]]


@pytest.mark.parametrize("lists, message", [
    ([["a"], ["b", 3]], "Y row 1 has the label 3, but other labels are names"),
    ([["a"], [None]], "Y row 1 has the label None, but"),
    ([["a"], [["b"]]], r"Y row 1 has the label \['b'\]: a name must be hashable"),
    (["sport", "news"], r"Y row 0 is the text 'sport': give a list of labels, such as \['sport'\]"),
    ([["a"], "bc"], "Y row 1 is the text 'bc'"),
])  # fmt: skip
def test_lists_that_say_two_things_are_refused_with_their_row(lists, message):
    with pytest.raises(TypeError, match=message):
        read_label_names(lists)


def test_one_value_for_each_row_is_its_class():
    for form in (list, np.array, pd.Series, pl.Series):
        classes = form(["sport", "news"])
        Y, found, one_class = read_training_labels(classes)
        assert one_class and found == ["news", "sport"] and Y.toarray().tolist() == [[False, True], [True, False]]
    Y, found, one_class = read_training_labels(["sport", "news"], ["sport", "news", "weather"])
    assert not one_class and found == ["sport", "news", "weather"] and Y.indices.tolist() == [0, 1]
    assert not read_training_labels([[0], [1]])[2] and not read_training_labels(np.array(MATRIX))[2]


@pytest.mark.parametrize("classes, error, message", [
    ([0.5, 1.0], ValueError, "Unknown label type: continuous. y has 0.5, but classes are whole numbers or texts"),
    ([1.0, float("nan")], ValueError, "Input y contains NaN"),
    ([1.0, float("inf")], ValueError, "Input y contains infinity or a value too large for dtype"),
    (np.array(["a", 1], dtype=object), TypeError, r"the classes in y \(int, str\) cannot be sorted"),
])  # fmt: skip
def test_values_that_are_no_classes_are_refused(classes, error, message):
    with pytest.raises(error, match=message):
        read_training_labels(classes)


@pytest.mark.parametrize("names, error, message", [
    ("ab", TypeError, "must be a list with the name of each label, not 'ab'"),
    (3, TypeError, "must be a list"),
    ([["a"], "b"], TypeError, r"label_names\[0\] is \['a'\]: names must be hashable"),
    (["a", None], ValueError, r"label_names\[1\] is None: every label needs a name"),
    (["a", float("nan")], ValueError, "is nan: every label needs a name"),
    (["a", "b", "a"], ValueError, r"label_names\[2\] is 'a', as label_names\[0\]"),
    (np.array([["a"]]), ValueError, "has 2 dimensions"),
])  # fmt: skip
def test_bad_names_are_refused(names, error, message):
    with pytest.raises(error, match=message):
        check_label_names(names)


def test_matrices_and_ids_are_left_as_they_are():
    for Y in (sp.csr_array(np.eye(2)), np.eye(2), [[0], [1, 2]], [[], []]):
        assert read_label_names(Y) == (Y, None)


def test_true_labels_are_given_by_the_names_of_the_model():
    assert labels_of_model([["b", "x", "b"], ["y", "x"]], ["a", "b"]) == [[1, 2], [3, 2]]
    assert labels_of_model(LISTS, ["news", "sport"]) == [[1, 0], [0], []]
    with pytest.raises(ValueError, match="was fitted to labels without names"):
        labels_of_model(LISTS, None)
    with pytest.raises(ValueError, match="not the labels that the model was fitted to, in their order"):
        labels_of_model(pd.DataFrame(MATRIX, columns=["sport", "news"]), ["news", "sport"])


def test_further_labels_follow_those_of_the_model():
    Y, names = read_more_labels([["b", "z"], ["y"], []], 2, ["a", "b"])
    assert names == ["a", "b", "y", "z"]
    assert Y.toarray().astype(int).tolist() == [[0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0]]
    frame = pd.DataFrame({"new": [1, 0], "b": [1, 1]})
    Y, names = read_more_labels(frame, 2, ["a", "b"])
    assert names == ["a", "b", "new"] and Y.toarray().astype(int).tolist() == [[0, 1, 1], [0, 1, 0]]
    assert read_more_labels([[0], [3]], 2, None)[0].shape == (2, 4)
    assert read_more_labels([[0]], 2, None)[0].shape == (1, 2)
    assert read_more_labels(np.eye(3), 2, ["a", "b"], ["a", "b", "c"])[1] == ["a", "b", "c"]
    assert read_more_labels(["c", "a"], 2, ["a", "b"])[0].indices.tolist() == [2, 0]
    assert read_more_labels(np.array([2, 0]), 2, None)[0].indices.tolist() == [2, 0]


@pytest.mark.parametrize("Y, names, label_names, message", [
    ([["a"]], None, None, "fitted to labels without names: give ids"),
    ([[0]], None, ["a", "b"], "fitted to labels without names: give ids"),
    (np.eye(1), None, None, "Y has 1 labels, but the model has 2: give it their columns"),
    (np.eye(3), ["a", "b"], None, "Y has 3 labels, but there are 2 names: give label_names"),
    ([[0]], ["a", "b"], ["b", "a"], "must begin with the names of the model's labels"),
    ([["c"]], ["a", "b"], ["a", "b"], "which is not in label_names"),
])  # fmt: skip
def test_further_labels_that_do_not_fit_the_model_are_refused(Y, names, label_names, message):
    with pytest.raises(ValueError, match=message):
        read_more_labels(Y, 2, names, label_names)


def test_lists_are_refused_where_names_are_other_numbers():
    with pytest.raises(ValueError, match="could hold names or ids. Give a binary matrix"):
        labels_of_model([[10], [20]], [10, 20, 30])
    assert labels_of_model([[1], [2]], [0, 1, 2]) == [[1], [2]]  # names and ids are the same
    matrix = sp.csr_array(np.array(MATRIX))
    assert labels_of_model(matrix, [10, 20]) is matrix
