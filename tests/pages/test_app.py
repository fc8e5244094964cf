"""Workspaces, sessions and jobs, through app.py: what is the same on all pages."""

import threading

import pytest

from tests.pages.making import Row, said_plainly
from xmlcore import experiment


def trained(session):
    session.go("train")
    session.press("train.PLT.submit")
    return session.until(lambda s: "Training" in s.metrics())


def test_results_of_one_workspace_are_not_shown_in_another(ready, session):
    trained(ready)
    stranger = session().until(lambda s: "Labels per row" in s.metrics()).go("train")
    assert "No model has been trained" in stranger.text()
    stranger.press("train.PLT.submit")  # the same question: answered at once, and only now
    assert "From the cache" in stranger.text()


@pytest.mark.parametrize("asked", ["0" * 32, "../../etc/passwd", "f" * 31, "<script>", ""])
def test_unknown_token_gives_a_fresh_workspace(session, asked):
    page = session(asked).until(lambda s: "Labels per row" in s.metrics())
    assert page.token != asked
    assert len(page.token) == 32


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        {"version": 99},
        {"version": 2, "runs": 3, "known": [], "dataset": 5, "jobs": [{}, 7, {"id": 1, "kind": []}]},
    ],
)
def test_a_damaged_workspace_is_an_empty_one(ready, session, content):
    Row(ready.token).write(content)
    page = session(ready.token).until(lambda s: "Labels per row" in s.metrics())
    assert page.token == ready.token


def test_data_set_that_is_gone_from_the_cache_is_made_again(ready, session):
    import streamlit as st

    from xmlcore import store

    for entry in store.entries("datasets"):
        store.delete("datasets", entry["key"])
    st.cache_resource.clear()
    session(ready.token).until(lambda s: "Labels per row" in s.metrics())


def test_two_sessions_train_at_once_and_keep_their_own_results(session):
    one = session().until(lambda s: "Labels per row" in s.metrics()).go("train")
    two = session().until(lambda s: "Labels per row" in s.metrics()).go("train")
    one.at.number_input(key="form.PLT.max_leaf_labels").set_value(2)
    two.at.number_input(key="form.PLT.max_leaf_labels").set_value(4)
    one.press("train.PLT.submit")
    two.press("train.PLT.submit")
    one.until(lambda s: "Training" in s.metrics())
    two.until(lambda s: "Training" in s.metrics())
    assert "Max labels per leaf: 2" in one.text()
    assert "Max labels per leaf: 4" in two.text()


@pytest.fixture
def slow_training(monkeypatch):
    """Trainings go on until the event is set."""

    go_on, real = threading.Event(), experiment.kinds.train.run_and_model

    def run(dataset, model, params, k, progress):
        while not go_on.is_set():
            progress("Training trees", 0.5)
            go_on.wait(0.05)
        return real(dataset, model, params, k, progress)

    monkeypatch.setattr(experiment.kinds.train, "run_and_model", run)
    yield go_on
    go_on.set()


def stop_buttons(page):
    return [b for b in page.at.button if b.label == "Stop" and "main" in b.key]


def test_stop_of_a_shared_training_takes_it_off_this_page_only(session, slow_training):
    one, two = (session().until(lambda s: "Labels per row" in s.metrics()).go("train") for _ in range(2))
    for page in (one, two):
        page.press("train.PLT.submit").until(lambda s: "Training trees: 50 %" in s.text(s.at.main))
    stop_buttons(one)[0].click()
    one.run()
    assert "Stopped here: Training PLT on api-docs." in one.text()
    assert "Training trees" not in one.text() and not stop_buttons(one)
    assert "Stopped here" not in one.run().text()
    assert "Training trees" in two.run().text()
    slow_training.set()
    two.until(lambda s: "Training" in s.metrics())
    assert "No model has been trained" in one.run().text()


def test_running_jobs_are_named_by_their_settings_and_place_in_the_queue(ready, slow_training):
    ready.go("train")
    for trees in (2, 3, 4, 5):  # two at once
        ready.at.number_input(key="form.PLT.n_estimators").set_value(trees)
        ready.press("train.PLT.submit")
    ready.until(lambda s: s.text(s.at.main).count("Training trees: 50 %") == 2)
    said = ready.text(ready.at.main)
    assert "Training PLT on api-docs (Trees: 3)" in said
    assert "number 1 of 2 in the queue" in said and "number 2 of 2 in the queue" in said


def test_the_sidebar_has_one_control_that_stops_several_jobs(ready, slow_training):
    ready.go("train")
    for trees in (2, 3):
        ready.at.number_input(key="form.PLT.n_estimators").set_value(trees)
        ready.press("train.PLT.submit")
    page = ready.until(lambda s: s.text(s.at.main).count("Training trees: 50 %") == 2).go("data")
    labels = [b.label for b in page.at.sidebar.button if "stop-side" in (b.key or "")]
    assert sorted(label.replace("\\", "") for label in labels) == [
        f"Stop: Training PLT on api-docs (Trees: {trees})" for trees in (2, 3)
    ]
    next(b for b in page.at.sidebar.button if "Trees: 3" in b.label.replace("\\", "")).click()
    page.run().until(lambda s: len([b for b in s.at.sidebar.button if "stop-side" in (b.key or "")]) == 1)
    assert [b.label for b in page.at.sidebar.button if "stop-side" in (b.key or "")] == ["Stop"]


def test_deleted_cache_is_said_once_and_a_running_training_is_still_there(ready, slow_training):
    from pages.shared.workspaces import workspace

    ready.go("train")
    ready.at.number_input(key="form.PLT.n_estimators").set_value(3)
    ready.press("train.PLT.submit").until(lambda s: "Training trees: 50 %" in s.text(s.at.main))
    token = ready.token
    Row(token).remove()
    ready.run()
    assert workspace.NOT_FOUND in ready.text()
    assert ready.token == token
    assert "Training PLT on api-docs (Trees: 3)" in ready.text(ready.at.main)
    assert "1 job runs or waits: this page shows it." in ready.text(ready.at.sidebar), (
        "a page has one state of a job, not two"
    )
    assert "Training PLT on api-docs (Trees: 3)" in ready.go("data").text(ready.at.sidebar)
    ready.go("train")
    assert workspace.NOT_FOUND not in ready.run().text()
    slow_training.set()
    ready.until(lambda s: "Training" in s.metrics())


def test_unknown_address_is_said_to_be_unknown_once(session):
    from pages.shared.workspaces import workspace

    page = session("0" * 32)
    assert workspace.NOT_FOUND in page.text()
    assert workspace.NOT_FOUND not in page.run().text()
    assert workspace.NOT_FOUND not in session().text()


@pytest.mark.usefixtures("all_sections_open")
def test_opening_pages_starts_nothing_unless_the_user_wants_it(session, server):
    page = session().until(lambda s: "Labels per row" in s.metrics())
    trained(page)
    page.go("train").at.selectbox(key="train.model").select("LdSM")
    page.run().press("train.LdSM.submit").until(lambda s: "LdSM ranks" in s.text().replace("**", ""))
    before = len(server.jobs())
    for name in ("data", "train", "predict", "explain", "robustness", "trees", "features", "sampling"):
        page.go(name)
    assert len(server.jobs()) == before
    page.set("preferences.automatic", True).go("trees")
    assert len(server.jobs()) > before


def test_the_time_left_follows_the_work_of_the_task_itself():
    from types import SimpleNamespace

    from pages.shared.jobs import time_left

    def job(elapsed, done=0.0, spent=0.0, phase="Reading"):
        return SimpleNamespace(elapsed=elapsed, fraction=done, phase=phase, phases={phase: spent})

    assert said_plainly(time_left(job(10), 130)) == "about 2 min 00 s left"
    slower = said_plainly(time_left(job(60, done=0.1, spent=60), 130))
    assert slower == "at least 9 min 00 s left", "slower than expected, and more may come after the phase"
    assert said_plainly(time_left(job(780, done=0.5, spent=780), 120)) == "at least 13 min 00 s left"
    assert said_plainly(time_left(job(780), 120)) == "longer than expected (2 min 00 s)"
    assert said_plainly(time_left(job(3), None)) == ""
    said = said_plainly(time_left(job(10, done=0.9, spent=9), 50))
    assert said == "about 40 s left", "more may come after such a phase"
    training = job(140, done=0.9, spent=140, phase="Training the network")
    said = said_plainly(time_left(training, 33, "select"))
    assert said == "at least 16 s left", "features are scored after the network is trained"
    scoring = job(150, done=0.15, spent=3, phase="Scoring features")
    assert said_plainly(time_left(scoring, 33, "select")) == "about 17 s left", "by the rate of the last phase"
    for kind, left in (
        ("robustness", "about 1 min 20 s left"),
        ("compare", "about 1 min 20 s left"),
        ("train", "about 2.0 s left"),
    ):
        assert said_plainly(time_left(job(20, 0.9, 18, "Training nodes of trees"), 100.0, kind)) == left


@pytest.mark.parametrize("wrong", [0.2, 1, 5])
def test_an_expected_time_that_is_wrong_is_corrected_while_the_main_work_runs(wrong):
    from types import SimpleNamespace

    from pages.shared.jobs import time_left

    took, first, main = 100.0, 5.0, 90.0  # seconds of the job, of its first phase and of its main phase
    for done in (0.5, 0.7, 0.9):
        spent = done * main
        phase = {
            "phase": "Training nodes of trees",
            "phases": {"Clustering labels": first, "Training nodes of trees": spent},
        }
        job = SimpleNamespace(elapsed=first + spent, fraction=done, **phase)
        said = float(time_left(job, wrong * took, "train").split()[1])
        assert abs(said - (took - first - spent)) <= 6, (done, said)
