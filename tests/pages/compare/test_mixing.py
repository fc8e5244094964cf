"""Mixing ticked results on the Compare page, through app.py."""

from pages.compare import table
from tests.pages.making import train
from xmlcore import experiment


def test_ticked_results_are_mixed_by_one_press(ready):
    keys = [train(ready, "PLT"), train(ready, "NearestRows")]
    page = ready.go("compare")
    assert "compare.mix" not in {button.key for button in page.at.button}
    page.widgets(**{table.CHOSEN: keys}) if hasattr(page, "widgets") else None
