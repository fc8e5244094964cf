"""How much memory this machine has, how much of it jobs may still take, and how much a process uses."""

import contextlib
import os
import sys
import threading
import weakref
from pathlib import Path

from xmlcore.system import free_bytes as available  # noqa: F401 -- what processes may still take
from xmlcore.system import memory_of_control_groups, return_free_memory

_watching = weakref.WeakSet()  # all objects of the class Usage: the kernel knows one peak for a process
_beginning = threading.Lock()  # jobs in threads begin at once


def total() -> int | None:
    """Return the memory in bytes of the machine, or of the container if that has less; None if it is not known."""
    limit = memory_of_control_groups()
    try:
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        machine = None
    if limit is None:
        return machine
    return limit[0] if machine is None else min(machine, limit[0])


class Usage:
    """The memory of this process from now on."""

    def __init__(self):
        return_free_memory()  # of earlier work: else what comes takes it, and the process seems not to grow
        self.at_start = self._peak = resident()
        self._exact = False
        with _beginning:
            if sys.platform == "linux":
                for other in list(_watching):
                    other.now()  # notes the peak that is forgotten in the next step
                with contextlib.suppress(OSError):
                    Path("/proc/self/clear_refs").write_text("5")  # Linux forgets the peak of this process
                    self._exact = True
            _watching.add(self)

    def now(self) -> tuple[int | None, int | None]:
        """Return the bytes of this process in memory, and the most since the object was made."""
        present = resident()
        if present is not None:
            highest = _status("VmHWM:") if self._exact else None
            self._peak = max(self._peak or 0, present, highest or 0)
        return present, self._peak


def resident() -> int | None:
    return _status("VmRSS:")


def _status(field):
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
            return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(field)), None)
    except (OSError, ValueError, IndexError):
        return None
