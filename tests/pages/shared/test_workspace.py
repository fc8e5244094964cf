"""What a workspace remembers."""

import contextlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import streamlit as st

from pages.shared.workspaces import dataset_list, removed, result_list, stored, workspace
from tests.pages.making import Row
from xmlcore.datasets import Dataset
from xmlcore.state import Database
from xmlcore.system import cache_root

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def data():
    X = [[0, 2.0, -3.0, 1.0], [1.0, 0, 0, 0], [0, 0, 0, 0]]
    Y = np.array([[1, 0, 1], [0, 0, 1], [0, 0, 0]])
    return Dataset(
        "tiny", X, Y, X, Y, feature_names=["ant", "bee", "cat", "bear"], label_names=["North", "East", "South"]
    )


@pytest.fixture
def token(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", {})
    workspace.open_workspace()
    st.query_params["workspace"] = workspace.address()  # a hidden field of the page does that
    return workspace.token()


def test_workspace_is_kept_on_disk_and_found_by_its_address(token, monkeypatch):
    workspace.update(dataset="abc", wanted=None)
    monkeypatch.setattr(st, "session_state", {})
    workspace.open_workspace()
    assert workspace.token() == token
    assert workspace.get("dataset") == "abc"


def test_two_tabs_of_a_workspace_do_not_undo_each_other(token, monkeypatch):
    first = st.session_state
    second = {}
    monkeypatch.setattr(st, "session_state", second)
    workspace.open_workspace()
    dataset_list.add_dataset("f1", "one", "upload", use=False)
    monkeypatch.setattr(st, "session_state", first)
    dataset_list.add_dataset("f2", "two", "upload", use=True)
    assert set(workspace.get("known")) == {"f1", "f2"}


def test_who_only_looks_is_refused_what_a_disabled_button_would_do(token, monkeypatch):
    dataset_list.add_dataset("f1", "one", "upload", use=True)
    look = workspace.look_token()
    before = Row(token).read()
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", {"workspace": look})
    workspace.open_workspace()
    for act in (
        lambda: dataset_list.add_dataset("f2", "two", "upload", use=True),
        lambda: result_list.change_runs(["a"], lambda record: record.update(name="mine")),
        lambda: removed.remove("train", ["a"], "one"),
    ):
        act()
        assert workspace.take_notices() == [workspace.LOOK_ONLY]
    assert Row(token).read() == before


def test_kept_widget_values_come_back_and_unfit_ones_do_not(token, monkeypatch):
    made = workspace.keep("w", 1)
    assert made["value"] == 1
    st.session_state["w"] = 7  # as the widget does
    made["on_change"](*made["args"])
    assert workspace.keep("w", 1)["value"] == 1  # what a living widget was made with does not change
    monkeypatch.setattr(st, "session_state", {})
    workspace.open_workspace()
    assert workspace.keep("w", 1)["value"] == 7
    assert workspace.keep("w", 1, options=(7, 1))["index"] == 0
    st.session_state["w"] = 7
    assert workspace.keep("w", 1, lambda v: v < 5)["value"] == 1
    assert "w" not in st.session_state


def test_a_value_that_a_widget_reports_twice_is_written_once(token, monkeypatch):
    written = []
    monkeypatch.setattr(stored, "write", lambda *given: written.append(given))
    made = workspace.keep("w", 1)
    for value in (7, 7, None, None, 7):
        st.session_state["w"] = value
        made["on_change"](*made["args"])
    assert [data["widgets"]["w"] for _, data in written] == [7, None, 7]


def test_what_a_page_does_with_a_field_does_not_change_the_workspace(token):
    workspace.update(lambda data: data["forms"].update(PLT={"k": [1, {"a": None}]}))
    field = workspace.get("forms")
    field["PLT"]["k"][1]["a"] = 2
    field["PLT"]["k"].append(3)
    field["LdSM"] = {}
    assert workspace.get("forms") == {"PLT": {"k": [1, {"a": None}]}}


def test_tokens_are_not_paths():
    with pytest.raises(ValueError, match="token"):
        Row("../../../../tmp/evil")


def test_a_workspace_that_cannot_be_written_stays_in_memory_and_is_kept_when_there_is_room(token, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    def full_at_the_end(state, change=Database.change):
        with change(state):
            yield
            full()

    for at in ("put", "change"):
        with monkeypatch.context() as patch:
            patch.setattr(Database, at, full if at == "put" else contextlib.contextmanager(full_at_the_end))
            dataset_list.add_dataset(at, "one", "upload", use=True)
            assert stored.waits(token) and at not in Row(token).read()["known"]
            patch.setattr(st, "session_state", {})
            workspace.open_workspace()  # another tab of this server sees it, too
            assert at in workspace.get("known") and not stored.save_waiting()
        assert stored.save_waiting() and not stored.waits(token)
        assert at in Row(token).read()["known"]


def test_a_workspace_stays_as_the_session_knows_it_while_its_disk_is_gone(token, monkeypatch, tmp_path):
    dataset_list.add_dataset("f1", "one", "upload", use=True)
    folder = cache_root()
    folder.rename(tmp_path / "unplugged")
    folder.write_text("in the way")  # the folder cannot be made
    workspace.open_workspace()
    dataset_list.add_dataset("f2", "two", "upload", use=True)
    assert workspace.get("known").keys() == {"f1", "f2"} and not workspace.has_notice()
    folder.unlink()
    (tmp_path / "unplugged").rename(folder)
    assert stored.save_waiting()
    assert Row(token).read()["known"].keys() == {"f1", "f2"}


def test_two_processes_lose_no_change_of_a_workspace(token):
    source = f"""
import sys
import streamlit as st
from pages.shared.workspaces import dataset_list, workspace
st.session_state = {{}}
st.query_params = {{"workspace": {token!r}}}
workspace.open_workspace()
for i in range(40):
    dataset_list.add_dataset(sys.argv[1] + str(i), "d", "upload", use=False)
"""
    running = [subprocess.Popen([sys.executable, "-c", source, name], cwd=ROOT) for name in "ab"]
    assert [process.wait(120) for process in running] == [0, 0]
    assert len(Row(token).read()["known"]) == 80
