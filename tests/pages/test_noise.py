"""What the Robustness page asks for, without a page around it."""

import numpy as np
import pytest
import scipy.sparse as sp

from pages.robustness import noise
from xmlcore.datasets import Dataset


@pytest.mark.parametrize(
    ("text", "levels"), [("0.1", [0.1]), (" .5; 0.1,0,0.1,", [0.1, 0.5]), ("1e-3,2", [0.001, 2]), ("0,1", [1.0])]
)
def test_levels_are_read(text, levels):
    assert noise.parse_levels(text, "gaussian") == (levels, None)


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("", "gaussian", "At least one level"),
        ("0", "gaussian", "At least one level"),
        ("a", "gaussian", "not a number"),
        ("nan", "gaussian", "cannot be nan"),
        ("-1", "gaussian", "0 or more"),
        ("1.5", "words", "between 0 and 1"),
        (",".join(str(i) for i in range(1, 20)), "gaussian", "more than the 12"),
    ],
)
def test_levels_that_make_no_sense_are_said_to_be_so(text, kind, said):
    levels, problem = noise.parse_levels(text, kind)
    assert levels == [] and said in problem


def test_rows_are_all_when_quick_else_the_largest_sample_that_is():
    assert noise.default_rows(lambda n: n / 1000, 9000, 20.0) == 9000
    assert noise.default_rows(lambda n: n / 100, 9000, 20.0) == 2000
    assert noise.default_rows(lambda n: 1e9, 9000, 20.0) == 100
    assert noise.default_rows(lambda n: 1e9, 40, 20.0) == 40


def test_noisy_rows_have_the_largest_features_and_some_that_noise_made():
    X = sp.csr_array(np.array([[3.0, 0, -4, 1, 0, 0]], np.float32))
    noisy = sp.csr_array(np.array([[2.0, 0.1, -4, 0, 0.9, -0.2]], np.float32))
    data = Dataset("d", X, [[1]], X, [[1]], feature_names=list("abcdef"))
    frame = noise.noisy_rows(data, X, noisy, [7], 4, lambda row: f"row {row}")
    assert frame[["row_name", "name", "clean", "noisy"]].values.tolist() == [
        ["row 7", "c", -4, -4],
        ["row 7", "a", 3, 2],
        ["row 7", "e", 0, pytest.approx(0.9)],
        ["row 7", "f", 0, pytest.approx(-0.2)],
    ]
    assert len(noise.noisy_rows(data, X, noisy, [7], 6, str, new=6)) == 6
