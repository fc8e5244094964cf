"""Workspaces of mere visits are removed after some days, and no other."""

import json
import os

import pytest

from pages.shared.workspaces import files as workspace_files
from pages.shared.workspaces import old as old_workspaces
from pages.shared.workspaces import workspace

DAY = 24 * 3600
KNOWN = {"f": {"name": "api-docs", "source": "catalog", "notes": []}}


def made(days, token=None, **fields):
    """Make a workspace that was opened last so many days ago, on the day 1000, and return its file."""
    path = workspace._path(token or workspace.begin())
    if token:
        workspace_files.write(token, workspace_files.read(workspace.begin()))
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
    shown, lost = "e" * 32, "f" * 32
    made(400, shown, runs=[{"key": "r"}])
    for number, token in enumerate((shown, lost)):
        path = workspace._path(f"{number:032x}")
        path.write_text(json.dumps({"version": 2, "look_of": token}))
        os.utime(path, (0, 0))
    assert old_workspaces.remove(1000 * DAY) == 1
    assert workspace._path(f"{0:032x}").exists()


def test_what_cannot_be_read_is_left_alone():
    path = made(400)
    path.write_text("{")
    os.utime(path, (0, 0))
    assert old_workspaces.remove(1000 * DAY) == 0 and path.exists()


def test_opening_a_workspace_makes_it_young_again(monkeypatch):
    path = made(400, "e" * 32)
    monkeypatch.setattr(workspace.st, "session_state", {})
    monkeypatch.setattr(workspace.st, "query_params", {workspace.QUERY: "e" * 32})
    workspace.open_workspace()
    assert path.stat().st_mtime > 2000 * DAY


def test_files_that_an_early_version_named_by_the_token_are_renamed_by_a_hash_of_it():
    token = "d" * 32
    path = made(1, token, runs=[{"key": "r"}])
    text = path.read_text()
    for find in (lambda: old_workspaces.remove(1000 * DAY), lambda: workspace._path(token)):
        path.rename(workspace_files.folder() / f"{token}.json")
        find()
        assert path.read_text() == text and not (workspace_files.folder() / f"{token}.json").exists()
    assert not [file for file in workspace_files.folder().iterdir() if token in file.name]


def test_files_that_a_killed_process_has_begun_to_write_are_removed_after_a_day():
    made(1)
    begun = workspace_files.folder() / ".tmp-abc.json"
    begun.write_text("{")
    old_workspaces.remove()
    assert begun.exists()
    os.utime(begun, (1, 1))
    old_workspaces.remove()
    assert not begun.exists()
