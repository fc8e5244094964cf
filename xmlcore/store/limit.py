"""The most that all artifacts may take on the disk, and which are removed when they take more."""

import contextlib
import logging
import os
import re
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from xmlcore import wording
from xmlcore.state import database
from xmlcore.store import removing
from xmlcore.store.kept import inventory
from xmlcore.store.room import free_on_disk
from xmlcore.validation import check_count, check_number

BOUND_VARIABLE = "XMLCORE_STORE_SIZE"
LARGEST = 20_000_000_000  # bytes: the bound when none is set, or half of the free disk if that is less
RECENT = 600.0  # seconds for which what was just made or used is not removed: a page or a job may be reading it
MONTH = 30 * 86400.0  # the same while no bound is set and the disk is short: other programs may have filled it
KEPT_REMOVALS = 50  # lines of what was removed that are kept
_BOUND, _REMOVALS = "store_bytes", "removals"  # keys in the table of settings
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_log = logging.getLogger("xmlcore.store")


@dataclass(frozen=True)
class Removal:
    """Artifacts that were removed at once to make room."""

    when: float
    # count, bytes: number of artifacts, and their size
    count: int
    bytes: int
    unused: float  # for how long the one used last among them had not been used, in seconds

    def __str__(self):
        """Return ``removed 3 results, 1.2 GB, unused for 40 days``."""
        noun = "result" if self.count == 1 else "results"
        return f"removed {self.count:,} {noun}, {wording.size(self.bytes)}, unused for {_span(self.unused)}"


def _span(seconds) -> str:
    """Return a long time in words, rounded down."""
    for length, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= length:
            count = int(seconds // length)
            return f"{count:,} {unit}" + ("" if count == 1 else "s")
    return "less than a minute"


def bound(taken: int | None = None) -> int:
    """Return the most bytes that all artifacts may take together."""
    taken = None if taken is None else check_count(taken, "taken", 0)
    text = os.environ.get(BOUND_VARIABLE)
    if text:
        return parse_size(text, BOUND_VARIABLE)
    written = _written_bound()
    if written is not None:
        return written
    taken = inventory().bytes if taken is None else taken
    return min(LARGEST, (free_on_disk() + taken) // 2)


def _written_bound() -> int | None:
    """Return what :func:`set_bound` has written; None if there is nothing that can be read."""
    try:
        return max(0, int(database().get("settings", _BOUND)))
    except (OSError, ValueError, TypeError):
        return None


def parse_size(text: str, name: str = "size") -> int:
    """Return the bytes of a size such as ``20 GB``, ``500MB`` or ``1000000``."""
    found = re.fullmatch(r"([0-9]++(?:\.[0-9]++)?+)\s*+([A-Za-z]*+)", text.strip())
    if found is None or found[2].upper() not in _UNITS:
        raise ValueError(f"{name} is {text!r:.200}: give a number with MB, GB or TB, such as 20 GB")
    return int(min(float(found[1]) * _UNITS[found[2].upper()], sys.maxsize))


def set_bound(n_bytes: int | None) -> None:
    """Set the most bytes that all artifacts may take; None for the default. See :func:`bound`."""
    if n_bytes is None:
        database().remove("settings", _BOUND)
    else:
        database().put("settings", _BOUND, check_count(n_bytes, "n_bytes", 0))


def make_room(needed: Iterable[str] = (), most: int | None = None, now: float | None = None) -> Removal | None:
    """Remove the least recently used artifacts until all take no more than the bound.

    Never removed are uploads and whatever else cannot be made again; what is pinned or needed, and what that was
    computed from; and what was made or used in the last ten minutes. An artifact counts as used when something
    computed from it is used. If no bound is set and the disk allows less than 20 GB, what was used in the last 30 days
    stays too: other programs may have filled the disk.
    """
    found, now = inventory(), check_number(time.time() if now is None else now, "now")
    total, recent = found.bytes, RECENT
    if most is None:
        most = bound(total)
        is_set = bool(os.environ.get(BOUND_VARIABLE)) or _written_bound() is not None
        recent = MONTH if most < LARGEST and not is_set else RECENT
    if total <= check_count(most, "most", 0):
        return None
    removed = []
    for artifact, used in _unused(found, set(needed), now - recent):
        if total <= most:
            break
        if removing.delete(*artifact.name):
            total -= artifact.bytes
            removed.append((artifact.bytes, used))
    if not removed:
        return None
    removal = Removal(now, len(removed), sum(size for size, _ in removed), now - max(used for _, used in removed))
    _log.warning("%s: all results may take %s", str(removal), wording.size(most))
    with contextlib.suppress(OSError):
        with database().change():
            database().put("settings", _REMOVALS, [asdict(each) for each in [removal, *removals()][:KEPT_REMOVALS]])
    return removal


def _unused(kept, needed, before):
    """Yield removable artifacts and when they, or results from them, were used last; the oldest first."""
    spared = _with_sources(kept, {known.key for known in kept.artifacts.values() if known.pins} | needed)
    last = {
        name: max([artifact.used, *(other.used for other in kept.dependents(*name))])
        for name, artifact in kept.artifacts.items()
    }
    # Of things used at one time, such as a run and what was computed from it, the one made last goes first.
    for artifact in sorted(kept.artifacts.values(), key=lambda artifact: (last[artifact.name], -artifact.created)):
        if last[artifact.name] > before:
            return
        if artifact.key not in spared and artifact.bytes > 0 and kept.can_be_made_again(artifact):
            yield artifact, last[artifact.name]


def removals() -> list[Removal]:
    """Return what :func:`make_room` has removed, newest first; at most 50."""
    try:
        return [Removal(**line) for line in database().get("settings", _REMOVALS, [])]
    except (OSError, TypeError):
        return []


def _with_sources(kept, keys) -> set[str]:
    known, line = set(), list(keys)
    while line:
        key = line.pop()
        if key not in known:
            known.add(key)
            for artifact in kept.with_key(key):
                line += [*artifact.sources.values(), *artifact.inputs.values()]
    return known
