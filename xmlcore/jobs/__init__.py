"""Long work in worker processes, which can be watched and cancelled, with the reason of every failure.

>>> queue = Queue()                                                                 # doctest: +SKIP
>>> job = queue.submit(function, argument, title="What it does", key=key)           # doctest: +SKIP
>>> job.state, job.phase, job.fraction                                              # doctest: +SKIP
('running', 'Training nodes', 0.42)

:class:`Queue` gives work to any :class:`concurrent.futures.Executor`. Without one it makes a :class:`WorkerPool`:
processes on this machine, started when they are needed. Each process runs one job at a time, so that a process that
crashes or is killed does not stop other jobs.

**A Dask cluster.** Pass the executor of its client: ``Queue(Client(address).get_executor(), folder="/shared/jobs")``.
Progress and cancel travel through small files, and results through the store, so ``folder`` and the cache folder
(``XMLCORE_CACHE``) must be on a file system that all machines see under the same path, and xmlcore must be installed on
all. When a running job of another executor is cancelled, it stops at its next progress report. Only a
:class:`WorkerPool` can kill a job that does not report.
"""

from xmlcore.jobs.pool import WorkerPool, default_workers
from xmlcore.jobs.queue import Job, JobError, Queue

__all__ = ["Job", "JobError", "Queue", "WorkerPool", "default_workers"]
