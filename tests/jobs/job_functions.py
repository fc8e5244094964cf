"""What the tests of jobs run in workers, which import it by name."""

import ctypes
import os
import sys
import time

from xmlcore.progress import Cancelled, silent


def add(a, b, *, progress=silent):
    progress("Adding", 0.5, f"{a} and {b}")
    return a + b


def niceness(progress):
    """Return the priority of this process."""
    return os.nice(0)


def lower_by(niceness):
    """The priority of a process that gives way to this one by so much: 19 is the lowest there is."""
    return min(os.nice(0) + niceness, 19)


def where(progress=silent):
    """About the worker."""
    return {
        "pid": os.getpid(),
        "modules": sorted(sys.modules),
        "path": sys.path,
        "cache": os.environ.get("XMLCORE_CACHE"),
        "main": getattr(sys.modules["__main__"], "__file__", None),
    }


def fail(message, progress=silent):
    progress("Failing", 0.25)
    raise ValueError(message)


class TwoArguments(Exception):
    """Pickles, and cannot be unpickled."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def fail_oddly(progress=silent):
    raise TwoArguments("one", "two")


def need_memory(progress=silent):
    import numpy as np

    return np.ones(10**15).sum()


def leave(progress=silent):
    sys.exit("enough")


def vanish(progress=silent):
    """End the process."""
    progress("Vanishing", 0.1)
    os.kill(os.getpid(), 9) if os.name == "posix" else os._exit(1)


def crash(progress=silent):
    ctypes.string_at(0)


def big(n, progress=silent):
    return bytes(n)


def until(path, progress=silent):
    """Report until a file is there."""
    for _ in range(3000):
        progress("Waiting", 0.5, "for a file")
        if os.path.exists(path):
            return os.getpid()
        time.sleep(0.01)
    raise TimeoutError


def deaf(seconds, progress=silent):
    progress("Not listening", 0.0)
    time.sleep(seconds)


def stubborn(progress=silent):
    """Turns its cancelling into another failure."""
    try:
        until("never", progress)
    except Cancelled:
        raise RuntimeError("fell over") from None


def phases(progress=silent):
    for name, seconds in (("Reading", 0.05), ("Training", 0.25), ("Reading", 0.05)):
        for step in range(10):
            progress(name, step / 10, f"{step} of 10")
            time.sleep(seconds / 10)
    progress("Reading", 2.0, "10 of 10")


def write_artifact(key, progress=silent):
    from xmlcore import store

    store.save("runs", key, "from a worker")
    return key


_running = []


def count_others(progress=silent):
    """Return how many calls of this function run at the moment, in threads of this process."""
    _running.append(None)
    found = len(_running)
    time.sleep(0.002)
    _running.pop()
    return found


def talk(n_bytes, progress=silent):
    """Say something in all ways, with ``n_bytes`` of memory."""
    import logging
    import warnings

    kept = bytearray(n_bytes)
    progress("Talking", 0.0)
    warnings.warn("too warm", stacklevel=1)
    logging.getLogger("xmlcore.models").info("trained 3 trees")
    logging.getLogger("other").info("not for users")
    logging.getLogger("other").warning("disk is slow")
    progress("Leaving", 1.0, str(len(kept)))


def chatter(n, progress=silent):
    for number in range(n):
        progress(f"Phase {number} {'x' * number}", 0.0)
