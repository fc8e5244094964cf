"""Two explanations beside each other, and scores as probabilities."""

import math

import pandas as pd
import pytest

from xmlcore import explain


def frame(**parts):
    names = list(parts)
    return pd.DataFrame({"feature": [ord(n) for n in names], "name": names, "contribution": list(parts.values())})


def test_what_one_of_two_explanations_lacks_contributes_nothing_to_it():
    found = explain.side_by_side(frame(a=3.0, b=-2.0, c=0.5), frame(b=-4.0, d=1.0), 2)
    assert found[["name", "first", "second"]].values.tolist() == [["b", -2, -4], ["a", 3, 0], ["d", 0, 1]]
    assert len(explain.side_by_side(frame(a=3.0, b=-2.0, c=0.5), frame(b=-4.0, d=1.0))) == 4


def test_a_score_says_which_probability_it_stands_for():
    assert explain.probability("log_proba", math.log(0.25)) == pytest.approx(0.25)
    assert explain.probability("margin", 0.0) == 0.5
    assert explain.probability("margin", -1e4) == 0.0
    assert explain.probability("share", 0.3) == 0.3
    assert explain.probability("score", 7.0) is None
