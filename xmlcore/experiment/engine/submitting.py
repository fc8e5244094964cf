"""Giving tasks to the workers of a queue."""

import contextlib
from dataclasses import replace

from xmlcore import store
from xmlcore.experiment.engine.task import DATASETS, KINDS, MADE_BY, Estimate, Task, from_record, keep
from xmlcore.experiment.kinds.train import Train
from xmlcore.experiment.kinds.trees import trees_of
from xmlcore.jobs import Job, Plan, Queue
from xmlcore.progress import Progress, silent


def submit(
    queue: Queue,
    task: Task,
    owner: str = "",
    title: str | None = None,
    again: bool = False,
    estimate: Estimate | None = None,
    apart: bool | None = None,
    unasked: bool = False,
    group: str = "",
) -> Job:
    """Have a worker of a queue run a task and keep its result, as :func:`keep` does.

    The job starts when the memory that the task is expected to need is free. On a cluster, the inputs of the task are
    sent to its worker, unless that has them, and the result comes back into the store of this machine.

    An ensemble whose trees are trained apart gives the same model: each tree is a job of its own, and the job that is
    returned joins them on this machine, and measures the model.

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
    apart : bool, optional
        Whether the trees of an ensemble are trained apart; by default if the queue has a cluster with several workers.
    unasked : bool
        Whether nobody waits for the result: see :attr:`xmlcore.jobs.Job.gives_way`.
    group : str
        Of jobs that are one thing for the user, such as the key of their sweep.

    Returns
    -------
    xmlcore.jobs.Job
        Its result is the key.
    """
    title = task.title if title is None else title
    plan = planned(task, estimate)
    plan = replace(plan, unasked=unasked, short=plan.short and not unasked, group=group)
    if task.kind == Train.kind and (queue.spreads if apart is None else apart) and (again or not task.exists()):
        plan = _in_parts(queue, task, plan, owner, title)
    return queue.submit(keep_record, task.to_record(), again, title=title, owner=owner, key=task.key, plan=plan)


def _in_parts(queue, task, plan, owner, title) -> Plan:
    """Submit the trees of a training, and return the plan of the job that joins them; other models have one job."""
    data = None
    with contextlib.suppress(store.StoreError, OSError):  # the task says itself what is wrong with its inputs
        data = task.dataset()
    trees = trees_of(task, data)
    if not trees:
        return plan
    jobs = []
    for number, tree in enumerate(trees, start=1):
        if not tree.exists():
            # Without a task: it is not started again by itself, but the training as a whole.
            own = replace(planned(tree), task=None, unasked=plan.unasked, short=plan.short, group=plan.group)
            named = f"{title}, tree {number} of {len(trees)}"
            jobs.append(queue.submit(keep_record, tree.to_record(), title=named, owner=owner, key=tree.key, plan=own))
    reads = (*plan.reads, *((tree.folder, tree.key) for tree in trees))
    return replace(plan, reads=reads, bytes=0, here=True, after=tuple(jobs))


def planned(task: Task, estimate: Estimate | None = None) -> Plan:
    """Return the plan of a task for a queue."""
    reads = [(KINDS[MADE_BY[name]].folder, key) for name, key in task.inputs.items() if name in MADE_BY]
    reads += [(one.folder, one.key) for one in getattr(task, "mixed", ())]
    with contextlib.suppress(store.StoreError, ValueError):
        reads.insert(0, (DATASETS, task.fingerprint))
    reads = tuple(artifact for artifact in reads if store.exists(*artifact))
    with contextlib.suppress(store.StoreError, OSError):  # the task says itself what is wrong with its inputs
        estimate = estimate or task.estimate()
    n_bytes = 0 if estimate is None else estimate.bytes
    for artifact in reads:
        with contextlib.suppress(store.StoreError, OSError):
            facts = store.info(*artifact)
            n_bytes += facts["bytes"] + facts.get("text_memory", 0)
    return Plan(
        task=task.to_record(),
        seconds=None if estimate is None else estimate.seconds,
        short=estimate is not None and estimate.is_short,
        bytes=int(n_bytes),
        reads=reads,
        writes=((task.folder, task.key),),
        here=not (task.on_cluster and task.inputs),  # what has no inputs makes a data set, often of files that are here
    )


def keep_record(record: dict, again: bool = False, progress: Progress = silent) -> str:
    """Call :func:`keep` for a task given as a record; this is what a worker calls."""
    return keep(from_record(record), progress, again)
