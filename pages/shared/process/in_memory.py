"""How much memory the values take that one server keeps for all sessions, and which are forgotten to make room.

Each function of :func:`pages.shared.server.shared` keeps a number of values, which says nothing of their size. Here all
of them together are bounded by their bytes: those that were used longest ago are forgotten, and are made or read again
when a page needs them.
"""

import functools
import gc
import os
import sys
import threading
import time
import types
import weakref
from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from xmlcore import store
from xmlcore.jobs import memory

VARIABLE = "XMLCORE_SERVER_MEMORY"
SHARE = 0.25  # of the machine's memory, for the values if the variable is not set
UNKNOWN = 4 << 30  # bytes for the values on a machine that does not tell its memory
NEEDED_SECONDS = 60.0  # for which a value that was used is not forgotten: a page may be drawing with it
_ATOMS = frozenset({str, bytes, int, float, complex, bool, type(None)})
# What is no part of a value that refers to it: code, and what threads share.
_SHARED = (
    type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType, types.FrameType,
    weakref.ReferenceType, threading.Thread,
)  # fmt: skip


class _Known(NamedTuple):
    """What is known of a value."""

    bytes: int
    views: list  # in which pandas notes the views of its tables
    used: float  # when it was used last, by time.monotonic()


class Values:
    """The values that are kept for all sessions: how large each is, and when it was used last.

    Parameters
    ----------
    bound : callable
        Returns the most bytes that all values may take.
    """

    def __init__(self, bound):
        self._bound = bound
        self._lock = threading.Lock()
        self._known = OrderedDict()  # (function, arguments) -> _Known, those used last at the end
        self._of = {}  # function -> its arguments in that order
        self.bytes = 0

    def used(self, function, arguments: tuple, value, most: int) -> None:
        """Note that a value is used, and forget others if all are too large."""
        name = function, arguments
        with self._lock:
            known = self._known.get(name)
        size, views = known[:2] if known is not None else _measured(value)  # without the lock: it may take a while
        with self._lock:
            self._remove(name)
            self._known[name] = _Known(size, views, time.monotonic())
            own = self._of.setdefault(function, OrderedDict())
            own[arguments] = None
            self.bytes += size
            while len(own) > most:  # the function itself has forgotten them
                self._remove((function, next(iter(own))))
            too_many = self._too_many()
        for function_, arguments_ in too_many:
            function_.clear(*arguments_)

    def forget_views(self) -> None:
        """Have pandas forget views that are gone: it notes hundreds of them for each part of a table that is kept."""
        with self._lock:
            found = [one for known in self._known.values() for one in known.views]
        for one in found:
            one.has_reference()  # looks for a view that is not gone, and forgets the others

    def forget(self) -> None:
        """Forget what is known of all values: all functions have forgotten theirs."""
        with self._lock:
            self._known.clear()
            self._of.clear()
            self.bytes = 0

    def _remove(self, name):
        function, arguments = name
        known = self._known.pop(name, None)
        if known is not None:
            del self._of[function][arguments]
            self.bytes -= known.bytes

    def _too_many(self):
        """Remove and return the names of the values that are to be forgotten."""
        found, now = [], time.monotonic()
        while self.bytes > self._bound():
            name, known = next(iter(self._known.items()))
            if now - known.used < NEEDED_SECONDS:
                break
            self._remove(name)
            found.append(name)
        return found


def bound() -> int:
    """Return the most bytes that all values may take: as the variable says, or a share of the machine's memory."""
    return _bound(os.environ.get(VARIABLE, "").strip())


@functools.lru_cache(maxsize=8)
def _bound(text):
    """Return the most bytes for a text of the variable."""
    if text:
        return store.parse_size(text, VARIABLE)
    machine = memory.total()
    return UNKNOWN if machine is None else int(SHARE * machine)


def _measured(value):
    """Return the bytes of a value and all that it refers to, without code and files mapped into memory."""
    noting = getattr(sys.modules.get("pandas._libs.internals"), "BlockValuesRefs", ())
    views, total, seen, left = [], 0, set(), [[value]]  # left: lists of objects, some of which may be known
    while left:
        some = left.pop()
        if _ATOMS.issuperset(map(type, some)):  # not looked up one by one: there may be millions
            total += sum(map(sys.getsizeof, some))
            continue
        for one in some:
            if type(one) in _ATOMS:
                total += sys.getsizeof(one)
            elif id(one) not in seen and not isinstance(one, _SHARED):
                seen.add(id(one))
                if isinstance(one, noting):
                    views.append(one)
                size, parts = _own_bytes(one)
                total += size
                left.append(parts)
    return total, views


def _own_bytes(one):
    """Return the bytes of an object without its parts, and its parts."""
    if isinstance(one, np.ndarray):
        within = [one.base] if one.base is not None else one.ravel().tolist() if one.dtype.hasobject else []
        return sys.getsizeof(one), within
    # What an object says itself may have the size of its parts, such as that of a DataFrame.
    size = object.__sizeof__(one) if type(one).__module__.startswith("pandas") else sys.getsizeof(one)
    return size, gc.get_referents(one)


values = Values(bound)
