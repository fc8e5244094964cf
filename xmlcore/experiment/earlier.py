"""Results that were kept before results were plain values: found by their old keys, and read as plain values.

Until version 0.1 a result was a pickled instance of a class of this package, and its key held a hash of all code. Such
results are not found by a task's key. A workspace still names them, and :func:`find` computes their old keys.
"""

import functools
import sys
import threading
from types import ModuleType

from xmlcore import store
from xmlcore.ranking import Ranking

# Module -> classes that old pickles name.
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
    """Attributes of an instance of a class that is no more."""


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
    return {"measures": value}  # parts of ensembles were kept as a DataFrame


def find(folder: str, source: str, params: dict) -> str | None:
    """Return the key of a result that was kept before keys had versions; None without one.

    Parameters
    ----------
    folder : str
        The store's name for the kind.
    source : str
        Fingerprint or key of what it was made from.
    params : dict
        All parameters, as they counted for the key.
    """
    for code in _codes(folder, store.changed(folder)):
        key = store.key_with_code(folder, source, params, code)
        if store.exists(folder, key):
            return key
    return None


@functools.lru_cache(maxsize=64)
def _codes(folder, changed) -> tuple[str, ...]:
    """Hashes of code that made old results, newest first; ``changed`` is when the folder did, so results are reused."""
    entries = store.entries(folder)
    return tuple(dict.fromkeys(one["code_version"] for one in entries if "code_version" in one))


class _old_modules:
    """While this context lasts, pickles find a :class:`Recorded` where old modules had their classes."""

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
