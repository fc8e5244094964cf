"""Files of workspaces: found by a hash of the token, written in one step, and kept in memory while the disk is full.

A file's name is a hash of the workspace's token. So whoever sees the names of the files, such as in the list of a
backup, cannot open the workspaces.
"""

import contextlib
import hashlib
import json
import os
import re
import tempfile
import threading
import time
from pathlib import Path

from xmlcore import store
from xmlcore.system import cache_root, make_private, secure_cache

TOKEN = re.compile(r"[0-9a-f]{32}")
LOCK = "workspaces.lock"  # in the cache folder: held by the process that changes a workspace
_unsaved = {}  # (cache folder, token) -> fields of a workspace that could not be written
_lock = threading.RLock()  # writers of workspace files in this process
_held = threading.local()  # its attribute ``depth``: how often this thread is within locked()


def folder() -> Path:
    """Return the folder of all workspaces."""
    return cache_root() / "workspaces"


def path(token: str) -> Path:
    """Return the file of a workspace; ValueError when ``token`` is not a token.

    A file of an early version was named by the token itself: it is renamed.
    """
    if not TOKEN.fullmatch(token):
        raise ValueError("not a workspace token")
    file, old = folder() / _name(token), folder() / f"{token}.json"
    if old.is_file():
        _rename(old, file)
    return file


def _name(token) -> str:
    """Return the name of a workspace's file."""
    return f"w-{hashlib.blake2b(token.encode(), digest_size=16).hexdigest()}.json"


def _rename(old, file):
    """Give the file of an early version its name, unless there is a newer one."""
    with contextlib.suppress(OSError):
        if file.exists():
            old.unlink()
        else:
            os.replace(old, file)


def rename_old() -> int:
    """Rename all files of workspaces that an early version has named by their tokens; return how many."""
    found = [old for old in folder().glob("*.json") if TOKEN.fullmatch(old.stem)]
    for old in found:
        _rename(old, folder() / _name(old.stem))
    return len(found)


def exists(token: str) -> bool:
    """Return whether there is a workspace with a token, on the disk or in memory only."""
    return path(token).is_file() or (str(cache_root()), token) in _unsaved


def read(token: str):
    """Return what the file of a workspace holds, or what could not be written to it; None if it cannot be read."""
    with _lock:
        waiting = _unsaved.get((str(cache_root()), token))
    if waiting is not None:
        return json.loads(waiting)
    with contextlib.suppress(OSError, ValueError):
        return json.loads(path(token).read_text(encoding="utf-8"))
    return None


def all_but(token: str):
    """Yield what the files of all other workspaces hold, those of this machine."""
    own = path(token)
    for file in folder().glob("*.json"):
        if file != own:
            with contextlib.suppress(OSError, ValueError):
                yield json.loads(file.read_text(encoding="utf-8"))


def write(token: str, data: dict) -> None:
    """Write a workspace to its file; a reader sees either the old or the new file.

    If the disk is full or cannot be written to, the workspace stays in the memory of this process: see
    :func:`save_waiting`.
    """
    text, key = json.dumps(data, ensure_ascii=False), (str(cache_root()), token)
    with _lock:
        try:
            _write(path(token), text)
            _unsaved.pop(key, None)
        except OSError:
            _unsaved[key] = text


def save_waiting() -> bool:
    """Write the workspaces of this process that could not be written before; return whether none waits any more."""
    with _lock:
        for (root, token), text in list(_unsaved.items()):
            if root == str(cache_root()) and store.trouble(0) is None:
                with contextlib.suppress(OSError):
                    _write(path(token), text)
                    del _unsaved[root, token]
        return not any(root == str(cache_root()) for root, _ in _unsaved)


def waits(token: str) -> bool:
    """Return whether a workspace is in memory only."""
    return (str(cache_root()), token) in _unsaved


def _write(file, text):
    """Replace a file in one step."""
    make_private(secure_cache() / "workspaces")
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".tmp-", suffix=".json")  # private to this user
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as opened:
            opened.write(text)
        os.replace(name, file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def remove_stale(older_than: float = store.STALE_SECONDS) -> None:
    """Remove files that a killed process has begun to write, when they are older than so many seconds."""
    for file in folder().glob(".tmp-*"):
        with contextlib.suppress(OSError):
            if time.time() - file.stat().st_mtime > older_than:
                file.unlink()


@contextlib.contextmanager
def locked():
    """Keep all other threads and processes from changing workspaces; may be entered again within itself."""
    with _lock:
        depth = getattr(_held, "depth", 0)
        _held.depth = depth + 1
        try:
            with contextlib.nullcontext() if depth else across_processes(LOCK):
                yield
        finally:
            _held.depth = depth


@contextlib.contextmanager
def across_processes(name: str):
    """Hold a lock file of the cache folder; without one (a full disk, Windows), nobody waits."""
    try:
        import fcntl

        handle = os.open(cache_root() / name, os.O_RDWR | os.O_CREAT, 0o600)
    except (ImportError, OSError):
        yield
        return
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
