"""Workspaces of mere visits, in which nothing was made, are removed after some days."""

import time

from pages.shared.workspaces import stored
from xmlcore.state import database

DAYS = 14  # since the workspace was opened last


def remove(now: float | None = None) -> int:
    """Remove workspaces that nobody has opened for :data:`DAYS` days and in which nothing was made."""
    before = (time.time() if now is None else now) - 24 * 3600 * DAYS
    with database().change():
        old = [row for row in database().rows(stored.TABLE) if row.written < before and isinstance(row.value, dict)]
        return sum(database().remove(stored.TABLE, row.key) for row in old if _is_visit(row.value))


def _is_visit(data) -> bool:
    """Return whether nothing was made in a workspace, or whether an address for looking only shows one that is gone."""
    if isinstance(data.get("look_of"), str):
        shown = data["look_of"]
        return stored.TOKEN.fullmatch(shown) is None or not stored.exists(shown)
    made = any(data.get(name) for name in ("runs", "selections", "sweeps", "made", "jobs", "forms", "look"))
    known = data.get("known", {})  # a damaged workspace is none of a mere visit
    if made or not isinstance(known, dict):
        return False
    return all(isinstance(entry, dict) and entry.get("source") == "catalog" for entry in known.values())
