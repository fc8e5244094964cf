"""How long work took on this machine, and by this how long it takes with equal settings, in proportion."""

import contextlib
import functools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from xmlcore.state import database
from xmlcore.system import cache_root

TABLE = "times"  # of the database: "group/number" -> the fields of Took, and the values and settings of the work
MOST = 40  # times that are kept of a group
FARTHEST = 30.0  # most values, as a multiple, of work from which a time is taken; fewer by as much: start-up counts
MUCH = 50 << 20  # bytes; smaller memory depends on what the process did before


class Work(NamedTuple):
    """Work of a task, as far as its time and memory depend on it."""

    group: str  # of work that has times in common, such as the trainings of a model
    values: float  # that are read, each as often as it is: time is about in proportion to it
    bytes: int = 0  # of memory, without the data set and the model that are read; 0 if it is small
    settings: Mapping[str, Any] = {}  # with others it may take any time


class Took(NamedTuple):
    """Time and memory that work took."""

    seconds: float
    bytes: int = 0


def nearest(work: Work) -> Took | None:
    """Return the time and memory of work of equal settings and similar values, in proportion; None if none is known."""
    if work.values <= 0:
        return Took(0.0)
    found = []
    for other, took in _known(cache_root(), changed()).get(work.group, ()):
        ratio = work.values / other.values
        if 1 / FARTHEST <= ratio <= FARTHEST and other.settings == work.settings:
            n_bytes = int(took.bytes * max(1.0, ratio)) if took.bytes > MUCH else 0
            found.append((round(abs(math.log(ratio))), Took(took.seconds * ratio, n_bytes)))
    # Of those about equally near, the fastest: it waited least for other programs and for code to be compiled.
    return min(found, default=(0, None))[1]


def add(work: Work, seconds: float, n_bytes: float = 0) -> None:
    """Keep the time and memory of work, unless they cannot be written."""
    if seconds > 0 and work.values > 0:
        with contextlib.suppress(OSError):
            row = {"values": work.values, "settings": dict(work.settings), "seconds": seconds, "bytes": int(n_bytes)}
            database().append(TABLE, work.group, row, MOST)


def changed() -> float:
    """Return when a time was kept last, 0.0 without one or if it cannot be read: estimates hold until then."""
    with contextlib.suppress(OSError):
        return max(database().written(TABLE).values(), default=0.0)
    return 0.0


@functools.lru_cache(maxsize=4)
def _known(root, when) -> dict[str, list[tuple[Work, Took]]]:
    known = {}
    for row in database().rows(TABLE) if when else ():
        with contextlib.suppress(TypeError, ValueError, KeyError, OverflowError):  # a damaged row
            group, value = row.key.rpartition("/")[0], row.value
            work = Work(group, float(value["values"]), settings=dict(value["settings"]))
            took = Took(float(value["seconds"]), int(value["bytes"]))
            if 0 < work.values < math.inf and 0 < took.seconds < math.inf:
                known.setdefault(group, []).append((work, took))
    return known
