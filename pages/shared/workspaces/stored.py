"""Workspaces in the database: found by a hash of the token, and kept in memory while the disk is full.

The key of a row is a hash of the workspace's token. So whoever sees the keys, such as in a backup, cannot open the
workspaces.
"""

import contextlib
import hashlib
import json
import re
import threading
import time
from collections import OrderedDict

from xmlcore import store
from xmlcore.state import database
from xmlcore.system import cache_root

TOKEN = re.compile(r"[0-9a-f]{32}")
TABLE = "workspaces"
DECISIONS = "reviews"  # the table of decisions, whose keys begin with that of their workspace
DAYS = 14  # workspaces of mere visits are kept, since they were opened last
MOST_BEGUN = 10_000  # workspaces in which nothing was kept yet: the newest of this process
_lock = threading.RLock()  # of the four below
_waiting = {}  # (cache folder, token) -> JSON of a workspace that could not be written
_written = {}  # the same for those that the present change writes -> their fields
_begun = OrderedDict()  # the same for those in which nothing was kept yet, so that a mere request writes nothing
_depth = 0  # how often the thread that has the lock is within changing()


def row(token: str) -> str:
    """Return the key of a workspace's row; ValueError when ``token`` is not a token."""
    if not TOKEN.fullmatch(token):
        raise ValueError("not a workspace token")
    return hashlib.blake2b(token.encode(), digest_size=16).hexdigest()


def exists(token: str) -> bool:
    """Return whether there is a workspace with a token, in the database or in memory only."""
    return _in_memory(token) is not None or database().has(TABLE, row(token))


def read(token: str):
    """Return the fields of a workspace, or those that could not be written; None without such a workspace."""
    text = _in_memory(token)
    return database().get(TABLE, row(token)) if text is None else json.loads(text)


def _in_memory(token) -> str | None:
    key = str(cache_root()), token
    with _lock:
        return _waiting.get(key, _begun.get(key))


def begin(token: str, data: dict) -> None:
    """Begin a workspace, in memory: it is written when something in it is changed."""
    with _lock:
        _begun[str(cache_root()), token] = json.dumps(data)
        while len(_begun) > MOST_BEGUN:
            _begun.popitem(last=False)


def write(token: str, data: dict) -> None:
    key, text = row(token), json.dumps(data)
    with changing():
        try:
            database().put(TABLE, key, data)
            _written[str(cache_root()), token] = text
        except OSError:
            _waiting[str(cache_root()), token] = text
        _begun.pop((str(cache_root()), token), None)


def save_waiting() -> bool:
    """Write the workspaces of this process that could not be written before; return whether none waits any more."""
    with _lock:
        mine = {token: text for (root, token), text in _waiting.items() if root == str(cache_root())}
        for token, text in mine.items() if store.trouble(0) is None else ():
            write(token, json.loads(text))
        return not any(waits(token) for token in mine)


def waits(token: str) -> bool:
    return (str(cache_root()), token) in _waiting


def damage() -> str | None:
    """Return the name that the damaged database has now, for a day."""
    return next((row.value for row in database().rows("notices") if row.written > time.time() - 86400), None)


def note_opened(token: str) -> None:
    """Let the row of a workspace say when it was opened last: see :func:`remove_visits`."""
    with contextlib.suppress(OSError):
        database().touch(TABLE, row(token))


@contextlib.contextmanager
def changing():
    """Keep all other threads and processes from changing workspaces; may be entered again within itself."""
    global _depth
    with _lock, contextlib.ExitStack() as transaction:
        _depth += 1
        try:
            if _depth == 1:
                with contextlib.suppress(OSError):  # without a database nobody waits
                    transaction.enter_context(database().change())
            yield
            if _depth == 1:
                _end(transaction)
        finally:
            _depth -= 1
            if not _depth:
                _written.clear()


def _end(transaction) -> None:
    """End the transaction of a change; if it cannot be written, it waits in memory."""
    try:
        transaction.close()
        for key in _written:
            _waiting.pop(key, None)
    except OSError:
        _waiting.update(_written)


def remove_visits(now: float | None = None) -> int:
    """Remove workspaces that nobody has opened for :data:`DAYS` days and in which nothing was made or decided.

    Decisions of a workspace that is gone are removed, too.
    """
    before = (time.time() if now is None else now) - 24 * 3600 * DAYS
    with database().change():
        old = [row for row in database().rows(TABLE) if row.written < before and isinstance(row.value, dict)]
        written = database().written(DECISIONS)
        decided = {key.partition("/")[0] for key in written}
        visits = [row.key for row in old if row.key not in decided and _is_visit(row.value)]
        count, kept = sum(database().remove(TABLE, key) for key in visits), database().written(TABLE)
        for key in (key for key, when in written.items() if when < before and key.partition("/")[0] not in kept):
            database().remove(DECISIONS, key)
        return count


def _is_visit(data) -> bool:
    """Return whether nothing was made in a workspace, or a read-only address shows one that is gone."""
    if isinstance(data.get("look_of"), str):
        shown = data["look_of"]
        return TOKEN.fullmatch(shown) is None or not exists(shown)
    entries = [entry for name in ("runs", "selections", "made", "jobs") for entry in data.get(name) or ()]
    keys = [entry["key"] if isinstance(entry, dict) else entry[1] for entry in entries]
    unasked = all(data.get("unasked", {}).get(key) is True for key in keys)
    from_catalog = all(entry["source"] == "catalog" for entry in data.get("known", {}).values())
    return unasked and from_catalog and not data.get("sweeps") and not data.get("forms")
