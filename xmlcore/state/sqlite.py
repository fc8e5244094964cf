"""A SQLite file with tables of rows: connections, transactions, and what is done when the file is damaged."""

import contextlib
import errno
import functools
import json
import logging
import math
import os
import sqlite3
import threading
import time
import uuid
from pathlib import Path
from typing import Any, NamedTuple

from xmlcore.system import CACHE_VARIABLE, cache_root, make_private, secure_cache

FILE = "state.sqlite"  # in the cache folder
VERSION = 2  # of the tables; with a further one it is raised, else files that exist count as damaged
TABLES = (
    "workspaces",  # hash of the token -> fields of a workspace
    "users",  # user -> {token: when it was opened}
    "jobs",  # id of a job -> its record
    "pins",  # "kind/key/who" -> true
    "settings",  # name -> value: the bound on the size of the store, what was removed to make room
    "times",  # "what/number" -> what was measured: see Database.append
    "sweeps",  # key of a sweep that is not finished -> keys that it needs
    "holders",  # name of what one run at a time may have -> its process
    "notices",  # what is to be said once
    "reviews",  # "workspace/data set/time" -> a decision of a reviewer
)
_HEAD = 100  # bytes with which every database begins
BUSY_SECONDS = 20.0  # for which a change waits for that of another process
WHOLE_SECONDS = 5.0  # of changes that only the file "-wal" may have
MOST_IDLE = 8  # connections that are kept open
_ERRNO = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_PERM: errno.EACCES,
    sqlite3.SQLITE_BUSY: errno.EBUSY,
}
_TYPES = (str, str, float)  # of a row that is not damaged
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_NO_FILE = f"Make it a file that can be read and written, move it away, or name another folder in {CACHE_VARIABLE}."
_log = logging.getLogger("xmlcore.state")


class StateError(OSError):
    """The database could not be read or changed: a full disk, a folder that is gone, or a damaged file."""


class _DamagedError(StateError):
    """The file is damaged."""


class Row(NamedTuple):
    """A row of a table: its key, its value, and when it was written, in seconds since 1970."""

    key: str
    value: Any
    written: float


def database() -> "Database":
    """Return the database of the present cache folder and process."""
    return _of_process(os.getpid(), cache_root() / FILE)


@functools.cache
def _of_process(pid, path) -> "Database":
    """Return the database of a process: a forked process leaves the connections of its parent alone."""
    return Database(path)


class Database:
    """A SQLite file with the tables of :data:`TABLES`; it is made at the first access.

    A connection is used by one thread at a time. Whoever has a database only uses it in the process that made it.
    All methods raise StateError, an OSError, when the file cannot be read or changed. A damaged file is set aside under
    another name, and replaced by one with what can be read of it.
    """

    def __init__(self, path):
        self.path = Path(path)
        self._idle = []
        self._whole = -math.inf  # when this process has last written all rows of the file "-wal" into the file itself
        self._changing = threading.local()  # its attribute ``connection``: that of this thread's transaction

    def get(self, table: str, key: str, default: Any = None) -> Any:
        """Return the value of a row; ``default`` without such a row, or if its text is no JSON."""
        for row in self._select(table, "WHERE key = ?", key):
            return row.value
        return default

    def has(self, table: str, key: str) -> bool:
        return bool(self._read(f"SELECT 1 FROM {_checked(table)} WHERE key = ?", key))

    def rows(self, table: str, prefix: str = "") -> list[Row]:
        """Return the rows of a table whose keys begin with a text, by their keys."""
        return self._select(table, "WHERE key >= ? AND key < ? ORDER BY key", prefix, f"{prefix}\U0010ffff")

    def written(self, table: str) -> dict[str, float]:
        return dict(self._read(f"SELECT key, written FROM {_checked(table)}"))

    def put(self, table: str, key: str, value: Any) -> None:
        """Write a row, in place of the one with the same key."""
        row = key, json.dumps(value), time.time()
        self._run(f"INSERT OR REPLACE INTO {_checked(table)} (key, value, written) VALUES (?, ?, ?)", *row)
        self._make_whole()

    def append(self, table: str, group: str, value: Any, most: int) -> None:
        """Add a row to those whose keys begin with ``group/``, and keep the newest ``most`` of them."""
        with self.change():
            self.put(table, f"{group}/{time.time_ns():020d}-{uuid.uuid4().hex[:6]}", value)
            for row in self.rows(table, f"{group}/")[:-most]:
                self.remove(table, row.key)

    def touch(self, table: str, key: str) -> None:
        """Note that a row was written now, with the value that it has."""
        self._run(f"UPDATE {_checked(table)} SET written = ? WHERE key = ?", time.time(), key)

    def remove(self, table: str, key: str) -> bool:
        """Remove a row; return whether it was there."""
        with self.change():
            self._run(f"DELETE FROM {_checked(table)} WHERE key = ?", key)
            return self._run("SELECT changes()") == [(1,)]

    @contextlib.contextmanager
    def change(self):
        """Make one transaction of all that this thread reads and writes in the block: all of it happens, or nothing."""
        if self._changes() is not None:
            yield
            return
        with self._connection() as connection:
            self._changing.connection = connection
            try:
                self._run("BEGIN IMMEDIATE")
                yield
                self._run("COMMIT")
            finally:
                self._changing.connection = None
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        self._make_whole()

    def check(self) -> None:
        """Look at the whole file, and set it aside if it is damaged; called when a server starts."""
        with contextlib.suppress(_DamagedError), self._connection() as connection:
            if connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                raise _DamagedError(errno.EIO, f"{self.path} was damaged")

    def _make_whole(self):
        """Write all rows of the file "-wal" into the file itself, now and then: so few are lost if that is removed."""
        if self._changes() is None and time.monotonic() - self._whole > WHOLE_SECONDS:
            self._whole = time.monotonic()
            self._read("PRAGMA wal_checkpoint")

    def _changes(self):
        return getattr(self._changing, "connection", None)

    def _select(self, table, where, *values) -> list[Row]:
        rows = []
        for key, text, written in self._read(f"SELECT key, value, written FROM {_checked(table)} {where}", *values):
            with contextlib.suppress(ValueError, RecursionError):
                rows.append(Row(key, json.loads(text), written))
        return rows

    def _read(self, statement, *values) -> list:
        """Return what a query finds: nothing without a file, if none can be made, or without the folder for it."""
        if not self.path.parent.is_dir():
            return []
        try:
            return self._run(statement, *values)
        except OSError:
            if _size(self.path):
                raise
            return []

    def _run(self, statement, *values) -> list:
        """Run a statement, in the transaction of this thread, or as one of its own: again if the file was damaged."""
        if self._changes() is not None:
            with self._errors():
                return self._changes().execute(statement, values).fetchall()
        with contextlib.suppress(_DamagedError), self._connection() as connection:
            return connection.execute(statement, values).fetchall()
        with self._connection() as connection:  # of the new file
            return connection.execute(statement, values).fetchall()

    @contextlib.contextmanager
    def _errors(self):
        """Turn errors of SQLite into StateError, with a text of ours."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the code of which the others are kinds
            if code in _DAMAGE or "no such table" in str(error):
                raise _DamagedError(errno.EIO, f"{self.path} was damaged ({error})") from error
            advice = f". {_NO_FILE}" if code == sqlite3.SQLITE_CANTOPEN else ""
            raise StateError(_ERRNO.get(code, errno.EIO), f"{self.path}: {error}{advice}") from error

    @contextlib.contextmanager
    def _connection(self):
        """Lend a connection to the file that is there now; a damaged one is set aside."""
        identity, connection = None, None
        try:
            with self._errors():
                identity, connection = self._taken()
                yield connection
        except StateError as error:
            if connection is not None:
                connection.close()
                connection = None
            if isinstance(error, _DamagedError):
                self._set_aside(identity or _identity(self.path))
            raise
        finally:
            if connection is not None and identity is not None and len(self._idle) < MOST_IDLE:
                self._idle.append(((identity, _identity(f"{self.path}-wal")), connection))
            elif connection is not None:
                connection.close()

    def _taken(self):
        """Return the identity of the file, and a connection to it that no other thread uses."""
        identity = _identity(self.path)
        if identity is not None and _size(self.path) < _HEAD:  # it is never made so
            raise _DamagedError(errno.EIO, f"{self.path} is cut short")
        with contextlib.suppress(IndexError):  # none is idle
            while True:
                opened, connection = self._idle.pop()
                if opened == (identity, _identity(f"{self.path}-wal")):
                    return identity, connection
                connection.close()  # its file was deleted, or set aside; what only its file "-wal" has is written
        if identity is None:
            make_private(secure_cache() if self.path.parent == cache_root() else self.path.parent)
            with self._only_process():
                if not os.path.lexists(self.path):  # no other process was faster
                    self._put_in_place((), os.unlink)
            identity = _identity(self.path)
        connection = self._opened(self.path)
        try:
            self._prepare(connection)
        except sqlite3.OperationalError as error:
            connection.close()
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                raise
            # The disk is full, or the folder cannot be written to: all that can be done is to read, this once.
            way = "mode=ro" if _size(f"{self.path}-wal") else "immutable=1"  # which leaves out what is in that file
            return None, self._opened(f"{self.path.as_uri()}?{way}", uri=True)
        except BaseException:
            connection.close()
            raise
        return identity if os.access(self.path, os.W_OK) else None, connection  # without an identity: for this once

    @staticmethod
    def _opened(path, **options):
        """Open a connection that begins no transaction by itself."""
        options |= {"timeout": BUSY_SECONDS, "isolation_level": None, "check_same_thread": False}
        return sqlite3.connect(path, **options)

    def _prepare(self, connection):
        connection.execute("PRAGMA synchronous = NORMAL")  # a killed process loses nothing, nor does it damage anything
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            text = f"{self.path} was written by a later version of xmlcore: name another folder in {CACHE_VARIABLE}"
            raise StateError(errno.EINVAL, text)
        if version == VERSION:  # if a table is missing all the same, the file is damaged
            return
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        for table in TABLES:
            columns = "key TEXT PRIMARY KEY, value TEXT NOT NULL, written REAL NOT NULL"
            connection.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns})")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")

    def _put_in_place(self, rows, remove):
        """Make a file with rows: table, key, text, time. When it is whole, ``remove`` takes the old ones away."""
        new = self.path.with_name(f".{uuid.uuid4().hex[:6]}-{self.path.name}")
        try:
            os.close(os.open(new, os.O_CREAT | os.O_EXCL, 0o600))
            with contextlib.closing(self._opened(new)) as connection:
                self._prepare(connection)
                connection.execute("BEGIN")
                for table, *row in rows:
                    connection.execute(f"INSERT OR IGNORE INTO {table} VALUES (?, ?, ?)", row)
                connection.execute("COMMIT")
            for ending in ("-wal", "-shm", ""):  # "-wal" would be taken for that of the new file
                with contextlib.suppress(FileNotFoundError):
                    remove(f"{self.path}{ending}")
            os.rename(new, self.path)
        finally:
            for file in self.path.parent.glob(f"{new.name}*"):
                file.unlink()

    def _set_aside(self, identity):
        """Replace a damaged file by one with what can still be read of it, unless another process has done so."""
        name = f"damaged-{time.strftime('%Y%m%d-%H%M%S')}-{uuid.uuid4().hex[:6]}-{self.path.name}"

        def rename(old):
            os.rename(old, self.path.with_name(os.path.basename(old).replace(self.path.name, name)))

        with self._only_process():
            if identity is None or _identity(self.path) != identity:
                return
            self._put_in_place([("notices", "damaged", json.dumps(name), time.time()), *_readable(self.path)], rename)
        _log.error("%s was damaged: it is now called %s, and what can be read of it was taken over", self.path, name)

    @contextlib.contextmanager
    def _only_process(self):
        """Wait until no other process is in such a block of this file, or was killed in it."""
        path, until = self.path.with_name(f".{self.path.name}-aside"), time.monotonic() + BUSY_SECONDS
        while True:
            try:
                os.mkdir(path)
                break
            except FileExistsError:
                with contextlib.suppress(OSError):  # it is no longer there
                    if time.time() - path.stat().st_mtime > BUSY_SECONDS:  # by a process that was killed
                        path.rmdir()
                if time.monotonic() > until:
                    break
                time.sleep(0.02)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                os.rmdir(path)


def _readable(path) -> list:
    """Return the rows that can still be read in a damaged file: table, key, text, and when it was written."""
    for way in ("mode=ro", "immutable=1") if _size(path) else ():  # the second leaves out what is in the file "-wal"
        rows, address = [], f"{path.as_uri()}?{way}"
        with contextlib.suppress(sqlite3.Error), contextlib.closing(Database._opened(address, uri=True)) as connection:
            connection.execute("PRAGMA writable_schema = ON")  # a file that was cut short is read as well
            for table in TABLES:
                for order in ("rowid", "rowid DESC"):  # from both ends, up to a damaged page
                    query = f"SELECT key, value, written FROM {table} ORDER BY {order}"
                    with contextlib.suppress(sqlite3.Error):
                        for row in connection.execute(query):  # one by one: those before an error stay
                            if all(map(isinstance, row, _TYPES)):
                                rows.append((table, *row))
        if rows:
            return rows
    return []


def _size(path) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _checked(table) -> str:
    if table not in TABLES:
        raise ValueError(f"table must be one of {TABLES}, not {table!r:.200}")
    return table


def _identity(path):
    """Return what distinguishes a file from all others that there are; None without a file."""
    # The file is never opened for it: to close it would end the locks that SQLite has on it.
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino
