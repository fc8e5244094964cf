"""The Train page, opened and used through app.py."""

import pytest

from tests.pages.making import train, use, workspace_row
from tests.pages.small import small_data
from xmlcore import LdSM, datasets, experiment


def trained(session):
    session.go("train")
    session.press("train.PLT.submit")
    return session.until(lambda s: "Training" in s.metrics())


@pytest.mark.usefixtures("all_sections_open")
def test_training_shows_measures_times_and_predictions_of_the_chosen_row_and_is_answered_from_the_cache(ready, server):
    page = trained(ready)
    table = next(m.value for m in page.at.markdown if "| **P@k** |" in m.value)
    assert "| **nDCG@k** |" in table and "| **PSP@k** |" in table and "k = 1 | k = 3 | k = 5" in table
    p_at_1 = float(table.split("| **P@k** | ")[1].split()[0])
    assert p_at_1 > 80  # these labels are easy
    assert f"**{p_at_1:.2f} %** of the 20 test rows" in page.text()
    predicted = page.frame("rank", "name", "correct")
    assert predicted["rank"].tolist() == [1, 2, 3, 4, 5]
    assert set(predicted["correct"]) <= {"✓ right", "✗ wrong"}
    assert "All predictions, CSV" in page.downloads()
    assert "Bundle, zip" in page.downloads() and any("model = PLT(" in code.value for code in page.at.code)
    page.set("train.row", 7)
    assert "**Test row 7**" in page.text()
    page.click("Random row")
    assert any(m.value.startswith("**Test row") for m in page.at.markdown)
    assert "it is the result shown" in page.text()
    before = len(server.jobs())
    page.press("train.PLT.submit")
    assert "From the cache" in page.text() and len(server.jobs()) == before
    assert "Trained already" not in page.set("form.PLT.n_estimators", 2).text()
    page.press("train.PLT.submit").until(lambda s: "with Trees: 2" in s.text())
    assert "Trained already" in page.set("form.PLT.n_estimators", 1).text()
    runs = page.frame("settings", "P@1")
    assert runs["settings"].tolist() == ["Trees 2", "default settings"]
    older = page.at.session_state["workspace.snapshot"]["runs"][0]["key"]
    page.set("train.shown", older)
    assert page.frame("settings", "shown")["shown"].tolist() == ["", "shown"]


@pytest.mark.parametrize("model", [name for name in experiment.MODELS if name != "PLT"])
def test_every_model_is_trained_and_its_result_shown(ready, model):
    ready.go("train").at.selectbox(key="train.model").select(model)
    page = ready.run().press(f"train.{model}.submit").until(lambda s: "ranks a true label first" in s.text())
    assert ("Tree nodes" in page.metrics()) == (model == "LdSM")
    assert "Training" in page.metrics() and "Model in memory" in page.metrics()


def test_result_and_settings_typed_survive_page_switches_and_a_reload(ready, session):
    ready.go("train")
    ready.at.number_input(key="form.PLT.max_leaf_labels").set_value(3)
    ready.press("train.PLT.submit")
    page = ready.until(lambda s: "Training" in s.metrics())
    sentence = next(line for line in page.text().splitlines() if "ranks a true label first" in line)
    page.go("data").go("train")
    assert sentence in page.text()
    again = session(page.token).go("train")  # a new session at the same address
    assert sentence in again.text()
    assert again.at.number_input(key="form.PLT.max_leaf_labels").value == 3
    ready.at.number_input(key="form.PLT.max_leaf_labels").set_value(7)
    ready.set("form.PLT.loss", "squared_hinge").go("data").go("train")
    for page in (ready, session(ready.token).go("train")):
        assert page.at.number_input(key="form.PLT.max_leaf_labels").value == 7
        assert page.at.selectbox(key="form.PLT.loss").value == "squared_hinge"


def test_failed_training_shows_reason_and_traceback_and_is_dismissed(ready, monkeypatch):
    from xmlcore import datasets, store

    ready.go("train")
    monkeypatch.setattr(datasets, "save_dataset", lambda data: None)  # a page would save again what it has in memory
    for entry in store.entries("datasets"):
        store.delete("datasets", entry["key"])
    page = ready.press("train.PLT.submit").until(lambda s: s.at.error)
    assert "Training PLT on api-docs failed" in page.text()
    assert "make it first" in page.text()
    assert any("Traceback" in code.value or "File" in code.value for code in page.at.code)
    assert not page.click("Dismiss").at.error


@pytest.mark.parametrize("value", [0, 101])
def test_settings_that_are_not_allowed_start_nothing_and_empty_fields_say_what_they_mean(ready, server, value):
    ready.go("train")
    before = len(server.jobs())
    ready.at.number_input(key="form.PLT.n_estimators").set_value(value)
    ready.press("train.PLT.submit")
    assert len(server.jobs()) == before
    said = ready.at.error[0].value.replace("\\", "")
    assert "The training was not started" in said and "Trees" in said and "1 to 100" in said
    assert not ready.set("form.PLT.n_estimators", 1).at.error
    assert ready.at.number_input(key="form.PLT.beam").placeholder == "exact"
    assert ready.at.number_input(key="form.PLT.C").placeholder == "automatic"
    assert ready.at.number_input(key="form.PLT.tol").placeholder == "a number is needed"


def test_another_shape_of_tree_is_trained_named_and_warned_of(ready):
    ready.go("train")
    ready.at.selectbox(key="form.PLT.tree").set_value("huffman")
    ready.at.number_input(key="form.PLT.collapse_layers").set_value(31)
    ready.press("train.PLT.submit")
    assert "Collapsed layers: 31 is not allowed (allowed: 0 to 30)" in ready.at.error[0].value.replace("\\", "")
    ready.at.number_input(key="form.PLT.collapse_layers").set_value(1)
    ready.at.number_input(key="form.PLT.n_estimators").set_value(2)
    page = ready.press("train.PLT.submit").until(lambda s: "Training" in s.metrics())
    assert "Trees: 2, How labels are grouped: by frequency (Huffman), Collapsed layers: 1" in page.text()
    assert "trees of one shape" in page.text()


def test_data_that_cannot_be_trained_on_says_so_and_one_test_row_is_not_called_rows(ready):
    data = small_data()
    empty = datasets.Dataset("none", data.X_train, 0 * data.Y_train.toarray(), data.X_test, data.Y_test)
    use(ready, empty)
    ready.go("train")
    assert ready.at.button(key="train.PLT.submit").disabled
    assert "No training row has a label" in ready.text()
    data = small_data()
    use(ready, datasets.Dataset("one", data.X_train, data.Y_train, data.X_test[:1], data.Y_test[:1]))
    assert "of the 1 test row (P@1)" in trained(ready).text()
    data = small_data("signed")
    signed = datasets.Dataset("signed", -data.X_train, data.Y_train, data.X_test, data.Y_test)
    train(ready, "PLT", data=signed)
    ready.go("train").at.selectbox(key="train.model").select("DoubleSampling")
    page = ready.run()
    said = [error.value for error in page.at.error]
    assert len(said) == 1 and "negative values" in said[0] and "“Negative values in training” = taken as 0" in said[0]
    page.press("train.DoubleSampling.submit")
    assert "**The training was not started.**" in page.at.error[0].value
    assert not page.set("train.model", "PLT").at.error


def test_published_settings_fill_the_fields_an_edit_makes_them_own_and_trained_ones_keep_their_name(ready, session):
    ready.go("train").at.selectbox(key="train.model").select("LdSM")
    ready.run()
    assert chosen(ready, "LdSM") == "Recommended"
    assert menu(ready, "LdSM").options == ["Paper's", "Authors' program"], "there are no own settings yet"
    ready.at.number_input(key="form.LdSM.random_state").set_value(5)
    choose(ready, "LdSM", "paper")
    assert field(ready, "LdSM", "Trees").value == 50 and field(ready, "LdSM", "Seed").value == 5
    assert "the supplement of Majzoubi" in ready.text() and "Differs from recommended in: Trees = 50" in ready.text()
    field(ready, "LdSM", "Trees").set_value(3)
    ready.run()
    assert chosen(ready, "LdSM") == "Own"
    assert "Trees = 3; Max nodes per tree = 2,000" in ready.text(), "the other fields stay the paper's"
    for page in (ready.go("data").go("train"), session(ready.token).go("train")):
        assert chosen(page, "LdSM") == "Own" and field(page, "LdSM", "Trees").value == 3
    choose(ready, "LdSM", "recommended")
    assert field(ready, "LdSM", "Trees").value == LdSM().n_estimators and "Differs from" not in ready.text()
    choose(ready, "LdSM", "own")
    assert field(ready, "LdSM", "Trees").value == 3, "own settings come back"
    ready.set("train.model", "PLT")
    choose(ready, "PLT", "parabel")
    assert field(ready, "PLT", "Beam").value == 10
    ready.press("train.PLT.submit")
    page = ready.until(lambda s: "with Trees: 3" in s.text() or "Trees: 3" in s.text())
    assert chosen(page, "PLT") == "As in Parabel (paper)"


def field(session, model, label):
    """The number field of a form with this label."""
    return next(f for f in session.at.number_input if f.label == label and f.key.startswith(f"form.{model}."))


def menu(session, model):
    """The menu of settings above the fields of a form."""
    return session.at.menu_button(key=f"form.{model}.settings")


def choose(session, model, settings):
    menu(session, model).set_value(settings)
    session.run()


def chosen(session, model):
    """The settings that the menu's button names."""
    return menu(session, model).label.removeprefix("Settings: ")


@pytest.mark.parametrize("name", ["noise_sigma", "n_estimators", "random_state"])
def test_a_stored_setting_that_is_no_number_is_named_and_no_page_fails(ready, name):
    train(ready)
    path = workspace_row(ready)
    stored = path.read()
    stored["runs"][0]["params"][name] = "many"
    path.write(stored)
    page = ready.go("train")
    assert "The stored settings of this result are damaged" in page.text() and "many is not a number" in page.text()
    assert "ranks a true label first" in page.text()
    for other in ("compare", "predict", "explain", "robustness", "storage"):
        assert not ready.go(other).at.exception, other
