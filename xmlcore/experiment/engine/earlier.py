"""Reads results of early versions, which were not kept as plain values, by their old keys.

Until version 0.1 a result was a pickled instance of a class of this package, and its key held a hash of all code. The
key of a task does not find such a result; :func:`find` computes its old key.
"""

import functools
import sys
import threading
from types import ModuleType

from xmlcore import store
from xmlcore.artifact_keys import key_with_code
from xmlcore.ranking import Ranking

# Modules of early versions -> their classes whose instances were pickled.
CLASSES = {
    "xmlcore.experiment._runs": ("Run",),
    "xmlcore.experiment._selection": ("Selection",),
    "xmlcore.experiment._judged": ("Judged", "Stability"),
    "xmlcore.experiment._reduced": ("Reduced",),
    "xmlcore.experiment._robustness": ("Robustness",),
    "xmlcore.experiment._explanations": ("Explanations",),
    "xmlcore.experiment._sampling": ("Sampling",),
}
_lock = threading.Lock()


class Recorded:
    """Holds the attributes of an unpickled instance whose class no longer exists."""


def read(folder: str, key: str) -> dict:
    """Read a kept result as a dict of plain values, whichever version wrote it; raises as :func:`store.load` does."""
    if "task" in store.info(folder, key):
        return store.load(folder, key)
    with _old_modules():
        value = store.load(folder, key)
    if isinstance(value, Recorded):
        value = dict(vars(value))
        if isinstance(value.get("ranking"), Ranking):
            value["ranking"] = value["ranking"]._asdict()
        return value
    return {"measures": value}  # early versions kept measures of parts of ensembles as a DataFrame


def find(folder: str, source: str, params: dict) -> str | None:
    """Return the key of a result that was kept before keys had versions; None without one."""
    for code in _codes(folder, store.changed(folder)):
        key = key_with_code(folder, source, params, code)
        if store.exists(folder, key):
            return key
    return None


@functools.lru_cache(maxsize=64)
def _codes(folder, changed) -> tuple[str, ...]:
    """Return the hashes of code in the records of old results, newest first.

    ``changed``, the time of the last change of the folder, makes the cache forget this when the folder changes.
    """
    entries = store.entries(folder)
    return tuple(dict.fromkeys(one["code_version"] for one in entries if "code_version" in one))


class _old_modules:
    """Context in which classes of old modules are unpickled as subclasses of :class:`Recorded`."""

    def __enter__(self):
        _lock.acquire()
        for module, names in CLASSES.items():
            stand_in = ModuleType(module)
            for name in names:
                setattr(stand_in, name, type(name, (Recorded,), {}))
            sys.modules[module] = stand_in

    def __exit__(self, *_):
        for module in CLASSES:
            sys.modules.pop(module, None)
        _lock.release()
