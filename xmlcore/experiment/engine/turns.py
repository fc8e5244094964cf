"""Processes that share a cache folder, such as two servers, compute the same result once: the others wait for it."""

import contextlib
import os
import time

from xmlcore.progress import Progress
from xmlcore.system import cache_root, make_private, secure_cache

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

PHASE = "Waiting for another process that computes the same"
LOOK_AGAIN = 0.2  # seconds between two looks whether the other process has ended


@contextlib.contextmanager
def turn(key: str, progress: Progress):
    """Keep other processes from computing the result with a key; wait until no other process computes it.

    A process that is killed ends its turn. Where files cannot be locked, as on a full disk or on Windows, all compute.
    """
    handle, waited = None, False
    path = _folder() / key
    try:
        while fcntl is not None:
            try:
                secure_cache()
                make_private(path.parent)
                handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(handle, path):
                    break
                os.close(handle)  # whoever had its turn has removed the file meanwhile
                handle = None
            except BlockingIOError:
                os.close(handle)
                handle, waited = None, True
                progress(PHASE, 0.0)
                time.sleep(LOOK_AGAIN)
            except OSError:
                break
        yield waited
    finally:
        if handle is not None:
            with contextlib.suppress(OSError):
                path.unlink()  # before it is unlocked: nobody may hold a file that is not there
            os.close(handle)


def remove_old(older_than: float) -> int:
    """Remove the files of turns that processes had when they were killed."""
    removed = 0
    for path in list(_folder().glob("*")) if fcntl is not None else ():
        with contextlib.suppress(OSError):  # a process has its turn, or has just ended it
            if time.time() - path.stat().st_mtime <= older_than:
                continue
            handle = os.open(path, os.O_RDWR)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if _is_at(handle, path):
                    path.unlink()
                    removed += 1
            finally:
                os.close(handle)
    return removed


def _folder():
    """Return the folder of the files that processes lock while it is their turn."""
    return cache_root() / "jobs" / "turns"


def _is_at(handle, path) -> bool:
    """Return whether an open file is the one at a path."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
