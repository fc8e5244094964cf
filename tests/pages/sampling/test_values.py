"""Values as they are typed, and those to begin with."""

import pytest

from pages.sampling import values


@pytest.mark.parametrize(("typed", "numbers", "problem"), [
    ("1, 2,5", [1, 2, 5], None),
    ("5; 1, 5,", [1, 5], None),
    ("", [], "At least one"),
    ("2.5", [], "whole number"),
    ("nan", [], "whole number"),
    ("inf", [], "whole number"),
    ("0", [], "from 1 to 100"),
    ("101", [], "from 1 to 100"),
    ("a", [], "not a number"),
    (", ".join(map(str, range(1, 14))), [], "13 values are more than"),
])  # fmt: skip
def test_values_are_read(typed, numbers, problem):
    found, said = values.parse(typed, "κ", whole=True, least=1, most=100)
    assert found == numbers and (said is None if problem is None else problem in said)


def test_the_values_to_begin_with_have_that_of_the_result():
    assert values.with_own((1, 2, 5, 10), 7) == (1, 2, 5, 7, 10) and values.with_own((1, 2, 5), 2, 3) == (1, 2)
