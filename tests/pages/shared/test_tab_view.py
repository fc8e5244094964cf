"""Each tab of a workspace has its own view."""

import pytest
import streamlit as st

from pages.shared.workspaces import dataset_list, removed, result_list, workspace
from tests.pages.making import Row

OLD, NEW, NEWER, SELECTED = (8 * letter for letter in "abcd")  # keys of results


def tab(monkeypatch, token=None):
    """Open a tab and return its session's state; :func:`in_tab` works in it."""
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", {} if token is None else {workspace.QUERY: token})
    workspace.open_workspace()
    return st.session_state


@pytest.fixture
def tabs(monkeypatch):
    """Two tabs on a workspace with two data sets and a result on the first, and a function that goes to one."""
    one = tab(monkeypatch)
    dataset_list.add_dataset("f1", "one", "upload", use=True)
    dataset_list.add_dataset("f2", "two", "upload", use=False)
    result_list.add_result("train", run(OLD, asked=1.0))
    two = tab(monkeypatch, workspace.token())

    def go(which):
        """Begin a run of the script in a tab."""
        monkeypatch.setattr(st, "session_state", (one, two)[which - 1])
        workspace.open_workspace()

    go(1)
    return go


def run(key, asked):
    return {"key": key, "fingerprint": "f1", "model": key, "params": {}, "k": 5, "created": "", "asked": asked}


def test_a_tab_keeps_its_data_set_and_widgets_when_another_tab_chooses_others(tabs):
    workspace.update(dataset="f2")
    workspace.update(lambda data: data["widgets"].update({"train.model": "LdSM"}))
    tabs(2)
    assert workspace.get("dataset") == "f1" and workspace.get("widgets") == {}
    tabs(1)
    assert workspace.get("dataset") == "f2"


def test_a_new_tab_begins_with_what_was_chosen_last_in_any_tab(tabs, monkeypatch):
    workspace.update(dataset="f2")
    tabs(2)
    workspace.update(lambda data: data["widgets"].update({"train.model": "LdSM"}))
    tab(monkeypatch, workspace.token())
    assert (workspace.get("dataset"), workspace.get("widgets")) == ("f2", {"train.model": "LdSM"})


def test_data_sets_results_and_settings_are_those_of_the_workspace_in_every_tab(tabs):
    workspace.remember_setting("PLT", "C", 2.0)
    dataset_list.add_dataset("f3", "three", "upload", use=False)
    tabs(2)
    assert workspace.get("forms") == {"PLT": {"C": 2.0}} and "f3" in workspace.get("known")


def test_a_new_result_is_shown_in_every_tab_that_has_not_chosen_another_since_it_was_asked_for(tabs, monkeypatch):
    now = workspace.time.time()
    monkeypatch.setattr(workspace.time, "time", lambda: now + 10)
    result_list.add_result("train", run(NEW, asked=now + 5))
    assert workspace.get("shown") == {"f1": NEW}
    tabs(2)
    assert workspace.get("shown") == {"f1": NEW}
    workspace.update(lambda data: data["shown"].update(f1=OLD))
    tabs(1)
    assert workspace.get("shown") == {"f1": NEW}
    result_list.add_result("train", run(NEWER, asked=now + 8))
    tabs(2)
    assert workspace.get("shown") == {"f1": OLD}, "it chose after this was asked for"


def test_a_selection_that_is_new_is_shown_in_every_tab(tabs):
    record = {"key": SELECTED, "fingerprint": "f1", "method": "FALS", "params": {}, "created": ""}
    result_list.add_result("select", record | {"asked": workspace.time.time() + 5})
    tabs(2)
    assert workspace.get("widgets")[f"{workspace.FEATURES_SELECTION} f1"] == SELECTED


def test_a_data_set_that_becomes_ready_is_used_in_every_tab(tabs):
    tabs(2)
    dataset_list.add_dataset("f2", "two", "upload", use=True)
    tabs(1)
    assert workspace.get("dataset") == "f2"


def test_what_another_tab_removes_is_no_longer_looked_at(tabs):
    tabs(2)
    workspace.update(dataset="f2")
    tabs(1)
    assert workspace.get("dataset") == "f1" and workspace.get("shown") == {"f1": OLD}
    tabs(2)
    removed.remove("train", [OLD], "old")
    tabs(1)
    assert workspace.get("shown") == {}
    tabs(2)
    removed.remove("datasets", ["f1"], "one")
    tabs(1)
    assert workspace.get("dataset") == "f2"
    removed.remove("datasets", ["f2"], "two")
    tabs(2)
    assert workspace.get("dataset") is None


def test_a_session_that_only_looks_does_not_go_on_with_a_data_set_that_was_removed(tabs, monkeypatch):
    owner, look = workspace.token(), workspace.look_token()
    tab(monkeypatch, look)
    workspace.update(dataset="f2")
    looks = st.session_state
    tab(monkeypatch, owner)
    removed.remove("datasets", ["f2"], "two")
    monkeypatch.setattr(st, "session_state", looks)
    workspace.open_workspace()
    assert workspace.get("dataset") == "f1"


def test_a_data_set_put_in_use_again_stays_in_use_where_it_is_looked_at(tabs):
    tabs(2)
    workspace.update(dataset="f2")
    tabs(1)
    dataset_list.add_dataset("f1", "one", "upload", use=True)  # as when it is uploaded or made once more
    tabs(1)
    assert workspace.get("dataset") == "f1"
    tabs(2)
    assert workspace.get("dataset") == "f1"


def test_the_data_set_in_use_stays_when_the_workspace_is_begun_anew_and_finds_it_again(tabs):
    Row(workspace.token()).remove()
    workspace.open_workspace()
    dataset_list.add_dataset("f1", "one", "catalog", use=True)
    for _ in range(2):
        workspace.open_workspace()
        assert workspace.get("dataset") == "f1"
