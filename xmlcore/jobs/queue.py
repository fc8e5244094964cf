"""A queue of jobs, and each job's state, progress, result and owners."""

import json
import os
import shutil
import socket
import threading
import time
import uuid
import weakref
from concurrent.futures import BrokenExecutor, CancelledError
from datetime import UTC, datetime
from pathlib import Path

from xmlcore.jobs import worker
from xmlcore.jobs.pool import WorkerPool, default_workers
from xmlcore.progress import Cancelled
from xmlcore.system import cache_root

POLL_SECONDS = 0.05  # least time between two readings of a job's record, in seconds
STALE_SECONDS = 7 * 24 * 3600  # age at which the records of a queue on another machine are removed, in seconds
_QUEUE_FILE = "queue.json"


class JobError(RuntimeError):
    """A job has no result.

    Parameters
    ----------
    message : str
        Why it has none.
    traceback : str, optional
        Traceback of the failure in the worker.

    Attributes
    ----------
    traceback : str or None
    """

    def __init__(self, message, traceback=None):
        super().__init__(message)
        self.traceback = traceback


class Job:
    """One piece of work, which :meth:`Queue.submit` makes.

    Its attributes may be read from any thread, and must not be changed.

    Parameters
    ----------
    queue : Queue
        The queue that runs the job.
    key : str or None
        The key given to :meth:`Queue.submit`.
    title : str
        What the work is, for the user.
    owner : str
        Who wants the job.

    Attributes
    ----------
    id : str
        Unique; hex digits.
    key : str or None
    title : str
    queued : datetime
        When the job was submitted (UTC).
    """

    def __init__(self, queue, key, title, owner):
        self.id = uuid.uuid4().hex[:16]
        self.key = key
        self.title = title
        self.queued = datetime.now(UTC)
        self._queue = queue
        self._lock = queue._lock
        self._owners = {owner: None}  # a dict keeps the order
        self._folder = queue.folder / self.id
        self._future = None
        self._over = threading.Event()  # set when the job has ended
        self._state = "queued"
        self._cancelling = False
        self._timer = None
        self._record = {}
        self._polled = -1.0  # when the record was last read, by time.monotonic
        self._value = None
        self._value_bytes = 0
        self._error = None
        self._traceback = None
        self._ended = None

    def __repr__(self):
        return f"<Job {self.id} {self.title!r} {self.state}>"

    @property
    def state(self) -> str:
        """``"queued"``, ``"running"``, ``"done"``, ``"failed"`` or ``"cancelled"``."""
        self._poll()
        return self._state

    @property
    def active(self) -> bool:
        """Whether the job waits or runs."""
        return not self._over.is_set()

    @property
    def cancelling(self) -> bool:
        """Whether the job was cancelled and has not stopped yet."""
        return self._cancelling and self.active

    @property
    def owners(self) -> tuple:
        """The owners of the job, in the order of their requests."""
        with self._lock:
            return tuple(self._owners)

    @property
    def phase(self) -> str:
        """The phase reported last, such as "Training nodes"; empty before the first report."""
        self._poll()
        return self._record.get("phase", "")

    @property
    def fraction(self) -> float:
        """The part of the present phase that is done, in [0, 1]; 1 when the job is done."""
        self._poll()
        return 1.0 if self._state == "done" else self._record.get("fraction", 0.0)

    @property
    def detail(self) -> str:
        """A text about the progress within the phase, such as ``"120 of 384 nodes"``; may be empty."""
        self._poll()
        return self._record.get("detail", "")

    @property
    def phases(self) -> dict:
        """Seconds spent in each phase so far, in the order in which the phases began."""
        self._poll()
        record = self._record
        phases = dict(record.get("phases", {}))
        if self.active and record.get("phase"):
            phases[record["phase"]] += max(0.0, time.time() - record["written"])
        return phases

    @property
    def started(self) -> datetime | None:
        """When a worker began the job (UTC, by the worker's clock)."""
        self._poll()
        return _utc(self._record.get("started"))

    @property
    def ended(self) -> datetime | None:
        """When the job was done, failed or was cancelled (UTC)."""
        return _utc(self._ended)

    @property
    def elapsed(self) -> float:
        """Seconds since a worker began the job, or that the job took if it has ended; 0 while it waits."""
        self._poll()
        started = self._record.get("started")
        if started is None:
            return 0.0
        return max(0.0, (self._ended or time.time()) - started)

    @property
    def error(self) -> str | None:
        """Why the job failed, in one line."""
        return self._error

    @property
    def traceback(self) -> str | None:
        """The full traceback of the failure."""
        return self._traceback

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the job has ended.

        Parameters
        ----------
        timeout : float, optional
            Largest number of seconds to wait; no limit when None.

        Returns
        -------
        bool
            Whether the job has ended.
        """
        return self._over.wait(timeout)

    def result(self, timeout: float | None = None):
        """Wait until the job has ended, and return what its function returned.

        Functions should return something small, such as a key of the store: at most 10 MB.

        Parameters
        ----------
        timeout : float, optional
            Largest number of seconds to wait; no limit when None.

        Returns
        -------
        object

        Raises
        ------
        TimeoutError
            The job has not ended after ``timeout`` seconds.
        JobError
            The job failed, or returned more than 10 MB.
        xmlcore.progress.Cancelled
            The job was cancelled.
        """
        if not self.wait(timeout):
            raise TimeoutError(f"{self.title!r} has not ended after {timeout} seconds")
        if self._state == "failed":
            raise JobError(self._error, self._traceback)
        if self._state == "cancelled":
            raise Cancelled
        if self._value is None:
            raise JobError(
                f"{self.title!r} returned {self._value_bytes / 1e6:.0f} MB, which is not kept; "
                "let the function put it in xmlcore.store and return its key"
            )
        return worker.unpickled(self._value)

    def _poll(self):
        """Read the progress record of the worker, unless this was done a moment ago, and update the state."""
        if self._over.is_set() or time.monotonic() - self._polled < POLL_SECONDS:
            return
        record = self._read()
        with self._lock:
            self._polled = time.monotonic()
            if record and not self._over.is_set() and record["written"] >= self._record.get("written", 0.0):
                self._record = record
                self._state = "running"

    def _read(self):
        """Return the progress record of the worker; None if there is none."""
        try:
            return json.loads((self._folder / worker.RECORD).read_text(encoding="utf-8"))
        except (OSError, ValueError):  # the worker has not begun, or (on Windows) is replacing the file
            return None

    def _finish(self, future):
        """Set the final state of the job. The future calls this once, from the thread in which it ended."""
        record = self._read()
        outcome = {"state": "failed", "value": None, "value_bytes": 0, "error": None, "traceback": None}
        try:
            outcome.update(future.result())
        except CancelledError:
            outcome["state"] = "cancelled"
        except BaseException as error:
            outcome["error"] = _reason(error)
            outcome["traceback"] = f"{type(error).__name__}: {error}" + (
                f"\n{error.__cause__}" if error.__cause__ else ""
            )
        with self._lock:
            if self._over.is_set():
                return
            self._record = outcome.get("record") or record or self._record
            if "record" not in outcome and self._record.get("phase"):  # add the time since the last report
                self._record["phases"][self._record["phase"]] += max(0.0, time.time() - self._record["written"])
            if self._cancelling and outcome["state"] == "failed":  # it was killed or stopped
                outcome["state"] = "cancelled"
                outcome["error"] = None
            self._state = outcome["state"]
            self._value, self._value_bytes = outcome["value"], outcome["value_bytes"]
            self._error, self._traceback = outcome["error"], outcome["traceback"]
            self._ended = outcome.get("ended", time.time())
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._future = None
            shutil.rmtree(self._folder, ignore_errors=True)
            self._over.set()
            self._queue._forget_old()


def _utc(seconds):
    """Turn seconds since 1970 into a datetime in UTC; None stays None."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _reason(error):
    """Return why a job has no result, in one line for users, from the exception of its future."""
    text = str(error)
    if isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker":  # KilledWorker is from Dask
        if "SIG" in text and "SIGKILL" not in text and "SIGTERM" not in text:
            names = [name for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL") if name in text]
            if names:
                return f"The worker process crashed ({names[0]})"
        return "The worker process ended unexpectedly (out of memory?)"
    return worker.one_line(error)


class Queue:
    """Jobs that wait, run or have ended, and the executor that runs them.

    Parameters
    ----------
    executor : concurrent.futures.Executor, optional
        Where jobs run; by default a :class:`~xmlcore.jobs.WorkerPool`. The queue never shuts down an executor that it
        is given.
    folder : path, optional
        Folder for the progress records of jobs; ``cache_root()/jobs`` by default. All workers must have access to it.
    n_workers : int, optional
        Number of jobs that the default executor runs at the same time; :func:`~xmlcore.jobs.default_workers` when None.
    grace : float
        The process of a cancelled job is killed if it has not stopped, at a progress report, after so many seconds.
    keep : int
        Number of ended jobs that stay in the list; the oldest are removed.

    Notes
    -----
    All methods may be called from any thread and return at once.
    """

    def __init__(self, executor=None, folder=None, n_workers=2, grace=5.0, keep=100):
        self._own_executor = executor is None
        self._executor = (
            WorkerPool(default_workers() if n_workers is None else n_workers) if executor is None else executor
        )
        parent = Path(folder).resolve() if folder is not None else cache_root() / "jobs"
        self.folder = parent / f"{int(time.time()):x}-{uuid.uuid4().hex[:8]}"
        self._grace = grace
        self._keep = keep
        self._lock = threading.RLock()  # reentrant: cancelling a future may call Job._finish at once
        self._jobs = {}  # by id, oldest first
        self._closed = False
        _remove_dead_queues(parent)

    def submit(self, function, /, *args, title, owner="", key=None, **kwargs) -> Job:
        """Add a job that calls ``function(*args, progress=..., **kwargs)`` in a worker.

        Parameters
        ----------
        function : callable
            Takes ``progress`` (see :class:`xmlcore.progress.Progress`) and calls it now and then. Workers import the
            function by the name of its module; a function from a script or notebook is sent to them. It must not be
            from a module that imports Streamlit.
        *args : object
            Arguments of the function. They are pickled now, so later changes do not reach it. Pass keys of the store,
            not large objects.
        title : str
            What the work is, for the user.
        owner : str
            Who requests the job, such as the id of a session.
        key : str, optional
            Identifies the result. While a job of the same key waits or runs, no second one is made: ``owner`` becomes
            another owner of the first one.
        **kwargs : object
            Further arguments of the function, pickled as ``args`` are.

        Returns
        -------
        Job
            A new job, or the one of the same key.
        """
        if not callable(function):
            raise TypeError(f"function must be callable, not {type(function).__name__}")
        if "progress" in kwargs:
            raise TypeError("progress is given by the worker; do not pass it")
        payload = worker.pickled((function, args, kwargs))
        with self._lock:
            if self._closed:
                raise RuntimeError("this queue was shut down; make a new one")
            if key is not None:
                for job in self._jobs.values():
                    if job.key == key and job.active and not job._cancelling:
                        job._owners.setdefault(owner)
                        return job
            job = Job(self, key, str(title), owner)
            self._make_folder()
            job._folder.mkdir()
            try:
                # Positional arguments only: some keywords have a meaning for Dask.
                future = self._executor.submit(
                    worker.run, payload, str(job._folder), str(cache_root()), worker.where_am_i()
                )
            except BaseException:
                shutil.rmtree(job._folder, ignore_errors=True)
                raise
            job._future = future
            self._jobs[job.id] = job
        future.add_done_callback(job._finish)
        return job

    def get(self, job_id: str) -> Job | None:
        """Return the job with an id.

        Parameters
        ----------
        job_id : str
            The :attr:`Job.id`.

        Returns
        -------
        Job or None
            None if there is no such job, or if it ended long ago.
        """
        with self._lock:
            return self._jobs.get(job_id)

    def jobs(self, owner: str | None = None) -> list[Job]:
        """Return the jobs of an owner, or all jobs.

        Parameters
        ----------
        owner : str, optional
            Only jobs of this owner; all jobs when None.

        Returns
        -------
        list of Job
            The newest first.
        """
        with self._lock:
            return [job for job in reversed(self._jobs.values()) if owner is None or owner in job._owners]

    def cancel(self, job_id: str, owner: str | None = None) -> bool:
        """Cancel a job, for all owners or for one of them.

        Parameters
        ----------
        job_id : str
            Id of a job. If the queue has no such job, or if it has ended, nothing happens.
        owner : str, optional
            Only this owner no longer needs the job, which goes on while it has other owners. None cancels it for all.

        Returns
        -------
        bool
            Whether the job stops. A job that waits is ``"cancelled"`` at once. A job that runs stops at its next
            progress report, or is killed when the grace period is over; until then :attr:`Job.cancelling` is True.
        """
        with self._lock:
            job = self._jobs.get(job_id)
            if job is None or not job.active:
                return False
            if owner is not None:
                if owner not in job._owners:
                    return False
                if len(job._owners) > 1 and not job._cancelling:
                    del job._owners[owner]
                    return False
            if not job._cancelling:
                self._stop(job, self._grace)
            return True

    def _stop(self, job, grace):
        """Tell a job to stop, and have its process killed if it still runs after ``grace`` seconds."""
        job._cancelling = True
        try:
            (job._folder / worker.CANCEL).touch()
        except OSError:  # the job has just ended
            pass
        future = job._future
        job._polled = -1.0
        # A cluster's future can be cancelled although a worker has begun the job: if it has begun, wait for the worker.
        if future is None or (job.state == "queued" and future.cancel()):
            return
        kill = getattr(self._executor, "kill", None)
        if kill is not None:
            job._timer = threading.Timer(grace, kill, (future,))
            job._timer.daemon = True
            job._timer.start()

    def shutdown(self, wait: bool = True) -> None:
        """Stop all jobs, and the workers of the default executor; nothing can be submitted afterwards.

        Parameters
        ----------
        wait : bool
            Whether to return only when the workers have ended.
        """
        with self._lock:
            self._closed = True
            for job in list(self._jobs.values()):
                if job.active and not job._cancelling:
                    self._stop(job, 0.0)
        if self._own_executor:
            self._executor.shutdown(wait=wait, kill=True)

    def _make_folder(self):
        """Make the folder of this queue, with a file that names its process, unless it exists."""
        if (self.folder / _QUEUE_FILE).is_file():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        record = {"host": socket.gethostname(), "pid": os.getpid()}
        (self.folder / _QUEUE_FILE).write_text(json.dumps(record), encoding="utf-8")
        # When the queue is deleted or the interpreter exits:
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def _forget_old(self):
        """Remove the oldest ended jobs from the list, so that at most ``keep`` ended jobs are left."""
        over = [job_id for job_id, job in self._jobs.items() if not job.active]
        for job_id in over[: max(0, len(over) - self._keep)]:
            del self._jobs[job_id]


def _remove_dead_queues(parent):
    """Remove the folders of queues whose process has ended without removing them."""
    for folder in parent.iterdir() if parent.is_dir() else ():
        try:
            record = json.loads((folder / _QUEUE_FILE).read_text(encoding="utf-8"))
            age = time.time() - (folder / _QUEUE_FILE).stat().st_mtime
            if age > STALE_SECONDS or (record["host"] == socket.gethostname() and not _alive(record["pid"])):
                shutil.rmtree(folder, ignore_errors=True)
        except (OSError, ValueError, KeyError, TypeError):  # not the folder of a queue
            continue


def _alive(pid):
    """Return whether a process of this machine may still run."""
    if os.name != "posix":
        return True  # other systems have no safe way to find out; their folders are removed by age
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
