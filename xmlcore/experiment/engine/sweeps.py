"""Sweeps: settings of a model are tried, and the best are chosen on training rows that are held out.

A sweep is a task whose trials are tasks of their own (``sweep_trials.py``). What it has to do next
follows from the trials that are kept, so that it goes on where it was after it was stopped or killed.
"""

import contextlib
import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from xmlcore import store
from xmlcore.experiment.catalog import MODEL, SEED, SEEDS, SETTINGS
from xmlcore.experiment.engine import leftovers, times
from xmlcore.experiment.engine.sweep_settings import METHODS, checked_grid, settings_of
from xmlcore.experiment.engine.sweep_trials import VALIDATION, TrainTrial, Trial, check_held_out
from xmlcore.experiment.engine.task import Task, keep, load, register, task
from xmlcore.experiment.kinds.train import full_params
from xmlcore.experiment.kinds.trees import training
from xmlcore.first_use import pd
from xmlcore.metrics.measures import MORE_MEASURES, USUAL_MEASURES, is_smaller_better
from xmlcore.metrics.statistics import student_reach
from xmlcore.parameters import REQUIRED, Parameter
from xmlcore.progress import Progress, part_of, silent
from xmlcore.typing import DataFrame

K = 5  # trials are measured at 1 to 5, and further if the measure asks for it
LEAST_SAMPLE = 100  # rows of the smallest sample of successive halving
UNREADABLE = "Its result was kept, and cannot be read or has been removed."
MOST_LOOKED_UP = 1000  # trainings of which an estimate leaves out those that have a result: 0.1 s


@dataclass(frozen=True)
class Sweep:
    """The result of a sweep."""

    model: str
    grid: dict  # the values that were tried, by parameter
    seeds: list[int]  # of the model, with which each setting was trained
    method: str  # see :func:`sweep`, as for the measure
    measure: str
    settings: list[dict]  # that were tried: the values of the swept parameters
    # A line for each training: `rung` (0, or the round of successive halving), `setting` (position in `settings`), the
    # swept parameters, `seed`, `rows` (trained on), `value` (of the measure, in [0, 1], on the rows held out; NaN if it
    # failed or was not made), `seconds`, `state` ("done", "failed", "waiting"), `error`, `key` (of the trial's task).
    trials: DataFrame
    # A line for each setting: `setting`, the swept parameters, `rung` and `rows` of its last round, `mean`, `low` and
    # `high` (95 % interval over seeds by Student's t; NaN with one seed), `n_seeds`, `seconds` (of all its trials),
    # `state` and `error`.
    table: DataFrame
    best: dict | None  # all parameters of the chosen setting, with the first seed; None if none could be trained
    best_setting: int | None  # its position in ``settings``
    value: float  # its mean of the measure on the rows held out
    fingerprint: str  # of the data set
    n_rows: int  # training rows that the last trials were trained on
    n_held_out: int  # rows held out to choose

    def final_tasks(self) -> list[Task]:
        """Return the tasks that train the chosen setting on all training rows: one for each seed."""
        of, seeds = {"model": self.model, "k": measured_at(self.measure)}, () if self.best is None else self.seeds
        made = (of | {"params": self.best | _seed_of(self.model, seed)} for seed in seeds)
        return [task("train", {"dataset": self.fingerprint}, one) for one in made]

    @property
    def lost(self) -> int:
        """Number of trainings that failed for another reason than their settings, such as a worker that was killed."""
        failed = self.trials[self.trials["state"] == "failed"]
        return sum(kept_trial(key) is None for key in failed["key"])

    @property
    def test(self) -> DataFrame | None:
        """Measures of the chosen setting on the test rows, trained on all training rows; None before that was done."""
        tasks = self.final_tasks()
        if not tasks or not all(training.exists() for training in tasks):
            return None
        every = pd.concat([training.load().measures for training in tasks])
        groups = every.groupby(["measure", "k"], sort=False)["value"]
        ends = {end: lambda values, at=at: interval(values)[at] for at, end in enumerate(("low", "high"))}
        return groups.agg(mean="mean", **ends, n_seeds="size").reset_index()


@dataclass(frozen=True)
class SweepPlan:
    """The trials of a sweep: done, running and next."""

    trials: list[dict]  # as the lines of :attr:`Sweep.trials`, of the rounds that have begun
    waiting: list[TrainTrial]  # trials of the present round that have no result
    # done, total: trials that have a result or have failed, and trials of the whole sweep
    done: int
    total: int
    complete: bool


@dataclass(frozen=True)
class Rung:
    """A round: how many settings it tries, and on how many rows; None for all that are not held out."""

    n_settings: int
    n_rows: int | None


@register
class SweepSettings(Task):
    """Try settings of a model, and choose the best."""

    kind, folder, result = "sweep", "sweeps", Sweep
    doing = "Trying settings of {model} on {dataset}"
    on_cluster = False  # it keeps its trials besides its result

    PARAMETERS = (
        MODEL,
        SETTINGS,
        Parameter("grid", "Values", "To try for each parameter: a list, or a range.", "any", REQUIRED),
        replace(SEEDS, default=(0,), help="Each setting is trained with each, and judged by the mean."),
        Parameter(
            "method", "Method",
            "grid: each is trained. random: as many as you say. halving: all are trained on a small sample of the "
            "rows, the best third goes on with three times as many rows, and so on. That takes a fraction of the time "
            "and finds nearly always as good a setting.",
            "choice", "grid", options=METHODS,
            option_names=("All combinations", "Combinations drawn at random", "Few rows first (successive halving)"),
        ),
        Parameter("measure", "Measure", "Measure by which settings are chosen.", "text", "P@1"),
        Parameter(
            "budget", "Settings to try at most",
            "Drawn at random from all combinations. Empty: all.",
            "int", None, minimum=1, optional=True,
        ),
        VALIDATION,
        Parameter("factor", "Factor", "For halving: one of so many settings goes on.", "int", 3, minimum=2),
        replace(SEED, help="Of the rows held out, of the samples of rows, and of settings that are drawn."),
    )  # fmt: skip

    def complete(self, params):
        model, fixed, budget = params["model"], params["params"], params["budget"]
        grid = checked_grid(model, params["grid"])
        if fixed.pop("random_state", None) is None and len(params["seeds"]) > 1:
            raise ValueError(f"{model} has no seed, so one training of each setting is enough: give one seed")
        if budget is None and params["method"] == "random":
            raise ValueError("method 'random' needs a budget: the number of settings to try")
        if params["method"] == "grid" and budget is not None:
            raise ValueError("method 'grid' tries all combinations: leave out the budget, or use 'random' or 'halving'")
        measure_and_k(params["measure"])
        with contextlib.suppress(store.StoreError):  # the data set of a sweep that was listed may be gone
            check_held_out(self._n_train, params["validation"])
        return params | {"grid": grid, "params": {name: value for name, value in fixed.items() if name not in grid}}

    def params_in_key(self):
        params = dict(self.params)
        if params["method"] != "halving":
            del params["factor"]
        return params

    @cached_property
    def settings(self) -> list[dict]:
        p = self.params
        return settings_of(p["grid"], p["method"], p["budget"], p["seed"])

    @cached_property
    def _n_train(self) -> int:
        return store.info("datasets", self.fingerprint)["n_train"]

    @property
    def _n_fit(self) -> int:
        return self._n_train - round(self.params["validation"] * self._n_train)

    @cached_property
    def _of_settings(self) -> list:
        p = self.params
        return [training(self, p["model"], p["params"] | setting, n_rows=self._n_fit) for setting in self.settings]

    @cached_property
    def rungs(self) -> list[Rung]:
        """The rounds. Successive halving begins with few rows, and goes on with the best settings on more rows."""
        n, factor = len(self.settings), self.params["factor"]
        if self.params["method"] != "halving":
            return [Rung(n, None)]
        n_fit, n_rounds = self._n_fit, 1
        while n > factor**n_rounds - 1 and n_fit >= LEAST_SAMPLE * factor**n_rounds and n > 1:
            n_rounds += 1
        return [
            Rung(math.ceil(n / factor**at), None if at == n_rounds - 1 else n_fit // factor ** (n_rounds - 1 - at))
            for at in range(n_rounds)
        ]

    @property
    def n_trials(self) -> int:
        return len(self.params["seeds"]) * sum(rung.n_settings for rung in self.rungs)

    def trial(self, rung: int, setting: int, seed: int) -> TrainTrial:
        made = self._trials_made.get((rung, setting, seed))
        if made is None:
            p = self.params
            params = p["params"] | self.settings[setting] | _seed_of(p["model"], seed)
            wanted = {name: p[name] for name in ("model", "validation", "seed")}
            wanted |= {"params": params, "n_rows": self.rungs[rung].n_rows, "k": measured_at(p["measure"])}
            made = self._trials_made[rung, setting, seed] = task("trial", self.inputs, wanted)
        return made

    def known_trials(self) -> list[str]:
        return [trial.key for trial in list(self._trials_made.values())]  # a list: other threads may add trials

    @cached_property
    def _trials_made(self) -> dict:
        return {}  # by round, setting and seed

    def work(self, plan: SweepPlan | None = None):
        """Return the work of the trainings that have no result; where there are too many to look up, of all."""
        if plan is None and self.n_trials <= MOST_LOOKED_UP:
            plan = self.plan()
        p, n_fit, each = self.params, self._n_fit, self._of_settings
        begun = -1 if plan is None else max(line["rung"] for line in plan.trials)
        later = sum(rung.n_settings * (rung.n_rows or n_fit) / n_fit for rung in self.rungs[begun + 1 :])
        values = len(p["seeds"]) * later * sum(work.values for work in each) / len(each)
        for trial in () if plan is None else plan.waiting:
            of_trial = trial.params["params"], trial.params["n_rows"] or n_fit
            values += training(self, p["model"], of_trial[0], n_rows=of_trial[1]).values
        return each[len(each) // 2]._replace(values=values, bytes=max(work.bytes for work in each))

    def _took(self, value, seconds):
        return 0, 0  # how many of the trials were kept before is not known any more

    def seconds_left(self, plan: SweepPlan | None = None) -> float | None:
        """Return how long trials without a result take, by known times of settings; before the first trial, of all."""
        values, took = self.work(plan).values, [(work.values, times.nearest(work)) for work in self._of_settings]
        known = [(of, time.seconds) for of, time in took if time]
        if values and len(known) < (len(took) if plan is None else 1):
            return None
        return values and values * sum(seconds for _, seconds in known) / sum(of for of, _ in known)

    def estimate(self):
        return replace(super().estimate(), seconds=self.seconds_left())

    def plan(self, failures: dict | None = None) -> SweepPlan:
        """Return the trials that are done, and the next ones."""
        alive, trials, waiting, done = list(range(len(self.settings))), [], [], 0
        for at in range(len(self.rungs)):
            tried = itertools.product(alive, self.params["seeds"])
            lines = [self._line(at, setting, seed, failures or {}) for setting, seed in tried]
            trials += lines
            waiting = [self.trial(at, line["setting"], line["seed"]) for line in lines if line["state"] == "waiting"]
            done += len(lines) - len(waiting)
            if waiting:
                break
            if at + 1 < len(self.rungs):
                alive = self._ranked(lines)[: self.rungs[at + 1].n_settings]
                if not alive:
                    break  # no setting can be trained
        total = self.n_trials if waiting or len(trials) == self.n_trials else len(trials)
        return SweepPlan(trials, waiting, done, total, complete=not waiting)

    def _line(self, rung, setting, seed, failures) -> dict:
        trial = self.trial(rung, setting, seed)
        result = kept_trial(trial.key)
        state, error = "waiting", ""
        if result is not None:
            state, error = ("failed", result.error) if result.error else ("done", "")
        elif trial.key in failures:
            state, error = "failed", failures[trial.key]
        return {
            "rung": rung,
            "setting": setting,
            **self.settings[setting],
            "seed": seed,
            "rows": None if result is None else result.n_rows,
            "value": self._value_of(result),
            "seconds": math.nan if result is None else result.seconds,
            "state": state,
            "error": error,
            "key": trial.key,
        }

    def _value_of(self, result) -> float:
        if result is None or result.measures is None:
            return math.nan
        name, k = measure_and_k(self.params["measure"])
        frame = result.measures
        found = frame.loc[(frame["measure"] == name) & (frame["k"] == k), "value"]
        if found.empty:
            raise ValueError(f"{self.params['measure']} is for data sets with label_parents, which this one has not")
        return float(found.iloc[0])

    def _ranked(self, lines) -> list[int]:
        """Return the settings of which no trial failed, best first; of equal ones the first."""
        means = _means(lines)
        return sorted(means, key=lambda setting: (-means[setting], setting))

    def best_so_far(self, plan: SweepPlan) -> tuple[int, float] | None:
        """Return the best setting of the last round that has one, and its mean of the measure; None without any."""
        failed = {line["setting"] for line in plan.trials if line["state"] == "failed"}  # in this round or a later one
        for at in range(len(self.rungs) - 1, -1, -1):
            lines = [line for line in plan.trials if line["rung"] == at and line["setting"] not in failed]
            means = _means(lines)
            if means:
                best = self._ranked(lines)[0]
                return best, means[best]
        return None

    def value(self, plan: SweepPlan) -> dict:
        """Return the fields of :class:`Sweep` for what has been done."""
        best = self.best_so_far(plan) if plan.complete else None
        p, seed = self.params, _seed_of(self.params["model"], self.params["seeds"][0])
        return {
            **{name: p[name] for name in ("model", "grid", "seeds", "method", "measure")},
            "settings": self.settings,
            "trials": pd.DataFrame(plan.trials),
            "table": settings_table(plan.trials, self.settings),
            "best": None if best is None else full_params(p["model"], p["params"] | self.settings[best[0]] | seed),
            "best_setting": None if best is None else best[0],
            "value": math.nan if best is None else best[1],
            "fingerprint": self.fingerprint,
            "n_rows": self._n_fit,
            "n_held_out": self._n_train - self._n_fit,
        }

    def run(self, progress: Progress = silent, files=None):
        """Make all trials that have no result, one after the other, in this process."""
        failures: dict[str, str] = {}
        plan = self.plan()
        while not plan.complete:
            self.note(plan)
            for at, trial in enumerate(plan.waiting):
                detail = f"{plan.done + at + 1:,} of {plan.total:,}"
                start, end = (done / max(plan.total, 1) for done in (plan.done + at, plan.done + at + 1))
                keep(trial, part_of(progress, start, end, phase="Trying settings", detail=detail))
                if kept_trial(trial.key) is None:
                    failures[trial.key] = UNREADABLE
            plan = self.plan(failures)
        return self.value(plan)

    def note(self, plan: SweepPlan) -> None:
        """Have the trials of a sweep that is not finished stay in the store."""
        leftovers.note_sweep(self.key, self.fingerprint, [line["key"] for line in plan.trials])

    def after_keeping(self):
        leftovers.forget_sweep(self.key)


def measure_and_k(measure: str) -> tuple[str, int]:
    """Return the name of a measure in tables, and its k: ("P@k", 1) for "P@1"; ValueError for any other text."""
    name, _, k = str(measure).partition("@")
    known = [name for name in (*USUAL_MEASURES, *MORE_MEASURES) if not is_smaller_better(name)]
    if f"{name}@k" not in known or not k.isdecimal() or not 1 <= int(k) <= 1000:
        raise ValueError(f"measure {measure!r:.200} is unknown: give one such as P@1; known are {', '.join(known)}")
    return f"{name}@k", int(k)


def measured_at(measure: str) -> int:
    return max(K, measure_and_k(measure)[1])


def _seed_of(model, seed) -> dict:
    """Return the parameter for the seed of a model; nothing for a model without one."""
    return {"random_state": seed} if "random_state" in full_params(model) else {}


def _means(lines) -> dict[int, float]:
    """Return the mean of the measure of each setting all of whose trials, in one round, have one."""
    values = {}
    for line in lines:
        values.setdefault(line["setting"], []).append(line["value"])
    return {setting: float(np.mean(of)) for setting, of in values.items() if not np.isnan(of).any()}


def interval(values) -> tuple[float, float]:
    """Return the 95 % interval of a mean by Student's t; NaN with fewer than two values."""
    values = np.asarray(values, float)
    if values.size < 2:
        return math.nan, math.nan
    reach = student_reach(values.size, values.std(ddof=1))
    return float(values.mean() - reach), float(values.mean() + reach)


def settings_table(trials: list[dict], settings: list[dict]) -> DataFrame:
    """Return :attr:`Sweep.table` from the lines of its trials; settings without a trial are in no line."""
    by_setting, lines = {}, []
    for trial in trials:
        by_setting.setdefault(trial["setting"], []).append(trial)
    for setting, own in sorted(by_setting.items()):
        last = [line for line in own if line["rung"] == max(trial["rung"] for trial in own)]
        scores = [line["value"] for line in last if line["state"] == "done"]
        errors = [line["error"] for line in last if line["state"] == "failed"]
        low, high = interval(scores)
        rows = next((line["rows"] for line in last if line["rows"] is not None), None)
        state = "failed" if errors else "done" if len(scores) == len(last) else "waiting"
        lines.append(
            {"setting": setting, **settings[setting], "rung": last[0]["rung"], "rows": rows}
            | {"mean": float(np.mean(scores)) if scores else math.nan, "low": low, "high": high, "n_seeds": len(scores)}
            | {"seconds": float(np.nansum([line["seconds"] for line in own])), "state": state}
            | {"error": errors[0] if errors else ""}
        )
    return pd.DataFrame(lines)


def kept_trial(key: str) -> Trial | None:
    """Return the result of a trial; None if none is kept, or if it is damaged."""
    with contextlib.suppress(store.StoreError):
        return _trial(str(store.cache_root()), key) if store.exists(TrainTrial.folder, key) else None
    return None


@lru_cache(maxsize=5000)
def _trial(root, key) -> Trial:
    """Return the result of a trial, from memory after the first time; ``root`` tells cache folders apart."""
    return load("trial", key)
