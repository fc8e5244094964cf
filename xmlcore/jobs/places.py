"""Where the jobs of a queue run."""

import math
import threading

from xmlcore import wording
from xmlcore.jobs import worker
from xmlcore.system import cache_root


class Place:
    """Runs jobs: at most ``slots()`` at a time. The lock of the queue protects :attr:`running`.

    ``start(job)`` returns a :class:`concurrent.futures.Future` of the outcome of a job. ``stop(job, grace)`` has its
    process, which was told to stop, killed after ``grace`` seconds, and returns a timer, or None.
    """

    words = ""

    def __init__(self):
        self.running = set()

    def lacks_worker(self) -> str:
        """Return what a job waits for, in words, or an empty text if a worker is free."""
        return "" if len(self.running) < self.slots() else "a free worker"

    def name_of(self, job) -> str:
        return self.words


class ThisMachine(Place):
    """An executor, usually a :class:`xmlcore.jobs.WorkerPool`, whose workers see the files of the queue."""

    words = "this machine"

    def __init__(self, executor, own):
        super().__init__()
        self._executor, self._own = executor, own
        self._slots = getattr(executor, "_max_workers", None) or math.inf  # jobs wait in others

    def slots(self):
        return self._slots

    def start(self, job):
        # Positional arguments only: some keywords have a meaning for Dask.
        return self._executor.submit(worker.run, job._payload, str(job._folder), str(cache_root()), worker.where_am_i())

    def prepare(self, job):
        """Have an idle worker import what a job needs, for the jobs to come."""
        self._executor.submit(worker.unpickled, job._payload)

    def stop(self, job, grace):
        future = job._future
        # A cluster's future can be cancelled although a worker has begun the job: if it has begun, wait for the worker.
        if job.state == "queued" and future.cancel():
            return None
        kill = getattr(self._executor, "kill", None)
        if kill is None:
            return None
        timer = threading.Timer(grace, kill, (future,))
        timer.daemon = True
        timer.start()
        return timer

    def close(self, wait):
        if self._own:
            self._executor.shutdown(wait=wait, kill=True)


def lacks_memory(job, free, running) -> str:
    """Return how much memory of this machine a job waits for, or an empty text if it is free."""
    if free is None:
        return ""
    for other in running:
        other._poll()
        grown = (other._record.get("memory") or 0) - (other._record.get("memory_at_start") or 0)
        free -= max(0, other._bytes - max(0, grown))  # it may still take so much
    if job._bytes <= free:
        return ""
    return f"{wording.size(job._bytes)} of memory ({wording.size(max(0, free))} free)"
