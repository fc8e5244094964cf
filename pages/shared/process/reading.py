"""Reading ahead: the first data of pages are read in the background, so that they open quickly."""

import contextlib
import importlib
import logging
import threading
from collections import OrderedDict

from pages.shared import cached
from pages.shared.process import garbage, job_queue
from pages.shared.process.turns import serving
from xmlcore import explain, store
from xmlcore.store import cache_root

READER = "xmlcore-read-ahead"  # name of the threads that read in the background
LATER = ("scipy.stats", "pandas.io.formats.style")  # modules that are not needed before there is a result
MOST_AHEAD = 1000  # names that are remembered of what was read in the background
_ahead = OrderedDict()  # what was read in the background, with its cache folder -> its version, newest last
_one_reads = threading.Lock()  # held by the thread that reads in the background


def is_unread(name: str, version: int = 0) -> bool:
    """Return whether something has still to be read in the background, and remember that it is read now."""
    named = str(cache_root()), name
    if not serving.is_set() or _ahead.get(named) == version or job_queue.compiling() is not None:
        return False
    _ahead.pop(named, None)  # to put it at the end; another session may do the same now
    _ahead[named] = version
    if len(_ahead) > MOST_AHEAD:
        _ahead.popitem(last=False)
    return True


def read_ahead(read) -> None:
    """Call a function without arguments in the background: it reads data for pages ahead."""
    later = threading.Timer(garbage.CALM, _read, [read])
    later.name, later.daemon = READER, True
    later.start()


def _read(read):
    """Call a function of :func:`read_ahead`; first import slow modules that only some pages and figures need."""
    with _one_reads:  # several at once would keep pages waiting
        for name in LATER:
            importlib.import_module(name)
        with contextlib.suppress(store.StoreError, OSError, ValueError):  # the page that needs it says what is wrong
            read()


def read_run(key: str) -> None:
    """Read a run, its data set and its model, and explain a prediction, which prepares the model and loads kernels."""
    if not cached.run(key).has_model:
        return
    x = cached.dataset(cached.run(key).fingerprint).X_test[[0]]
    first = cached.model(key).predict_topk(x, 1).labels[0]
    explain.contributions(cached.model(key), x, max(int(first[0]), 0))


def says_nothing_of_reader(record):
    """Return False for Streamlit's warnings that a spinner of :func:`read_ahead` belongs to no page."""
    return record.threadName != READER or record.levelno > logging.WARNING
