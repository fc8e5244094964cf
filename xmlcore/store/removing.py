"""Deleting artifacts, at once or so that it can be undone, and removing leftovers of killed processes."""

import contextlib
import math
import os
import shutil
import time
import uuid

from xmlcore.state import database
from xmlcore.store import places
from xmlcore.system import cache_root
from xmlcore.validation import check_number

STALE_SECONDS = 24 * 3600  # half-written artifacts are removed when they are older, in seconds


def delete(kind: str, key: str) -> bool:
    """Remove an artifact in one step, so that other processes see all of it or none; return whether it was there.

    Parameters
    ----------
    kind, key : str
    """
    there = remove(places.folder(kind, key))
    _forget_pins(kind, key)
    return there


def _forget_pins(kind, key) -> None:
    """Remove the pins of an artifact that was deleted for good. A full disk is no error."""
    with contextlib.suppress(OSError):
        for row in database().rows("pins", f"{kind}/{key}/"):
            database().remove("pins", row.key)


def _forget_pins_of_hidden(path) -> None:
    """Remove the pins of an artifact that was deleted for good, by its hidden folder, unless it was made again."""
    key = path.name.split("-")[1]
    if not places.is_there(path.parent / key):
        _forget_pins(path.parent.name, key)


def remove(path) -> bool:
    """Remove a file or folder, which is first renamed; return whether it existed."""
    with taken_away(path) as existed:
        return existed


@contextlib.contextmanager
def taken_away(path):
    """Rename a file or folder, and remove it after the block, which is told whether it existed."""
    hidden = path.parent / f"{places.DELETING}{path.name}-{uuid.uuid4().hex[:12]}"
    try:
        os.rename(path, hidden)
    except FileNotFoundError:
        yield False
        return
    try:
        yield True
    finally:
        if hidden.is_dir():
            shutil.rmtree(hidden, ignore_errors=True)
        else:
            hidden.unlink(missing_ok=True)


def remove_stale(kind: str, older_than: float = STALE_SECONDS) -> int:
    """Remove artifacts that are half written or half deleted because a process was killed."""
    parent, older_than = places.kind_folder(kind), check_number(older_than, "older_than", -math.inf)
    removed = 0
    for path in parent.iterdir() if parent.is_dir() else ():
        if not path.name.startswith(places.HIDDEN):
            continue
        try:
            changed = max(p.stat().st_mtime for p in (path, *path.rglob("*")))
        except OSError:  # another process is just writing or deleting it
            continue
        if time.time() - changed > older_than:
            shutil.rmtree(path, ignore_errors=True)
            if path.name.startswith((places.DELETING, places.ASIDE)):
                _forget_pins_of_hidden(path)
            removed += 1
    return removed


def set_aside(kind: str, key: str) -> str | None:
    """Delete an artifact in a way that :func:`put_back` can undo, until :func:`remove_aside` removes it."""
    path = places.folder(kind, key)
    name = f"{places.ASIDE}{key}-{uuid.uuid4().hex[:12]}"
    try:
        os.utime(path)  # a folder that was set aside is as old as its last change
        os.rename(path, path.parent / name)
    except FileNotFoundError:
        return None
    return name


def put_back(kind: str, name: str) -> bool:
    """Undo :func:`set_aside`; an artifact that has been made again since stays."""
    target = _place_of(kind, name)
    with contextlib.suppress(OSError):
        os.rename(target.parent / name, target)
    return (target / places.META).is_file()


def is_aside(kind: str, name: str) -> bool:
    """Return whether :func:`put_back` would bring something: it was not removed since, nor made again."""
    target = _place_of(kind, name)
    return (target.parent / name).is_dir() and not target.exists()


def _place_of(kind, name):
    """Return the folder of an artifact by the name that :func:`set_aside` returned."""
    start = len(places.ASIDE)
    if not (name.startswith(places.ASIDE) and places.KEY.fullmatch(name[start:].rsplit("-", 1)[0])):
        raise ValueError(f"{name!r:.200} was not returned by set_aside")
    return places.folder(kind, name[start:].rsplit("-", 1)[0])


def remove_aside(older_than: float = 0.0) -> int:
    """Remove artifacts that were set aside."""
    removed, older_than = 0, check_number(older_than, "older_than", -math.inf)
    for path in (cache_root() / "artifacts").glob(f"*/{places.ASIDE}*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime >= older_than:
                remove_aside_one(path.parent.name, path.name)
                removed += 1
    return removed


def remove_aside_one(kind: str, name: str) -> None:
    """Remove an artifact that was set aside, at once."""
    if not name.startswith(places.ASIDE) or "/" in name:
        raise ValueError(f"{name!r:.200} was not returned by set_aside")
    path = places.kind_folder(kind) / name
    shutil.rmtree(path, ignore_errors=True)
    _forget_pins_of_hidden(path)


def remove_all_stale(older_than: float = STALE_SECONDS) -> int:
    """Remove stale files of all kinds (see :func:`remove_stale`), and artifacts that were found to be damaged."""
    removed, older_than = 0, check_number(older_than, "older_than", -math.inf)
    with contextlib.suppress(OSError):
        for entry in os.scandir(cache_root() / "artifacts"):
            if entry.is_dir() and places.KIND.fullmatch(entry.name):
                removed += remove_stale(entry.name, older_than)
                removed += sum(_remove_damaged(path, older_than) for path in places.paths(entry.name))
    return removed


def _remove_damaged(path, older_than) -> bool:
    """Remove an artifact that was found to be damaged, and that can be made again."""
    with contextlib.suppress(FileNotFoundError):
        old = time.time() - (path / places.DAMAGED).stat().st_mtime > older_than
        return old and places.can_be_made_again(path) and delete(path.parent.name, path.name)
    return False
