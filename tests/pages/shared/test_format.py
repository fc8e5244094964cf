"""Numbers and names as pages write them."""

import math

import pytest

from pages.shared import format


@pytest.mark.parametrize(
    ("value", "said"),
    [(1.234, "+1.23"), (-0.5, "−0.50"), (0.0, "+0.00"), (0.00123, "+0.0012"), (-math.inf, "−∞"), (math.nan, "–")],
)
def test_contributions_have_a_sign_and_the_digits_that_mean_something(value, said):
    assert format.signed(value) == said


def test_a_name_in_a_title_is_short_and_no_mark_up():
    assert format.in_title("a <b>") == "a &lt;b&gt;"
    assert format.in_title("a label of a very long name") == "a label of a very lon…"


def test_shares_and_probabilities_are_percentages():
    assert format.percent(0.1234) == "12.3 %" and format.percent(math.nan) == "–"
    assert format.probability(0.5) == "50 %" and format.probability(1e-9) == "nearly 0 %"


def test_lists_end_with_and():
    assert [format.listed(parts) for parts in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
