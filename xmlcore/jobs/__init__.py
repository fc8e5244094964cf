"""Long work in worker processes, which can be watched and cancelled, with the reason of every failure.

>>> queue = Queue()                                                                 # doctest: +SKIP
>>> job = queue.submit(function, argument, title="What it does", key=key)           # doctest: +SKIP
>>> job.state, job.phase, job.fraction                                              # doctest: +SKIP
('running', 'Training nodes', 0.42)

:class:`Queue` runs jobs in the processes of a :class:`WorkerPool` on this machine, which are started when they are
needed, or by any :class:`concurrent.futures.Executor`. Each process runs one job at a time, so that a process that
crashes or is killed does not stop other jobs; its job is started once more. Jobs wait in the queue, in an order that
can be changed, until a worker and the memory that they need are free.

A job with a task (see :class:`Plan`) has a record on disk: after the program has ended, :meth:`Queue.past` has it.
"""

from xmlcore.cluster import on_cluster
from xmlcore.jobs.job import Job, JobError, Plan, parts_of
from xmlcore.jobs.pool import WorkerPool, default_workers
from xmlcore.jobs.queue import Queue
from xmlcore.jobs.records import PastJob

__all__ = ["Job", "JobError", "PastJob", "Plan", "Queue", "WorkerPool", "default_workers", "on_cluster", "parts_of"]
