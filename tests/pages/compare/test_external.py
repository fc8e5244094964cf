"""Predictions of another program on the Compare and Train pages, through app.py."""

import pytest

from tests.pages.making import plainly, predictions, put_file, train
from xmlcore import experiment


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
