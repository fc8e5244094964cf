"""Tasks on threads: which run when, where results go, and what stops them."""

import threading
import time

import pytest

from xmlcore.parallel import run_tasks

TIMEOUT = 30  # seconds; only a failing test waits as long


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_results_come_in_the_order_of_the_tasks(n_jobs):
    costs = [1, 5, 3, 4, 2]
    assert run_tasks(lambda task: 10 * task, range(5), costs, n_jobs) == [0, 10, 20, 30, 40]
    assert run_tasks(lambda task: 10 * task, iter(range(5)), iter(costs), n_jobs) == [0, 10, 20, 30, 40]


def test_the_dearest_tasks_start_first_on_threads_too():
    costs, started, pair = [1, 5, 3, 4, 2, 6], [], threading.Barrier(2)

    def task(i):
        started.append(i)
        pair.wait(TIMEOUT)

    run_tasks(task, range(6), costs, n_jobs=2)
    assert [set(started[i : i + 2]) for i in (0, 2, 4)] == [{5, 1}, {3, 2}, {4, 0}]


def test_two_jobs_run_at_once_and_not_in_the_calling_thread():
    both, seen = threading.Barrier(2), set()

    def task(_):
        both.wait(TIMEOUT)  # passes only when two tasks are in it together
        seen.add(threading.get_ident())

    run_tasks(task, range(4), [1] * 4, n_jobs=2)
    assert len(seen) == 2
    assert threading.get_ident() not in seen


@pytest.mark.parametrize("n_tasks, n_jobs", [(5, 1), (1, 4)])
def test_one_job_or_one_task_stays_in_the_calling_thread(n_tasks, n_jobs):
    seen = run_tasks(lambda _: threading.get_ident(), range(n_tasks), [1] * n_tasks, n_jobs)
    assert set(seen) == {threading.get_ident()}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_counts_costs_in_the_calling_thread(n_jobs):
    calls = []

    def progress(phase, fraction, detail):
        calls.append((phase, fraction, detail, threading.get_ident()))

    run_tasks(lambda _: None, range(3), [2, 2, 4], n_jobs, progress, "Training", "nodes")
    assert [call[2] for call in calls] == [f"{done} of 3 nodes" for done in range(4)]
    assert {call[0] for call in calls} == {"Training"}
    assert {call[3] for call in calls} == {threading.get_ident()}
    fractions = [call[1] for call in calls]
    assert fractions[0] == 0
    assert fractions == sorted(fractions)
    assert fractions[-1] == pytest.approx(1)
    if n_jobs == 1:
        assert fractions == [0, 0.5, 0.75, 1]


class Stop(BaseException):
    """As a cancelled job raises it: not an Exception."""


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kind", [Stop, RuntimeError])
def test_an_exception_from_progress_stops_the_tasks(kind, n_jobs):
    started = []

    def task(i):
        started.append(i)
        if i > 0:
            time.sleep(0.3)  # long enough for the first one's progress to be heard

    def progress(phase, fraction, detail):
        if fraction > 0:
            raise kind("cancelled")

    with pytest.raises(kind, match="cancelled"):
        run_tasks(task, range(20), [1] * 20, n_jobs, progress)
    assert 1 <= len(started) < 10
    assert n_jobs > 1 or started == [0]
    count = len(started)
    time.sleep(0.05)
    assert len(started) == count


def test_an_exception_from_the_first_progress_starts_nothing():
    started = []

    def progress(*_):
        raise Stop

    with pytest.raises(Stop):
        run_tasks(started.append, range(5), [1] * 5, 2, progress)
    assert started == []


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_exception_in_a_task_stops_the_others(n_jobs):
    started = []

    def task(i):
        started.append(i)
        if i == 0:
            raise ValueError("task 0 failed")
        time.sleep(0.3)

    with pytest.raises(ValueError, match="task 0 failed"):
        run_tasks(task, range(20), [1] * 20, n_jobs)
    assert len(started) < 10


@pytest.mark.parametrize("costs", [[], [0, 0]])
def test_no_tasks_or_tasks_without_cost(costs):
    fractions = []
    run_tasks(lambda _: None, costs, costs, 2, lambda phase, fraction, detail: fractions.append(fraction))
    assert len(fractions) == len(costs) + 1
    assert all(0 <= fraction <= 1 for fraction in fractions)
