"""Who did what, for the operator: a line of JSON for each upload, job, deletion and refusal, in a file that rotates.

::

    <cache>/log/audit.jsonl      the newest lines; older ones in audit.jsonl.1 to audit.jsonl.9

Each line has ``time`` (UTC), ``event``, ``user`` (as the provider of the sign-in names him; null without sign-in) and
``workspace`` (a hash of its token, which does not open it), and what the event was about: kinds, keys, sizes. No line
has content of data, or a name that a user gave.
"""

import contextlib
import json
import logging
import os
import threading
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler

from pages.shared.operator import accounts
from pages.shared.process import room
from pages.shared.workspaces import stored, workspace
from xmlcore.system import cache_root, make_private, secure_cache

SIZE_VARIABLE, FILES_VARIABLE = "XMLCORE_AUDIT_SIZE", "XMLCORE_AUDIT_FILES"
SIZE = 10_000_000  # bytes of a file, by default
FILES = 10  # files, by default
_lock = threading.Lock()
_open = {}  # the handler by the folder of the cache


def note(event: str, **about) -> None:
    """Write a line on what the present session does; see :func:`write`."""
    who = accounts.user()
    write(event, None if who is None else who.name, workspace.token(), **about)


def write(event: str, user: str | None, token: str | None, **about) -> None:
    """Write a line; a disk that is full or gone is no error: what users do goes on."""
    line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, "user": user}
    line |= {"workspace": None if token is None else room.pinner(token), **about}
    with contextlib.suppress(OSError, ValueError), _lock:
        handler = _handler()
        with stored.changing():  # several servers may have one cache
            # A line break within a value is written as \n, so a line is always one event.
            handler.emit(logging.LogRecord("audit", logging.INFO, "", 0, json.dumps(line), None, None))
            handler.close()  # another server may give the file another name before the next line


def _handler():
    root = str(cache_root())
    if root not in _open:
        folder = make_private(secure_cache() / "log")
        _open[root] = _Private(
            folder / "audit.jsonl",
            maxBytes=whole_number(SIZE_VARIABLE, SIZE),
            backupCount=max(1, whole_number(FILES_VARIABLE, FILES) - 1),
            encoding="utf-8",
            delay=True,
        )
    return _open[root]


def whole_number(variable: str, default: int | None) -> int | None:
    """Return the whole number in an environment variable; the default if it is not set."""
    text = os.environ.get(variable, "").strip()
    if not text:
        return default
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{variable} is {text!r}: give a whole number of 1 or more")
    return int(text)


class _Private(RotatingFileHandler):
    """A file that only this user can read, whatever the umask. Lines that cannot be written are left out."""

    def _open(self):
        handle = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        return os.fdopen(handle, "a", encoding="utf-8")

    def handleError(self, record):
        """Do nothing: logging would write a traceback to the server's log for each line."""
