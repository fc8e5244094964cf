"""Mixing ticked results on the Compare page, through app.py."""

from tests.pages.making import predictions, ticked, train
from xmlcore import experiment


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
