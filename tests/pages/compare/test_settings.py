"""What the Compare page says of the settings of results, and of who chose them."""

import pytest

from pages.compare import of_runs
from pages.shared import settings
from tests.pages.making import plainly, train
from xmlcore import experiment


def test_where_one_model_has_chosen_its_settings_and_another_has_not_the_page_says_so(ready, monkeypatch):
    tuned = train(ready)
    train(ready, "LdSM", n_estimators=2)
    monkeypatch.setattr(of_runs, "has_trials", lambda key: key == tuned)
    assert "by trials" not in ready.go("compare").text(), "the user has chosen the other's settings"
    train(ready, "LdSM")
    said = plainly(ready.go("compare"))
    assert "PLT chose settings by trials on training rows, LdSM (Trees 20) did not." in said


@pytest.mark.sections("Side by side")
def test_beside_a_result_whose_settings_were_chosen_by_trials_none_is_called_the_default(ready, monkeypatch):
    keys = [train(ready, model) for model in ("OneVsRest", "LdSM")]
    monkeypatch.setattr(of_runs, "has_trials", lambda key: key == keys[0])
    said = plainly(ready.go("compare"))
    assert "OneVsRest chose settings by trials" in said and "changed by hand" not in said


@pytest.mark.sections("Side by side")
def test_what_models_chose_for_automatic_settings_stands_side_by_side(ready):
    runs = [
        experiment.load("train", train(ready, "PLT", random_state=seed, C=C)) for seed, C in ((0, "auto"), (1, 2.0))
    ]
    said = plainly(ready.go("compare"))
    shown = [settings.chosen_words("PLT", run.chosen, run.size) for run in runs]
    assert "C" in runs[0].chosen and "C" not in runs[1].chosen
    assert all(f"chosen by the model: {text}" in said for text in shown if text)
    assert "Settings that differ, and what models chose by themselves:" in said


@pytest.mark.sections("Side by side")
def test_equal_settings_that_models_chose_are_not_called_different(ready):
    for seed in (0, 1):
        train(ready, "PLT", random_state=seed)
    said = plainly(ready.go("compare").set("compare.lines", "result"))
    assert "hat models chose by themselves:" in said and "that differ" not in said


@pytest.mark.sections("Side by side")
def test_beside_another_model_a_result_has_the_settings_that_are_not_its_defaults(ready):
    train(ready, "LdSM", n_estimators=2)
    train(ready, "OneVsRest", C=2.0)
    assert "Settings that are not the defaults" in plainly(ready.go("compare"))
