"""Levels of noise that suit the feature values of a data set."""

import numpy as np
import scipy.sparse as sp

from xmlcore.robustness import ValueScale, default_levels, training_sigma
from xmlcore.robustness.perturbations import KINDS


def test_levels_are_the_papers_unless_values_are_far_off():
    assert default_levels("gaussian", "2", ValueScale(0.3, 1, 10)) == (0.01, 0.05, 0.1)
    assert default_levels("gaussian", "2", ValueScale(40, 200, 10)) == (1.0, 5.0, 10.0)
    assert default_levels("fgsm", "2", ValueScale(0.3, 1, 10)) == (0.05, 0.1, 0.2)
    for length in (0.003, 0.7, 7.03, 1234.5):
        found = default_levels("pgd", "2", ValueScale(1, length, 10))
        assert 0 < found[0] < found[1] < found[2] < length


def test_the_scale_is_of_what_is_there():
    X = sp.csr_array(np.array([[3.0, 4, 0], [0, 0, 0], [0, 1, 0]], np.float32))
    assert ValueScale.of(X) == ValueScale(value=3.0, length=3.0, features=1.0)
    assert ValueScale.of(sp.csr_array((2, 3), dtype=np.float32)) == ValueScale(1.0, 1.0, 0.0)
    largest = float(np.finfo(np.float32).max)
    huge = ValueScale.of(sp.csr_array(np.full((2, 1), largest, np.float32)))
    assert huge == ValueScale(value=largest, length=largest, features=1.0)
    for kind, row in KINDS.items():
        assert not any(map(row.fault, default_levels(kind, 2, huge)))


def test_training_noise_is_the_papers_unless_values_are_far_off():
    assert training_sigma(ValueScale(0.3, 1, 10)) == 0.05
    assert training_sigma(ValueScale(40, 200, 10)) == 5.0
