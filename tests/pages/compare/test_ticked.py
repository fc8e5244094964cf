"""On Compare: another program's predictions, mixtures of ticked results, and settings side by side."""

import functools

import pandas as pd
import pytest

from pages.compare import table
from pages.shared import addresses, settings
from tests.pages.making import plainly, predictions, put_file, ticked, train
from xmlcore import experiment, review


def upload(page, name, content):
    """Upload a file of another program's predictions, and have it compared."""
    (field,) = (one.key for one in page.at.get("file_uploader") if one.key.startswith("compare.external."))
    put_file(page, field, "ranked.csv", content)
    page.set("compare.external.name", name).press("compare.external.start")


def test_predictions_of_another_program_are_compared(ready):
    key = train(ready)
    run = experiment.load("train", key)
    page = ready.go("compare")
    upload(page, "other", b"0\n9\n")
    said = page.until(lambda s: s.at.error).at.error[0].value.replace("\\", "")
    assert "line 2: cell 1" in said
    ranked = "\n".join(",".join(map(str, row)) for row in run.ranking.labels[:, :3].tolist())
    upload(page, "other", ranked.encode())
    page.until(lambda s: "of 2 results" in s.text())
    assert not page.at.error and "2 results ticked" in page.text(), "what was uploaded is compared with the best"
    measured = page.frame("run", "P@1").set_index("run")
    assert measured["P@1"].nunique() == 1 and {"other", "PLT"} == set(measured.index)


@pytest.mark.sections("Single predictions", "About this result")
def test_train_shows_predictions_of_another_program(ready):
    predictions(ready)
    page = ready.go("train")
    assert "other ranks a true label first" in plainly(page)
    assert "P@5" in page.metrics() and "Training" not in page.metrics()
    assert page.frame("rank", "correct")["score"].isna().all(), "it gave no scores"
    titles = [tab.label for tab in page.at.tabs]
    assert {"Read", "Key"} <= {*page.frame("what", "value")["what"]} and "Code and files" not in str(page.at.expander)
    assert "Confusions" in titles and "More data" not in titles and "Calibration" not in titles


def test_the_time_of_mixing_has_training_predicting_and_the_search():
    frame = pd.DataFrame({"fit_s": [10.0, 20.0], "predict_ms_per_row": [0.5, 4.5]})
    assert table.seconds_of(frame, 1000) == pytest.approx(24 + 1 + 2 * table.SEARCH)
    assert table.seconds_of(frame, 6000) == pytest.approx(24 + 6 + 2 * table.OF_MANY)


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


@pytest.mark.sections("Side by side")
def test_what_users_and_models_chose_stands_side_by_side(ready):
    runs = [
        experiment.load("train", train(ready, "PLT", random_state=seed, C=C)) for seed, C in ((0, "auto"), (1, 2.0))
    ]
    table = ready.go("compare").frame("by_hand", "by_itself")
    chosen = {settings.chosen_words("PLT", run.chosen, run.size) for run in runs}
    assert "C" in runs[0].chosen and "C" not in runs[1].chosen
    assert {*table["by_itself"]} == chosen and table["by_hand"].str.startswith("C, weight of the loss = ").all()


@pytest.mark.sections("Side by side")
def test_beside_another_model_stand_changed_settings(ready):
    train(ready, "LdSM", n_estimators=2)
    train(ready, "OneVsRest", C=2.0)
    own = {settings.changed("LdSM", {"n_estimators": 2}), settings.changed("OneVsRest", {"C": 2.0})}
    assert {*ready.go("compare").frame("by_hand", "by_itself")["by_hand"]} == own


@pytest.mark.sections("Is the difference real?")
def test_rows_of_a_group_of_two_results_are_shown_on_the_map(ready, monkeypatch):
    monkeypatch.setattr(review, "slices", functools.partial(review.slices, least=5))
    keys = [train(ready, "PLT"), train(ready, "NearestRows")]
    page = ticked(ready.go("compare"), keys)
    (table,) = (one for one in page.at.dataframe if "group" in one.value and "rows" in one.value)
    page.tick(table, 2).click("Show on the map")
    fingerprint, name, rows = page.at.session_state[addresses.RINGED]
    group = table.value.iloc[2]
    assert (name, len(rows)) == (group["group"], group["rows"]) and min(rows) >= 60
    assert fingerprint == experiment.load("train", keys[0]).fingerprint
