"""Explanations in words."""

import math

import pytest

from pages.explain import words


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("log_proba", "from log P = −2.00 of a row without features (P = 13.5 %) to −1.00 (P = 36.8 %)"),
        ("margin", "from the margin = −2.00 of a row without features (P = 11.9 %) to −1.00 (P = 26.9 %)"),
        ("score", "add up to the score of this class, −1.00"),
    ],
)
def test_a_sentence_says_how_bars_add_up_to_the_score(kind, said):
    assert said in words.adds_up({"kind": kind, "baseline": -2.0, "total": -1.0})


def test_shares_are_said_in_percent():
    attrs = {"kind": "share", "baseline": 0.01, "total": 0.4}
    assert "from 1 %, the label’s share without features, to 40 %" in words.adds_up(attrs)
    assert words.totals(attrs, {**attrs, "total": 0.2}) == "The label’s share goes from 40 % to 20 %."


def test_a_size_to_begin_with_has_one_digit():
    assert words.round_size(0.0234) == 0.02
    assert words.round_size(0.0) == words.round_size(math.nan) == 0.05
