"""How much memory the values take that one server keeps for all sessions, and which are forgotten to make room.

All values of all functions of :func:`pages.shared.cached.shared` together are bounded by their bytes: those that were
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
from typing import Any, NamedTuple

import numpy as np

from pages.shared.process import turns
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
    value: Any
    bytes: int
    used: float  # when it was used last, by time.monotonic()


class Values:
    """The values that are kept for all sessions, at most ``bound()`` bytes."""

    def __init__(self, bound):
        self._bound = bound
        self._lock = threading.Lock()
        self._known = OrderedDict()  # (function, arguments) -> _Known, those used last at the end
        self._making = {}  # the same for those that are being made -> a lock
        self.bytes = 0

    def get(self, function, arguments: tuple, make, most: int):
        """Return the value kept for a function, else that of ``make()``, which one session calls while others wait."""
        name = function, arguments
        with self._lock:
            if name in self._known:
                return self._use(name)
            making = self._making.setdefault(name, threading.Lock())
        turns.give_up()
        with making:
            with self._lock:
                if name in self._known:
                    return self._use(name)
            try:
                value = make()
                size = _measured(value)  # without the lock: it may take a while
            finally:
                with self._lock:
                    self._making.pop(name, None)
            with self._lock:
                self._known[name] = _Known(value, size, 0.0)
                self.bytes += size
                self._use(name)
                own = [other for other in self._known if other[0] == function]
                for other in own[: max(0, len(own) - most)]:
                    self._remove(other)
                self._forget_oldest()
        return value

    def forget(self) -> None:
        with self._lock:
            self._known.clear()
            self.bytes = 0

    def _use(self, name):
        self._known[name] = self._known[name]._replace(used=time.monotonic())
        self._known.move_to_end(name)
        return self._known[name].value

    def _remove(self, name):
        self.bytes -= self._known.pop(name).bytes

    def _forget_oldest(self):
        while self.bytes > self._bound() and len(self._known) > 1:
            name, known = next(iter(self._known.items()))
            if time.monotonic() - known.used < NEEDED_SECONDS and self.bytes <= CEILING * self._bound():
                break
            self._remove(name)


def bound() -> int:
    """Return the most bytes that all values may take: as the variable says, or a share of the machine's memory."""
    return _bound(os.environ.get(VARIABLE, "").strip())


@functools.lru_cache(maxsize=8)
def _bound(text):
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
        """Count the memory of a text beside its letters."""
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
