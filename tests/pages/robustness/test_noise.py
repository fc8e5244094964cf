"""Levels of noise as they are typed."""

import pytest

from pages.robustness import noise


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
        ("0.1, inf", "gaussian", "cannot be inf"),
        ("-inf", "fgsm", "cannot be -inf"),
        ("NaN", "words", "cannot be NaN"),
        ("-1", "gaussian", "0 or more"),
        ("1.5", "words", "between 0 and 1"),
        (",".join(str(i) for i in range(1, 20)), "gaussian", "more than the 12"),
    ],
)
def test_the_problem_of_levels_that_make_no_sense_is_named(text, kind, said):
    levels, problem = noise.parse_levels(text, kind)
    assert levels == [] and said in problem
