"""Removing leftovers of killed processes: half-written results, task files, unfinished downloads, folders.

Trials of sweeps that are not finished are no leftovers: they are noted here, so that they stay after a restart.
"""

import contextlib
import os
import shutil
import tempfile
import time
from pathlib import Path

from xmlcore import store
from xmlcore.jobs import records
from xmlcore.state import database, holders
from xmlcore.system import cache_root, data_root

OLD = 18 * 3600  # age in seconds: who removes leftovers every few hours leaves none that is older than a day
SWEEPS = "sweeps"  # table of the database
OLDEST_SWEEP = 30 * 24 * 3600.0  # seconds after which a sweep that nobody has gone on with is no longer waited for
# Where files are written under other names first, with these names. What is in the folder for temporary files of the
# machine is removed only if it belongs to this user.
_IN_DATA = ("**/.unpacked-*", "**/.*.tmp", "**/.arriving")
_IN_CACHE = ("given/*", "rows/nodes-*")
_OF_MACHINE = ("xmlcore-tmp-*", "xmlcore-job-*")


def remove_leftovers() -> int:
    """Remove what processes that have ended left: nobody has written to it for :data:`OLD` seconds; return how much."""
    removed = store.remove_all_stale(OLD) + _remove_old_sweeps() + holders.remove_dead(database(), OLD)
    places = (data_root(), _IN_DATA), (cache_root(), _IN_CACHE), (Path(tempfile.gettempdir()), _OF_MACHINE)
    for root, patterns in places:
        for pattern in patterns:
            with contextlib.suppress(OSError):
                waited_for = _active() if root == cache_root() else ()
                left = [path for path in root.glob(pattern) if path.name.partition(".")[0] not in waited_for]
                removed += sum(map(_removed, left))
    return removed


def _active() -> set:
    """Return the keys of jobs that wait or run: their files stay, however old."""
    jobs = [row.value for row in database().rows(records.TABLE)]
    return {job["key"] for job in jobs if job.get("state") in records.ACTIVE}


def _removed(path) -> bool:
    """Remove a file or folder of this user that nobody has changed lately; return whether it was."""
    try:
        if path.is_symlink() or (hasattr(os, "geteuid") and path.stat().st_uid != os.geteuid()):
            return False
        changed = max(inner.stat().st_mtime for inner in (path, *path.rglob("*")))
    except OSError:  # another process is just writing or deleting it
        return False
    if time.time() - changed <= OLD:
        return False
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
    return not path.exists()


def note_sweep(key: str, fingerprint: str, trials) -> None:
    """Note the trials of a sweep that is not finished. A disk that is full is no error."""
    with contextlib.suppress(OSError):
        database().put(SWEEPS, key, [fingerprint, *trials])


def forget_sweep(key: str) -> None:
    with contextlib.suppress(OSError):
        database().remove(SWEEPS, key)


def needed_by_sweeps() -> set[str]:
    """Return the keys of the trials of all sweeps that are not finished, and of their data sets."""
    rows = [row.value for row in database().rows(SWEEPS) if time.time() - row.written <= OLDEST_SWEEP]
    return {key for keys in rows if isinstance(keys, list) for key in keys if isinstance(key, str)}


def _remove_old_sweeps() -> int:
    """Forget sweeps that have not gone on for 30 days; return how many."""
    old = [key for key, written in database().written(SWEEPS).items() if time.time() - written > OLDEST_SWEEP]
    return sum(database().remove(SWEEPS, key) for key in old)
