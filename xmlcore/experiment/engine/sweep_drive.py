"""Carrying out a sweep: its trials are given to a queue, one job each, and the result is kept when all have ended."""

import threading
import time
from collections import Counter
from collections.abc import Sequence
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
_sharing = threading.Lock()  # held while jobs are asked for or let go: drivers of one sweep and owner share them
_wanted: Counter[tuple] = Counter()  # id and owner of a job, and key of a sweep -> drivers that want it


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
        Driver(made, queue, at_once=at_once, start=False).drive(part_of(progress, 0.0, end))
    found = made.load()
    finals = found.final_tasks() if test else []
    if queue is None:
        for at, final in enumerate(finals):
            keep(final, part_of(progress, end + at * 0.1 / len(finals), end + (at + 1) * 0.1 / len(finals)))
    else:
        for job in [submit(queue, final) for final in finals if not final.exists()]:
            job.result()
    return found


class Driver:
    """A sweep that is carried out in the background, by a thread that only waits for jobs.

    Without ``start``, :meth:`drive` carries it out in the thread that calls it. ``after`` is a driver of the same sweep
    that stops: it lets its jobs go first.
    """

    def __init__(
        self,
        made: "SweepSettings",
        queue: "Queue",
        owner: str = "",
        at_once: int | None = None,
        after: "Driver | None" = None,
        start: bool = True,
    ):
        self._at_once = at_once if at_once is None or callable(at_once) else check_count(at_once, "at_once")
        self.key, self.jobs, self.failures, self.error, self.started = made.key, {}, {}, None, time.time()
        self.owners, self._made, self._queue = {owner}, made, queue
        self._asked, self._stopped = set[tuple](), threading.Event()
        self._thread = threading.Thread(target=self._run, args=(after,), name="xmlcore-sweep", daemon=True)
        if start:
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

    def drive(self, progress: Progress = silent) -> bool:
        """Give the trials of the sweep to the queue until all have ended, and keep the result."""
        made, noted = self._made, 0
        try:
            plan = made.plan()
            while not plan.complete and not self._stopped.is_set():
                if len(plan.trials) > noted:
                    made.note(plan)
                    noted = len(plan.trials)
                most, owners = self._at_once() if callable(self._at_once) else self._at_once, {*self.owners}
                for trial in plan.waiting:
                    if trial.key in self.jobs or most is None or len(self.jobs) < most:
                        self._ask(trial)
                self._wait(plan, progress, owners)
                self._note_ended()
                plan = made.plan(self.failures)
            if plan.complete:
                with store.writing(made.folder, made.key, replace=True, **made.facts()) as path:
                    store.write_value(path, made.value(plan))
                made.after_keeping()
            return plan.complete
        finally:
            for owner in {owner for _, owner, _ in self._asked}:
                self.let_go(owner)

    def let_go(self, owner: str) -> None:
        """Stop the trials for an owner, without those that another driver or another sweep of this owner needs."""
        active = {job.id for job in self.jobs.values()}
        for wanted in [one for one in self._asked if one[1] == owner]:
            with _sharing:
                self._asked.discard(wanted)
                _wanted[wanted] -= 1
                if _wanted[wanted] < 1:
                    del _wanted[wanted]
                    if wanted[0] in active:
                        self._queue.cancel(wanted[0], owner=owner, group=self.key)

    def _ask(self, trial) -> None:
        """Ask for the job of a trial, for each owner who does not want it yet; not if it has just ended."""
        for owner in sorted(self.owners):
            before = self.jobs.get(trial.key)
            if before is not None and not before.active:
                return
            if before is not None and (before.id, owner, self.key) in self._asked:
                continue
            with _sharing:
                job = submit(self._queue, trial, owner, _title(self._made, trial), group=self.key)
                wanted = job.id, owner, self.key
                if before not in (None, job):  # that one has just ended
                    if wanted not in _wanted:
                        self._queue.cancel(job.id, owner=owner, group=self.key)
                    return
                self.jobs[trial.key] = job
                self._asked.add(wanted)
                _wanted[wanted] += 1

    def _wait(self, plan, progress, owners) -> None:
        """Report progress until a job has ended, the sweep is stopped, or its owners have changed."""
        while not self._stopped.is_set():
            jobs = list(self.jobs.values())
            done = plan.done + sum(not job.active for job in jobs)
            begun = plan.done + sum(1.0 if not job.active else job.fraction for job in jobs)
            progress("Trying settings", min(1.0, begun / plan.total), f"{done:,} of {plan.total:,} trainings")
            if not jobs or done > plan.done or self.owners != owners:
                return
            self._stopped.wait(EVERY)

    def _note_ended(self) -> None:
        """Forget the jobs that have ended, and note why those have no result that have none."""
        for trial, job in list(self.jobs.items()):
            if job.active:
                continue
            del self.jobs[trial]
            if job.state == "cancelled":
                self.failures[trial] = "This training was stopped."
            elif job.state == "failed":
                self.failures[trial] = job.error
            elif kept_trial(trial) is None:  # else it would be tried again and again
                self.failures[trial] = UNREADABLE

    def _run(self, after):
        if after is not None:
            after._thread.join()
        try:
            self.drive()
        except Cancelled:
            pass
        except Exception as error:  # shown to the user: there is no other place for it
            self.error = f"{type(error).__name__}: {error}"


def _title(made, trial) -> str:
    info = MODELS[made.params["model"]]
    swept = {name: trial.params["params"][name] for name in [*made.params["grid"], "random_state"]
             if name in trial.params["params"]}  # fmt: skip
    return f"Trying settings of {made.params['model']}: {changed_params(info, swept) or 'default settings'}"
