"""First values of fields."""

from pages.shared.fields import rows_within, whole_number


def test_rows_are_all_when_quick_else_the_largest_sample_that_is():
    samples = (5000, 2000, 1000, 500)
    assert rows_within(lambda n: 0.001 * n, 12_000, 20.0, samples) == 12_000
    assert rows_within(lambda n: 0.01 * n, 12_000, 20.0, samples) == 2_000
    assert rows_within(lambda n: 10.0 * n, 12_000, 20.0, samples) == 500
    assert rows_within(lambda n: 10.0 * n, 120, 20.0, samples) == 120


def test_remembered_numbers_fit_when_they_are_whole_and_within_bounds():
    fits = whole_number(1, 5)
    assert [value for value in (0, 1, 5, 6, True, 2.0, "2", None) if fits(value)] == [1, 5]
