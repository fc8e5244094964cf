"""How much memory the values take that one server keeps for all sessions, and which are forgotten to make room.

All values of all functions of :func:`pages.shared.server.shared` together are bounded by their bytes: those that were
used longest ago are forgotten, and are made or read again when a page needs them.
"""

import functools
import logging
import mmap
import os
import pickle
import threading
import time
from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from xmlcore import store
from xmlcore.jobs import memory

VARIABLE = "XMLCORE_SERVER_MEMORY"
SHARE = 0.25  # of the machine's memory, for the values if the variable is not set
MOST = 1000  # values of each function, however small they are
UNKNOWN = 4 << 30  # bytes for the values on a machine that does not tell its memory
NEEDED_SECONDS = 60.0  # for which a value that was used is not forgotten: a page may be drawing with it
CEILING = 3  # times the bound, above which values are forgotten however lately they were used
OF_TEXT = 54  # bytes that a text and the reference to it take beside its letters


class _Known(NamedTuple):
    bytes: int
    used: float  # when it was used last, by time.monotonic()


class Values:
    """The values that are kept for all sessions, at most ``bound()`` bytes: how large each is, and when it was used."""

    def __init__(self, bound):
        self._bound = bound
        self._lock = threading.Lock()
        self._known = OrderedDict()  # (function, arguments) -> _Known, those used last at the end
        self._of = {}  # function -> its arguments in that order
        self.bytes = 0

    def has(self, function, arguments: tuple) -> bool:
        """Return whether a value is kept."""
        return (function, arguments) in self._known

    def used(self, function, arguments: tuple, value, most: int) -> None:
        """Note that a value is used, and forget others if all are too large."""
        name = function, arguments
        with self._lock:
            known = self._known.get(name)
        size = _measured(value) if known is None else known.bytes  # without the lock: it may take a while
        with self._lock:
            self._remove(name)
            self._known[name] = _Known(size, time.monotonic())
            own = self._of.setdefault(function, OrderedDict())
            own[arguments] = None
            self.bytes += size
            while len(own) > most:  # the function itself has forgotten them
                self._remove((function, next(iter(own))))
            too_many = self._too_many()
        for function_, arguments_ in too_many:
            function_.clear(*arguments_)

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
        while self.bytes > self._bound() and len(self._known) > 1:
            name, known = next(iter(self._known.items()))
            if now - known.used < NEEDED_SECONDS and self.bytes <= CEILING * self._bound():
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


class _Counter(pickle.Pickler):
    """Counts the bytes of a value and of all that it refers to, by pickling it to nowhere."""

    def __init__(self):
        super().__init__(self, protocol=5, buffer_callback=self._buffer)
        self.objects, self.arrays = 0, {}

    def write(self, part):
        self.objects += len(part)

    def _buffer(self, buffer):
        self.objects += buffer.raw().nbytes

    def persistent_id(self, value):
        """Count what a text takes beside its letters."""
        self.objects += OF_TEXT if type(value) is str else 0

    def reducer_override(self, value):
        """Count the memory in which an array lies, once, and not if it is that of a file."""
        if not isinstance(value, np.ndarray) or value.dtype.hasobject:
            return NotImplemented
        while isinstance(value.base, np.ndarray):
            value = value.base
        is_mapped = isinstance(getattr(value.base, "obj", value.base), mmap.mmap)
        self.arrays[id(value)] = 0 if is_mapped else value.nbytes
        return len, ((),)


def _measured(value) -> int:
    counter = _Counter()
    try:
        counter.dump(value)
    except Exception:  # what cannot be pickled, or is being changed by another session, counts as far as it was read
        logging.getLogger(__name__).debug("a value was measured in part", exc_info=True)
    finally:
        counter.clear_memo()  # which refers to the value
    return counter.objects + sum(counter.arrays.values())


values = Values(bound)
