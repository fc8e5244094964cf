"""The cuts that Predict's Decide offers where few labels are predicted."""

import pytest

from tests.pages.conftest import Session
from tests.pages.making import fields_of, train, word_data
from xmlcore import experiment

pytestmark = pytest.mark.sections("Decide")


def cut_offered(page):
    """Return the field of the cuts; with what is in force now in it, a cut more than are offered."""
    return next(slider for slider in page.at.select_slider if slider.key == "predict.decide.cut")


@pytest.mark.parametrize("fewest", [50, 10**6])
def test_a_kept_cut_of_few_labels_is_offered_and_can_be_forgotten(ready, monkeypatch, fewest):
    monkeypatch.setattr("pages.predict.decide.FEWEST", fewest)
    key = train(ready)
    page = ready.go("predict").press("predict.decide").until(lambda s: s.at.select_slider)
    cuts = experiment.task("decide", {"run": key}).load().cuts
    many = (cuts["labels"] * word_data().n_test > fewest - 0.5).sum()
    assert len(cut_offered(page).options) == (many or len(cuts)) + 1, "all of them where none has as many labels"
    kept = f"cut {cuts['cut'].iloc[0]}"
    with fields_of(ready) as fields:
        fields["widgets"][f"predict.decision {key}"] = kept
    page = Session(ready.token).go("predict")
    assert cut_offered(page).value == kept
    assert "Forget it" in [button.label for button in page.at.button]
