"""Workspaces of mere visits are removed after some days, and no other."""

import pytest

from pages.shared.workspaces import old as old_workspaces
from pages.shared.workspaces import stored, workspace
from tests.pages.making import Row
from xmlcore.state import database

DAY = 24 * 3600
KNOWN = {"f": {"name": "api-docs", "source": "catalog", "notes": []}}


def made(days, token=None, **fields):
    """Make a workspace that was opened last so many days ago, on the day 1000, and return its row."""
    row = Row(token or workspace.begin())
    if token:
        stored.write(token, stored.read(workspace.begin()))
    write(row, row.read() | fields, (1000 - days) * DAY)
    return row


def write(row, fields, when):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("xmlcore.state.tables.time.time", lambda: when)
        row.write(fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"runs": [{"key": "r"}]},
        {"selections": [{"key": "s"}]},
        {"sweeps": [{"key": "t"}]},
        {"made": [["labels", "m"]]},
        {"jobs": [{"id": "j"}]},
        {"forms": {"PLT": {"C": 2.0}}},
        {"look": "0" * 32},
        {"known": KNOWN | {"g": {"name": "mine", "source": "upload", "notes": []}}},
        {"known": [1]},
        {"known": {"f": [1]}},
    ],
)
def test_a_workspace_in_which_something_was_made_or_damaged_is_kept(fields):
    row = made(400, **{"known": KNOWN, **fields})
    assert old_workspaces.remove(1000 * DAY) == 0 and row.read()


def test_a_mere_visit_is_removed_when_it_is_old_enough():
    old = made(15, known=KNOWN, dataset="f", rows={"f test": 3})
    young = made(13, known=KNOWN, dataset="f")
    assert old_workspaces.remove(1000 * DAY) == 1
    assert young.read() and not old.read()


def test_an_address_for_looking_only_goes_with_its_workspace():
    shown, lost = "e" * 32, "f" * 32
    made(400, shown, runs=[{"key": "r"}])
    for number, token in enumerate((shown, lost)):
        write(Row(f"{number:032x}"), {"version": 2, "look_of": token}, 0)
    assert old_workspaces.remove(1000 * DAY) == 1
    assert Row(f"{0:032x}").read()


def test_opening_a_workspace_makes_it_young_again(monkeypatch):
    row = made(400, "e" * 32)
    monkeypatch.setattr(workspace.st, "session_state", {})
    monkeypatch.setattr(workspace.st, "query_params", {workspace.QUERY: "e" * 32})
    workspace.open_workspace()
    assert database().written(stored.TABLE)[row.key] > 2000 * DAY
