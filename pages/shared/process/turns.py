"""Few pages are drawn at once: more would not be ready sooner, as Python runs one thread at a time.

Each time a thread waits, if only to read a small file, it stands behind all others before it goes on. With 50 visitors
at once, all pages took longer and the server answered nobody for seconds.

A page that begins slow work gives up its turn: it makes a value that is not in memory, looks at a file of the
user's in another process, or makes a PDF. ``serving`` says whether a server runs: tests run pages without one.
"""

import contextlib
import threading

AT_ONCE = 2  # pages
LONGEST = 3.0  # seconds that a page waits for its turn, at most: those before it may wait for something themselves
_places = threading.Semaphore(AT_ONCE)
_thread = threading.local()


@contextlib.contextmanager
def turn():
    """Wait until few other pages are being drawn; until the end, or :func:`give_up`, this one is."""
    _thread.has_place = _places.acquire(timeout=LONGEST)
    try:
        yield
    finally:
        give_up()


def give_up() -> None:
    """Let another page be drawn, as this one begins slow work; without a turn, do nothing."""
    if getattr(_thread, "has_place", False):
        _thread.has_place = False
        _places.release()


serving = threading.Event()  # set while a server runs
