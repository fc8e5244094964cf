"""Which trials belong to sweeps that are not finished: they are not removed to make room, also after a restart."""

import contextlib
import time

from xmlcore.state import database

TABLE = "sweeps"
OLDEST = 30 * 24 * 3600.0  # seconds after which a sweep that nobody has gone on with is no longer waited for


def note(key: str, fingerprint: str, trials) -> None:
    """Note the trials of a sweep that is not finished. A disk that is full is no error."""
    with contextlib.suppress(OSError):
        database().put(TABLE, key, [fingerprint, *trials])


def forget(key: str) -> None:
    with contextlib.suppress(OSError):
        database().remove(TABLE, key)


def needed() -> set[str]:
    """Return the keys of the trials of all sweeps that are not finished, and of their data sets."""
    rows = [row.value for row in database().rows(TABLE) if time.time() - row.written <= OLDEST]
    return {key for keys in rows if isinstance(keys, list) for key in keys if isinstance(key, str)}


def remove_old() -> int:
    """Forget sweeps that have not gone on for 30 days; return how many."""
    old = [key for key, written in database().written(TABLE).items() if time.time() - written > OLDEST]
    return sum(database().remove(TABLE, key) for key in old)
