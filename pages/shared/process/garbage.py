"""Garbage of Python is collected between the runs of pages, when nobody waits for an answer."""

import gc
import sys
import threading
import time

import streamlit as st

from pages.shared.process.turns import serving
from xmlcore import system

CALM = 1.0  # seconds from the end of a page's run until results are read in the background
MANY_MODULES = 50  # imports after which garbage is no longer looked for in what is there
UNTIDY = 30.0  # seconds for which garbage may wait when pages are drawn all the time, such as for several sessions
_tidying = threading.Timer(0, gc.collect)  # collects garbage a while after the last run of a page; not started yet
_tidy_by = None  # when garbage is collected at the latest, by time.monotonic(); None when no collection is due
_asked = 0.0  # when the timer was started, by time.monotonic()
_tidy_lock = threading.Lock()
_imported = 0  # modules that had been imported when :func:`collect` last looked at everything


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
    """Collect garbage when no page's run has ended for a while, or at the latest after :data:`UNTIDY`."""
    # Streamlit would collect it after each run of a page, before the browser has the page's last elements: see
    # ``postScriptGC`` in .streamlit/config.toml.
    global _tidying, _tidy_by, _asked
    now = time.monotonic()
    if not serving.is_set() or (_tidy_by is not None and now < _asked + CALM):  # a thread for each run would take long
        return
    with _tidy_lock:  # sessions have threads of their own
        _asked = now
        _tidy_by = now + UNTIDY if _tidy_by is None else _tidy_by
        _tidying.cancel()
        _tidying = threading.Timer(min(2 * CALM, max(0.0, _tidy_by - now)), _tidy)
        _tidying.daemon = True
        _tidying.start()


def _tidy(is_first=True):
    """Collect garbage now, and once more when the sessions of closed tabs are over, unless pages are drawn before."""
    global _tidying, _tidy_by
    with _tidy_lock:
        _tidy_by = None
    collect(everything=not is_first)
    with _tidy_lock:
        if not is_first or _tidy_by is not None or not serving.is_set():
            return
        # What belongs to tabs that have been closed becomes garbage when Streamlit no longer waits for them to return.
        _tidying = threading.Timer(st.get_option("server.disconnectedSessionTTL") + UNTIDY, _tidy, [False])
        _tidying.daemon = True
        _tidying.start()


def stop() -> None:
    """Collect no garbage any more: the server ends."""
    _tidying.cancel()
