"""Processes that share a cache folder, such as two servers, compute the same result once: the others wait for it."""

import contextlib
import time

from xmlcore.progress import Progress
from xmlcore.state import database, holders

PHASE = "Waiting for another process that computes the same"
LOOK_AGAIN = 0.2  # seconds between two looks whether the other process has ended


@contextlib.contextmanager
def turn(key: str, progress: Progress):
    """Keep other processes from computing the result with a key; wait until no other process computes it."""
    waited = False
    while not (hold := _taken(key)):
        waited = True
        progress(PHASE, 0.0)
        time.sleep(LOOK_AGAIN)
    with hold:
        yield waited


def _taken(key):
    """Return a context that ends the turn with a key; None if it is another run's."""
    with contextlib.suppress(OSError):
        hold = holders.take(database(), f"turn/{key}", elsewhere=False)
        return None if hold is None else _ending(hold)
    return contextlib.nullcontext()


@contextlib.contextmanager
def _ending(hold):
    """End a turn after the block. A full disk is no error: the turn ends with the process."""
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            hold.release()
