"""Giving tasks to the workers of a queue."""

import contextlib

from xmlcore import store
from xmlcore.experiment.task import DATASETS, KINDS, MADE_BY, Estimate, Task, from_record, keep
from xmlcore.jobs import Job, Plan, Queue
from xmlcore.progress import Progress, silent


def submit(
    queue: Queue,
    task: Task,
    owner: str = "",
    title: str | None = None,
    again: bool = False,
    estimate: Estimate | None = None,
) -> Job:
    """Have a worker of a queue run a task and keep its result, as :func:`keep` does.

    The job starts when the memory that the task is expected to need is free. On a cluster, the inputs of the task are
    sent to its worker, unless that has them, and the result comes back into the store of this machine.

    Parameters
    ----------
    queue : xmlcore.jobs.Queue
    task : Task
    owner : str
        Who wants the job, see :meth:`xmlcore.jobs.Queue.submit`.
    title : str, optional
        By default :attr:`Task.title`.
    again : bool
        See :func:`keep`.
    estimate : Estimate, optional
        By default what :meth:`Task.estimate` returns.

    Returns
    -------
    xmlcore.jobs.Job
        Its result is the key.
    """
    title = task.title if title is None else title
    plan = planned(task, estimate)
    return queue.submit(keep_record, task.to_record(), again, title=title, owner=owner, key=task.key, plan=plan)


def planned(task: Task, estimate: Estimate | None = None) -> Plan:
    """Return what a queue should know of a task before it runs.

    Parameters
    ----------
    task : Task
    estimate : Estimate, optional
        By default what :meth:`Task.estimate` returns, if its inputs can be read.

    Returns
    -------
    xmlcore.jobs.Plan
        Its memory is that of the estimate, and that of the inputs, which the task reads.
    """
    reads = read_artifacts(task)
    with contextlib.suppress(store.StoreError, OSError):  # the task says itself what is wrong with its inputs
        estimate = estimate or task.estimate()
    n_bytes = 0 if estimate is None else estimate.bytes
    for artifact in reads:
        with contextlib.suppress(store.StoreError, OSError):
            n_bytes += store.info(*artifact)["bytes"]
    return Plan(
        task=task.to_record(),
        seconds=None if estimate is None else estimate.seconds,
        bytes=int(n_bytes),
        reads=reads,
        writes=((task.folder, task.key),),
        here=not (task.on_cluster and task.inputs),  # what has no inputs makes a data set, often of files that are here
    )


def read_artifacts(task: Task) -> tuple[tuple[str, str], ...]:
    """Return kind and key of the artifacts of the store that a task reads: its inputs and their data set.

    Parameters
    ----------
    task : Task

    Returns
    -------
    tuple of (str, str)
    """
    found = [(KINDS[MADE_BY[name]].folder, key) for name, key in task.inputs.items() if name in MADE_BY]
    with contextlib.suppress(store.StoreError, ValueError):
        found.insert(0, (DATASETS, task.fingerprint))
    return tuple(artifact for artifact in found if store.exists(*artifact))


def keep_record(record: dict, again: bool = False, progress: Progress = silent) -> str:
    """Call :func:`keep` for a task given as a record; this is what a worker calls."""
    return keep(from_record(record), progress, again)
