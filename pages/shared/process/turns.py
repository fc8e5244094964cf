"""Few pages are drawn at once: more would not be ready sooner, as Python runs one thread at a time.

Each time a thread waits, if only to read a small file, it stands behind all others before it goes on. With 50 visitors
at once, all pages took longer and the server answered nobody for seconds.

A page that begins slow work gives up its turn: it makes a value that is not in memory, or looks at a file of the
user's in another process. ``serving`` says whether a server runs: tests run pages without one.

Garbage of Python is collected between the runs of pages, when nobody waits for an answer.
"""

import contextlib
import gc
import sys
import threading
import time

import streamlit as st

from xmlcore import system

AT_ONCE = 2  # pages
LONGEST = 3.0  # seconds that a page waits for its turn, at most: those before it may wait for something themselves
_places = threading.Semaphore(AT_ONCE)
_thread = threading.local()
serving = threading.Event()  # set while a server runs
CALM = 1.0  # seconds from the end of a page's run until garbage is collected, and results are read in the background
MANY_MODULES = 50  # imports after which garbage is no longer looked for in what is there
UNTIDY = 30.0  # seconds for which garbage may wait when pages are drawn all the time, such as for several sessions
_drawn = 0.0  # when a page's run ended last, by time.monotonic()
_imported = 0  # modules that had been imported when :func:`collect` last looked at everything


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


def collect(everything: bool) -> None:
    """Collect garbage, and give memory that is free back to the system."""
    # No page is answered meanwhile: that takes some tenths of a second, unless it leaves out what was there when much
    # had been imported. That is hardly ever garbage, and what of it is, such as a session that was open then, is found
    # when everything is looked at.
    global _imported
    if everything:
        gc.unfreeze()
    gc.collect()
    if everything or len(sys.modules) >= _imported + MANY_MODULES:
        gc.freeze()
        _imported = len(sys.modules)
    system.return_free_memory()


def tidy_later() -> None:
    """Note that a page's run has ended."""
    # Streamlit would collect garbage then, before the browser has the page's last elements: see ``postScriptGC`` in
    # .streamlit/config.toml.
    global _drawn
    _drawn = time.monotonic()


def keep_tidy(ended) -> None:
    """Collect garbage a while after runs of pages, and once more when closed tabs are over, until ``ended`` is set."""
    tidy = whole = _drawn  # the ends of the last runs after which garbage, and all of it, was collected
    since = None  # when garbage began to wait
    while not ended.wait(CALM):
        now, drawn = time.monotonic(), _drawn
        if drawn > tidy:
            since = now if since is None else since
            if now >= drawn + CALM or now >= since + UNTIDY:
                tidy, since = drawn, None
                collect(everything=False)
        # Objects of closed tabs become garbage when Streamlit no longer waits for them to return.
        elif tidy > whole and now >= tidy + st.get_option("server.disconnectedSessionTTL") + UNTIDY:
            whole = tidy
            collect(everything=True)
