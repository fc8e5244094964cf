"""Holds: names that only one run at a time may have, among all processes that share a database.

Each has a row that names its process. A process that was killed holds nothing any more, which the next one finds out by
its number and time of start. Of a process on another machine nothing can be found out: see :func:`is_held`.
"""

import ctypes
import os
import socket
import time
import uuid

TABLE = "holders"
ELSEWHERE_SECONDS = 24 * 3600  # after which a process of another machine, which may be gone, holds nothing any more
_own = set()  # ids of what this process holds


class Hold:
    """A name held by a run of this process; :func:`take` makes it."""

    def __init__(self, database, name, about):
        self._database, self._name = database, name
        self._holder = {"id": uuid.uuid4().hex, "since": time.time(), **this_process(), **about}
        _own.add(self._holder["id"])
        self.note()

    def note(self, **about) -> None:
        self._holder |= about
        self._database.put(TABLE, self._name, self._holder)

    def release(self) -> None:
        _own.discard(self._holder["id"])
        with self._database.change():
            if (self._database.get(TABLE, self._name) or {}).get("id") == self._holder["id"]:
                self._database.remove(TABLE, self._name)


def take(database, name: str, elsewhere: bool = True, **about) -> Hold | None:
    """Take the hold of a name; None if another run has it. ``elsewhere``: as for :func:`is_held`."""
    with database.change():
        holder = database.get(TABLE, name)
        return None if holder is not None and is_held(holder, elsewhere) else Hold(database, name, about)


def is_held(holder: dict, elsewhere: bool = True) -> bool:
    """Return whether the run that a row names may still go on; ``elsewhere`` if it began on another machine today."""
    if not isinstance(holder, dict) or not holder.keys() >= {"id", "host", "pid", "since"}:
        return False
    if holder["pid"] == os.getpid() and runs(holder):
        return holder["id"] in _own
    running = runs(holder)
    if running is None:
        return elsewhere and time.time() - holder["since"] < ELSEWHERE_SECONDS
    return running


def remove_dead(database, older_than: float = 0.0) -> int:
    """Remove the old rows of processes that were killed; return how many."""
    old = (row for row in database.rows(TABLE) if time.time() - row.written >= older_than)
    dead = [row.key for row in old if not is_held(row.value)]
    return sum(database.remove(TABLE, key) for key in dead)


# --- which process this is, among all that there were, and whether another one still runs ---


def this_process() -> dict:
    """Return what distinguishes this process from all others that there were: machine, number and time of start."""
    return {"host": socket.gethostname(), "pid": os.getpid(), "began": _began(os.getpid())}


def runs(process: dict) -> bool | None:
    """Return whether a process may still run, given by :func:`this_process`; None for one of another machine."""
    if process["host"] != socket.gethostname():
        return None
    pid, began = int(process["pid"]), process.get("began")
    if os.name != "nt":
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except OSError:  # of another user
            pass
        return began is None or _began(pid) in (None, began)  # another process may have the number by now
    return began is None or _began(pid) == began


def _began(pid):
    """Return when a process began, in the units of the system; None where it does not say, or without the process."""
    if os.name == "nt":
        return _began_on_windows(pid)
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


def _began_on_windows(pid):
    system, times, status = ctypes.windll.kernel32, (ctypes.c_ulonglong * 4)(), ctypes.c_ulong()
    system.OpenProcess.restype = ctypes.c_void_p
    handle = ctypes.c_void_p(system.OpenProcess(0x1000, False, pid))  # only to ask for what is no secret
    if not handle:
        return None
    size = ctypes.sizeof(ctypes.c_ulonglong)
    places = [ctypes.byref(times, number * size) for number in range(4)]
    known = system.GetProcessTimes(handle, *places) and system.GetExitCodeProcess(handle, ctypes.byref(status))
    system.CloseHandle(handle)
    return times[0] if known and status.value == 259 else None  # 259: it still runs
