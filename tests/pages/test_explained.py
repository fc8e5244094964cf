"""What the Explain page writes, without a page around it."""

import math

import pytest

from pages.explain import explained


@pytest.mark.parametrize(
    ("value", "said"),
    [(1.234, "+1.23"), (-0.5, "−0.50"), (0.0, "+0.00"), (0.00123, "+0.0012"), (-math.inf, "−∞"), (math.nan, "–")],
)
def test_contributions_have_a_sign_and_the_digits_that_mean_something(value, said):
    assert explained.signed(value) == said


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("log_proba", "from log P = −2.00 of a row without features (P = 13.5 %) to −1.00 (P = 36.8 %)"),
        ("margin", "from the margin = −2.00 of a row without features (P = 11.9 %) to −1.00 (P = 26.9 %)"),
        ("score", "add up to the score of this class, −1.00"),
    ],
)
def test_bars_are_said_to_add_up_to_the_score(kind, said):
    assert said in explained.adds_up({"kind": kind, "baseline": -2.0, "total": -1.0})


def test_shares_are_said_in_percent():
    attrs = {"kind": "share", "baseline": 0.01, "total": 0.4}
    assert "from 1 %, the label’s share without features, to 40 %" in explained.adds_up(attrs)
    assert explained.totals(attrs, {**attrs, "total": 0.2}) == "The label’s share goes from 40 % to 20 %."


def test_a_size_to_begin_with_has_one_digit():
    assert explained.round_size(0.0234) == 0.02
    assert explained.round_size(0.0) == explained.round_size(math.nan) == 0.05


def test_a_name_in_a_title_is_short_and_no_mark_up():
    assert explained.in_title("a <b>") == "a &lt;b&gt;"
    assert explained.in_title("a label of a very long name") == "a label of a very lon…"
