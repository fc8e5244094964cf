"""Of processes that need the same kernels at the same time, one compiles them, and the others load its code."""

import contextlib
import os
import time
from collections.abc import Iterator

from xmlcore._kernels._jit import CACHE_FOLDER

COMPILING = "Compiling code, once"  # Phase that progress reports, and title of the job that compiles all.
POLL_SECONDS = 0.05  # Time between two looks whether another process is done.
LONGEST_WAIT = 120.0  # After so many seconds a process does not wait any longer but compiles the kernels itself.


@contextlib.contextmanager
def compile_lock(piece: str, wait: bool = True) -> Iterator[bool]:
    """Let one process at a time run a ``with`` statement, among those that use the same compiled kernels."""
    try:
        CACHE_FOLDER.mkdir(parents=True, exist_ok=True)
        file = os.open(CACHE_FOLDER / f"{piece}.lock", os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:  # nothing can be kept in the folder, so there is nothing to wait for
        yield True
        return
    try:
        latest = time.monotonic() + (LONGEST_WAIT if wait else 0.0)
        while not (mine := _lock(file)) and time.monotonic() < latest:
            time.sleep(POLL_SECONDS)
        yield mine or wait
    finally:
        os.close(file)  # this releases the lock


def _lock(file) -> bool:
    """Lock an open file; return False if another process has locked it."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a file system without locks
        return True
    return True
