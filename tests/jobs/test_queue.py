import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import job_functions as work
import pytest
from watching import LONG, is_alive, start, wait_until

from xmlcore import store
from xmlcore.jobs import JobError, Queue, WorkerPool, worker
from xmlcore.progress import Cancelled
from xmlcore.system import cache_root

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")


# --- a job's life


def test_job_runs_and_returns(queue):
    job = queue.submit(work.add, 1, b=2, title="1 + 2")
    assert job.result(timeout=LONG) == 3
    assert (job.state, job.title, job.active, job.cancelling) == ("done", "1 + 2", False, False)
    assert (job.phase, job.fraction, job.detail) == ("Adding", 1.0, "1 and 2")
    assert job.error is None and job.traceback is None
    assert list(job.phases) == ["Adding"]
    assert job.queued <= job.started <= job.ended
    assert 0 <= job.elapsed < LONG
    assert queue.get(job.id) is job
    assert "1 + 2" in repr(job)


def test_workers_start_lazily():
    before = threading.active_count()
    queue = Queue()
    assert queue.jobs() == [] and threading.active_count() == before and not queue.folder.exists()
    queue.shutdown()


def test_running_job_shows_phase_fraction_and_detail(queue, tmp_path):
    job = start(queue, work.until, str(tmp_path / "go"))
    wait_until(lambda: job.phase)
    assert (job.phase, job.fraction, job.detail) == ("Waiting", 0.5, "for a file")
    assert job.ended is None and job.active and not job.wait(0)
    with pytest.raises(TimeoutError, match="not ended"):
        job.result(timeout=0)
    before = job.elapsed, job.phases["Waiting"]
    time.sleep(0.1)
    assert job.elapsed > before[0] and job.phases["Waiting"] > before[1]
    (tmp_path / "go").touch()
    assert job.wait(LONG) and job.state == "done"


def test_phases_add_up_and_keep_their_order(queue):
    job = queue.submit(work.phases, title="Phases")
    seen = set()
    while not job.wait(0.01):
        seen.add((job.phase, job.detail))
    assert list(job.phases) == ["Reading", "Training"]
    assert job.phases["Training"] > 0.24 and job.phases["Reading"] > 0.09  # at least what they sleep
    assert sum(job.phases.values()) <= job.elapsed
    assert job.detail == "10 of 10"  # the last report counts, though it came too soon to be written
    assert {"Reading", "Training"} <= {phase for phase, _ in seen}


def test_results_of_a_worker_land_where_the_parent_looks(queue):
    key = queue.submit(work.write_artifact, "ab" * 8, title="Write").result(timeout=LONG)
    assert store.load("runs", key) == "from a worker"
    assert queue.submit(work.where, title="Where").result(timeout=LONG)["cache"] == str(cache_root())


def test_large_return_value_is_refused_with_the_remedy(queue):
    job = queue.submit(work.big, worker.LARGEST_VALUE + 1, title="Big")
    with pytest.raises(JobError, match="returned 10.0 MB.*xmlcore.store"):
        job.result(timeout=LONG)
    assert job.state == "done"


# --- failures


def test_failure_has_a_reason_and_a_traceback(queue):
    job = queue.submit(work.fail, "no\nsuch  file", title="Fail")
    job.wait(LONG)
    assert (job.state, job.phase, job.fraction) == ("failed", "Failing", 0.25)
    assert job.error == "ValueError: no such file"
    assert job.traceback.startswith("Traceback") and "job_functions.py" in job.traceback
    assert "worker.py" not in job.traceback
    with pytest.raises(JobError, match="no such file") as caught:
        job.result()
    assert caught.value.traceback == job.traceback


def pid_of_worker(queue):
    return queue.submit(work.where, title="Where").result(timeout=LONG)["pid"]


def test_odd_failures_are_told_and_the_worker_lives_on(single):
    pid = pid_of_worker(single)
    assert pid != os.getpid()
    for function, reason in (
        (work.fail_oddly, "TwoArguments: one and two"),
        (work.need_memory, "Not enough memory: Unable to allocate"),
        (work.leave, "SystemExit: enough"),
    ):
        job = single.submit(function, title="Odd")
        assert job.wait(LONG) and job.state == "failed" and job.error.startswith(reason)
        assert pid_of_worker(single) == pid


@posix
def test_crash_is_told_and_harms_no_other_job(queue, tmp_path):
    other = start(queue, work.until, str(tmp_path / "go"))  # beside which the next job runs
    job = queue.submit(work.crash, title="Crash")
    job.wait(LONG)
    assert (job.state, job.error) == ("failed", "The worker process crashed (SIGSEGV)")
    assert job.traceback and other.state == "running"
    (tmp_path / "go").touch()
    assert other.result(timeout=LONG) > 0


def test_function_that_a_worker_cannot_import_is_a_clear_failure(queue, monkeypatch):
    monkeypatch.setattr(work.add, "__module__", "nowhere_at_all")
    module = type(sys)("nowhere_at_all")
    module.add = work.add
    monkeypatch.setitem(sys.modules, "nowhere_at_all", module)
    job = queue.submit(work.add, 1, 2, title="Import")
    job.wait(LONG)
    assert job.error == "ModuleNotFoundError: No module named 'nowhere_at_all'"


def test_bad_submissions_fail_at_once_and_leave_nothing(queue):
    before = len(queue.jobs())
    with pytest.raises(TypeError, match="pickle"):
        queue.submit(work.add, threading.Lock(), 1, title="Lock")
    with pytest.raises(TypeError, match="must be callable"):
        queue.submit("add", title="Text")
    with pytest.raises(TypeError, match="progress is given"):
        queue.submit(work.add, 1, 2, title="Progress", progress=print)
    assert len(queue.jobs()) == before


@posix
def test_worker_that_died_while_idle_is_replaced(single):
    pid = pid_of_worker(single)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid))
    time.sleep(0.1)
    assert pid_of_worker(single) != pid


@posix
def test_idle_worker_ends_and_the_next_job_gets_a_new_one():
    pool = WorkerPool(1, idle_seconds=0.1)
    pid = pool.submit(os.getpid).result(timeout=LONG)
    wait_until(lambda: not is_alive(pid))
    assert pool.submit(os.getpid).result(timeout=LONG) != pid
    pool.shutdown()


# --- cancel


def test_a_cancelled_job_stops_at_its_next_report(single):
    pid = pid_of_worker(single)
    job = start(single, work.until, "never")
    assert single.cancel(job.id)
    assert job.wait(LONG)
    assert (job.state, job.error, job.phase) == ("cancelled", None, "Waiting")
    with pytest.raises(Cancelled):
        job.result()
    assert not single.cancel(job.id)
    assert pid_of_worker(single) == pid


def test_job_that_never_reports_is_killed_after_the_grace_period(queue, tmp_path):
    other = start(queue, work.until, str(tmp_path / "go"))
    job = start(queue, work.deaf, 600)
    wait_until(lambda: job.phase)
    begin = time.monotonic()
    assert queue.cancel(job.id)
    assert job.state == "running" and job.cancelling  # the caller does not wait
    assert queue.cancel(job.id)  # once more is no error
    assert job.wait(LONG) and time.monotonic() - begin >= 0.3
    assert (job.state, job.error, job.cancelling) == ("cancelled", None, False)
    assert job.phases["Not listening"] >= 0.3
    assert queue.submit(work.add, 1, 2, title="Next").result(timeout=LONG) == 3
    (tmp_path / "go").touch()
    assert other.result(timeout=LONG) > 0


def test_job_that_fails_over_its_cancelling_is_cancelled(queue):
    job = start(queue, work.stubborn)
    queue.cancel(job.id)
    assert job.wait(LONG) and (job.state, job.error) == ("cancelled", None)


def test_waiting_job_is_cancelled_at_once(line):
    second = line.submit(work.add, 1, 2, title="Waits")
    assert second.state == "queued" and second.elapsed == 0 and second.started is None
    assert line.cancel(second.id)
    assert second.state == "cancelled" and second.wait(0)
    line.go()
    assert line.first.wait(LONG) and line.first.state == "done"


def test_job_cancelled_while_its_worker_starts_never_runs(tmp_path):
    queue = Queue(n_workers=1, grace=30)
    job = queue.submit(work.until, str(tmp_path / "never"), title="Soon")
    queue.cancel(job.id)
    assert job.wait(LONG) and job.state == "cancelled" and job.phase == ""
    queue.shutdown()


def test_shutdown_ends_everything(tmp_path):
    queue = Queue(n_workers=1)
    jobs = [start(queue, work.deaf, 600), queue.submit(work.add, 1, 2, title="Waits")]
    queue.shutdown()
    assert [job.wait(LONG) and job.state for job in jobs] == ["cancelled", "cancelled"]
    with pytest.raises(RuntimeError, match="shut down"):
        queue.submit(work.add, 1, 2, title="Late")


# --- the same work asked for twice


def test_same_key_is_one_job_until_it_has_ended(queue, tmp_path):
    def submit(owner, key="k1"):
        return queue.submit(work.until, str(tmp_path / "go"), title="Wait", owner=owner, key=key)

    job = submit("anna")
    assert submit("ben") is job and submit("anna") is job
    assert job.owners == ("anna", "ben") and job.key == "k1"
    other = submit("ben", "k2")
    assert other is not job
    assert queue.jobs("anna") == [job]
    assert queue.jobs("ben") == [other, job]  # newest first
    assert queue.jobs("nobody") == []
    (tmp_path / "go").touch()
    assert job.wait(LONG) and other.wait(LONG)
    assert submit("anna") is not job


def test_job_goes_on_until_its_last_owner_gives_it_up(queue):
    job = start(queue, work.until, "never", owner="carl", key="shared")
    queue.submit(work.until, "never", title="Again", owner="dora", key="shared")
    assert not queue.cancel(job.id, "stranger")
    assert not queue.cancel(job.id, "carl")
    assert queue.jobs("carl") == [] and queue.jobs("dora") == [job]
    time.sleep(0.2)
    assert job.state == "running" and not job.cancelling
    assert queue.cancel(job.id, "dora")
    assert job.wait(LONG) and job.state == "cancelled"
    assert queue.jobs("dora") == [job]  # to see what became of it


def test_job_being_cancelled_is_not_joined(queue):
    job = start(queue, work.deaf, 600, owner="anna", key="dying")
    queue.cancel(job.id)
    again = queue.submit(work.add, 1, 2, title="Again", owner="anna", key="dying")
    assert again is not job and again.result(timeout=LONG) == 3
    assert job.wait(LONG)


def test_many_threads_submitting_one_key_make_one_job(queue, tmp_path):
    def submit(i):
        return queue.submit(work.until, str(tmp_path / "go"), title="Wait", owner=str(i), key="crowd")

    with ThreadPoolExecutor(16) as threads:
        jobs = list(threads.map(submit, range(64)))
    assert len(set(jobs)) == 1 and len(jobs[0].owners) == 64
    (tmp_path / "go").touch()
    assert jobs[0].wait(LONG)


def test_only_the_last_ended_jobs_are_kept():
    with ThreadPoolExecutor(1) as executor:
        queue = Queue(executor, keep=3)
        jobs = [queue.submit(work.add, i, 0, title=str(i)) for i in range(5)]
        assert [job.result(timeout=LONG) for job in jobs] == list(range(5))
        wait_until(lambda: len(queue.jobs()) == 3)
        assert [job.title for job in queue.jobs()] == ["4", "3", "2"]
        assert queue.get(jobs[0].id) is None
