"""Which process this is, among all that there were, and whether another one still runs."""

import ctypes
import os
import socket


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
