"""Long work in worker processes, with progress, cancel and failures that say why.

>>> queue = Queue()                                                                 # doctest: +SKIP
>>> job = queue.submit(function, argument, title="What it does", key=key)           # doctest: +SKIP
>>> job.state, job.phase, job.fraction                                              # doctest: +SKIP
('running', 'Training nodes', 0.42)

:class:`Queue` gives work to any :class:`concurrent.futures.Executor`. Without one it makes a :class:`WorkerPool`:
processes of this machine, started on demand, one job in each, so that a crash or a kill takes nothing else along.

**A Dask cluster.** Hand over its executor: ``Queue(Client(address).get_executor(), folder="/shared/jobs")``. Progress
and cancel travel through small files, and results through the store, so ``folder`` and the cache folder
(``XMLCORE_CACHE``) must be on a file system that all machines see under the same path, and xmlcore must be installed on
all. A running job of a foreign executor stops at its next progress report; only a :class:`WorkerPool` can kill one that
makes none.
"""

from xmlcore.jobs.pool import WorkerPool, default_workers
from xmlcore.jobs.queue import Job, JobError, Queue

__all__ = ["Job", "JobError", "Queue", "WorkerPool", "default_workers"]
