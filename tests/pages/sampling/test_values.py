"""Values as they are typed, those to begin with, and memory that is too much."""

import pytest

from pages.sampling import measured, values


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


def sweep_seconds(fit_s):
    """Trainings of 10 adversaries and 2 examples per class take so long, and others in proportion."""
    return lambda kappas, examples, n: n * fit_s * (sum(k / 10 for k in kappas) + sum(e / 2 for e in examples))


def test_candidates_and_values_tried_first_fit_into_the_time_and_memory_there_is(monkeypatch):
    every = ((1, 2, 5, 10, 20), (0.5, 1, 2, 5, 10), 3)
    assert values.first_sweep(sweep_seconds(0.1), (10, 2.0), 29, 20) == every
    seconds = sweep_seconds(2.0)
    adversarial, examples, repeats = values.first_sweep(seconds, (10, 2.0), 1000, 20)
    assert repeats == 1 and 10 in adversarial and 2.0 in examples and seconds(adversarial, examples, 1) <= 20
    assert values.first_sweep(sweep_seconds(100.0), (7, 3.0), 1000, 20)[0] == (1, 2, 5, 7, 10, 20, 50)
    assert values.first_candidates(lambda numbers: 100.0, 7, 1000, 20) == (7,)
    assert values.first_candidates(lambda numbers: 0.1 * len(numbers), 7, 30, 20) == (1, 2, 5, 7, 10, 20)
    assert values.first_candidates(sum, 7, 1000, 20) == (1, 2, 5, 7)
    monkeypatch.setattr("xmlcore.system.free_bytes", lambda: 100)
    assert measured.too_large(50) is None and measured.too_large(51) == 100
    monkeypatch.setattr("xmlcore.system.free_bytes", lambda: None)
    assert measured.too_large(1e18) is None
