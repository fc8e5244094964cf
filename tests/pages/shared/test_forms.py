"""Values of forms for the parameters of a model."""

import pytest
import streamlit as st

from pages.shared import forms, presets
from pages.shared.workspaces import workspace
from xmlcore import experiment


@pytest.fixture
def remembered(monkeypatch):
    """What the workspace remembers of the form, in a session that has drawn no widget."""
    typed = {}
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(presets, "times_filled", lambda *names: 0)
    monkeypatch.setattr(workspace, "get", lambda name: {"forms": {"PLT": typed}}[name])
    return typed


def test_a_form_that_is_not_drawn_yet_has_its_remembered_values(remembered):
    info = experiment.MODELS["PLT"]
    defaults = {parameter.name: parameter.default for parameter in info.parameters}
    assert forms.values("PLT", info) == defaults
    remembered["C"] = 3.0
    assert forms.values("PLT", info) == defaults | {"C": 3.0}


def test_what_a_widget_has_counts_more_than_what_is_remembered_also_when_it_is_empty(remembered):
    info = experiment.MODELS["PLT"]
    remembered["C"] = 3.0
    parameter = next(one for one in info.parameters if one.name == "C")
    st.session_state[forms.key("PLT", parameter)] = None
    assert forms.values("PLT", info)["C"] in (None, "auto")
    assert forms.values("PLT", info, skip=("C",)).keys() == {p.name for p in info.parameters} - {"C"}
