"""Workspaces of mere visits are removed after some days, and no other."""

import json
import os

import pytest

from pages.shared import old_workspaces, workspace

DAY = 24 * 3600
KNOWN = {"f": {"name": "api-docs", "source": "catalog", "notes": []}}


def made(days, **fields):
    """Make a workspace that was opened last so many days ago, on the day 1000, and return its file."""
    path = workspace._path(workspace.begin())
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))
    os.utime(path, (1000 * DAY - days * DAY,) * 2)
    return path


@pytest.mark.parametrize(
    "fields",
    [
        {"runs": [{"key": "r"}]},
        {"selections": [{"key": "s"}]},
        {"jobs": [{"id": "j"}]},
        {"forms": {"PLT": {"C": 2.0}}},
        {"look": "0" * 32},
        {"known": KNOWN | {"g": {"name": "mine", "source": "upload", "notes": []}}},
    ],
)
def test_a_workspace_in_which_something_was_made_is_kept(fields):
    path = made(400, **{"known": KNOWN, **fields})
    assert old_workspaces.remove(1000 * DAY) == 0 and path.exists()


def test_a_mere_visit_is_removed_when_it_is_old_enough():
    old = made(15, known=KNOWN, dataset="f", rows={"f test": 3})
    young = made(13, known=KNOWN, dataset="f")
    assert old_workspaces.remove(1000 * DAY) == 1
    assert young.exists() and not old.exists()


def test_an_address_for_looking_only_goes_with_its_workspace():
    shown, lost = made(400, runs=[{"key": "r"}]), "f" * 32
    for number, token in enumerate((shown.stem, lost)):
        path = workspace.folder() / f"{number:032x}.json"
        path.write_text(json.dumps({"version": 2, "look_of": token}))
        os.utime(path, (0, 0))
    assert old_workspaces.remove(1000 * DAY) == 1
    assert (workspace.folder() / f"{0:032x}.json").exists()


def test_what_cannot_be_read_is_left_alone():
    path = made(400)
    path.write_text("{")
    os.utime(path, (0, 0))
    assert old_workspaces.remove(1000 * DAY) == 0 and path.exists()


def test_opening_a_workspace_makes_it_young_again(monkeypatch):
    path = made(400)
    monkeypatch.setattr(workspace.st, "session_state", {})
    monkeypatch.setattr(workspace.st, "query_params", {workspace.QUERY: path.stem})
    workspace.open_workspace()
    assert path.stat().st_mtime > 2000 * DAY
