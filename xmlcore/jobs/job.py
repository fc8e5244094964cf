"""A job: its state, progress, log, memory, result and owners."""

import math
import shutil
import threading
import time
import uuid
from collections.abc import Iterable
from concurrent.futures import BrokenExecutor, CancelledError
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from xmlcore import wording
from xmlcore.jobs import memory, worker
from xmlcore.progress import Cancelled
from xmlcore.validation import check_number

POLL_SECONDS = 0.05  # least time between two readings of a job's record, in seconds
WORDS = {
    "queued": "Waiting",
    "running": "Running",
    "done": "Done",
    "failed": "Failed",
    "cancelled": "Stopped",
    "interrupted": "Interrupted",
    "gave way": "Gave way",
}
GIVES_WAY = 2  # how often an unasked job gives way to others: so it ends although somebody works
LOST = "The worker process ended unexpectedly (out of memory?)"


@dataclass(frozen=True)
class Plan:
    """A job as it is known before it runs: its task, time, memory and parts."""

    task: dict | None = None  # as JSON; with one, the job has a record, and can be started again by another program
    seconds: float | None = None  # that it is expected to take, for users
    short: bool = False  # whether it may run beside those for which there are workers
    bytes: int = 0  # of memory that it is expected to need at most: it waits until so much is free
    reads: tuple = ()  # (kind, key) of artifacts that a worker of a cluster fetches if it lacks them
    writes: tuple = ()  # (kind, key) of artifacts that come back from a cluster
    here: bool = False  # whether it must run on this machine
    after: "tuple[Job, ...]" = ()  # jobs that make what this one needs: it fails when one of them does
    unasked: bool = False  # whether nobody waits for it: see Job.gives_way
    group: str = ""  # of jobs that are one thing for the user, such as the key of a sweep for its trainings


class JobError(RuntimeError):
    """A job has no result."""

    def __init__(self, message: str, traceback: str | None = None):
        super().__init__(message)
        self.traceback = traceback


class Job:
    """A piece of work, which :meth:`Queue.submit` makes.

    Its attributes may be read from any thread, and must not be changed.
    """

    def __init__(
        self, queue: Any, key: str | None, title: str, owner: str, payload: bytes = b"", plan: "Plan | None" = None
    ):
        self.id = uuid.uuid4().hex[:16]
        self.key = key
        self.title = title
        self.plan = plan or Plan()
        self.queued = datetime.now(UTC)
        self.attempts = 0  # how often a worker was asked to run it
        self._payload = payload
        self._bytes = self.plan.bytes  # memory that the job needs, as far as is known by now
        self._insisted = False  # whether it starts even if its memory is not free
        self._tries = 0  # how many jobs with its key gave way before
        self._waits_for = ""
        self._where = None  # the place of the queue that runs it
        self._earlier_log, self._log = [], []  # of workers that died, and of the present or last one
        self._queue = queue
        self._lock = queue._lock
        self._owners = {owner: str(title)}  # in the order of their requests, each with its own title
        self._groups = {owner: {self.plan.group}}  # for which each owner wants it: a training of two sweeps has two
        self._folder = queue.folder / self.id
        self._future = None
        self._outcome = self._remote = None  # on a cluster: the future that the queue waits for, and that of Dask
        self._over = threading.Event()  # set when the job has ended
        self._state = "queued"
        self._cancelling = False
        self._by_user = False  # whether it was cancelled, not stopped by the end of the program
        self._timer = None
        self._record = {}
        self._polled = -1.0  # when the record was last read, by time.monotonic
        self._value = None
        self._value_bytes = 0
        self.error = self.traceback = None  # why the job has no result
        self.fault = None  # what is wrong with the user's data, see xmlcore.datasets.errors.Fault; None for others
        self._ended = None

    def __repr__(self):
        return f"<Job {self.id} {self.title!r} {self.state}>"

    @property
    def state(self) -> str:
        """``"queued"``, ``"running"``, ``"done"``, ``"failed"`` or ``"cancelled"``."""
        self._poll()
        return self._state

    @property
    def words(self) -> str:
        """The state in a few words for users, such as ``"Running"`` or ``"Waiting for 3.1 GB of memory"``."""
        state = self.state
        if self.cancelling:
            return "Stopping"
        if state != "queued":
            return WORDS[state]
        if self._future is not None:
            return "Starting: loading the program"
        if self._queue.is_paused(self):
            return "Paused"
        return f"{WORDS[state]}{self.waits_for and ' for '}{self.waits_for}"

    @property
    def waits_for(self) -> str:
        """The reason why a job still waits, such as ``"3.1 GB of memory (1.2 GB free)"``; may be empty."""
        return self._waits_for if self._state == "queued" and self._future is None else ""

    @property
    def starting(self) -> bool:
        """Whether a worker was asked to run the job and has not begun."""
        return self._future is not None and self.state == "queued"

    @property
    def fits(self) -> bool:
        """Whether the job can ever start: False if it needs more memory than there is, and nobody insisted."""
        return self._insisted or self._queue.lacks(self) is None

    @property
    def where(self) -> str:
        """Where the job runs, such as ``"this machine"``; empty before it starts."""
        return "" if self._where is None else self._where.name_of(self)

    @property
    def memory(self) -> int | None:
        """Most bytes that the worker had in memory while the job ran; None if that is not known."""
        self._poll()
        return self._record.get("memory_peak")

    @property
    def log(self) -> list[Any]:
        """Lines that the job wrote: warnings, messages, and the phases that it began; the last 200."""
        lines = self._read(worker.LOG) if self.active else None
        if isinstance(lines, list):
            self._log = lines
        return [*self._earlier_log, *self._log][-worker.LOG_LINES :]

    @property
    def active(self) -> bool:
        return not self._over.is_set()

    @property
    def cancelling(self) -> bool:
        return self._cancelling and self.active

    @property
    def gives_way(self) -> bool:
        """Whether the queue stops the job, which nobody asked for, for one that is asked for and not short."""
        return self.plan.unasked and self.active and not self._cancelling and self._tries < GIVES_WAY

    @property
    def gave_way(self) -> bool:
        """Whether the queue stopped the job by itself, such as an unasked one for another job."""
        return self.state == "cancelled" and not self._by_user

    @property
    def owners(self) -> tuple[Any, ...]:
        with self._lock:
            return tuple(self._owners)

    def title_for(self, owner: str) -> str:
        """Return what an owner calls the job."""
        return self._owners.get(owner, self.title)

    @property
    def group(self) -> str:
        return self.plan.group

    @property
    def phase(self) -> str:
        """The phase reported last, such as "Training nodes of trees"; empty before the first report."""
        self._poll()
        return self._record.get("phase", "")

    @property
    def fraction(self) -> float:
        """The part of the present phase that is done, in [0, 1]; 1 when the job is done."""
        self._poll()
        if self._state == "queued" and self.plan.after:
            return sum(not part.active for part in self.plan.after) / len(self.plan.after)
        return 1.0 if self._state == "done" else self._record.get("fraction", 0.0)

    @property
    def detail(self) -> str:
        """A text about the progress within the phase, such as ``"120 of 384 nodes"``; may be empty."""
        self._poll()
        return self._record.get("detail", "")

    @property
    def phases(self) -> dict[str, Any]:
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
        return utc(self._record.get("started"))

    @property
    def ended(self) -> datetime | None:
        """When the job was done, failed or was cancelled (UTC)."""
        return utc(self._ended)

    @property
    def elapsed(self) -> float:
        """Seconds since a worker began the job, or that the job took if it has ended; 0 while it waits."""
        self._poll()
        started = self._record.get("started")
        if started is None:
            return 0.0
        return max(0.0, (self._ended or time.time()) - started)

    def is_wanted(self, owner: str | None, group: str | None = None) -> bool:
        """Return whether an owner wants the job, for a group if one is given; None is all owners."""
        return owner is None or (owner in self._groups and group in {None, *self._groups[owner]})

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the job has ended."""
        return self._over.wait(timeout if timeout is None else check_number(timeout, "timeout"))

    def result(self, timeout: float | None = None) -> Any:  # what the function of the job returns
        """Wait until the job has ended, and return what its function returned.

        Functions should return something small, such as a key of the store: at most 10 MB.
        """
        if not self.wait(timeout):
            raise TimeoutError(f"{self.title!r:.200} has not ended after {timeout} seconds")
        if self._state == "failed":
            raise JobError(self.error, self.traceback)
        if self._state == "cancelled":
            raise Cancelled
        if self._value is None:
            raise JobError(
                f"{self.title!r:.200} returned {wording.size(self._value_bytes)}, which is not kept; "
                "let the function put it in xmlcore.store and return its key"
            )
        return worker.unpickled(self._value)

    def _lacking_parts(self) -> str | None:
        """Return, in words, which of the jobs that it needs have not ended; None if one of them has no result."""
        parts = self.plan.after
        if any(not part.active and part.state != "done" for part in parts):
            return None
        left = sum(part.active for part in parts)
        return f"{left} of {len(parts)} parts that are jobs of their own" if left else ""

    def _part_failed(self) -> str:
        # Without the title of the part: that is another one for each owner, and all read the same error.
        parts = enumerate(self.plan.after, 1)
        number, part = next(one for one in parts if not one[1].active and one[1].state != "done")
        return f"part {number} of {len(self.plan.after)}: {part.error or 'it was stopped'}"

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

    def _read(self, name=worker.RECORD):
        return worker.read(self._folder / name)

    def _finish(self, future):
        """Take in the outcome of a call. The future calls this once, from the thread in which it ended."""
        record = self._read()
        outcome = worker.outcome_of("failed") | {"log": self._read(worker.LOG) or self._log, "died": False}
        try:
            outcome.update(future.result())
        except CancelledError:
            outcome["state"] = "cancelled"
        except BaseException as error:
            outcome["died"], outcome["error"] = _is_death(error), reason(error)
            outcome["traceback"] = "\n".join(
                filter(None, [f"{type(error).__name__}: {error}", str(error.__cause__ or "")])
            )
        with self._lock:
            if self._over.is_set():
                return
            self._record = outcome.get("record") or record or self._record
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._future = None
            if outcome["died"] and not self._cancelling and self._queue.tries_again(self):
                self._again(outcome)
            else:
                self._close(outcome)
        self._queue.gone(self)

    def _again(self, outcome):
        """Put the job back into its first state, as its worker died; it knows by then how much memory it needs."""
        grown = (self._record.get("memory_peak") or 0) - (self._record.get("memory_at_start") or 0)
        self._bytes = max(self._bytes, int(min(1.1 * grown, memory.total() or math.inf)))
        self._earlier_log += [*outcome["log"], f"{time.strftime('%H:%M:%S')} {outcome['error']}: it starts again"]
        self._log = []
        self._record, self._state, self._polled = {}, "queued", -1.0
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)

    def _end(self, state, error=None):
        """End a job that no worker has begun."""
        self._close(worker.outcome_of(state, error))
        self._queue.gone(self)

    def _close(self, outcome):
        if "record" not in outcome and self._record.get("phase"):  # add the time since the last report
            self._record["phases"][self._record["phase"]] += max(0.0, time.time() - self._record["written"])
        if self._cancelling and outcome["state"] == "failed":  # it was killed or stopped
            outcome["state"] = "cancelled"
            outcome["error"] = None
        self._state = outcome["state"]
        self._value, self._value_bytes = outcome["value"], outcome["value_bytes"]
        self.error, self.traceback, self.fault = outcome["error"], outcome["traceback"], outcome.get("fault")
        self._log = outcome["log"]
        self._ended = outcome.get("ended", time.time())
        shutil.rmtree(self._folder, ignore_errors=True)
        self._queue.record(self)  # before anyone learns that the job has ended
        self._over.set()


def parts_of(jobs: Iterable["Job"]) -> set[str]:
    """Return the ids of the jobs that these jobs need."""
    return {part.id for job in jobs for part in job.plan.after}


def utc(seconds):
    """Turn seconds since 1970 into a datetime in UTC; None stays None."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _is_death(error):
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"  # KilledWorker is from Dask


def reason(error):
    """Return why a job has no result, in one line for users, from the exception of its future."""
    text = str(error)
    if not _is_death(error):
        return worker.one_line(error)
    names = [name for name in ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL") if name in text]
    if names and "SIGKILL" not in text and "SIGTERM" not in text:
        return f"The worker process crashed ({names[0]})"
    return LOST
