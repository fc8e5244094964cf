"""Workspaces, sessions and jobs, through app.py: what is the same on all pages."""

from types import SimpleNamespace

import pytest

from pages.shared.jobs import time_left
from pages.shared.workspaces import workspace
from tests.pages.making import said_plainly, titles, trained
from xmlcore.models.compiling import COMPILING

TRAINING = "Training PLT on api-docs"


def test_results_of_one_workspace_are_not_shown_in_another(ready, session):
    trained(ready)
    stranger = session().until(lambda s: "Labels per row" in s.metrics()).go("train")
    assert "No model has been trained" in stranger.text()
    stranger.press("train.PLT.submit")  # the same question: answered at once, and only now
    assert "Trained already" in stranger.text()


@pytest.mark.parametrize("asked", ["0" * 32, "../../etc/passwd", "f" * 31, "<script>", ""])
def test_an_unknown_address_gives_a_fresh_workspace(session, asked):
    page = session(asked)
    assert (workspace.NOT_FOUND in page.text()) == (asked == "0" * 32)
    assert workspace.NOT_FOUND not in page.run().text()
    assert page.token != asked and len(page.token) == 32


def stop_buttons(page):
    return [b for b in page.at.button if b.label == "Stop" and "main" in b.key]


def start(page, *trees):
    """Start trainings of so many trees each; wait until two of them go on, or the only one."""
    page.go("train")
    for n in trees:
        page.at.number_input(key="form.PLT.n_estimators").set_value(n)
        page.run().press("train.PLT.submit")  # the button rests until the settings are others than those that run
    return page.until(lambda s: s.text(s.at.main).count("Training nodes of trees: 25 %") == min(2, len(trees)))


def test_stop_of_a_shared_training_takes_it_off_this_page_only(session, held):
    one, two = (session().until(lambda s: "Labels per row" in s.metrics()) for _ in range(2))
    for page in (one, two):
        start(page, 1)
    assert "Stopped here" in one.click("Stop").text()
    assert "Training nodes" not in one.text() and not stop_buttons(one)
    assert "Stopped here" not in one.run().text()
    assert "Training nodes" in two.run().text()
    held()
    two.until(lambda s: "Training" in s.metrics())
    assert "No model has been trained" in one.run().text()


def test_the_sidebar_has_one_control_that_stops_several_jobs(ready, held):
    def labels():
        return [b.label.replace("\\", "") for b in page.at.sidebar.button if "stop-side" in (b.key or "")]

    page = start(ready, 2, 3).go("data")
    assert sorted(labels()) == [f"Stop: {TRAINING} (Trees: {trees})" for trees in (2, 3)]
    next(b for b in page.at.sidebar.button if "Trees: 3" in b.label.replace("\\", "")).click()
    page.run().until(lambda s: labels() == ["Stop"])


def test_a_page_without_a_result_has_a_button_and_no_figure(ready):
    for name in ("train", "compare", "predict", "explain", "robustness", "trees", "features", "sampling"):
        page = ready.go(name)
        assert not titles(page), name
        assert sum(button.proto.type == "primary" for button in page.at.main.button) == 1, name


def job(elapsed, done=0.0, spent=None, phase="Training nodes of trees", **phases):
    spent = elapsed if spent is None else spent
    return SimpleNamespace(elapsed=elapsed, fraction=done, phase=phase, phases={**phases, phase: spent})


@pytest.mark.parametrize(("job", "expected", "kind", "left"), [
    (job(10), 130, None, "about 2 min 00 s left"),
    (job(60, 0.1, 60), 130, None, "about 9 min 00 s left"),  # slower, and more may come after the phase
    (job(780, 0.5, 780), 120, None, "about 13 min 00 s left"),
    (job(780), 120, None, "longer than expected (2 min)"),
    # What is loaded and compiled first is no part of the expected time.
    (job(21, spent=0, phase=""), 7.9, "train", "then about 7.9 s"),
    (job(31, spent=10, phase=COMPILING), 7.9, "train", "then about 7.9 s"),
    (job(36, spent=5, **{COMPILING: 10}), 7.9, "train", "about 2.9 s left"),
    (job(3), None, None, ""),
    (job(10, 0.9, 9), 49, None, "about 40 s left"),  # more may come after such a phase
    # Features are scored after the network is trained, as parts of one work.
    (job(100, 0.4, 100, "Training the network"), 33, "select", "about 2 min 30 s left"),
    (job(160, 0.75, 20, "Scoring features", **{COMPILING: 10, "Training the network": 130}), 33, "select",
     "about 50 s left"),
    (job(20, 0.9, 18), 98.0, "compare", "about 1 min 20 s left"),
    (job(20, 0.9, 18), 100.0, "train", "about 2.0 s left"),
    (job(20, 1.0, 0.1, "Saving"), 119.0, "train", ""),
    (job(20, 1.0, 20, "Changing rows"), 119.0, "compare", "about 1 min 39 s left"),  # more comes after such a phase
])  # fmt: skip
def test_the_time_left_follows_the_work_of_the_task_itself(job, expected, kind, left):
    assert said_plainly(time_left(job, expected, kind)) == left


@pytest.mark.parametrize("wrong", [0.2, 1, 5])
@pytest.mark.parametrize("done", [0.5, 0.7, 0.9])
def test_a_wrong_expected_time_is_corrected_meanwhile(wrong, done):
    took, first = 100.0, 5.0  # seconds of the job, and of its first phase
    said = time_left(job(done * took, done, done * took - first, **{"Clustering labels": first}), wrong * took, "train")
    assert abs(float(said.split()[1]) - (1 - done) * took) <= 6
