"""Workspaces of mere visits, in which nothing was made, are removed after some days; early ones get new names."""

import contextlib
import json
import time

from pages.shared.workspaces import files as workspace_files

DAYS = 14  # since the workspace was opened last


def remove(now: float | None = None) -> int:
    """Remove workspaces that nobody has opened for :data:`DAYS` days and in which nothing was made.

    Nothing was made if nothing was uploaded, trained or selected, no parameter was typed and no job is listed. An
    address for looking only goes with the workspace that it shows.
    """
    workspace_files.rename_old()
    workspace_files.remove_stale()
    before, removed = (time.time() if now is None else now) - 24 * 3600 * DAYS, 0
    for path in sorted(workspace_files.folder().glob("*.json")):
        with contextlib.suppress(OSError, ValueError):  # what cannot be read is left alone
            data = json.loads(path.read_text(encoding="utf-8"))
            if path.stat().st_mtime < before and isinstance(data, dict) and _is_visit(data):
                path.unlink()
                removed += 1
    return removed


def _is_visit(data) -> bool:
    """Return whether nothing was made in a workspace, or whether an address for looking only shows one that is gone."""
    if isinstance(data.get("look_of"), str):
        shown = data["look_of"]
        return workspace_files.TOKEN.fullmatch(shown) is None or not workspace_files.path(shown).exists()
    made = any(data.get(name) for name in ("runs", "selections", "jobs", "forms", "look"))
    known = data.get("known", {})
    return not made and all(entry.get("source") == "catalog" for entry in known.values())
