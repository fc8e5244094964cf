"""Settings in words, which values are allowed, and those of forms."""

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.shared import fields, format, forms, settings
from pages.shared.fields import whole_number
from pages.shared.workspaces import workspace
from tests.pages.making import fields_of, train
from xmlcore import experiment


@pytest.fixture
def remembered(monkeypatch):
    """What the workspace remembers of the form, in a session that has drawn no widget."""
    typed = {}
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(workspace, "get", lambda name: {"forms": {"PLT": typed}}[name])
    return typed


def test_a_form_has_what_its_widgets_have_or_what_is_remembered(remembered):
    info = experiment.MODELS["PLT"]
    defaults = {parameter.name: parameter.default for parameter in info.parameters}
    assert forms.values("PLT", info) == defaults
    remembered["C"] = 3.0
    assert forms.values("PLT", info) == defaults | {"C": 3.0}
    st.session_state[forms.key("PLT", parameter("C"))] = None
    assert forms.values("PLT", info)["C"] in (None, "auto")
    assert forms.values("PLT", info, skip=("C",)).keys() == defaults.keys() - {"C"}


@pytest.mark.parametrize(("model", "message", "said"), [
    (
        "LdSM",
        "n_attempts=5 tries again, or make it smaller",
        "“Attempts at a split” = 5 tries again, or make it smaller",
    ),
    ("OneVsRest", "raise max_iter, or tol when so", "raise “Max epochs”, or “Tolerance” when so"),
    ("DoubleSampling", "adversaries='candidates'", "“Adversarial labels from” = other candidates"),
    ("FALS", "binary=True is for n_layers=2", "“A network for each label (FALSb)” = on is for “Layers” = 2"),
    ("PLT", "fewer threads (n_jobs), another loss of C's", "fewer threads (n_jobs), another loss of C's"),
    (None, "max_iter=20", "max_iter=20"),
])  # fmt: skip
def test_messages_call_parameters_as_the_form_does(model, message, said):
    assert settings.in_form(model, message) == said


def test_settings_are_told_where_they_differ():
    defaults = experiment.full_params("PLT")
    assert settings.changed("PLT", defaults) == ""
    assert settings.changed("PLT", {**defaults, "arity": 4, "n_estimators": 3}) == "Arity: 4, Trees: 3"
    for model, params, said in (
        ("OneVsRest", {"loss": "logistic", "C": 3.0}, "C 3"),
        ("OneVsRest", {"C": "auto"}, ""),
        ("OneVsRest", {"noise_sigma": 0.1, "C": 2.0}, "Noise in training σ 0.1, C 2"),
        ("of another version", {"trees": 1, "C": 0.5}, "trees 1, C 0.5"),
    ):
        assert settings.short_changed(model, params) == said
    assert format.sentence("It is late") == format.sentence("It is late.") == "It is late."
    assert settings.in_form("LdSM", "Is n_estimators=3 enough?") == "Is “Trees” = 3 enough?"


def parameter(name):
    return next(parameter for parameter in experiment.MODELS["PLT"].parameters if parameter.name == name)


@pytest.mark.parametrize("value", [0, -1, 101, None, 1e99])
def test_numbers_out_of_bounds_are_named_with_what_is_allowed(value):
    said = settings.problem(parameter("n_estimators"), value)
    assert said.startswith("Trees:") and "1 to 100" in said
    assert settings.problem(parameter("n_estimators"), 1) is None and settings.problem(parameter("beam"), None) is None


def test_remembered_numbers_fit_if_whole_and_within_bounds():
    fits = whole_number(1, 5)
    assert [value for value in (0, 1, 5, 6, True, 2.0, "2", None) if fits(value)] == [1, 5]


def test_equal_texts_of_choices_are_told_apart():
    texts = {1: "x", 2: "x (3)", 3: "x", 4: "y", "abcde": "y", 5: " "}
    told = {1: "x (1)", 2: "x (3)", 3: "x (3) (2)", 4: "y (4)", "abcde": "y [abcd]", 5: "(5)"}
    assert fields.told_apart(texts) == told

    def script(texts):
        from pages.shared import fields
        from pages.shared.workspaces import workspace

        fields.st.session_state.setdefault(workspace.SNAPSHOT, {"widgets": {}})
        fields.choice("One", texts, "one")
        fields.several("Several", texts, "several", [])

    page = AppTest.from_function(script, args=(texts,)).run()
    assert page.selectbox[0].options == page.multiselect[0].options == list(told.values())


@pytest.mark.parametrize("widget", ["select_slider", "selectbox"])
def test_a_choice_is_kept_when_its_options_change(widget):
    def script(widget):
        import streamlit as st

        from pages.shared import fields
        from pages.shared.workspaces import workspace

        st.session_state.setdefault(workspace.SNAPSHOT, {"widgets": {}})
        options = st.session_state.setdefault("options", [0.1, 0.4])
        st.text(fields.choice("Level", options, "level", options[-1], widget=widget))

    page = AppTest.from_function(script, args=(widget,)).run()
    assert page.text[0].value == "0.4"
    page.session_state["level"] = 0.1
    assert page.run().text[0].value == "0.1"
    page.session_state["options"] = [0.1, 0.2]
    assert not page.run().exception and page.text[0].value == "0.1"


@pytest.mark.parametrize(("name", "widget", "letters"), [
    ("predict", "predict.model", fields.QUARTER),
    ("train", "train.run", fields.QUARTER),
    ("explain", "explain.run", fields.FIFTH),
])  # fmt: skip
def test_long_names_of_results_are_cut_in_narrow_boxes(ready, name, widget, letters):
    first, _ = train(ready), train(ready, C=3.0)
    with fields_of(ready) as listed:
        for number, run in enumerate(listed["runs"], 1):
            run["name"] = f"PLT (Loss of the node classifiers automatic, C {number})"
    box = ready.go(name).at.selectbox(key=widget)
    assert sorted(option[-4:] for option in box.options) == ["C 1)", "C 2)"]
    assert all(option.startswith("PLT (") and "…" in option and len(option) == letters for option in box.options)
    assert ready.set(widget, first).at.selectbox(key=widget).value == first
    assert "PLT (Loss of the node classifiers automatic, C 1)" in ready.text(), "the page has the whole name"


def test_an_option_of_a_list_that_has_changed_since_is_not_taken(monkeypatch):
    state, taken, callbacks = {}, [], []
    monkeypatch.setattr(st, "session_state", state)
    monkeypatch.setattr(st, "selectbox", lambda *given, on_change, **settings: callbacks.append(on_change))
    fields.pick("Label", {1: "a", 2: "b"}, "key", 1, taken.append)
    for value in ("what Streamlit has of the option of another list", 2):
        state["key"] = value
        callbacks[0]()
    assert taken == [2]
