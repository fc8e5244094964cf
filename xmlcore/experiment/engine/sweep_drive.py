"""Carrying out a sweep: its trials are given to a queue, one job each, and the result is kept when all have ended."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from xmlcore import store
from xmlcore.datasets import save_dataset
from xmlcore.experiment.catalog import MODELS
from xmlcore.experiment.engine.submitting import submit
from xmlcore.experiment.engine.sweeps import UNREADABLE, Sweep, SweepSettings, kept_trial
from xmlcore.experiment.engine.task import keep, task
from xmlcore.experiment.kinds.train import changed_params
from xmlcore.progress import Cancelled, Progress, part_of, silent
from xmlcore.typing import Dataset
from xmlcore.validation import check_count, check_number

if TYPE_CHECKING:
    from xmlcore.jobs import Queue

EVERY = 0.1  # seconds between two looks at the jobs
_sharing = threading.Lock()  # held while jobs are asked for or let go: sweeps of one owner may have trials in common
# id and owner of a job, and key of a sweep -> ids of the dicts of jobs that have it
_wanted: dict[tuple[str, str, str], set[int]] = {}


def sweep(
    dataset: "Dataset | str",
    model: str = "PLT",
    grid: dict[str, Any] | None = None,
    *,
    params: dict[str, Any] | None = None,
    seeds: Sequence[int] = (0,),
    method: str = "grid",
    measure: str = "P@1",
    budget: int | None = None,
    validation: float = 0.2,
    factor: int = 3,
    seed: int = 0,
    queue: "Queue | None" = None,
    at_once: int | None = None,
    test: bool = True,
    progress: Progress = silent,
) -> Sweep:
    """Try settings of a model, choose the best on training rows that are held out, and measure it on the test rows.

    Each training is a task that is kept. When the same sweep is called again, after an interruption or for its result,
    only what is missing is trained. The dashboard makes sweeps in the same way, so they share all results.

    Parameters
    ----------
    dataset : Dataset or str
        A data set, or the fingerprint of a kept one.
    model : str
        A key of :data:`MODELS`.
    grid : dict
        For each parameter to vary, a list of values, or a range ``{"low": 0.1, "high": 10}``. A grid has five values of
        a range, or as many as ``"steps"`` says. Values are spaced, and drawn, by ratios if ``"log"`` is true, by
        default where ``high`` is at least ten times ``low``.
    params : dict, optional
        Other parameters that differ from the defaults.
    seeds : sequence of int
        Each setting is trained with each of these seeds, and judged by the mean.
    method : {"grid", "random", "halving"}
        "grid": all combinations. "random": ``budget`` of them, drawn at random. "halving": all, or ``budget`` of them,
        are trained on a small sample of the rows; the best third goes on to three times as many rows, until the last
        ones are trained on all rows (Jamieson and Talwalkar, AISTATS 2016).
    measure : str
        What is best: "P@1", "nDCG@5", "PSP@3", or another measure of :class:`Run`.
    budget : int, optional
        Number of settings to try, for "random" and "halving".
    validation : float
        Share of the training rows that is held out to choose on. Test rows are not looked at before the choice.
    factor : int
        For "halving": one of so many settings goes on, with so many times the rows.
    seed : int
        Of the rows held out, of the samples of rows, and of settings that are drawn.
    queue : xmlcore.jobs.Queue, optional
        Where to train: each trial is a job. By default in this process, one after the other. The choice is the same.
    at_once : int, optional
        Most trials that wait or run in the queue at the same time; by default all.
    test : bool
        Whether to train the chosen setting on all training rows, with each seed, for :attr:`Sweep.test`.
    progress : :class:`xmlcore.progress.Progress` or "bar", optional

    Returns
    -------
    Sweep
        ``.best`` are the chosen parameters, ``.table`` has all settings, ``.trials`` all trainings, ``.test`` the
        measures on the test rows.

    Raises
    ------
    ValueError, TypeError
        There is no such model, parameter, method or measure, or a value is not accepted.
    """
    at_once = at_once if at_once is None or callable(at_once) else check_count(at_once, "at_once")
    fingerprint = dataset if isinstance(dataset, str) else save_dataset(dataset)
    wanted = {
        "model": model, "grid": grid, "params": params, "seeds": seeds, "method": method, "measure": measure,
        "budget": budget, "validation": validation, "factor": factor, "seed": seed,
    }  # fmt: skip
    made = task("sweep", {"dataset": fingerprint}, wanted)
    end = 0.9 if test else 1.0
    missing = not made.exists() or made.load().lost > 0
    if queue is None:
        keep(made, part_of(progress, 0.0, end), again=missing)
    elif missing:
        drive(made, queue, at_once=at_once, progress=part_of(progress, 0.0, end))
    found = made.load()
    finals = found.final_tasks() if test else []
    if queue is None:
        for at, final in enumerate(finals):
            keep(final, part_of(progress, end + at * 0.1 / len(finals), end + (at + 1) * 0.1 / len(finals)))
    else:
        for job in [submit(queue, final) for final in finals if not final.exists()]:
            job.result()
    return found


def drive(
    made: SweepSettings,
    queue: "Queue",
    owner: "str | Callable[[], Iterable[str]]" = "",
    at_once: "int | Callable[[], float] | None" = None,
    progress: Progress = silent,
    stopped: threading.Event | None = None,
    jobs: dict | None = None,
    failures: dict | None = None,
) -> bool:
    """Give the trials of a sweep to a queue until all have ended, and keep the result."""
    jobs, failures = {} if jobs is None else jobs, {} if failures is None else failures
    stopped = threading.Event() if stopped is None else stopped
    owners = (lambda: sorted(owner())) if callable(owner) else lambda: [owner]
    asked, noted = set[str](), 0
    try:
        plan = made.plan()
        while not plan.complete and not stopped.is_set():
            if len(plan.trials) > noted:
                made.note(plan)
                noted = len(plan.trials)
            most = at_once() if callable(at_once) else at_once
            all_owners = owners()
            for trial in plan.waiting:
                if trial.key in jobs or most is None or len(jobs) < most:
                    _ask(made, trial, queue, jobs, asked, owners())
            _wait(jobs, plan, progress, stopped, owners, all_owners)
            failures |= _ended(jobs, asked, made.key)
            plan = made.plan(failures)
        if plan.complete:
            with store.writing(made.folder, made.key, replace=True, **made.facts()) as path:
                store.write_value(path, made.value(plan))
            made.after_keeping()
        return plan.complete
    finally:
        for one in asked:
            let_go(queue, jobs, one, made.key)


def _ask(made, trial, queue, jobs, asked, owners) -> None:
    """Ask for the job of a trial, for each owner who does not want it yet; not if it has just ended."""
    for owner in owners:
        before = jobs.get(trial.key)
        if before is not None and not before.active:
            return
        if before is not None and id(jobs) in _wanted.get((before.id, owner, made.key), ()):
            continue
        with _sharing:
            job = submit(queue, trial, owner, _title(made, trial), group=made.key)
            if before not in (None, job):  # that one has just ended
                queue.cancel(job.id, owner=owner, group=made.key)
                return
            jobs[trial.key] = job
            _wanted.setdefault((job.id, owner, made.key), set()).add(id(jobs))
        asked.add(owner)


def _ended(jobs, asked, key) -> dict[str, str]:
    """Forget the jobs that have ended; return why those have no result that have none, by the keys of their trials."""
    failures = {}
    for trial, job in list(jobs.items()):
        if job.active:
            continue
        _forget(jobs.pop(trial), jobs, asked, key)
        if job.state == "cancelled":
            failures[trial] = "This training was stopped."
        elif job.state == "failed":
            failures[trial] = job.error
        elif kept_trial(trial) is None:  # else it would be tried again and again
            failures[trial] = UNREADABLE
    return failures


def let_go(queue: "Queue", jobs: dict, owner: str, key: str) -> None:
    """Stop the trials of a sweep for an owner, without those that another sweep of this owner needs."""
    for job in list(jobs.values()):
        with _sharing:
            if _want_no_more(job, jobs, owner, key):
                queue.cancel(job.id, owner=owner, group=key)


def _forget(job, jobs, owners, key) -> None:
    """Note that the sweep with these jobs no longer wants a job, which has ended."""
    with _sharing:
        for owner in owners:
            _want_no_more(job, jobs, owner, key)


def _want_no_more(job, jobs, owner, key) -> bool:
    """Note that a job is not wanted for a dict of jobs any more; return whether it is for no other of this sweep."""
    wanted = _wanted.get((job.id, owner, key), set())
    wanted.discard(id(jobs))
    if not wanted:
        _wanted.pop((job.id, owner, key), None)
    return not wanted


def _wait(jobs, plan, progress, stopped, owners, all_owners) -> None:
    """Wait until a job has ended, the sweep is stopped or its owners have changed, and report progress meanwhile."""
    while not stopped.is_set():
        done = plan.done + sum(not job.active for job in jobs.values())
        begun = sum(1.0 if not job.active else job.fraction for job in jobs.values())
        progress("Trying settings", min(1.0, (plan.done + begun) / plan.total), f"{done:,} of {plan.total:,} trainings")
        if not jobs or any(not job.active for job in jobs.values()) or owners() != all_owners:
            return
        stopped.wait(EVERY)


def _title(made, trial) -> str:
    info = MODELS[made.params["model"]]
    swept = {name: trial.params["params"][name] for name in [*made.params["grid"], "random_state"]
             if name in trial.params["params"]}  # fmt: skip
    return f"Trying settings of {made.params['model']}: {changed_params(info, swept) or 'default settings'}"


class Driver:
    """A sweep that is carried out in the background, by a thread that only waits for jobs."""

    def __init__(self, made: "SweepSettings", queue: "Queue", owner: str = "", at_once: int | None = None):
        at_once = at_once if at_once is None or callable(at_once) else check_count(at_once, "at_once")
        self.key, self.jobs, self.failures, self.error, self.started = made.key, {}, {}, None, time.time()
        self.owners, self._made, self._stopped = {owner}, made, threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(made, queue, at_once), name="xmlcore-sweep", daemon=True
        )
        self._thread.start()

    @property
    def active(self) -> bool:
        return self._thread.is_alive()

    @property
    def stopping(self) -> bool:
        return self._stopped.is_set() and self.active

    def needs(self) -> set[str]:
        """Return the keys of its data set and of the trials that it knows; none when it has ended."""
        return {self._made.fingerprint, *self._made.known_trials()} if self.active else set()

    def stop(self, wait: float | None = None) -> None:
        """Stop the sweep; what has been done stays, and it can be started again."""
        self._stopped.set()
        if wait is not None:
            self._thread.join(check_number(wait, "wait"))

    def _run(self, made, queue, at_once):
        try:
            drive(
                made, queue, lambda: self.owners, at_once, stopped=self._stopped, jobs=self.jobs, failures=self.failures
            )
        except Cancelled:
            pass
        except Exception as error:  # shown to the user: there is no other place for it
            self.error = f"{type(error).__name__}: {error}"
