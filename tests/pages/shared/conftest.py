"""A data set of three rows, with names."""

import numpy as np
import pytest

from xmlcore.datasets import Dataset


@pytest.fixture
def data():
    X, Y = [[0, 2.0, -3.0, 1.0], [1.0, 0, 0, 0], [0, 0, 0, 0]], np.array([[1, 0, 1], [0, 0, 1], [0, 0, 0]])
    names = {"feature_names": ["ant", "bee", "cat", "bear"], "label_names": ["North", "East", "South"]}
    return Dataset("tiny", X, Y, X, Y, **names)
