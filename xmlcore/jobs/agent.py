"""A job on a worker of a Dask cluster: fetch its inputs, run it in a process of its own, send its result.

A job runs in a process that this worker starts, by the same :class:`xmlcore.jobs.WorkerPool` as on the machine of the
queue. So it can be killed without the worker, and its memory is its own. The worker only looks after it: it sends
progress to the queue as events of the scheduler, and hears from the queue by functions that the client calls on it.
"""

import contextlib
import math
import multiprocessing
import shutil
import socket
import tempfile
import threading
import time
from concurrent.futures import BrokenExecutor
from pathlib import Path

from xmlcore import store, wording
from xmlcore.jobs import memory, shipping, worker
from xmlcore.jobs.job import reason
from xmlcore.jobs.pool import WorkerPool
from xmlcore.progress import Cancelled
from xmlcore.state import database, holders
from xmlcore.system import cache_root

POLL = 0.1  # seconds between two polls of a job
TELL = 0.5  # least seconds between two events of a job: the scheduler keeps them for a while
SILENT = 60.0  # seconds without a piece of an input after which the client is thought to be lost

_jobs = {}  # id of a job -> _Job, of those that this process looks after
_lock = threading.Lock()
_pool = None


class _Job:
    def __init__(self, request):
        from distributed import get_worker

        self.request, self.host, self._task = request, get_worker(), None
        with contextlib.suppress(Exception):  # to find out later whether the scheduler still wants it
            self._task = self.host.get_current_task()
        self.cancelled = threading.Event()
        self.arrival = None  # of an artifact
        self.settled = threading.Event()  # set when it has arrived, or cannot
        self.failed = None  # why an artifact did not arrive
        self.heard = time.monotonic()

    def tell(self, **about):
        self.host.log_event(self.request["topic"], {"id": self.request["id"], **about})

    def is_wanted(self) -> bool:
        """Return whether the client and the scheduler still want the job: not if the client has ended."""
        task = None if self._task is None else self.host.state.tasks.get(self._task)
        is_known = task is not None and task.state not in ("cancelled", "released", "forgotten")
        return not self.cancelled.is_set() and (self._task is None or is_known)

    def go_on(self):
        if not self.is_wanted():
            raise Cancelled  # before it began


# --- what the client calls ---


def receive(job_id: str, name: str, offset: int, block: bytes) -> bool:
    """Take a piece of an input of a job; return whether the job still wants it."""
    job = _jobs.get(job_id)
    if job is None or job.arrival is None or job.cancelled.is_set():
        return False
    job.heard = time.monotonic()
    try:
        if job.arrival.take(name, offset, block):
            job.settled.set()
    except (OSError, ValueError) as error:
        job.failed = worker.one_line(error)
        job.settled.set()
        return False
    return True


def refuse_job(job_id: str, reason: str) -> None:
    """Note that the client cannot send an input of a job."""
    if (job := _jobs.get(job_id)) is not None:
        job.failed = reason
        job.settled.set()


def cancel(job_id: str) -> None:
    if (job := _jobs.get(job_id)) is not None:
        job.cancelled.set()


# --- what the scheduler has a worker do ---


def run(request: dict) -> dict:
    job = _jobs[request["id"]] = _Job(request)
    folder = Path(tempfile.mkdtemp(prefix="xmlcore-job-"))
    try:
        host = job.host
        job.tell(op="begin", address=host.address, name=f"{socket.gethostname()}, worker {host.name}")
        if not _shares_store(request):
            for kind, name in request["reads"]:
                _fetch(job, kind, name)
        _wait_for_memory(job)
        outcome = _look_after(job, folder)
        if outcome["state"] == "done" and not _shares_store(request):
            outcome["artifacts"] = _packed(request)
        return outcome
    except Cancelled:
        return worker.outcome_of("cancelled")
    except _Failed as error:
        return worker.outcome_of("failed", str(error))
    finally:
        _jobs.pop(request["id"], None)
        shutil.rmtree(folder, ignore_errors=True)


class _Failed(Exception):
    """The job cannot run here, or its result cannot be sent."""


def _shares_store(request) -> bool:
    """Return whether this machine has the store of the client: a shared folder."""
    folder, name = request["store"]
    return str(cache_root()) == folder and (cache_root() / name).exists()


def _fetch(job, kind, key):
    """Have the client send an artifact, unless this machine has it; no two jobs of a store fetch it at once."""
    while (hold := holders.take(database(), f"arriving/{kind}/{key}")) is None:
        job.go_on()
        time.sleep(POLL)
    try:
        if store.exists(kind, key):
            return
        job.arrival, job.heard = shipping.Arrival(kind, key), time.monotonic()
        job.settled.clear()
        job.tell(op="send", kind=kind, key=key)
        while not job.settled.wait(POLL):
            job.go_on()
            if time.monotonic() - job.heard > SILENT:
                raise _Failed("The machine of the queue did not send the data")
        if job.failed:
            raise _Failed(f"The data could not be sent to the worker: {job.failed}")
    finally:
        if job.arrival is not None:
            job.arrival.drop()
        job.arrival = None
        hold.release()


def _wait_for_memory(job):
    """Wait until the memory that a job needs is free on this machine."""
    needed, told = job.request["bytes"], -math.inf
    most = memory.total()
    if most is not None and needed > most:
        raise _Failed(f"The job needs {wording.size(needed)} of memory, and the worker's machine has "
                      f"{wording.size(most)}")  # fmt: skip
    while needed and (free := memory.available()) is not None and free < needed:
        if time.monotonic() - told > 1.0:  # again and again, as a message may be lost
            told = time.monotonic()
            detail = f"{wording.size(needed)} ({wording.size(free)} free)"
            job.tell(op="progress", record=worker.record_of("Waiting for memory", detail), log=None)
        job.go_on()
        time.sleep(POLL)


def _look_after(job, folder):
    global _pool
    with _lock:
        if _pool is None:
            _pool = WorkerPool(64)  # threads that wait; the scheduler decides how many jobs run
        # The worker of a nanny is a daemon, and Python lets a daemon start no process. The ones started here end by
        # themselves when the worker has ended: see xmlcore.jobs.pool.
        multiprocessing.current_process()._config["daemon"] = False
        future = _pool.submit(worker.run, job.request["payload"], str(folder), str(cache_root()), "")
    stopping, told, last = None, 0.0, None
    while not future.done():
        now = time.monotonic()
        if stopping is None and not job.is_wanted():
            stopping = now
            (folder / worker.CANCEL).touch()
        elif stopping is not None and now - stopping > job.request["grace"]:
            _pool.kill(future)
        if now - told >= TELL:
            record = worker.read(folder / worker.RECORD)
            if record is not None and record != last:
                job.tell(op="progress", record=record, log=worker.read(folder / worker.LOG))
                told, last = now, record
        with contextlib.suppress(TimeoutError, Exception):
            future.result(timeout=POLL)
    return _outcome(future, folder, stopping is not None)


def _outcome(future, folder, is_stopped) -> dict:
    try:
        return future.result()
    except BaseException as error:
        outcome = worker.outcome_of("cancelled" if is_stopped else "failed", reason(error))
        outcome["died"] = not is_stopped and isinstance(error, BrokenExecutor)
        outcome["log"] = worker.read(folder / worker.LOG) or []
        if record := worker.read(folder / worker.RECORD):
            outcome["record"] = record
        return outcome


def _packed(request):
    """Return the results of a job as kind, key and pieces; raise if they are too large."""
    there = [artifact for artifact in request["writes"] if store.exists(*artifact)]
    n_bytes = sum(shipping.size(*artifact) for artifact in there)
    if n_bytes > request["largest"]:
        raise _Failed(
            f"The result has {wording.size(n_bytes)}, and at most {wording.size(request['largest'])} are sent. "
            "Let all machines use one shared folder: set XMLCORE_CACHE to it, here and on the workers"
        )
    return [(kind, key, list(shipping.pieces(kind, key))) for kind, key in there]
