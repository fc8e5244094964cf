"""Explanations in words."""

import math

import pandas as pd
import pytest

from pages.shared.rows import explaining
from tests.pages.making import said_plainly


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("log_proba", "from log P = −2.00 of a row without features (P = 13.5 %) to −1.00 (P = 36.8 %)"),
        ("margin", "from the margin = −2.00 of a row without features (P = 11.9 %) to −1.00 (P = 26.9 %)"),
        ("score", "add up to f = −1.00"),
    ],
)
def test_a_sentence_says_how_bars_add_up_to_the_score(kind, said):
    assert said in said_plainly(explaining.adds_up({"kind": kind, "baseline": -2.0, "total": -1.0}))


def test_shares_are_said_in_percent():
    attrs = {"kind": "share", "baseline": 0.01, "total": 0.4}
    assert "from P = 1 % of a row without features to P = 40 %" in said_plainly(explaining.adds_up(attrs))
    assert said_plainly(explaining.totals(attrs, {**attrs, "total": 0.2})) == "The label’s P goes from 40 % to 20 %."


def test_a_size_to_begin_with_has_one_digit():
    assert explaining.round_size(0.0234) == 0.02
    assert explaining.round_size(0.0) == explaining.round_size(math.nan) == 0.05


@pytest.mark.parametrize(("kind", "said"), [("log_proba", "P = 36.8 %"), ("share", "P = 40 %"), ("score", "f = −1.00")])
def test_a_score_is_said_with_the_name_of_its_scale(kind, said):
    assert said_plainly(explaining.total(kind, 0.4 if kind == "share" else -1.0)) == said


def test_contributions_to_a_share_are_percentage_points():
    frame = pd.DataFrame({"feature": [3], "name": ["x"], "value": [2.0], "contribution": [0.25]})
    assert explaining.named(frame, None, "share")["contribution"].tolist() == [25.0]
    assert explaining.named(frame, None, "margin")["contribution"].tolist() == [0.25]


def test_a_long_name_is_not_cut_in_a_title_but_left_to_the_caption():
    assert explaining.in_title("a <b>") == "a &lt;b&gt;" and explaining.in_title("x" * 40) == "the label"
