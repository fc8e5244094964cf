"""The worker's side of a job: run the function, write progress records, return the outcome.

Only plain values cross between the processes. The function and its arguments arrive as bytes and are unpickled here,
and an exception is returned as text: an exception that cannot be pickled or unpickled would break the whole pool.
"""

import json
import os
import socket
import threading
import time
import traceback
from pathlib import Path

from xmlcore.progress import Cancelled
from xmlcore.system import CACHE_VARIABLE

RECORD = "progress.json"
CANCEL = "cancel"
INTERVAL = 0.1  # least seconds between two checks for a cancellation, and between two records of one phase
LARGEST_VALUE = 10_000_000  # bytes of a return value; a larger one is refused
LONGEST_LINE = 300  # characters of an error in one line


def where_am_i() -> str:
    """Return a name for this process that is unique among all machines."""
    return f"{socket.gethostname()}:{os.getpid()}"


def pickled(value) -> bytes:
    """Pickle a value, also one that has no importable name, such as a function of a notebook."""
    # cloudpickle came inside joblib until 1.5 and beside it since; loky's module finds the right one in both.
    from joblib.externals.loky.cloudpickle_wrapper import dumps

    return dumps(value)


def unpickled(data: bytes):
    """Undo :func:`pickled`."""
    from joblib.externals.loky.cloudpickle_wrapper import loads

    return loads(data)


class Reporter:
    """Progress of a job: writes a small record to its folder, and raises :class:`Cancelled` when it is to stop.

    Parameters
    ----------
    folder : str
        The job's folder, made by the queue. When it is gone, nobody waits for the job any more, and it stops.
    """

    def __init__(self, folder):
        self._folder = Path(folder)
        self._lock = threading.Lock()  # reports may come from several threads of a job
        self._started = time.time()
        self._phase = None
        self._fraction = 0.0
        self._detail = ""
        self._seconds = {}
        self._phase_since = self._written = time.monotonic()
        self._stop = False

    def begin(self):
        """Tell the queue that the job runs now."""
        self._check_cancel()
        self._write(time.monotonic())

    def __call__(self, phase, fraction, detail=""):
        """Report; see :class:`xmlcore.progress.Progress`."""
        now = time.monotonic()
        if phase == self._phase and now - self._written < INTERVAL and not self._stop:
            self._fraction, self._detail = fraction, detail
            return
        with self._lock:
            if phase != self._phase:
                self._close_phase(now)
                self._seconds.setdefault(phase, 0.0)
                self._phase = phase
            self._fraction, self._detail = fraction, detail
            self._check_cancel()
            self._write(now)

    def end(self):
        """Take the last record, for the outcome; nothing is written any more."""
        with self._lock:
            return self._record(time.monotonic())

    def _close_phase(self, now):
        if self._phase is not None:
            self._seconds[self._phase] += now - self._phase_since
        self._phase_since = now

    def _check_cancel(self):
        if not self._stop:
            try:
                self._stop = CANCEL in os.listdir(self._folder)
            except FileNotFoundError:
                self._stop = True
            except OSError:  # a shared file system that stumbles must not stop hours of work
                pass
        if self._stop:
            raise Cancelled

    def _record(self, now):
        seconds = dict(self._seconds)
        if self._phase is not None:
            seconds[self._phase] += now - self._phase_since
        fraction = float(self._fraction)
        return {
            "started": self._started,
            "written": time.time(),
            "phase": self._phase or "",
            "fraction": min(max(fraction, 0.0), 1.0) if fraction == fraction else 0.0,
            "detail": str(self._detail)[:LONGEST_LINE],
            "phases": seconds,
        }

    def _write(self, now):
        self._written = now
        record = self._record(now)
        temporary = self._folder / f"{RECORD}.new"
        try:
            temporary.write_text(json.dumps(record), encoding="utf-8")
            os.replace(temporary, self._folder / RECORD)
        except OSError:  # a full disk, or (on Windows) a reader: the next report tries again
            pass


def run(payload: bytes, folder: str, cache: str, submitter: str) -> dict:
    """Run one job to its end, whatever that is.

    Parameters
    ----------
    payload : bytes
        Pickled ``(function, args, kwargs)``.
    folder : str
        The job's own.
    cache : str
        Cache folder of the process that submitted the job: it looks for results there.
    submitter : str
        :func:`where_am_i` of that process.

    Returns
    -------
    dict
        ``state`` ("done", "failed" or "cancelled"), ``value`` (bytes or None), ``value_bytes``, ``error``,
        ``traceback``, ``ended`` (seconds since 1970) and ``record``, the last one.
    """
    if where_am_i() != submitter:
        os.environ[CACHE_VARIABLE] = cache
    reporter = Reporter(folder)
    outcome = {"state": "done", "value": None, "value_bytes": 0, "error": None, "traceback": None}
    try:
        reporter.begin()
        function, args, kwargs = unpickled(payload)
        del payload
        value = pickled(function(*args, progress=reporter, **kwargs))
        outcome["value_bytes"] = len(value)
        if len(value) <= LARGEST_VALUE:
            outcome["value"] = value
    except Cancelled:
        outcome["state"] = "cancelled"
    except BaseException as error:  # also SystemExit: the worker lives on
        outcome["state"] = "failed"
        outcome["error"] = one_line(error)
        outcome["traceback"] = "".join(
            traceback.format_exception(type(error), error, error.__traceback__ and error.__traceback__.tb_next)
        )
    outcome["record"] = reporter.end()
    outcome["ended"] = time.time()
    return outcome


def one_line(error: BaseException) -> str:
    """Return why a job failed, in one line for users."""
    message = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        text = f"Not enough memory: {message}" if message else "Not enough memory"
    else:
        text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 3] + "..."
