"""Reading ahead: the result shown is read in the background, so that pages about it open quickly."""

import contextlib
import importlib
import logging
import threading
from collections import OrderedDict

from pages.shared import cached
from pages.shared.process import job_queue, turns
from xmlcore import explain, store
from xmlcore.store import cache_root

READER = "xmlcore-read-ahead"  # name of the threads that read in the background
LATER = ("scipy.stats", "pandas.io.formats.style")  # modules that are not needed before there is a result
MOST_AHEAD = 1000  # runs that are remembered
_ahead = OrderedDict()  # keys of runs that were read in the background, with their cache folders, newest last
_one_reads = threading.Lock()  # held by the thread that reads in the background


def read_ahead(key: str) -> None:
    named = str(cache_root()), key
    if not turns.serving.is_set() or named in _ahead or job_queue.compiling() is not None:
        return
    _ahead[named] = True
    if len(_ahead) > MOST_AHEAD:
        _ahead.popitem(last=False)
    later = threading.Timer(turns.CALM, _read, [key])
    later.name, later.daemon = READER, True
    later.start()


def _read(key):
    """Read a run, its data set and its model, and explain a prediction, which prepares the model and loads kernels."""
    with _one_reads:  # several at once would keep pages waiting
        for name in LATER:
            importlib.import_module(name)
        # The page that needs it says what is wrong.
        with contextlib.suppress(store.StoreError, OSError, ValueError):
            if cached.run(key).has_model:
                x = cached.dataset(cached.run(key).fingerprint).X_test[[0]]
                first = cached.model(key).predict_topk(x, 1).labels[0]
                explain.contributions(cached.model(key), x, max(int(first[0]), 0))


def says_nothing_of_reader(record):
    """Return False for Streamlit's warnings that a spinner of :func:`read_ahead` belongs to no page."""
    return record.threadName != READER or record.levelno > logging.WARNING
