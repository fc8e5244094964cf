"""The worker's side of a job: run the function, write progress and log, return the outcome.

Only plain values cross between the processes. The function and its arguments arrive as bytes and are unpickled here,
and an exception is returned as text: an exception that cannot be pickled or unpickled would break the whole pool.
"""

import contextlib
import json
import logging
import os
import socket
import threading
import time
import traceback
import warnings
from collections import deque
from pathlib import Path

from xmlcore.jobs.memory import Usage
from xmlcore.progress import Cancelled
from xmlcore.system import CACHE_VARIABLE, atomic_write

RECORD = "progress.json"
CANCEL = "cancel"
LOG = "log.json"
LOG_LINES = 200  # lines of a job's log that are kept: the last ones
INTERVAL = 0.1  # least time between two records of one phase, and two checks for a cancellation, in seconds
BEAT = 1.0  # most time between two records of a job that runs in a process of its own, in seconds
LARGEST_VALUE = 10_000_000  # largest return value that is kept, in bytes
_runs_jobs_only = False  # this process
LONGEST_LINE = 300  # longest text of an error or of a progress detail, in characters


def where_am_i() -> str:
    """Return a name for this process that is unique among all machines."""
    return f"{socket.gethostname()}:{os.getpid()}"


def runs_jobs_only() -> bool:
    """Return whether this process is a worker, in which limits for a job touch nothing else."""
    return _runs_jobs_only


def pickled(value) -> bytes:
    """Return the pickle of a value, which may be a function without an importable name, such as one of a notebook."""
    # cloudpickle is part of joblib before 1.5 and a package of its own since; loky's module finds it in both cases.
    from joblib.externals.loky.cloudpickle_wrapper import dumps

    return dumps(value)


def unpickled(data: bytes):
    """Return the value that :func:`pickled` has turned into bytes."""
    from joblib.externals.loky.cloudpickle_wrapper import loads

    return loads(data)


class Reporter:
    """Writes the progress of a job to a small file, and raises :class:`Cancelled` when the job was cancelled."""

    def __init__(self, folder):
        self._folder = Path(folder)
        self._lock = threading.Lock()  # reports may come from several threads of a job
        self._started = time.time()
        self._phase = None
        self._fraction = 0.0
        self._detail = ""
        self._seconds = {}  # of each phase that has begun
        self._phase_since = self._written = time.monotonic()
        self._stop = False
        self._usage = Usage()
        self._log = deque(maxlen=LOG_LINES)
        self._logged = False  # whether there are lines that the file does not have
        self._log_written = 0.0  # when the file was written, by time.monotonic

    def begin(self):
        self._check_cancel()
        self._write(time.monotonic())

    def __call__(self, phase, fraction, detail=""):
        now = time.monotonic()
        if phase == self._phase and now - self._written < INTERVAL and not self._stop:
            self._fraction, self._detail = fraction, detail
            return
        with self._lock:
            if phase != self._phase:
                if self._phase is not None:
                    self._seconds[self._phase] += now - self._phase_since
                self._seconds.setdefault(phase, 0.0)
                self._phase, self._phase_since = phase, now
                self.note(phase)
            self._fraction, self._detail = fraction, detail
            self._check_cancel()
            self._write(now)

    def end(self):
        """Return the last record, which becomes part of the outcome and is not written to the file."""
        with self._lock:
            return self._record(time.monotonic())

    def note(self, text):
        """Add a line to the job's log, with the time of day."""
        line = " ".join(str(text).split())[:LONGEST_LINE]
        self._log.append(f"{time.strftime('%H:%M:%S')} {line}")
        self._logged = True

    def log(self):
        return list(self._log)

    def beat(self):
        """Write a record if none was written for a while, so that memory and log are up to date."""
        with self._lock:
            now = time.monotonic()
            if now - self._written >= BEAT / 2:
                self._write(now)

    def _check_cancel(self):
        """Raise Cancelled if the job was cancelled or its folder is missing."""
        if not self._stop:
            try:
                self._stop = CANCEL in os.listdir(self._folder)
            except FileNotFoundError:
                self._stop = True
            except OSError:  # a short failure of a shared file system must not stop hours of work
                pass
        if self._stop:
            raise Cancelled

    def _record(self, now):
        """Return the progress as a dict that JSON can hold; ``now`` is by time.monotonic."""
        seconds = dict(self._seconds)
        if self._phase is not None:
            seconds[self._phase] += now - self._phase_since
        fraction = float(self._fraction)
        present, peak = self._usage.now()
        return {
            "pid": os.getpid(),
            "memory": present,
            "memory_at_start": self._usage.at_start,
            "memory_peak": peak,
            "started": self._started,
            "written": time.time(),
            "phase": self._phase or "",
            "fraction": min(max(fraction, 0.0), 1.0) if fraction == fraction else 0.0,
            "detail": str(self._detail)[:LONGEST_LINE],
            "phases": seconds,
        }

    def _write(self, now):
        self._written = now
        put(self._folder / RECORD, self._record(now))
        if self._logged and now - self._log_written >= BEAT / 2:
            self._log_written = now
            self._logged = not put(self._folder / LOG, self.log())


class _ToLog(logging.Handler):
    def __init__(self, reporter):
        super().__init__(logging.INFO)
        self._reporter = reporter

    def emit(self, record):
        with contextlib.suppress(Exception):  # a message that cannot be formatted must not end the job
            self._reporter.note(f"{record.levelname.capitalize()}: {record.getMessage()}")


@contextlib.contextmanager
def _own_process(reporter):
    """Have warnings and messages of this process go to a job's log, and its record be written now and then."""
    handler, ended, package = _ToLog(reporter), threading.Event(), logging.getLogger("xmlcore")

    def beat():
        while not ended.wait(BEAT):
            reporter.beat()

    def show(message, category, filename, lineno, file=None, line=None):
        reporter.note(f"{category.__name__}: {message}")

    level = package.level
    with warnings.catch_warnings():
        warnings.showwarning = show
        logging.getLogger().addHandler(handler)
        package.setLevel(min(package.getEffectiveLevel(), logging.INFO))
        beating = threading.Thread(target=beat, name="xmlcore-beat", daemon=True)
        beating.start()
        try:
            yield
        finally:
            package.setLevel(level)
            logging.getLogger().removeHandler(handler)
            ended.set()
            beating.join()


def run(payload: bytes, folder: str, cache: str, submitter: str) -> dict:
    """Run one job, and return its outcome: a result, a failure or a cancellation."""
    global _runs_jobs_only
    own_process = where_am_i() != submitter
    if own_process:
        _runs_jobs_only = True
        os.environ[CACHE_VARIABLE] = cache
    reporter = Reporter(folder)
    outcome = outcome_of("done")
    try:
        reporter.begin()
        with _own_process(reporter) if own_process else contextlib.nullcontext():
            function, args, kwargs = unpickled(payload)
            del payload
            value = pickled(function(*args, progress=reporter, **kwargs))
        outcome["value_bytes"] = len(value)
        if len(value) <= LARGEST_VALUE:
            outcome["value"] = value
    except Cancelled:
        outcome["state"] = "cancelled"
    except BaseException as error:  # SystemExit too: the worker process must not end
        outcome["state"] = "failed"
        outcome["error"], outcome["fault"] = one_line(error), getattr(error, "fault", None)
        outcome["traceback"] = "".join(
            traceback.format_exception(type(error), error, error.__traceback__ and error.__traceback__.tb_next)
        )
    outcome["record"] = reporter.end()
    outcome["log"] = reporter.log()
    outcome["ended"] = time.time()
    return outcome


def record_of(phase: str = "", detail: str = "") -> dict:
    """Return the progress record of a job that has just begun, or waits."""
    now = time.time()
    phases = {phase: 0.0} if phase else {}
    return {"started": now, "written": now, "phase": phase, "fraction": 0.0, "detail": detail, "phases": phases}


def outcome_of(state: str, error: str | None = None) -> dict:
    return {"state": state, "value": None, "value_bytes": 0, "error": error, "traceback": error, "log": []}


def put(path: Path, value) -> bool:
    """Replace a file of JSON in one step, and return whether that was possible."""
    try:
        with atomic_write(path, lasting=False) as file:
            file.write(json.dumps(value).encode())
    except OSError:  # the disk is full, the job has ended, or (on Windows) the file is being read
        return False
    return True


def read(path: Path):
    """Return what a file of JSON holds; None without it, or (on Windows) while it is replaced."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def one_line(error: BaseException) -> str:
    """Return why a job failed, in one line for users."""
    message = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        text = f"Not enough memory: {message}" if message else "Not enough memory"
    else:
        text = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 3] + "..."
