"""Mixing ticked results on the Compare page, through app.py."""

import pandas as pd
import pytest

from pages.compare import mixing
from tests.pages.making import predictions, ticked, train
from xmlcore import experiment


def test_the_time_of_mixing_has_training_predicting_and_the_search():
    frame = pd.DataFrame({"fit_s": [10.0, 20.0], "predict_ms_per_row": [0.5, 4.5]})
    assert mixing.seconds_of(frame, 1000) == pytest.approx(24 + 1 + 2 * mixing.SEARCH)
    assert mixing.seconds_of(frame, 6000) == pytest.approx(24 + 6 + 2 * mixing.OF_MANY)


def can_mix(page):
    return "compare.mix" in {button.key for button in page.at.button}


def test_ticked_results_are_mixed_by_one_press(ready):
    keys, other = [train(ready, "PLT"), train(ready, "NearestRows")], predictions(ready)
    page = ready.go("compare")
    assert not can_mix(ticked(page, keys[:1])) and not can_mix(ticked(page, [*keys, other]))
    page = ticked(page, keys)
    assert "80 % of the training rows: about" in page.text().replace("\u00a0", " ")
    page.press("compare.mix").until(lambda s: "of 4 results" in s.text())
    assert "3 results ticked" in page.text() and "Mixture of NearestRows, PLT" in {*page.frame("run", "P@1")["run"]}
    (made,) = experiment.runs()[lambda frame: frame["model"] == "Mixture"]["params"]
    assert sorted(one["model"] for one in made["members"]) == ["NearestRows", "PLT"]
