"""What a workspace and each of its tabs remember, and which workspaces are removed."""

import contextlib
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
import streamlit as st

from pages.shared.results import decided
from pages.shared.workspaces import dataset_list, removed, result_list, stored, workspace
from pages.shared.workspaces import records as workspace_records
from tests.pages.making import Row
from xmlcore.state import Database, database
from xmlcore.system import cache_root

ROOT = Path(__file__).resolve().parents[3]


def tab(monkeypatch, token=None):
    """Open a tab and return its session's state."""
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", {} if token is None else {workspace.QUERY: token})
    workspace.open_workspace()
    return st.session_state


@pytest.fixture
def token(monkeypatch):
    tab(monkeypatch)
    st.query_params["workspace"] = workspace.address()  # a hidden field of the page does that
    return workspace.token()


def test_a_workspace_is_found_by_its_address_which_is_no_path(token, monkeypatch):
    workspace.update(dataset="abcdabcd", wanted=None)
    tab(monkeypatch, token)
    assert workspace.token() == token and workspace.get("dataset") == "abcdabcd"
    with pytest.raises(ValueError, match="token"):
        Row("../../../../tmp/evil")


def test_who_only_looks_cannot_write_the_workspace(token, monkeypatch):
    dataset_list.add_dataset("f1f1f1f1", "one", "upload", use=True)
    look = workspace.read_only_token()
    before = Row(token).read()
    tab(monkeypatch, look)
    for act in (
        lambda: dataset_list.add_dataset("f2f2f2f2", "two", "upload", use=True),
        lambda: result_list.set_fields([{"key": "a"}], name="mine"),
        lambda: removed.remove("train", ["a"], "one"),
    ):
        act()
    assert Row(token).read() == before


def test_kept_widget_values_come_back_and_unfit_ones_do_not(token, monkeypatch):
    made = workspace.keep("w", 1)
    assert made["value"] == 1
    st.session_state["w"] = 7  # as the widget does
    made["on_change"](*made["args"])
    tab(monkeypatch, token)
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


def test_fields_of_the_workspace_are_copies(token):
    workspace.update(lambda data: data["forms"].update(PLT={"k": [1, {"a": None}]}))
    field = workspace.get("forms")
    field["PLT"]["k"][1]["a"] = 2
    field["PLT"]["k"].append(3)
    field["LdSM"] = {}
    assert workspace.get("forms") == {"PLT": {"k": [1, {"a": None}]}}


@pytest.mark.parametrize("at", ["put", "change"])
def test_an_unwritten_workspace_waits_in_memory_for_room(token, monkeypatch, at):
    def full(*args):
        raise OSError(28, "No space left on device")

    @contextlib.contextmanager
    def full_at_the_end(state, change=Database.change):
        with change(state):
            yield
            full()

    with monkeypatch.context() as patch:
        patch.setattr(Database, at, full if at == "put" else full_at_the_end)
        dataset_list.add_dataset("f1f1f1f1", "one", "upload", use=True)
        assert stored.waits(token) and Row(token).read() is None
        tab(patch, token)  # another tab of this server sees it, too
        assert "f1f1f1f1" in workspace.get("known") and not stored.save_waiting()
    assert stored.save_waiting() and not stored.waits(token)
    assert "f1f1f1f1" in Row(token).read()["known"]


def test_a_workspace_stays_while_its_disk_is_gone(token, monkeypatch, tmp_path):
    dataset_list.add_dataset("f1f1f1f1", "one", "upload", use=True)
    folder = cache_root()
    folder.rename(tmp_path / "unplugged")
    folder.write_text("in the way")  # the folder cannot be made
    workspace.open_workspace()
    dataset_list.add_dataset("f2f2f2f2", "two", "upload", use=True)
    assert workspace.get("known").keys() == {"f1f1f1f1", "f2f2f2f2"} and not workspace.take_notices()
    folder.unlink()
    (tmp_path / "unplugged").rename(folder)
    assert stored.save_waiting()
    assert Row(token).read()["known"].keys() == {"f1f1f1f1", "f2f2f2f2"}


def test_a_data_set_has_a_name_that_can_be_seen(token):
    for number, name in enumerate(("\u200b", " \u3164", "*", "two\u200bparts")):
        dataset_list.add_dataset(8 * str(number), name, "upload", use=True)
    dataset_list.rename_dataset(8 * "2", "\u2800")
    names = [entry["name"] for entry in workspace.get("known").values()]
    assert names == ["unnamed data", "unnamed data (2)", "unnamed data (3)", "two\u200bparts"]


def test_two_processes_lose_no_change_of_a_workspace(token):
    source = f"""
import sys
import streamlit as st
from pages.shared.workspaces import dataset_list, workspace
st.session_state = {{}}
st.query_params = {{"workspace": {token!r}}}
workspace.open_workspace()
print("ready", flush=True)
sys.stdin.readline()
for i in range(40):
    dataset_list.add_dataset(f"{{8 * 'a'}}{{i}}", "d", "upload", use=False)
"""
    workspace.update(dataset=None)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    other = subprocess.Popen([sys.executable, "-c", source], cwd=ROOT, **pipes)
    assert other.stdout.readline() == "ready\n"
    other.stdin.write("go\n")
    other.stdin.flush()
    for i in range(40):
        dataset_list.add_dataset(f"{8 * 'b'}{i}", "d", "upload", use=False)
    assert other.wait(120) == 0
    assert len(Row(token).read()["known"]) == 80


OLD, NEW, NEWER, SELECTED = (8 * letter for letter in "abcd")  # keys of results


@pytest.fixture
def tabs(monkeypatch):
    """Two tabs on a workspace with two data sets and a result on the first, and a function that goes to one."""
    one = tab(monkeypatch)
    dataset_list.add_dataset("f1f1f1f1", "one", "upload", use=True)
    dataset_list.add_dataset("f2f2f2f2", "two", "upload", use=False)
    result_list.add_result("train", run(OLD, asked=1.0))
    two = tab(monkeypatch, workspace.token())

    def go(which, field="dataset"):
        """Begin a run of the script in a tab; return what a field has there."""
        monkeypatch.setattr(st, "session_state", (one, two)[which - 1])
        workspace.open_workspace()
        return workspace.get(field)

    go(1)
    return go


def run(key, asked):
    return {"key": key, "fingerprint": "f1f1f1f1", "model": key, "params": {}, "k": 5, "created": "", "asked": asked}


def test_a_tab_keeps_its_own_data_set_and_widgets(tabs, monkeypatch):
    workspace.update(dataset="f2f2f2f2")
    workspace.update(lambda data: data["widgets"].update({"train.model": "LdSM"}))
    assert tabs(2) == "f1f1f1f1" and tabs(2, "widgets") == {} and tabs(1) == "f2f2f2f2"
    tab(monkeypatch, workspace.token())
    assert (workspace.get("dataset"), workspace.get("widgets")) == ("f2f2f2f2", {"train.model": "LdSM"})


def test_what_is_made_in_a_tab_is_shown_in_every_tab(tabs):
    workspace.update(forms={"PLT": {"C": 2.0}})
    dataset_list.add_dataset("f3f3f3f3", "three", "upload", use=False)
    assert tabs(2, "forms") == {"PLT": {"C": 2.0}} and "f3f3f3f3" in workspace.get("known")
    dataset_list.add_dataset("f4f4f4f4", "four", "upload", use=False)
    assert {"f3f3f3f3", "f4f4f4f4"} <= set(tabs(1, "known")), "two tabs do not undo each other"
    record = {"key": SELECTED, "fingerprint": "f1f1f1f1", "method": "FALS", "params": {}, "created": ""}
    result_list.add_result("select", record | {"asked": workspace.time.time() + 5})
    assert tabs(2, "widgets")[f"{workspace.FEATURES_SELECTION} f1f1f1f1"] == SELECTED
    dataset_list.add_dataset("f2f2f2f2", "two", "upload", use=True)
    assert tabs(1) == "f2f2f2f2"


def test_a_decision_is_kept_and_forgotten_in_every_tab(tabs):
    for name in ("cut 0.25", None):
        decided.keep(OLD, name)
        assert tabs(2) and decided.kept(OLD) == name
        assert tabs(1) and decided.kept(OLD) == name


def test_a_new_result_is_shown_unless_a_tab_chose_since(tabs, monkeypatch):
    now = workspace.time.time()
    monkeypatch.setattr(workspace.time, "time", lambda: now + 10)
    result_list.add_result("train", run(NEW, asked=now + 5))
    assert workspace.get("shown") == tabs(2, "shown") == {"f1f1f1f1": NEW}
    workspace.update(lambda data: data["shown"].update(f1f1f1f1=OLD))
    assert tabs(1, "shown") == {"f1f1f1f1": NEW}
    result_list.add_result("train", run(NEWER, asked=now + 8))
    assert tabs(2, "shown") == {"f1f1f1f1": OLD}, "it chose after this was asked for"


def test_what_another_tab_removes_is_no_longer_looked_at(tabs):
    tabs(2)
    workspace.update(dataset="f2f2f2f2")
    assert tabs(1) == "f1f1f1f1" and tabs(1, "shown") == {"f1f1f1f1": OLD}
    tabs(2)
    removed.remove("train", [OLD], "old")
    assert tabs(1, "shown") == {}
    tabs(2)
    removed.remove("datasets", ["f1f1f1f1"], "one")
    assert tabs(1) == "f2f2f2f2"
    removed.remove("datasets", ["f2f2f2f2"], "two")
    assert tabs(2) is None


def test_a_decision_goes_and_comes_back_with_its_result(tabs):
    decided.keep(OLD, "macro F1@3")
    decided.keep(NEW, "macro F1")
    removed.remove("train", [OLD], "old")
    assert (decided.kept(OLD), decided.kept(NEW)) == (None, "macro F1")
    removed.undo()
    assert (decided.kept(OLD), decided.kept(NEW)) == ("macro F1@3", "macro F1")


def test_looking_only_leaves_a_data_set_that_was_removed(tabs, monkeypatch):
    looks = tab(monkeypatch, workspace.read_only_token())
    workspace.update(dataset="f2f2f2f2")
    tabs(1)
    removed.remove("datasets", ["f2f2f2f2"], "two")
    monkeypatch.setattr(st, "session_state", looks)
    workspace.open_workspace()
    assert workspace.get("dataset") == "f1f1f1f1"


def test_a_data_set_put_in_use_again_stays_in_use(tabs):
    tabs(2)
    workspace.update(dataset="f2f2f2f2")
    tabs(1)
    dataset_list.add_dataset("f1f1f1f1", "one", "upload", use=True)  # as when it is uploaded or made once more
    assert tabs(1) == tabs(2) == "f1f1f1f1"


def test_the_data_set_in_use_stays_in_a_workspace_begun_anew(tabs):
    Row(workspace.token()).remove()
    tabs(1)
    dataset_list.add_dataset("f1f1f1f1", "one", "catalog", use=True)
    assert [tabs(1), tabs(1)] == ["f1f1f1f1", "f1f1f1f1"]


def test_a_lost_workspace_is_written_again_as_the_first_tab_knows_it(tabs, monkeypatch):
    look = workspace.read_only_token()
    result_list.add_result("train", run(NEW, asked=2.0))
    dataset_list.add_dataset("f3f3f3f3", "three", "upload", use=False)
    tabs(1)
    monkeypatch.setattr(workspace.store, "exists", lambda *_: True)
    for lost in (look, workspace.token()):
        Row(lost).remove()
    assert [record["key"] for record in tabs(1, "runs")] == [record["key"] for record in tabs(2, "runs")] == [OLD, NEW]
    tab(monkeypatch, look)
    assert workspace.read_only() and workspace.get("known").keys() == {"f1f1f1f1", "f2f2f2f2", "f3f3f3f3"}


DAY = 24 * 3600
KNOWN = {"f": {"name": "api-docs", "source": "catalog", "notes": []}}


def made(days, token=None, **fields):
    """Make a workspace that was opened last so many days ago, on the day 1000, and return its row."""
    row = Row(token or secrets.token_hex(16))
    write(row, stored.read(workspace.begin()) | fields, (1000 - days) * DAY)
    return row


def write(row, fields, when):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xmlcore.state.sqlite.time.time", lambda: when)
        row.write(fields)


@pytest.mark.parametrize("fields", [
    {"runs": [{"key": "r"}]},
    {"selections": [{"key": "s"}]},
    {"sweeps": [{"key": "t"}]},
    {"made": [["labels", "m"]]},
    {"jobs": [{"id": "j", "key": "k"}]},
    {"forms": {"PLT": {"C": 2.0}}},
    {"known": KNOWN | {"g": {"name": "mine", "source": "upload", "notes": []}}},
])  # fmt: skip
def test_a_workspace_with_something_made_is_kept(fields):
    row = made(400, **{"known": KNOWN, **fields})
    assert stored.remove_visits(1000 * DAY) == 0 and row.read()


def test_mere_visits_are_removed_when_old_enough():
    old = made(
        15, known=KNOWN, dataset="f", look="0" * 32, rows={"f test": 3}, runs=[{"key": "r"}], unasked={"r": True}
    )
    young = made(13, known=KNOWN, dataset="f")
    assert stored.remove_visits(1000 * DAY) == 1
    assert young.read() and not old.read()
    shown, lost = "e" * 32, "f" * 32
    made(400, shown, runs=[{"key": "r"}])
    for number, token in enumerate((shown, lost)):
        write(Row(f"{number:032x}"), {"version": 2, "look_of": token}, 0)
    assert stored.remove_visits(1000 * DAY) == 1
    assert Row(f"{0:032x}").read()


def test_decisions_keep_their_workspace_and_go_without_it():
    used, key = made(400, known=KNOWN), f"{{}}/{'f' * 32}/1"
    gone = f"{1:032x}"
    for row in (used.key, gone):
        database().put("reviews", key.format(row), {"row": 0, "label": 0, "decision": "keep"})
    assert stored.remove_visits(4e9) == 0 and used.read()
    assert [row.key for row in database().rows("reviews")] == [key.format(used.key)]


def test_opening_a_workspace_makes_it_young_again(monkeypatch):
    row = made(400, "e" * 32)
    tab(monkeypatch, "e" * 32)
    assert database().written(stored.TABLE)[row.key] > 2000 * DAY


def test_a_job_of_a_kind_that_is_no_more_is_left_out(monkeypatch):
    jobs = [{"id": kind, "kind": kind} for kind in ("train", "of an earlier version")]
    monkeypatch.setattr(stored, "read", lambda token: {"version": workspace_records.VERSION, "jobs": jobs})
    assert workspace_records.read("token") == workspace_records.EMPTY | {
        "version": workspace_records.VERSION,
        "jobs": jobs[:1],
    }
