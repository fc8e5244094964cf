"""Which trials belong to sweeps that are not finished: they are not removed to make room, also after a restart."""

import contextlib
import json
import os
import time

from xmlcore.system import cache_root, make_private

FOLDER = "sweeps"
OLDEST = 30 * 24 * 3600.0  # seconds after which a sweep that nobody has gone on with is no longer waited for


def note(key: str, fingerprint: str, trials) -> None:
    """Note the trials of a sweep that is not finished. A disk that is full is no error."""
    with contextlib.suppress(OSError):
        file = make_private(cache_root() / FOLDER) / f"{key}.json"
        temporary = file.with_name(f".{key}-{os.getpid()}-{time.monotonic_ns()}")
        try:
            temporary.write_text(json.dumps([fingerprint, *trials]), encoding="utf-8")
            os.replace(temporary, file)
        finally:
            temporary.unlink(missing_ok=True)


def forget(key: str) -> None:
    """Note that a sweep is finished, or was deleted."""
    with contextlib.suppress(OSError):
        (cache_root() / FOLDER / f"{key}.json").unlink(missing_ok=True)


def needed() -> set[str]:
    """Return the keys of the trials of all sweeps that are not finished, and of their data sets.

    Returns
    -------
    set of str
        Without sweeps that have not gone on for 30 days.
    """
    keys = set()
    with contextlib.suppress(OSError), os.scandir(cache_root() / FOLDER) as entries:
        for entry in entries:
            with contextlib.suppress(OSError, ValueError):
                if time.time() - entry.stat().st_mtime > OLDEST:
                    os.unlink(entry.path)
                elif entry.name.endswith(".json"):
                    with open(entry.path, encoding="utf-8") as file:
                        keys.update(key for key in json.load(file) if isinstance(key, str))
    return keys
