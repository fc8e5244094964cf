"""What more of κ or π brings and costs, in words."""

import pandas as pd
import pytest

from pages.sampling import tradeoff
from tests.pages.making import said_plainly


def sweep(accuracy, seconds, seeds=1, margin=0.01):
    """Trainings with κ = 1, 5, 9; seeds differ by 0.2 points of accuracy and by 10 % of the time."""
    lines = [
        {"axis": "n_adversarial", "n_adversarial": kappa, "accuracy": share + 0.002 * seed, "cpu_s": time * 1.1**seed}
        for kappa, share, time in zip((1, 5, 9), accuracy, seconds)
        for seed in range(seeds)
    ]
    return pd.DataFrame(lines).assign(examples_per_class=2.0, failed="", margin=margin)


@pytest.mark.parametrize(("accuracy", "seconds", "seeds", "said"), [
    ((0.261, 0.262, 0.264), (0.05, 0.05, 0.07), 1,
     "Micro R@1 is **26.1 % at κ = 1**, **26.4 % at κ = 9**, which may be chance; no clear change of the time, by one "
     "training each."),
    ((0.20, 0.22, 0.25), (0.05, 0.08, 0.20), 1,
     "Micro R@1 is **20.0 % at κ = 1**, **25.0 % at κ = 9**; 4 times the processor time."),
    ((0.20, 0.30, 0.25), (0.10, 0.11, 0.14), 3,
     "Micro R@1 is **20.2 % at κ = 1**, **25.2 % at κ = 9**, with most at 5, 30.2 %; 1.4 times the processor time."),
    ((0.20, 0.30, 0.20), (0.10, 0.11, 0.11), 3,
     "Micro R@1 is **20.2 % at κ = 1**, **20.2 % at κ = 9**, which may be chance, with most at 5, 30.2 %; "
     "no clear change of the time."),
    ((0.20, 0.22, 0.25), (0.20, 0.15, 0.10), 1,
     "Micro R@1 is **20.0 % at κ = 1**, **25.0 % at κ = 9**; 0.5 times the processor time."),
])  # fmt: skip
def test_a_difference_is_said_as_sure_as_it_is(accuracy, seconds, seeds, said):
    assert said_plainly(tradeoff.in_words(sweep(accuracy, seconds, seeds))) == said


def test_seeds_that_differ_and_few_test_rows_both_make_a_difference_unsure():
    frame = sweep((0.20, 0.21, 0.25), (0.1, 0.1, 0.1), seeds=3)
    assert "chance" not in tradeoff.in_words(frame)
    assert "chance" in tradeoff.in_words(frame.assign(margin=0.05))
    apart = frame.assign(accuracy=frame["accuracy"] + 0.05 * (frame.index % 3 == 0))
    assert "chance" in tradeoff.in_words(apart)


def test_times_of_an_earlier_version_and_values_that_failed_are_left_out():
    frame = sweep((0.20, 0.22, 0.25), (0.05, 0.08, 0.20))
    assert "time" not in tradeoff.in_words(frame.drop(columns="cpu_s"))
    assert "κ = 5" in said_plainly(tradeoff.in_words(frame.assign(failed=["", "", "too large"])))
    assert tradeoff.in_words(frame.assign(failed="too large")) == ""
