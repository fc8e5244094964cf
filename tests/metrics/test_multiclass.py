"""Accuracy and macro F1, of all classes and of buckets, are what they say, and scikit-learn's where it has them."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

from xmlcore import Ranking, metrics


def random_classes(n=300, n_classes=12, seed=0):
    random = np.random.default_rng(seed)
    true = random.integers(0, n_classes, n)
    return true, np.where(random.random(n) < 0.5, true, random.integers(0, n_classes + 3, n))


@pytest.mark.parametrize("seed", range(3))
def test_they_agree_with_scikit_learn(seed):
    true, predicted = random_classes(seed=seed)
    assert metrics.accuracy(true, predicted) == pytest.approx(accuracy_score(true, predicted))
    options = {"labels": np.unique(true), "average": "macro", "zero_division": 0}
    P, R = precision_score(true, predicted, **options), recall_score(true, predicted, **options)
    assert metrics.macro_f1(true, predicted) == pytest.approx(2 * P * R / (P + R))
    assert metrics.macro_f1(true, predicted) >= f1_score(true, predicted, **options)
    first = metrics.value(np.eye(15, dtype=bool)[true], predicted[:, None], "F1 of means@1")
    assert first == pytest.approx(metrics.macro_f1(true, predicted))


def test_predictions_of_unseen_classes_are_misses():
    assert metrics.macro_f1([0, 1, 1], [0, 1, 7]) == metrics.macro_f1([0, 1, 1], [0, 1, -1])
    assert metrics.macro_f1([0, 1, 1], [0, 1, 7]) == pytest.approx(2 * 1 * 0.75 / 1.75)


def test_a_row_is_an_example_of_each_of_its_classes():
    lists, predicted = [[0, 2], [1], [], [2]], [2, 1, 0, 0]
    replicated = metrics.accuracy([0, 2, 1, 2], [2, 2, 1, 0]), metrics.macro_f1([0, 2, 1, 2], [2, 2, 1, 0])
    assert (metrics.accuracy(lists, predicted), metrics.macro_f1(lists, predicted)) == replicated
    assert replicated[0] == 0.5


def test_all_forms_give_the_same():
    true, predicted = random_classes(n_classes=15)
    predicted = np.minimum(predicted, 14)
    Y = sp.csr_array((np.ones(300, bool), true, np.arange(301)), shape=(300, 15))
    P = sp.csr_array((np.ones(300, bool), predicted, np.arange(301)), shape=(300, 15))
    second = (predicted + 1) % 15
    ranking = Ranking(np.stack([predicted, second], 1).astype(np.int32), np.ones((300, 2), np.float32))
    trues = [true, true.tolist(), true.astype(np.uint8), [[k] for k in true.tolist()], Y, Y.toarray()]
    forms = [predicted, predicted.tolist(), P, P.toarray(), P.astype(float), P.toarray().astype(float), ranking,
             ranking.labels, [[k] for k in predicted.tolist()]]  # fmt: skip
    expected = metrics.accuracy(true, predicted), metrics.macro_f1(true, predicted)
    for Y_true in trues:
        for form in forms:
            assert (metrics.accuracy(Y_true, form), metrics.macro_f1(Y_true, form)) == expected


def test_no_prediction_is_wrong_and_no_examples_are_nan():
    assert metrics.accuracy([0, 1], [-1, 1]) == 0.5 and metrics.macro_f1([0, 1], [-1, 1]) == 0.5
    assert metrics.macro_f1([0, 1], [1, 0]) == 0.0 == metrics.macro_f1([0, 1], [-1, -1])
    none = np.zeros((2, 3), bool)
    assert metrics.accuracy([0, 1], none) == 0.0
    for true in (none, np.empty(0, int)):
        predictions = np.zeros(true.shape[0], int)
        assert math.isnan(metrics.accuracy(true, predictions)) and math.isnan(metrics.macro_f1(true, predictions))


@pytest.mark.parametrize("true, predicted, error, message", [
    ([0, 1], ([0, 1], [0.5]), TypeError, "float64 of shape"),
    ([0, 1], ([0, 1], np.array([True])), ValueError, "1 booleans, but Y_true has the class 1"),
    ([0, 1], [0], ValueError, "predictions for 1 rows, but Y_true has 2 rows"),
    ([0, -1], [0, 0], ValueError, "Y_true has the class id -1 in row 1"),
    ([0, 1], [0, -2], ValueError, "predictions has the class id -2 in row 1.*-1 means no class"),
    ([0, 2**70], [0, 0], ValueError, "beyond 64 bits"),
    (np.eye(3), [0, 1, 3], ValueError, "predictions has the class id 3 in row 2: ids go from 0 to 2"),
    ([0, 1], np.ones((2, 3), bool), ValueError, "predictions has 3 classes in row 0: at most one"),
    (np.eye(2), np.eye(3, dtype=bool)[:2], ValueError, "3 labels, but 2 are expected"),
    ([0.5, 1.0], [0, 1], ValueError, "binary matrix"),
    ([0, 1], [0.5, 1.0], TypeError, "list of label ids"),
])  # fmt: skip
def test_bad_input_is_named(true, predicted, error, message):
    for measure in (metrics.accuracy, metrics.macro_f1):
        with pytest.raises(error, match=message):
            measure(true, *(predicted if isinstance(predicted, tuple) else [predicted]))  # with classes


def test_only_the_classes_asked_for_count():
    true, predicted = random_classes(seed=4)
    wanted = np.array([1, 5, 6])
    classes = np.isin(np.arange(20), wanted)
    options = {"labels": wanted, "average": "macro", "zero_division": 0}
    P, R = precision_score(true, predicted, **options), recall_score(true, predicted, **options)
    assert metrics.macro_f1(true, predicted, classes) == pytest.approx(2 * P * R / (P + R))
    own = np.isin(true, wanted)
    assert metrics.accuracy(true, predicted, classes) == pytest.approx(np.mean(true[own] == predicted[own]))
    assert metrics.macro_f1(true, predicted, np.ones(20, bool)) == metrics.macro_f1(true, predicted)
    last = np.arange(20) == 19
    assert math.isnan(metrics.macro_f1(true, predicted, last)) and math.isnan(metrics.accuracy(true, predicted, last))


def test_each_bucket_has_its_own_rows_and_classes():
    Y = sp.csr_array(np.eye(4, dtype=bool)[[0, 0, 1, 2, 2]])
    first = np.array([0, 1, 1, 0, 2])
    buckets = np.array(["head", "tail", "head", "torso"], dtype=object)
    found = metrics.first_class_by_bucket(Y, first, buckets)
    assert found["bucket"].tolist() == ["head", "torso", "tail"]
    assert found["n_classes"].tolist() == [2, 0, 1] and found["n_rows"].tolist() == [4, 0, 1]
    np.testing.assert_allclose(found["accuracy"], [0.5, np.nan, 1.0])
    expected = [metrics.macro_f1(Y, first, classes=buckets == name) for name in ("head", "torso", "tail")]
    np.testing.assert_allclose(found["macro_f1"], expected)
