"""What was kept in small files before there was a database: taken over once, when the database is made."""

import contextlib
import json
import os
from pathlib import Path

BEFORE = "before-state"  # folder of the cache in which the files that were taken over stay; nothing reads them
_FOLDERS = {"workspaces": "workspaces", "users": "workspaces/users", "jobs": "jobs/records", "sweeps": "sweeps"}
_SETTINGS = {"store_bytes": "settings.json", "removals": "removed.json"}


def rows(root: Path):
    """Yield table, key, text and time of each row that the files in a cache folder make."""
    for table, folder in _FOLDERS.items():
        begins = "w-" if table == "workspaces" else ""
        for file in sorted((root / folder).glob(f"{begins or '[!.]'}*.json")):
            yield from _row(table, file.stem.removeprefix(begins), file)
    for name, file in _SETTINGS.items():
        for table, key, text, written in _row("settings", name, root / file):
            value = json.loads(text)
            yield table, key, json.dumps(value.get(name) if isinstance(value, dict) else value), written
    for file in _pins(root):
        yield "pins", f"{file.parent.parent.name}/{file.parent.name}/{file.name[4:]}", "true", file.stat().st_mtime


def _pins(root):
    """Yield the files of pins, each in the folder of an artifact."""
    return (root / "artifacts").glob("[!.]*/[!.]*/pin-*")


def _row(table, key, file):
    """Yield the row that a file makes; none if it cannot be read."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        text = file.read_text(encoding="utf-8")
        json.loads(text)
        yield table, key, text, file.stat().st_mtime


def rename(root: Path) -> None:
    """Move what was taken over into a folder of its own, and remove the files of pins."""
    for file in _pins(root):
        with contextlib.suppress(OSError):
            file.unlink()
    for name in (*_FOLDERS.values(), *_SETTINGS.values()):
        if (root / name).exists():
            with contextlib.suppress(OSError):
                (root / BEFORE).mkdir(mode=0o700, exist_ok=True)
                os.rename(root / name, root / BEFORE / name.replace("/", "-"))
