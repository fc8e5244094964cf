"""Every page is opened and used, through app.py."""

import importlib.util
import threading
from pathlib import Path

import pytest

from xmlcore import experiment

_spec = importlib.util.spec_from_file_location("pages_conftest", Path(__file__).with_name("conftest.py"))
_conftest = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_conftest)
small_data, xmlc = _conftest.small_data, _conftest.xmlc


def trained(session):
    session.go("train")
    session.press("train.PLT.submit")
    return session.until(lambda s: "Training" in s.metrics())


def upload(session, train, **others):
    """Fill the upload form and press its button; values are bytes."""
    if not hasattr(session.at, "file_uploader"):
        pytest.skip("this Streamlit's AppTest has no file_uploader")
    kinds = {"test": "test", "label_names": "labels", "feature_names": "features"}
    at = session.at
    round_ = at.session_state["upload.round"]
    at.file_uploader(key=f"upload.train.{round_}").set_value(("mine.txt", train, "text/plain"))
    for name, content in others.items():
        at.file_uploader(key=f"upload.{kinds[name]}.{round_}").set_value((f"{name}.txt", content, "text/plain"))
    session.run()
    return session.press("upload.read")


def test_first_visit_prepares_a_data_set_and_shows_what_is_in_it(session):
    page = session().until(lambda s: "Labels per row" in s.metrics())
    assert "**api-docs**: 80 rows, 16 features, 8 labels" in page.text()
    assert page.metrics()["Training rows"] == "60"
    assert page.metrics()["Test rows"] == "20"
    assert "60 training and 20 test rows, 16 features, 8 labels" in page.text(page.at.sidebar)


def test_figures_rows_and_labels_are_shown_with_names(ready):
    assert "topic *0*" in set(ready.frame("n_train", "inverse_propensity")["name"])
    rows = ready.frame("row", "labels")
    assert len(rows) == 60
    assert rows["labels"].str.contains("topic").all()
    assert ready.frame("feature", "value")["feature"].str.startswith("word").all()
    assert {"Figure, HTML", "Data, CSV", "All labels, CSV"} <= ready.downloads()


def test_search_finds_rows_and_labels_and_says_when_nothing_matches(ready):
    ready.at.text_input(key="rows.query").set_value("TOPIC *3*")
    ready.at.text_input(key="labels.query").set_value("topic *3*")
    ready.run()
    assert ready.frame("row", "labels")["labels"].str.contains("*3*", regex=False).all()
    assert ready.frame("n_train", "inverse_propensity")["name"].tolist() == ["topic *3*"]
    ready.at.text_input(key="rows.query").set_value("no such thing")
    ready.run()
    assert "No training row has" in ready.text()


def test_random_row_changes_the_row_looked_at(ready):
    button = next(b for b in ready.at.button if b.label == "Random row")
    seen = set()
    for _ in range(6):
        button = next(b for b in ready.at.button if b.label == "Random row")
        button.click()
        ready.run()
        seen.add(next(m.value for m in ready.at.markdown if m.value.startswith("**Training row")))
    assert len(seen) > 1


def test_upload_is_read_split_and_used(ready):
    data = small_data("other", seed=1)
    page = upload(
        ready,
        xmlc(data),
        label_names="\n".join(f"subject {j}" for j in range(8)).encode(),
        feature_names="\n".join(f"term {j}" for j in range(16)).encode(),
    )
    assert page.metrics()["Training rows"] == "48"
    assert page.metrics()["Test rows"] == "12"
    assert "**mine**" in page.text()
    assert "subject 0" in set(page.frame("n_train", "inverse_propensity")["name"])
    assert page.at.session_state["upload.round"] == 1  # empty widgets: the bytes are let go


def test_upload_with_a_test_file_keeps_both_parts_whole(ready):
    data = small_data("other", seed=1)
    page = upload(ready, xmlc(data), test=xmlc(data, "test"))
    assert page.metrics()["Training rows"] == "60"
    assert page.metrics()["Test rows"] == "20"
    assert "label 0" in set(page.frame("n_train", "inverse_propensity")["name"])


def test_uploads_are_not_seen_by_another_session(ready, session):
    upload(ready, xmlc(small_data("other", seed=1)))
    assert any("mine" in option for option in ready.at.selectbox(key="data.choice").options)
    stranger = session().until(lambda s: "Labels per row" in s.metrics())
    assert stranger.token != ready.token
    assert not any("mine" in option for option in stranger.at.selectbox(key="data.choice").options)
    assert stranger.metrics()["Training rows"] == "60"


def test_data_sets_are_chosen_back_and_forth(ready):
    upload(ready, xmlc(small_data("other", seed=1)))
    ready.at.selectbox(key="data.choice").set_value("catalog api-docs")
    ready.run()
    assert ready.metrics()["Training rows"] == "60"
    known = ready.at.session_state["workspace.snapshot"]["known"]
    mine = next(fingerprint for fingerprint, entry in known.items() if entry["name"] == "mine")
    ready.at.selectbox(key="data.choice").set_value(f"upload {mine}")
    ready.run()
    assert ready.metrics()["Training rows"] == "48"


def test_broken_file_is_refused_with_line_and_column_and_the_data_set_stays(ready):
    page = upload(ready, b"3 4 2\n0 0:1\n1 1:zwei\n0 2:1\n")
    said = page.at.error[0].value
    assert "line 3" in said and "column" in said
    assert page.metrics()["Training rows"] == "60"
    assert "api-docs" in page.text(page.at.sidebar)
    page = upload(page, xmlc(small_data("other", seed=1)))
    assert not page.at.error


def test_no_data_set_says_what_to_do(session, small_catalog):
    hold = threading.Event()

    def load(progress):
        while not hold.is_set():
            progress("Reading documentation", 0.25, "1 of 4 packages")
            hold.wait(0.05)
        return small_data("api-docs")

    small_catalog.load = load
    page = session().until(lambda s: "Reading documentation: 25 %" in s.text(s.at.main))
    assert "is being made ready" in page.text()
    stop = next(b for b in page.at.button if b.label == "Stop" and "main" in b.key)
    stop.click()
    page.run().until(lambda s: "No data set is in use" in s.text())
    assert page.run().at.selectbox(key="data.choice").value is None  # it does not start again by itself
    page.go("train")
    assert "no data set in use" in page.text()
    hold.set()


def test_failed_preparation_shows_the_reason_and_can_be_tried_again(session, small_catalog):
    def load(progress):
        raise OSError("the disk is full")

    works, small_catalog.load = small_catalog.load, load
    page = session().until(lambda s: s.at.error)
    assert "the disk is full" in page.at.error[0].value
    assert any("the disk is full" in code.value for code in page.at.code)  # the traceback, on demand
    small_catalog.load = works
    next(b for b in page.at.button if b.label == "Try again").click()
    page.run().until(lambda s: "Labels per row" in s.metrics())


def test_training_shows_measures_times_and_predictions(ready):
    page = trained(ready)
    table = next(m.value for m in page.at.markdown if "| **P@k** |" in m.value)
    assert "| **nDCG@k** |" in table and "| **PSP@k** |" in table and "k = 1 | k = 3 | k = 5" in table
    p_at_1 = float(table.split("| **P@k** | ")[1].split(" |")[0])
    assert p_at_1 > 80  # these labels are easy
    assert f"**{p_at_1:.2f} %** of the 20 test rows" in page.text()
    predicted = page.frame("rank", "name", "correct")
    assert predicted["rank"].tolist() == [1, 2, 3, 4, 5]
    assert set(predicted["correct"]) <= {"✓ right", "✗ wrong"}
    assert "All predictions, CSV" in page.downloads()


@pytest.mark.parametrize("model", [name for name in experiment.MODELS if name != "PLT"])
def test_every_model_is_trained_and_its_result_shown(ready, model):
    ready.go("train").at.selectbox(key="train.model").select(model)
    page = ready.run().press(f"train.{model}.submit").until(lambda s: "puts a right label first" in s.text())
    assert ("Tree nodes" in page.metrics()) == (model == "LdSM")
    assert "Training" in page.metrics() and "Model" in page.metrics()


def test_single_predictions_follow_the_chosen_row(ready):
    page = trained(ready)
    page.at.number_input(key="train.row").set_value(7)
    page.run()
    assert "**Test row 7**" in page.text()
    next(b for b in page.at.button if b.label == "Random row").click()
    page.run()
    assert any(m.value.startswith("**Test row") for m in page.at.markdown)


def test_result_and_settings_survive_page_switches_and_a_reload(ready, session):
    ready.go("train")
    ready.at.number_input(key="form.PLT.max_leaf_labels").set_value(3)
    ready.press("train.PLT.submit")
    page = ready.until(lambda s: "Training" in s.metrics())
    sentence = next(line for line in page.text().splitlines() if "puts a right label first" in line)
    page.go("data").go("train")
    assert sentence in page.text()
    again = session(page.token).go("train")  # a new session at the same address
    assert sentence in again.text()
    assert again.at.number_input(key="form.PLT.max_leaf_labels").value == 3


def test_same_settings_are_answered_from_the_cache(ready, server):
    page = trained(ready)
    before = len(server.jobs())
    page.press("train.PLT.submit")
    assert "From the cache" in page.text()
    assert len(server.jobs()) == before


def test_earlier_results_are_listed_and_reopened(ready):
    page = trained(ready)
    page.at.number_input(key="form.PLT.n_estimators").set_value(2)
    page.press("train.PLT.submit").until(lambda s: "with Trees: 2" in s.text())
    runs = page.frame("settings", "P@1")
    assert runs["settings"].tolist() == ["Trees: 2", "default settings"]
    older = page.at.session_state["workspace.snapshot"]["runs"][0]["key"]
    page.at.selectbox(key="train.shown").set_value(older)
    page.run()
    assert page.frame("settings", "shown")["shown"].tolist() == ["", "shown"]


def test_failed_training_shows_reason_and_traceback_and_is_dismissed(ready):
    from xmlcore import store

    ready.go("train")
    for entry in store.entries("datasets"):
        store.delete("datasets", entry["key"])
    page = ready.press("train.PLT.submit").until(lambda s: s.at.error)
    assert "Training PLT on api-docs failed" in page.text()
    assert "make it first" in page.text()
    assert any("Traceback" in code.value or "File" in code.value for code in page.at.code)
    next(b for b in page.at.button if b.label == "Dismiss").click()
    assert not page.run().at.error


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
        "",
        "{",
        "[]",
        '{"version": 99}',
        '{"version": 1, "runs": 3, "known": [], "dataset": 5, "jobs": [{}, 7, {"id": 1, "kind": []}]}',
    ],
)
def test_damaged_workspace_file_is_an_empty_workspace(ready, session, content):
    from pages.shared import workspace

    workspace._path(ready.token).write_text(content)
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
    assert "Labels under a last node: 2" in one.text()
    assert "Labels under a last node: 4" in two.text()


@pytest.fixture
def slow_training(monkeypatch):
    """Trainings go on until the event is set."""
    from xmlcore import experiment

    go_on, real = threading.Event(), experiment.train.run_and_model

    def run(dataset, model, params, k, progress):
        while not go_on.is_set():
            progress("Training trees", 0.5)
            go_on.wait(0.05)
        return real(dataset, model, params, k, progress)

    monkeypatch.setattr(experiment.train, "run_and_model", run)
    yield go_on
    go_on.set()


def stop_buttons(page):
    return [b for b in page.at.button if b.label == "Stop" and "main" in b.key]


def test_what_is_typed_and_not_trained_survives_a_page_switch_and_a_reload(ready, session):
    ready.go("train")
    ready.at.number_input(key="form.PLT.max_leaf_labels").set_value(7)
    ready.at.selectbox(key="form.PLT.loss").set_value("squared_hinge")
    ready.run().go("data").go("train")
    for page in (ready, session(ready.token).go("train")):
        assert page.at.number_input(key="form.PLT.max_leaf_labels").value == 7
        assert page.at.selectbox(key="form.PLT.loss").value == "squared_hinge"


@pytest.mark.parametrize("value", [0, 101])
def test_settings_that_are_not_allowed_are_named_and_nothing_starts(ready, server, value):
    ready.go("train")
    before = len(server.jobs())
    ready.at.number_input(key="form.PLT.n_estimators").set_value(value)
    ready.press("train.PLT.submit")
    assert len(server.jobs()) == before
    said = ready.at.error[0].value.replace("\\", "")
    assert "The training was not started" in said and "Trees" in said and "1 to 100" in said
    ready.at.number_input(key="form.PLT.n_estimators").set_value(1)
    assert not ready.run().at.error


def test_another_shape_of_tree_is_trained_named_and_warned_of(ready):
    ready.go("train")
    ready.at.selectbox(key="form.PLT.tree").set_value("huffman")
    ready.at.number_input(key="form.PLT.collapse_layers").set_value(31)
    ready.press("train.PLT.submit")
    assert "Collapsed layers: 31 is not allowed (allowed: 0 to 30)" in ready.at.error[0].value.replace("\\", "")
    ready.at.number_input(key="form.PLT.collapse_layers").set_value(1)
    ready.at.number_input(key="form.PLT.n_estimators").set_value(2)
    page = ready.press("train.PLT.submit").until(lambda s: "Training" in s.metrics())
    assert "Trees: 2, How labels are grouped: huffman, Collapsed layers: 1" in page.text()
    assert "trees of one shape" in page.text()


def test_settings_that_are_trained_already_are_said_to_be(ready):
    page = trained(ready)
    assert "this is the result shown" in page.text()
    page.at.number_input(key="form.PLT.n_estimators").set_value(2)
    assert "Trained already" not in page.run().text()
    page.press("train.PLT.submit").until(lambda s: "with Trees: 2" in s.text())
    page.at.number_input(key="form.PLT.n_estimators").set_value(1)
    assert "Trained already: opens at once" in page.run().text()


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


def test_deleted_cache_is_said_once_and_a_running_training_is_still_there(ready, slow_training):
    from pages.shared import workspace

    ready.go("train")
    ready.at.number_input(key="form.PLT.n_estimators").set_value(3)
    ready.press("train.PLT.submit").until(lambda s: "Training trees: 50 %" in s.text(s.at.main))
    token = ready.token
    workspace._path(token).unlink()
    ready.run()
    assert workspace.NOT_FOUND in ready.text()
    assert ready.token == token
    assert "Training PLT on api-docs (Trees: 3)" in ready.text(ready.at.sidebar)
    assert workspace.NOT_FOUND not in ready.run().text()
    slow_training.set()
    ready.until(lambda s: "Training" in s.metrics())


def test_unknown_address_is_said_to_be_unknown_once(session):
    from pages.shared import workspace

    page = session("0" * 32)
    assert workspace.NOT_FOUND in page.text()
    assert workspace.NOT_FOUND not in page.run().text()
    assert workspace.NOT_FOUND not in session().text()


def test_data_without_labelled_training_rows_cannot_be_trained_on(ready):
    from xmlcore.datasets import Dataset

    data = small_data()
    empty = Dataset("none", data.X_train, 0 * data.Y_train.toarray(), data.X_test, data.Y_test)
    use(ready, empty)
    ready.go("train")
    assert ready.at.button(key="train.PLT.submit").disabled
    assert "No training row has a label" in ready.text()


def test_one_test_row_is_not_called_rows(ready):
    from xmlcore.datasets import Dataset

    data = small_data()
    use(ready, Dataset("one", data.X_train, data.Y_train, data.X_test[:1], data.Y_test[:1]))
    assert "of the 1 test row (P@1)" in trained(ready).text()


def use(session, data):
    """Put a data set into a session's workspace."""
    import json

    from pages.shared import workspace
    from xmlcore import datasets

    fingerprint = datasets.save_dataset(data)
    path = workspace._path(session.token)
    workspace = json.loads(path.read_text())
    workspace["known"][fingerprint] = {"name": data.name, "source": "upload", "notes": []}
    path.write_text(json.dumps({**workspace, "dataset": fingerprint}))
    session.run()


def test_the_empty_beam_field_says_that_the_search_is_exact(ready):
    ready.go("train")
    assert ready.at.number_input(key="form.PLT.beam").placeholder == "exact"
    assert ready.at.number_input(key="form.PLT.C").placeholder == "a number is needed"
