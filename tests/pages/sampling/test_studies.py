"""The accuracy and the time that more of κ or π brings, and values as they are typed."""

import pandas as pd
import pytest

from pages.sampling import studies
from tests.pages.making import said_plainly


def sweep(accuracy, seconds, seeds=1, margin=0.01):
    """Trainings with κ = 1, 5, 9; seeds differ by 0.2 points of accuracy and by 10 % of the time."""
    lines = [
        {"axis": "n_adversarial", "n_adversarial": kappa, "accuracy": share + 0.002 * seed, "cpu_s": time * 1.1**seed}
        for kappa, share, time in zip((1, 5, 9), accuracy, seconds)
        for seed in range(seeds)
    ]
    return pd.DataFrame(lines).assign(examples_per_class=2.0, failed="", margin=margin)


@pytest.mark.parametrize(("accuracy", "seconds", "seeds", "by_chance", "times"), [
    ((0.261, 0.262, 0.264), (0.05, 0.05, 0.07), 1, True, 1.4),
    ((0.20, 0.22, 0.25), (0.05, 0.08, 0.20), 1, False, 4),
    ((0.20, 0.30, 0.20), (0.10, 0.11, 0.11), 3, True, 1.1),
    ((0.20, 0.22, 0.25), (0.20, 0.15, 0.10), 1, False, 0.5),
])  # fmt: skip
def test_a_difference_has_its_significance_and_its_time(accuracy, seconds, seeds, by_chance, times):
    (found,) = studies.tradeoffs(sweep(accuracy, seconds, seeds))
    assert (found.sign, found.least, found.most, found.by_chance) == ("κ", 1, 9, by_chance)
    mean = 0.001 * (seeds - 1)
    assert (found.at_least, found.at_most) == pytest.approx((accuracy[0] + mean, accuracy[2] + mean))
    assert found.times == pytest.approx(times)
    assert f"% at κ = 9** for {times:.2g} times" in said_plainly(studies.sentence(found)).replace("**,", "**")


def test_seeds_and_few_test_rows_both_make_a_difference_unsure():
    frame = sweep((0.20, 0.21, 0.25), (0.1, 0.1, 0.1), seeds=3)
    apart = frame.assign(accuracy=frame["accuracy"] + 0.05 * (frame.index % 3 == 0))
    unsure = [studies.tradeoffs(one)[0].by_chance for one in (frame, frame.assign(margin=0.05), apart)]
    assert unsure == [False, True, True]


def test_values_that_failed_are_left_out():
    frame = sweep((0.20, 0.22, 0.25), (0.05, 0.08, 0.20))
    assert studies.tradeoffs(frame.drop(columns="cpu_s"))[0].times is None
    assert studies.tradeoffs(frame.assign(failed=["", "", "too large"]))[0].most == 5
    assert studies.tradeoffs(frame.assign(failed="too large")) == []


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
    found, said = studies.parse(typed, "κ", 100)
    assert found == numbers and (said is None if problem is None else problem in said)


def test_the_values_to_begin_with_have_that_of_the_result():
    assert studies.with_own((1, 2, 5, 10), 7) == (1, 2, 5, 7, 10) and studies.with_own((1, 2, 5), 2, 3) == (1, 2)
