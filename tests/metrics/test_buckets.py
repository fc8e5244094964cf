"""Measures of first predictions for groups of classes."""

import numpy as np
import scipy.sparse as sp

from xmlcore import metrics


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
