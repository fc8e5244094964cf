"""The Train page, opened and used through app.py."""

import re

import pytest

from tests.pages.making import fields_of, train, trained, use
from tests.pages.small import small_data
from xmlcore import LdSM, datasets, experiment, store


@pytest.mark.sections("Single predictions", "About this result")
def test_training_shows_measures_and_predictions(ready, server):
    page = trained(ready)
    assert page.metrics().keys() >= {"P@1", "P@5", "PSP@5", "macro F1@5", "Training", "Model in memory"}
    p_at_1 = float(page.metrics()["P@1"].split()[0])
    assert all(card.delta.startswith("95\u00a0%: ") for card in page.at.metric if card.label.startswith("P@"))
    about = {card.label: card.help for card in page.at.metric}
    assert [label for label, text in about.items() if "bootstrap" in text] == ["P@1"]
    assert "5 predicted labels" in about["P@5"] and not any(re.search(r"\bk\b", text) for text in about.values())
    assert "By the clock" in about["Prediction"], "other work makes it longer, as no processor time is"
    assert page.at.button(key="train.PLT.submit").proto.type == "secondary", "nothing is to be trained"
    assert p_at_1 > 80 and f"**{p_at_1:.1f} %** of the 20 test rows" in page.text()
    predicted = page.frame("rank", "name", "correct")
    assert predicted["rank"].tolist() == [1, 2, 3, 4, 5]
    assert set(predicted["correct"]) <= {"✓ right", "wrong"}
    assert {"All predictions, CSV", "Bundle, zip"} <= page.downloads()
    assert any("model = PLT(" in code.value for code in page.at.code)
    assert "**Test row 7**" in page.set("train.row", 7).text()
    assert "Explain this row" in [link.proto.label for link in page.at.get("page_link")]
    assert "**Test row" in page.click("Random row").text()
    before = len(server.jobs())
    assert "Done already: this is" in page.press("train.PLT.submit").text() and len(server.jobs()) == before
    assert "Done already: the" not in page.set("form.PLT.n_estimators", 2).text()
    assert page.at.button(key="train.PLT.submit").proto.type == "primary"
    page.press("train.PLT.submit").until(lambda s: "with Trees: 2" in s.text())
    assert "Done already: the" in page.set("form.PLT.n_estimators", 1).text()
    assert page.at.button(key="train.PLT.submit").label == "Show the result"
    assert page.press("train.PLT.submit").at.button(key="train.PLT.submit").label == "Train"


def test_the_model_to_train_is_chosen_or_of_the_result(ready):
    for damaged in (7, [], ["LdSM"], "no model"):
        with fields_of(ready) as fields:
            fields["widgets"]["train.model"] = damaged
        assert ready.go("train").at.selectbox(key="train.model").value == "PLT"
    train(ready, "LdSM")
    assert ready.run().at.selectbox(key="train.model").value == "LdSM"
    assert (
        ready.set("train.model", "OneVsRest").go("data").go("train").at.selectbox(key="train.model").value
        == "OneVsRest"
    )


@pytest.mark.sections("all")
@pytest.mark.parametrize("model", [name for name in experiment.MODELS if name != "PLT"])
def test_every_model_is_trained_and_its_result_shown(ready, model):
    ready.go("train").at.selectbox(key="train.model").select(model)
    page = ready.run().press(f"train.{model}.submit").until(lambda s: "ranks a true label first" in s.text())
    assert ("Tree nodes" in page.metrics()) == (model == "LdSM")
    assert "Training" in page.metrics() and "Model in memory" in page.metrics()


def test_result_and_settings_survive_a_reload(ready, session):
    ready.go("train").at.number_input(key="form.PLT.max_leaf_labels").set_value(3)
    ready.press("train.PLT.submit").until(lambda s: "Training" in s.metrics())
    sentence = next(line for line in ready.text().splitlines() if "ranks a true label first" in line)
    ready.at.number_input(key="form.PLT.max_leaf_labels").set_value(7)
    ready.set("form.PLT.loss", "squared_hinge").go("data").go("train")
    for page in (ready, session(ready.token).go("train")):
        assert sentence in page.text()
        assert page.at.number_input(key="form.PLT.max_leaf_labels").value == 7
        assert page.at.selectbox(key="form.PLT.loss").value == "squared_hinge"


def test_a_failed_training_shows_the_reason(ready, monkeypatch):
    ready.go("train")
    monkeypatch.setattr(datasets, "save_dataset", lambda *_, **how: None)  # a page would save what is in memory
    for entry in store.entries("datasets"):
        store.delete("datasets", entry["key"])
    page = ready.press("train.PLT.submit").until(lambda s: s.at.error)
    assert "PLT on api-docs failed" in page.text() and "it was deleted" in page.text()
    assert any("Traceback" in code.value or "File" in code.value for code in page.at.code)
    assert not page.click("Dismiss").at.error


def test_settings_that_are_not_allowed_start_nothing(ready, server):
    ready.go("train")
    before = len(server.jobs())
    ready.at.number_input(key="form.PLT.n_estimators").set_value(101)
    said = ready.press("train.PLT.submit").at.error[0].value.replace("\\", "")
    assert "The training was not started" in said and "Trees" in said and "1 to 100" in said
    assert len(server.jobs()) == before
    assert not ready.set("form.PLT.n_estimators", 1).at.error
    for name, meaning in (("beam", "exact"), ("C", "automatic"), ("tol", "a number is needed")):
        assert ready.at.number_input(key=f"form.PLT.{name}").placeholder == meaning


def test_data_that_cannot_be_trained_on_says_so(ready):
    data = small_data()
    use(ready, datasets.Dataset("none", data.X_train, 0 * data.Y_train.toarray(), data.X_test, data.Y_test))
    assert ready.go("train").at.button(key="train.PLT.submit").disabled
    assert "No training row has a label" in ready.text()
    train(ready, "PLT", data=datasets.Dataset("signed", -data.X_train, data.Y_train, data.X_test, data.Y_test))
    page = ready.go("train").set("train.model", "DoubleSampling")
    (said,) = [error.value for error in page.at.error]
    assert "negative values" in said and "= taken as 0" in said
    assert "The training was not started" in page.press("train.DoubleSampling.submit").at.error[0].value
    assert not page.set("train.model", "PLT").at.error


def test_published_settings_fill_the_fields(ready, session):
    assert chosen(ready.go("train").set("train.model", "LdSM"), "LdSM") == "Recommended"
    assert menu(ready, "LdSM").options == [one.title for one in LdSM.PRESETS.values()], "there are no own settings yet"
    ready.at.number_input(key="form.LdSM.random_state").set_value(5)
    choose(ready, "LdSM", "paper")
    assert field(ready, "LdSM", "Trees").value == 50 and field(ready, "LdSM", "Seed").value == 5
    assert "the supplement of Majzoubi" in ready.text() and "recommended in: Trees = 50" in ready.text()
    field(ready, "LdSM", "Trees").set_value(3)
    assert chosen(ready.run(), "LdSM") == "Own"
    assert "Max nodes per tree = 2,000" in ready.text(), "the other fields stay the paper's"
    for page in (ready.go("data").go("train"), session(ready.token).go("train")):
        assert chosen(page, "LdSM") == "Own" and field(page, "LdSM", "Trees").value == 3
    for settings, trees in (("recommended", LdSM().n_estimators), ("own", 3)):  # own settings come back
        choose(ready, "LdSM", settings)
        assert field(ready, "LdSM", "Trees").value == trees
    choose(ready.set("train.model", "PLT"), "PLT", "parabel")
    assert field(ready, "PLT", "Beam").value == 10
    page = ready.press("train.PLT.submit").until(lambda s: "Trees: 3" in s.text())
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
