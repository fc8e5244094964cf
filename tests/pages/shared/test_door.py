"""The door: each state in which a page has less to draw than it was made for, once."""

import types

import pytest

from pages.shared import cached, door
from tests.pages.making import damage, figure, predictions, select, train, use, word_data
from tests.pages.test_damaged import CHANGES, later
from xmlcore import DoubleSampling, store
from xmlcore.datasets import Dataset

pytestmark = pytest.mark.sections()
NEEDS_DATA = ("train", "compare", "predict", "explain", "robustness", "trees", "features", "sampling")
FEW = {"n_epochs": 3, "n_features": 4}
# A page for each way to find what is shown: what it shows, and where that is kept.
SHOWN = {
    "train": (train, "runs", lambda s: "Training" in s.metrics()),  # a result
    "trees": (train, "runs", lambda s: "Inner nodes" in s.metrics()),  # a model
    "robustness": (train, "runs", lambda s: s.at.multiselect),  # several models
    "features": (lambda s: select(s, **FEW), "selections", lambda s: figure(s, "Features of topic")),  # a selection
}
BUTTONS = {"trees": ("trees.train", SHOWN["trees"][2]), "features": ("features.begin", SHOWN["features"][2])}


def silent_data():
    data = word_data()
    return Dataset("few", data.X_train, data.Y_train, data.X_test, 0 * data.Y_test)


def test_without_a_data_set_each_page_leads_to_the_data_page(session, small_catalog):
    def no_room(progress):
        raise OSError("the disk is full")

    small_catalog.load = no_room
    page = session().until(lambda s: s.at.error)
    for name in NEEDS_DATA:
        assert "There is no data set in use" in page.go(name).text(), name


@pytest.mark.parametrize("name", BUTTONS)
def test_without_a_result_a_button_makes_one(ready, name):
    key, is_shown = BUTTONS[name]
    page = ready.go(name)
    assert not is_shown(page)
    page.press(key).until(is_shown, seconds=300)


def test_while_the_first_model_is_trained_its_progress_is_shown(ready, held):
    page = ready.go("explain").press("explain.train")
    assert page.at.button(key="explain.train").disabled and page.at.get("progress")
    held()
    page.until(lambda s: figure(s, "Contributions to"))


def test_a_failed_training_says_why(ready, monkeypatch):
    monkeypatch.setattr(DoubleSampling, "fit", lambda *args, **settings: 1 / 0)
    page = ready.go("sampling").press("sampling.train").until(lambda s: s.at.error)
    assert "division by zero" in page.at.error[0].value
    page.until(lambda s: not s.at.button(key="sampling.train").disabled)  # it failed while the page was drawn


def test_a_model_that_refuses_the_data_set_is_not_offered(ready):
    data = word_data()
    use(ready, Dataset("negative", -data.X_train, data.Y_train, -data.X_test, data.Y_test))
    page = ready.go("sampling")
    assert page.at.button(key="sampling.train").disabled and "negative values" in page.text()


@pytest.mark.parametrize("name", SHOWN)
def test_a_damaged_result_is_made_again(ready, name):
    make, folder, is_shown = SHOWN[name]
    key = make(ready)
    damage(folder, key)
    assert "It is being made again" in ready.go(name).text()
    ready.until(lambda s: store.exists(folder, key) and is_shown(s))
    store.check(folder, key)


def test_a_damaged_result_says_how_to_go_on_after_a_stop(ready):
    key = train(ready)
    arrays = store.folder("runs", key) / "model" / "arrays.npz"
    arrays.write_bytes(arrays.read_bytes()[:100])
    cached.forget()
    ready.at.session_state["tasks.started"] = {("again", key)}  # it was started in this session, and stopped
    assert "Reload the page to make it" in ready.go("explain").text()


@pytest.mark.parametrize("change", CHANGES)
def test_a_result_of_another_version_is_left_out(ready, change):
    train(ready)
    later(ready, "runs", train(ready, random_state=2), change)
    for name in ("train", "explain", "predict", "robustness", "compare", "storage", "data"):
        assert not ready.go(name).at.error, name
    assert not [box for box in ready.go("train").at.selectbox if box.key == "train.run"]
    assert len(ready.go("robustness").at.multiselect(key="robustness.runs").options) == 1
    assert len(ready.go("compare").frame("run", "P@1")) == 1
    assert "2 trained models" in ready.go("storage").text()


@pytest.mark.parametrize("beside", [False, True])
def test_predictions_without_a_model_are_left_out_and_named(ready, beside):
    if beside:
        train(ready)
    predictions(ready)
    for name in ("explain", "predict", "robustness"):
        said = ready.go(name).text()
        assert "and no model: **other**" in said, name
        assert ("No model has been trained" in said) != beside, name


def test_without_a_label_in_the_test_rows_no_measure_is_shown(ready, server):
    for model in ("PLT", "DoubleSampling"):
        train(ready, model, silent_data())
    for name in ("train", "compare", "sampling", "robustness"):
        page = ready.go(name).until(lambda s: not any(job.active for job in server.jobs())).run()
        assert "row of **few** has a label" in page.text(), name
        assert {*page.metrics()} <= {"Training", "Prediction", "Model in memory"}, name


def test_the_result_chosen_on_one_page_is_shown_on_train(ready):
    older, newer = train(ready, "DoubleSampling"), train(ready, "DoubleSampling", random_state=2)
    assert ready.go("sampling").at.selectbox(key="sampling.run").value == newer
    assert ready.set("sampling.run", older).go("train").at.selectbox(key="train.run").value == older


def test_ready_has_the_facts_of_the_result_shown():
    data = word_data()
    run = types.SimpleNamespace(model="PLT")
    ready = door.Ready("my data", data.fingerprint, data, [], {"0123456789": "PLT"}, {"key": "0123456789"}, run)
    assert (ready.key, ready.title, ready.files) == ("0123456789", "PLT", "my-data-PLT-012345")
    assert ready.labelled and not door.Ready(data=silent_data()).labelled
