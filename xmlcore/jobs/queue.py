"""A queue of jobs: which one starts next, where, and when its memory is free."""

import contextlib
import os
import shutil
import threading
import time
import uuid
import weakref
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

from xmlcore import wording
from xmlcore.jobs import memory, worker
from xmlcore.jobs.job import Job, Plan
from xmlcore.jobs.places import ThisMachine, lacks_memory
from xmlcore.jobs.pool import SHORT_NICENESS, WorkerPool, default_workers
from xmlcore.jobs.records import PastJob, Records, make_queue_folder, remove_dead_queues
from xmlcore.system import cache_root
from xmlcore.validation import check_count, check_number

GRACE = 1.0  # seconds that a cancelled job has to stop by itself
POLL_SECONDS = 1.0  # seconds after which the queue looks again whether memory has become free, or a cluster answers
VARIABLE = "XMLCORE_SCHEDULER"  # the environment variable with the address of a Dask scheduler


class Queue:
    """Jobs that wait, run or have ended, and the place where they run.

    Jobs wait in the queue until a worker is free and their memory is, too: first come, first served, but for short ones
    and those that nobody asked for. Their order can be changed.

    Parameters
    ----------
    executor : concurrent.futures.Executor, optional
        Where jobs run; by default a :class:`~xmlcore.jobs.WorkerPool`. The queue never shuts down an executor that it
        is given, and does not know the memory that it has.
    folder : path, optional
        Folder for the progress of jobs; ``cache_root()/jobs`` by default. All workers of ``executor``
        must have access to it.
    n_workers : int, optional
        Number of jobs that the default executor runs at the same time; :func:`~xmlcore.jobs.default_workers` when None.
        While these run, and those of a cluster, one more worker takes short jobs (``Plan.short``).
    grace : float
        The process of a cancelled job is killed if it has not stopped, at a progress report, after so many seconds.
    keep : int
        Number of ended jobs that stay in the list; the oldest are removed.
    retries : int
        How often a job is started again by itself when its worker has died.
    scheduler : str, optional
        Address of a Dask scheduler, such as ``"tcp://host:8786"``: jobs run on its workers. By default what the
        environment variable ``XMLCORE_SCHEDULER`` says; ``""`` for none. The queue connects in the background. While
        the scheduler does not answer, jobs run on this machine, and :attr:`problem` says why. Not used with
        ``executor``.
    free_bytes : callable, optional
        Returns the free memory of this machine; by default :func:`xmlcore.jobs.memory.available`.

    Notes
    -----
    All methods may be called from any thread and return at once.
    """

    def __init__(
        self, executor: Executor | None = None, folder: str | Path | None = None,
        n_workers: int | None = 2, grace: float = GRACE, keep: int = 100, retries: int = 1,
        scheduler: str | None = None, free_bytes: Callable[[], int] | None = None
    ):  # fmt: skip
        n_workers = default_workers() if n_workers is None else check_count(n_workers, "n_workers")
        parent = Path(folder).resolve() if folder is not None else cache_root() / "jobs"
        self.folder = parent / f"{int(time.time()):x}-{uuid.uuid4().hex[:8]}"
        self._grace = check_number(grace, "grace")
        self._keep, self._retries = check_count(keep, "keep", 0), check_count(retries, "retries", 0)
        self._lock = threading.RLock()  # reentrant: cancelling a future may call Job._finish at once
        self._jobs = {}  # by id, oldest first
        self._line = []  # jobs that wait, in the order in which they start
        self._paused = set()  # owners; None stands for all
        self._closed = False
        self._free_bytes = free_bytes
        self._looking = None  # a timer, while a job waits for what nobody tells the queue
        own = executor is None
        if own:
            executor = WorkerPool(n_workers)
            self._free_bytes = free_bytes or memory.available
        self._records = Records(parent)
        self._records.recover()
        remove_dead_queues(parent)
        self._here = ThisMachine(executor, own)
        lane = [ThisMachine(WorkerPool(1, niceness=SHORT_NICENESS), own)] if own else []  # for short jobs only
        self._places = [self._here, *lane]  # of this machine
        self._cluster = None
        address = os.environ.get(VARIABLE, "") if scheduler is None else scheduler
        if own and address:
            from xmlcore.jobs.cluster import Cluster

            self._cluster = Cluster(address, _starter(self), grace)

    # --- asking for work ---

    def submit(
        self, function: Callable[..., object], /, *args: object, title: str, owner: str = "", key: str | None = None,
        plan: Plan | None = None, **kwargs: object,
    ) -> Job:  # fmt: skip
        """Have ``function(*args, progress=..., **kwargs)`` run in a worker.

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
        plan : Plan, optional
            What is known of the job before it runs: its task, time, memory, inputs and results.
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
        return self._enter(worker.pickled((function, args, kwargs)), key, str(title), owner, plan)

    def _enter(self, payload, key, title, owner, plan):
        """Put a new job at the end of the line, or return the one with the same key."""
        with self._lock:
            if self._closed:
                raise RuntimeError("this queue was shut down; make a new one")
            alike = [other for other in self._jobs.values() if key is not None and other.key == key]
            for job in alike:
                if job.active and not job._cancelling:
                    self._share(job, title, owner, plan)
                    return job
            job = Job(self, key, title, owner, payload, plan)
            job._tries = sum(other.gave_way and other.started is not None for other in alike)
            make_queue_folder(self)
            job._folder.mkdir()
            self._jobs[job.id] = job
            self._line.append(job)
            self._records.write(job)
            others = [] if job.plan.unasked or job.plan.short else [*self._jobs.values()]
            for other in others[::-1]:  # before the parts that it needs
                if other.gives_way:
                    self._stop(other, self._grace)
            self._start_what_can(raise_for=job)
        return job

    def _share(self, job, title, owner, plan):
        """Note that an owner wants a job that waits or runs, maybe for another group."""
        if job.plan.unasked and not (plan and plan.unasked):
            job.plan = replace(job.plan, unasked=False)
        if owner not in job._owners:
            job._owners[owner] = title
            self._records.write(job)
        job._groups.setdefault(owner, set()).add(plan.group if plan else "")
        self._start_what_can()  # it may have been paused, or unasked, for all who wanted it before

    # --- looking at jobs ---

    def get(self, job_id: str) -> Job | None:
        """Return the job with an id."""
        with self._lock:
            return self._jobs.get(job_id)

    def jobs(self, owner: str | None = None) -> list[Job]:
        """Return the jobs of an owner, or all jobs."""
        with self._lock:
            return [job for job in reversed(self._jobs.values()) if owner is None or owner in job._owners]

    def waiting(self) -> list[Job]:
        """Return the jobs that wait for a worker, in the order in which they will start."""
        with self._lock:
            return list(self._line)

    def past(self, owner: str | None = None) -> list[PastJob]:
        """Return jobs with a task that this queue does not have: of earlier programs, and of others on this cache."""
        return [job for job in self._records.past(owner) if self.get(job.id) is None]

    def forget(self, job_id: str) -> None:
        """Remove the record of a job that has ended."""
        with self._lock:
            job = self._jobs.get(job_id)
            if job is None or not job.active:
                self._jobs.pop(job_id, None)
                self._records.forget(job_id)

    @property
    def where(self) -> str:
        """Where jobs run, for users: ``"this machine"``, or the cluster with its number of workers."""
        return self._cluster.words if self._cluster is not None and self._cluster.is_there else self._here.words

    @property
    def slots(self) -> float:
        """How many jobs run at the same time at most: the workers of this machine, or the threads of the cluster's."""
        return self._cluster.slots() if self._cluster is not None and self._cluster.is_there else self._here.slots()

    @property
    def spreads(self) -> bool:
        """Whether there is a cluster with several workers, or one that may have them and has not answered yet."""
        cluster = self._cluster
        return cluster is not None and (not cluster.is_tried or (cluster.is_there and cluster.slots() != 1))

    @property
    def problem(self) -> str:
        """Why jobs do not run on the cluster, and what to do; empty if there is no problem, or no cluster."""
        return "" if self._cluster is None else self._cluster.problem

    # --- pausing ---

    def pause(self, owner: str | None = None) -> None:
        """Start no waiting job, or none of an owner, until :meth:`resume` is called. Jobs that run go on."""
        with self._lock:
            self._paused.add(owner)

    def resume(self, owner: str | None = None) -> None:
        """Undo what :meth:`pause` did with the same argument."""
        with self._lock:
            self._paused.discard(owner)
            self._start_what_can()

    def paused(self, owner: str | None = None) -> bool:
        """Return whether the queue as a whole, or all of an owner, is paused."""
        return not self._paused.isdisjoint({None, owner})

    def is_paused(self, job: Job) -> bool:
        """Return whether a waiting job is paused: with the queue, or with all of each of its owners."""
        return None in self._paused or self._paused.issuperset(job._owners)

    def insist(self, job_id: str) -> None:
        """Start a waiting job as soon as a worker is free, even if its memory is not."""
        with self._lock:
            job = self._jobs.get(job_id)
            if job is not None and job.active:
                job._insisted = True
                self._start_what_can()

    # --- starting ---

    def _start_what_can(self, raise_for=None):
        """Start waiting jobs, in their order but unasked ones last, as long as workers and memory are free."""
        held = look_again = False
        for job in sorted(self._line, key=lambda one: one.plan.unasked):
            # A job that ends or fails at once calls this method again, which may start others of the list.
            if self._closed or job not in self._line or self.is_paused(job) or not self._has_parts(job):
                continue
            place = self._place_of(job)
            job._waits_for = self._lack(job, place, held)
            if not job._waits_for:
                self._start(job, place, raise_for)
            elif place in self._places and not place.lacks_worker():  # it waits for memory
                held, look_again = held or self.lacks(job) is None, True
        if look_again and self._looking is None:
            self._looking = threading.Timer(POLL_SECONDS, _starter(self))
            self._looking.daemon = True
            self._looking.start()

    def _has_parts(self, job) -> bool:
        """Return whether the jobs have ended that a job needs; it fails if one of them has no result."""
        job._waits_for = job._lacking_parts()
        if job._waits_for is None:
            self._line.remove(job)
            job._end("failed", job._part_failed())
            self._cancel_parts(job, None)
        return job._waits_for == ""

    def _lack(self, job, place, held) -> str:
        """Return what a job waits for, in words; empty if it can start. ``held``: one before it waits for memory."""
        if place is None:
            return "the scheduler's answer"
        if (lack := place.lacks_worker()) or place not in self._places or job._insisted:
            return lack
        if (never := self.lacks(job)) is not None:
            return never
        if held and not job.plan.short:
            return "the jobs before it"
        free = self._free_bytes() if self._free_bytes is not None and job._bytes else None
        return lacks_memory(job, free, set().union(*(other.running for other in self._places)))

    def lacks(self, job: Job) -> str | None:
        """Return why a job can never start on this machine, or None if it can once memory is free."""
        most = memory.total() if self._free_bytes is memory.available else None
        if most is None or job._bytes <= most or self._place_of(job) not in self._places:
            return None
        return f"{wording.size(job._bytes)} of memory, more than the {wording.size(most)} of this machine"

    def _place_of(self, job):
        """Return where a job would run now; None as long as a scheduler has had no time to answer, or to be lost."""
        place = self._here
        if self._cluster is not None and not job.plan.here:
            if self._cluster.is_silent or not (self._cluster.is_there or self._cluster.is_tried):
                return None
            place = self._cluster if self._cluster.is_there else self._here
        lane = self._places[-1]
        return lane if job.plan.short and place.lacks_worker() and not lane.lacks_worker() else place

    def _start(self, job, place, raise_for):
        self._line.remove(job)
        job._where, job._waits_for = place, ""
        job.attempts += 1
        try:
            job._future = future = place.start(job)
        except BaseException as error:
            if job is raise_for:  # whoever submits it is told
                del self._jobs[job.id]
                self._records.forget(job.id)
                shutil.rmtree(job._folder, ignore_errors=True)
                raise
            job._end("failed", worker.one_line(error))
            return
        place.running.add(job)
        self._records.write(job, "running")
        if not job.plan.short and self._places[-1] is not place is self._here and place.lacks_worker():
            self._places[-1].prepare(job)
        future.add_done_callback(job._finish)

    def _start_waiting(self):
        """Start the waiting jobs that can start; a timer and the cluster call this."""
        with self._lock:
            self._looking = None
            self._start_what_can()

    def tries_again(self, job: Job) -> bool:
        """Return whether a job whose worker died is started again, and put it at the head of the line if so."""
        if self._closed or job.attempts > self._retries:
            return False
        self._line.insert(0, job)
        return True

    def gone(self, job: Job) -> None:
        """Note that no worker runs a job any more: it has ended, or waits to be started again."""
        with self._lock:
            if job._where is not None:
                job._where.running.discard(job)
            if job in self._line:
                self._records.write(job, "queued")
            over = [job_id for job_id, ended in self._jobs.items() if not ended.active]  # the oldest first
            for job_id in over[: max(0, len(over) - self._keep)]:
                del self._jobs[job_id]
            self._start_what_can()

    def record(self, job: Job) -> None:
        """Write the record of a job that ends; if the end of the program stops it, it can be started again later."""
        stopped = job._state == "cancelled" and not job._by_user
        self._records.write(
            job, stopped and (self._closed and "interrupted" or job.plan.unasked and "gave way") or None
        )

    # --- stopping ---

    def cancel(self, job_id: str, owner: str | None = None, group: str | None = None, *, by_user: bool = True) -> bool:
        """Cancel a job for an owner, or for all, and return whether it stops: it goes on while it has other owners.

        With a group, it goes on, too, while the owner wants it for another group. One that the program cancels by
        itself, not the user, gave way.

        A job that runs stops at its next progress report, or is killed when the grace period is over.
        """
        with self._lock:
            job = self._jobs.get(job_id)
            if job is None or not job.active:
                return False
            if owner is not None:
                if not job.is_wanted(owner, group):
                    return False
                if group is not None and len(job._groups[owner]) > 1:
                    job._groups[owner].discard(group)
                    self._cancel_parts(job, owner, group)
                    return False
                if len(job._owners) > 1 and not job._cancelling:
                    del job._owners[owner], job._groups[owner]
                    self._records.write(job)
                    self._cancel_parts(job, owner)
                    return False
            if not job._cancelling:
                job._by_user = by_user
                self._stop(job, self._grace)
                self._cancel_parts(job, owner)
            return True

    def _cancel_parts(self, job, owner, group=None):
        """Cancel the jobs that a job needs and no other one does."""
        others = {
            part.id
            for other in self._jobs.values()
            if other is not job and other.active and not other.cancelling and other.is_wanted(owner, group)
            for part in other.plan.after
        }
        for part in job.plan.after:
            if part.id not in others:
                self.cancel(part.id, owner, group)

    def _stop(self, job, grace):
        """Tell a job to stop, and have its process killed if it still runs after ``grace`` seconds."""
        job._cancelling = True
        if job in self._line:
            self._line.remove(job)
            job._end("cancelled")
            return
        with contextlib.suppress(OSError):  # the job has just ended
            (job._folder / worker.CANCEL).touch()
        job._polled = -1.0
        if job._future is not None and job._where is not None:
            job._timer = job._where.stop(job, grace)

    def shutdown(self, wait: bool = True) -> None:
        """Stop all jobs, and the workers of the default executor; nothing can be submitted afterwards."""
        with self._lock:
            self._closed = True
            for job in list(self._jobs.values()):
                if job.active and not job._cancelling:
                    self._stop(job, 0.0)
        if self._cluster is not None:
            self._cluster.close()
        for place in self._places:
            place.close(wait)


def _starter(queue):
    """Return a function that starts the waiting jobs of a queue that can start, and does not keep the queue alive."""
    weak = weakref.ref(queue)

    def start():
        if (alive := weak()) is not None:
            alive._start_waiting()

    return start
