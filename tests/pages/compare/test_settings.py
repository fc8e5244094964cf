"""Settings of results side by side on the Compare page."""

import pytest

from pages.shared import settings
from tests.pages.making import train
from xmlcore import experiment

pytestmark = pytest.mark.sections("Side by side")


def test_what_users_and_models_chose_stands_side_by_side(ready):
    runs = [
        experiment.load("train", train(ready, "PLT", random_state=seed, C=C)) for seed, C in ((0, "auto"), (1, 2.0))
    ]
    table = ready.go("compare").frame("by_hand", "by_itself")
    chosen = {settings.chosen_words("PLT", run.chosen, run.size) for run in runs}
    assert "C" in runs[0].chosen and "C" not in runs[1].chosen
    assert {*table["by_itself"]} == chosen and table["by_hand"].str.startswith("C, weight of the loss = ").all()


def test_beside_another_model_stand_changed_settings(ready):
    train(ready, "LdSM", n_estimators=2)
    train(ready, "OneVsRest", C=2.0)
    own = {settings.changed("LdSM", {"n_estimators": 2}), settings.changed("OneVsRest", {"C": 2.0})}
    assert {*ready.go("compare").frame("by_hand", "by_itself")["by_hand"]} == own
