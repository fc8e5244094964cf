"""Sweeps: what is tried, what is chosen, and that they go on where they were."""

import dataclasses
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from xmlcore import experiment, jobs, store
from xmlcore.datasets import Dataset, save_dataset
from xmlcore.experiment.engine import leftovers, sweep_drive, sweep_settings, sweeps, times
from xmlcore.progress import Cancelled
from xmlcore.state import database

GRID = {"max_leaf_labels": [2, 12], "C": [0.01, 10.0]}
NINE = {"C": [float(c) for c in range(1, 10)], "max_leaf_labels": [4]}
FIXED = {"loss": "logistic", "arity": 2}


def quick(data, grid=GRID, **others):
    return experiment.sweep(data, "PLT", grid, params=FIXED, test=False, **others)


def made(data, **params):
    wanted = {"model": "PLT", "grid": GRID, "params": FIXED} | params
    return experiment.task("sweep", {"dataset": save_dataset(data)}, wanted)


class Calls(list):
    """The settings of each training, in order."""

    def before(self, progress):
        """What a training does before anything else: tests put another function here."""


@pytest.fixture
def calls(monkeypatch):
    """Trials that are trained, in place of trainings: the value of a setting is a function of its parameters."""
    calls = Calls()

    def run(task, progress=None, files=None):
        calls.before(progress)
        params = task.params["params"]
        calls.append((params["max_leaf_labels"], params["C"], params["random_state"], task.params["n_rows"]))
        if params["C"] == 0.5:
            raise RuntimeError("the worker died")
        value = min(1.0, params["C"] / 10 + params["random_state"] / 1000)
        measures = pd.DataFrame([("P@k", k, value) for k in range(1, 6)], columns=["measure", "k", "value"])
        error = "max_leaf_labels does not go with C" if params["max_leaf_labels"] == 7 else ""
        numbers = {"seconds": 0.1, "n_rows": task.params["n_rows"] or 160, "n_held_out": 40}
        return numbers | {"measures": None if error else measures, "error": error}

    monkeypatch.setattr(experiment.KINDS["trial"], "run", run)
    return calls


def stop_after_three(calls):
    def progress(phase, fraction, detail=""):
        if len(calls) == 3:
            raise Cancelled

    return progress


def report_until(event, progress):
    while not event.wait(0.02):
        progress("Training nodes of trees", 0.5)


@pytest.fixture
def queue():
    with ThreadPoolExecutor(3) as threads:
        queue = jobs.Queue(executor=threads)
        yield queue
        queue.shutdown()


# --- what is tried


def test_a_grid_has_all_combinations_and_five_values_of_a_range():
    grid = sweep_settings.checked_grid("PLT", {"C": {"low": 0.1, "high": 10}, "arity": [2, 16, 16]})
    found = sweep_settings.settings_of(grid, "grid", None, 0)
    assert [one["C"] for one in found[::2]] == [0.1, 0.3162, 1.0, 3.162, 10.0] and len(found) == 10
    whole = sweep_settings.checked_grid("PLT", {"n_estimators": {"low": 1, "high": 5}})
    assert sweep_settings.values_of(whole["n_estimators"]) == [1, 2, 3, 4, 5]


def test_settings_drawn_at_random_depend_on_the_seed():
    grid = sweep_settings.checked_grid("PLT", {"C": {"low": 0.1, "high": 10}, "n_estimators": {"low": 1, "high": 3}})
    found, again, other = (sweep_settings.settings_of(grid, "random", 40, seed) for seed in (1, 1, 2))
    assert found == again != other
    assert len({json.dumps(one) for one in found}) == 40
    assert all(0.1 <= one["C"] <= 10 for one in found) and {one["n_estimators"] for one in found} == {1, 2, 3}
    assert 8 < sum(one["C"] < 1 for one in found) < 32  # drawn by ratios
    few = sweep_settings.checked_grid("PLT", {"n_estimators": {"low": 1, "high": 3}})
    assert len(sweep_settings.settings_of(few, "random", 9, 0)) == 3  # there are no more


@pytest.mark.parametrize("others", [{}, {"method": "random", "budget": 3}])
def test_settings_are_numbered_whatever_the_order_chosen(easy, others):
    orders = [dict(items) for items in ([*GRID.items()], [*GRID.items()][::-1])]
    one, other = (made(easy, grid=grid, **others) for grid in orders)
    assert one.key == other.key and one.settings == other.settings


@pytest.mark.parametrize("params, said", [
    ({"grid": {}}, "names no parameter"),
    ({"grid": {"C": []}}, "no values"),
    ({"grid": {"C": 3}}, "must be a list"),
    ({"grid": {"C": [-1.0]}}, "C"),
    ({"grid": {"depth": [1]}}, "no parameter depth"),
    ({"grid": {"random_state": [1, 2]}}, "give seeds="),
    ({"grid": {"C": {"low": 1}}}, "needs low and high"),
    ({"grid": {"C": {"low": 2.0, "high": 1.0}}}, "less than high"),
    ({"method": "best"}, "method must be one of"),
    ({"method": "random"}, "needs a budget"),
    ({"budget": 3}, "leave out the budget"),
    ({"measure": "F1"}, "such as P@1"),
    ({"seeds": []}, "seeds is empty"),
    ({"model": "OneVsRest", "params": None, "grid": {"C": [1.0]}, "seeds": [0, 1]}, "has no seed"),
    ({"grid": {"C": [i + 1.0 for i in range(200)], "n_estimators": list(range(1, 100))}}, "19,800 settings"),
])  # fmt: skip
def test_what_cannot_be_swept_is_named(easy, params, said):
    with pytest.raises((ValueError, TypeError), match=said):
        made(easy, **params).settings  # noqa: B018


def test_too_few_rows_to_hold_out_are_refused(easy):
    few = Dataset("few", easy.X_train[:7], easy.Y_train[:7], easy.X_test, easy.Y_test)
    with pytest.raises(ValueError, match="of 7 training rows, 0.2 held out leaves 6 .* more training rows"):
        made(few)
    assert made(few, validation=0.3).work().values > 0


def test_the_key_does_not_depend_on_how_values_are_written(easy):
    assert made(easy).key == made(easy, grid={"max_leaf_labels": (2, np.int64(12)), "C": np.array([0.01, 10])}).key
    assert made(easy).key == made(easy, factor=5).key != made(easy, method="halving").key
    assert experiment.from_record(made(easy).to_record()).key == made(easy).key


# --- what is chosen


def test_the_best_is_chosen_on_held_out_rows(easy):
    found = experiment.sweep(easy, "PLT", GRID, params=FIXED, seeds=(0, 1))
    assert len(found.trials) == 8 and (found.n_rows, found.n_held_out) == (160, 40)
    assert found.value == found.table["mean"].max() == found.table["mean"][found.best_setting]
    assert found.best["C"] == found.settings[found.best_setting]["C"] and found.best["loss"] == "logistic"
    runs = [task.load() for task in found.final_tasks()]
    assert [run.params["random_state"] for run in runs] == [0, 1] and runs[0].ranking.labels.shape == (60, 5)
    p_at_1 = [run.measures["value"][0] for run in runs]
    assert found.test["mean"][0] == pytest.approx(np.mean(p_at_1)) and found.test["n_seeds"][0] == 2
    same = experiment.task("train", {"dataset": easy.fingerprint}, {"params": found.best})
    assert same.exists()  # it is an ordinary result, with the same key


def test_trials_never_read_the_test_rows(easy):
    part = experiment.without_held_out(easy, 0.2, seed=3)
    train = {row.tobytes() for row in easy.X_train.toarray()}
    assert {row.tobytes() for row in (*part.X_train.toarray(), *part.X_test.toarray())} == train
    smaller = experiment.without_held_out(easy, 0.2, seed=3, n_rows=50)
    assert {row.tobytes() for row in smaller.X_train.toarray()} <= {row.tobytes() for row in part.X_train.toarray()}
    assert (smaller.X_test != part.X_test).nnz == 0


def test_successive_halving_trains_on_growing_samples(easy, calls, monkeypatch):
    assert [rung.n_settings for rung in made(easy, grid=NINE, method="halving").rungs] == [9]
    monkeypatch.setattr(sweeps, "LEAST_SAMPLE", 10)
    found = quick(easy, NINE, method="halving", factor=3)
    assert [(C, rows) for _, C, _, rows in calls] == [*((float(c), 17) for c in range(1, 10)),
                                                      (9.0, 53), (8.0, 53), (7.0, 53), (9.0, None)]  # fmt: skip
    assert found.best["C"] == 9.0 and found.trials["rung"].tolist() == [0] * 9 + [1] * 3 + [2]
    assert found.table["rows"].tolist() == [17] * 6 + [53, 53, 160]


def test_settings_that_fail_do_not_end_the_sweep(easy, calls):
    found = quick(easy, {"C": [1.0, 2.0], "max_leaf_labels": [4, 7]})
    assert found.table["state"].tolist() == ["done", "failed", "done", "failed"]
    assert set(found.table["error"]) == {"", "max_leaf_labels does not go with C"}
    assert found.best["C"] == 2.0 and found.best["max_leaf_labels"] == 4
    none = quick(easy, {"C": [1.0], "max_leaf_labels": [7]})
    assert none.best is None and none.final_tasks() == [] and none.test is None


def test_a_setting_that_fails_on_all_rows_is_not_chosen(easy, calls, monkeypatch):
    train = experiment.KINDS["trial"].run

    def run(task, progress=None, files=None):
        value = train(task)
        return value if task.params["n_rows"] else value | {"measures": None, "error": "too many rows"}

    monkeypatch.setattr(experiment.KINDS["trial"], "run", run)
    monkeypatch.setattr(sweeps, "LEAST_SAMPLE", 10)
    found = quick(easy, NINE, method="halving")
    assert found.best["C"] == 8.0 and found.value == 0.8, "of the settings that never failed the best"


@pytest.mark.parametrize("with_queue", [False, True])
def test_an_unreadable_trial_is_not_tried_for_ever(easy, calls, queue, monkeypatch, with_queue):
    bad, load = made(easy).trial(0, 1, 0).key, sweeps.load

    def loaded(kind, key):
        if key == bad:
            raise store.UnreadableArtifactError("written by another version")
        return load(kind, key)

    monkeypatch.setattr(sweeps, "load", loaded)
    found = quick(easy, queue=queue if with_queue else None)
    assert found.table["state"].tolist() == ["done", "failed", "done", "done"] and len(calls) == 4
    assert "cannot be read" in found.table["error"][1] and found.lost == 1


def test_an_error_of_the_model_is_kept_as_the_reason(easy, monkeypatch):
    monkeypatch.setattr(
        experiment.engine.sweep_trials, "run_and_model", lambda *_: (_ for _ in ()).throw(ValueError("too\nfew"))
    )
    trial = experiment.task("trial", {"dataset": save_dataset(easy)})
    experiment.keep(trial)
    assert trial.load().error == "too few" and trial.load().measures is None


def test_of_equally_good_settings_the_first_is_chosen(easy, calls):
    assert quick(easy, {"C": [10.0, 20.0, 30.0]}).best["C"] == 10.0


def test_intervals_are_those_of_students_t():
    low, high = sweeps.interval([0.2, 0.4, 0.6])
    assert (low, high) == pytest.approx((0.4 - 4.302653 * 0.2 / 3**0.5, 0.4 + 4.302653 * 0.2 / 3**0.5))
    assert np.isnan(sweeps.interval([0.2])).all()


# --- queues, interruptions


def test_a_queue_gives_the_same_result_as_this_process(easy, calls, queue):
    alone = quick(easy, seeds=(0, 1), method="halving")
    for record in (*store.entries("trials"), *store.entries("sweeps")):
        store.delete(record["kind"], record["key"])
    sweeps._trial.cache_clear()
    shared = quick(easy, seeds=(0, 1), method="halving", queue=queue)
    assert shared.best == alone.best and shared.trials.equals(alone.trials) and shared.table.equals(alone.table)
    assert len(queue.jobs()) == 8 and len({job.key for job in queue.jobs()}) == 8  # a job for each training


def test_a_sweep_goes_on_where_it_was_stopped(easy, calls):
    with pytest.raises(Cancelled):
        quick(easy, seeds=(0, 1), progress=stop_after_three(calls))
    plan = made(easy, seeds=(0, 1)).plan()
    assert (plan.done, plan.total, plan.complete) == (2, 8, False)  # the third was not saved
    quick(easy, seeds=(0, 1))
    assert len(calls) == 9 and len(set(calls)) == 8
    quick(easy, seeds=(0, 1))  # from the cache
    quick(easy, seeds=(0, 1), grid={**GRID, "C": [0.01, 10.0, 5.0]})  # only what is new
    assert len(calls) == 13


def test_a_driver_is_stopped_and_started_again(easy, calls, queue):
    go_on = threading.Event()
    calls.before = lambda progress: len(calls) >= 2 and report_until(go_on, progress)
    task = made(easy)
    driver = experiment.Driver(task, queue, owner="me", at_once=1)
    while task.plan().done < 2:  # the value of the second trial is kept a moment after it was computed
        time.sleep(0.01)
    assert driver.active and not task.exists()
    keys = {trial.key for trial in task._trials_made.values()}
    assert driver.needs() == {task.fingerprint} | keys and len(keys) == 4
    driver.stop(wait=20)
    assert not driver.active and driver.error is None and driver.needs() == set()
    assert all(job.wait(20) for job in queue.jobs())  # the one that ran has noticed that it was cancelled
    assert not task.exists() and task.plan().done == 2 and task.best_so_far(task.plan()) is not None
    go_on.set()
    again = experiment.Driver(task, queue, owner="me")
    again._thread.join(30)
    assert task.exists() and len(calls) == 4 and task.load().best["C"] == 10.0


def test_a_sweep_that_starts_while_it_stops_has_its_trainings(easy, calls, queue):
    go_on = threading.Event()
    calls.before = lambda progress: report_until(go_on, progress)
    first = experiment.Driver(made(easy), queue, owner="me")
    while not first.jobs:
        time.sleep(0.01)
    first.stop()
    again = experiment.Driver(made(easy), queue, owner="me", after=first)
    go_on.set()
    again._thread.join(30)
    assert again.error is None and not again.failures and made(easy).exists()


def test_a_stopped_driver_leaves_trainings_to_another_of_its_owner(easy, calls, queue):
    go_on = threading.Event()
    calls.before = lambda progress: report_until(go_on, progress)
    first, second = (experiment.Driver(made(easy), queue, owner="me") for _ in range(2))
    while len(first.jobs) < 4 or len(second.jobs) < 4:
        time.sleep(0.01)
    first.stop(wait=20)
    assert not first.active and second.active and all(job.active and not job.cancelling for job in queue.jobs())
    go_on.set()
    second._thread.join(30)
    assert second.error is None and not second.failures and made(easy).exists()


def test_trainings_belong_to_all_who_want_the_sweep(easy, calls, queue):
    task = made(easy)
    queue.pause(owner="a")
    driver = experiment.Driver(task, queue, owner="a", at_once=1)
    while not driver.jobs:
        time.sleep(0.01)
    driver.owners = {"a", "b"}  # the second has not paused it
    driver._thread.join(30)
    assert {job.group for job in queue.jobs()} == {driver.key}
    assert [{*job.owners} for job in queue.jobs()] == [{"a", "b"}] * 4
    assert task.exists() and len(calls) == 4


@pytest.mark.parametrize("seen", [True, False])
def test_a_job_that_ends_between_two_owners_is_not_made_again(easy, calls, queue, monkeypatch, seen):
    submit, go_on, made_jobs = sweep_drive.submit, threading.Event(), []
    calls.before = lambda progress: report_until(go_on, progress)

    def submit_and_end(*args, **kwargs):
        """End the job as soon as it is submitted, or just before it is submitted for the second owner."""
        before = made_jobs[-1:]
        if seen or before:
            go_on.set()
        assert all(job.wait(20) for job in before)
        made_jobs.append(submit(*args, **kwargs))
        assert not seen or made_jobs[-1].wait(20)
        return made_jobs[-1]

    monkeypatch.setattr(sweep_drive, "submit", submit_and_end)
    queue.pause(owner="b")  # a second job would wait for ever
    driver = experiment.Driver(made(easy, grid={"C": [1.0]}), queue, start=False)
    driver.owners = {"a", "b"}
    assert driver.drive()
    assert [job.state for job in made_jobs] == ["done"] + ["cancelled"] * (not seen)
    assert len(calls) == 1


def test_a_stopped_sweep_leaves_trainings_of_another(easy, calls, queue):
    go_on = threading.Event()
    calls.before = lambda progress: report_until(go_on, progress)
    one = experiment.Driver(made(easy, grid={"C": [1.0, 2.0]}), queue, owner="me")
    other = experiment.Driver(made(easy, grid={"C": [2.0, 3.0]}), queue, owner="me")
    while len(one.jobs) < 2 or len(other.jobs) < 2:
        time.sleep(0.01)
    (shared,) = set(one.jobs) & set(other.jobs)
    one.stop(wait=20)
    states = {job.plan.task["params"]["params"]["C"]: (job.active, job.cancelling) for job in queue.jobs()}
    assert states[2.0] == states[3.0] == (True, False) and (states[1.0][1] or not states[1.0][0])
    go_on.set()
    other._thread.join(30)
    found = made(easy, grid={"C": [2.0, 3.0]}).load()
    assert found.trials["state"].tolist() == ["done", "done"] and found.lost == 0 and not other.failures
    assert shared in set(found.trials["key"])


def test_trials_of_an_unfinished_sweep_stay(easy, calls):
    later = time.time() + 1e5
    with pytest.raises(Cancelled):
        quick(easy, progress=stop_after_three(calls))
    task = made(easy)
    needed = experiment.needed_by_sweeps()  # from the disk, as after a restart
    assert needed == {task.fingerprint, *(line["key"] for line in task.plan().trials)}
    store.make_room(needed, most=0, now=later)
    assert task.plan().done == 2 and store.exists("datasets", task.fingerprint)
    quick(easy)
    assert experiment.needed_by_sweeps() == set()
    store.make_room(experiment.needed_by_sweeps(), most=0, now=later)
    assert not list(store.entries("trials"))


def test_an_abandoned_sweep_is_forgotten(easy, calls, monkeypatch):
    leftovers.note_sweep("ab" * 16, "cd" * 16, ["ef" * 16])
    assert len(experiment.needed_by_sweeps()) == 2
    database().put("sweeps", "00" * 16, {"damaged": 1})
    assert len(experiment.needed_by_sweeps()) == 2 and leftovers._remove_old_sweeps() == 0
    monkeypatch.setattr(leftovers, "OLDEST_SWEEP", -1.0)
    assert experiment.needed_by_sweeps() == set() and leftovers._remove_old_sweeps() == 2


def test_as_many_trainings_run_as_a_function_allows_by_then(easy, calls, queue):
    at_once = []
    calls.before = lambda progress: at_once.append(sum(job.active for job in queue.jobs()))
    assert queue.slots == 3
    quick(easy, queue=queue, at_once=lambda: min(1, queue.slots))
    assert at_once == [1] * 4


def test_the_next_sweep_tries_lost_trials_again(easy, calls, queue):
    found = quick(easy, {"C": [0.5, 1.0]}, queue=queue)
    assert found.table["state"].tolist() == ["failed", "done"] and "the worker died" in found.table["error"][0]
    assert found.best["C"] == 1.0
    n_calls = len(calls)
    assert found.lost == 1 and quick(easy, {"C": [0.5, 1.0]}, queue=queue).lost == 1
    assert [C for _, C, _, _ in calls[n_calls:]] == [0.5]  # only this one is trained again


def test_the_work_left_is_that_of_the_settings_left(easy):
    sweep = made(easy, model="LdSM", params=None, grid={"n_estimators": [1, 20]})
    plan = sweep.plan()
    few, many = (sweep.work(dataclasses.replace(plan, waiting=[one])).values for one in plan.waiting)
    assert few < many and few + many == pytest.approx(sweep.work().values)
    assert sweep.seconds_left(plan) is None
    times.add(plan.waiting[0].work(), 2.0)
    assert sweep.seconds_left(plan) == pytest.approx(2.0 * 21) == sweep.estimate().seconds


def test_the_work_of_a_sweep_is_that_of_all_its_trainings(easy, calls, monkeypatch):
    one = made(easy, grid={"C": [1.0]}).work().values
    assert made(easy, seeds=[0, 1, 2]).work().values == pytest.approx(12 * one)
    quick(easy, {"C": [1.0, 2.0]})
    assert made(easy, grid={"C": [1.0, 2.0, 3.0]}).work().values == pytest.approx(one), "those without a result"
    assert made(easy, grid={"C": [2.0]}).estimate().seconds == 0
    monkeypatch.setattr(sweeps, "LEAST_SAMPLE", 10)
    whole, less = (made(easy, grid=NINE, method=method) for method in ("grid", "halving"))
    assert less.n_trials == 13 > whole.n_trials == 9 and less.work().values < 13 * one


def test_trainings_but_not_trials_tell_memory(easy, monkeypatch):
    monkeypatch.setattr("xmlcore.experiment.kinds.train.grown", lambda memory: 1 << 30)
    data = {"dataset": save_dataset(easy)}
    about = {"model": "PLT", "params": {}, "k": 5}
    experiment.keep(experiment.task("trial", data, about | {"n_rows": 60, "validation": 0.2, "seed": 0}))
    experiment.keep(experiment.task("train", data, about))
    assert [row.value["bytes"] for row in database().rows(times.TABLE)] == [0, 1 << 30]
