"""Sentences about what was measured of double sampling."""

import pandas as pd

from pages.sampling import words
from tests.pages.making import said_plainly


def test_one_value_is_no_range_and_a_better_q_is_one_of_these_rows():
    lines = {"axis": ["n_adversarial", "examples_per_class"], "n_adversarial": [1, 1], "examples_per_class": [2.0, 2.0]}
    sweep = pd.DataFrame({**lines, "accuracy": 0.5, "macro_f1": 0.4, "fit_s": 2.0})
    assert said_plainly(words.sweep_sentence(sweep)) == (
        "With κ = 1 accuracy is **50.0 %**, for 2.0 s of training. "
        "With 2 examples per label accuracy is **50.0 %**, for 2.0 s of training."
    )
    lines["n_adversarial"], lines["examples_per_class"] = [1, 3], [2.0, 2.0]
    lines["axis"] = ["n_adversarial"] * 2
    alike = pd.DataFrame({**lines, "accuracy": 0.5, "macro_f1": 0.4, "fit_s": [2.0, 2.01]})
    assert said_plainly(words.sweep_sentence(alike)) == (
        "With κ from 1 to 3 accuracy is **50.0 %**, for 2.0 s of training."
    )
    table = pd.DataFrame({"n_candidates": [5, 10], "recall": [0.6, 0.7], "accuracy": [0.42, 0.4]})
    said = said_plainly(words.candidates_sentence(table, 10))
    assert "On these test rows q = 5 had the best accuracy, 42.0 % instead of 40.0 %" in said
    assert "choose q on held-out rows" in said
    said = said_plainly(words.candidates_sentence(table, 5))
    assert "From q = 5 to 10" in said and "better" not in said and "q = 5 is 42.0 %, the best of these." in said
    assert "With q = 10 the true label" in words.candidates_sentence(table.tail(1), 10)
