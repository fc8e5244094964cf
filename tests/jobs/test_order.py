"""The order in which jobs start: places in the line, pauses, and memory."""

import os
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import job_functions as work
import pytest
from watching import LONG, start, wait_until

from xmlcore import system
from xmlcore.jobs import Plan, Queue, memory
from xmlcore.jobs.job import Job
from xmlcore.jobs.pool import SHORT_NICENESS

GB = 10**9


def add(queue, title, owner="", **plan):
    return queue.submit(work.add, 1, 1, title=title, owner=owner, plan=Plan(**plan))


def titles(queue):
    return "".join(job.title for job in queue.waiting())


def test_jobs_start_in_the_order_of_the_line(line):
    jobs = {title: add(line, title) for title in "abcd"}
    assert [job.state for job in jobs.values()] == ["queued"] * 4 and titles(line) == "abcd"
    assert jobs["a"].words == "Waiting for a free worker"
    line.go()
    assert all(job.wait(LONG) for job in jobs.values())
    assert sorted(jobs, key=lambda title: jobs[title].started) == list("abcd")


@pytest.mark.parametrize("whole", [True, False])
def test_a_paused_queue_starts_nothing(line, whole):
    owner = None if whole else "m"
    line.pause(owner=owner)
    a, b = add(line, "a", "m"), add(line, "b", "n")
    line.go()
    assert line.first.wait(LONG) and line.paused(owner) and a.words == "Paused"
    assert b.wait(0.2 if whole else 10) != whole and a.state == "queued"
    line.resume(owner=owner)
    assert a.wait(LONG) and b.wait(LONG) and not line.paused("m")


def test_a_shared_job_goes_on_for_an_owner_who_has_not_paused(line):
    a, shared = add(line, "a", "m"), line.submit(work.add, 1, 1, title="s", owner="m", key="k")
    assert line.submit(work.add, 1, 1, title="s", owner="n", key="k") is shared
    line.pause(owner="m")
    line.go()
    assert shared.wait(LONG) and a.words == "Paused" and line.paused("m") and not line.paused("n")
    line.resume(owner="m")
    assert a.wait(LONG)


class AtOnce(Executor):
    """Calls functions at once, or refuses the first call."""

    _max_workers = 1

    def __init__(self, refuses=False):
        self.refuses = refuses

    def submit(self, function, /, *args, **kwargs):
        if self.refuses:
            self.refuses = False
            raise RuntimeError("no worker")
        future = Future()
        future.set_result(function(*args, **kwargs))
        return future


@pytest.mark.parametrize("refuses", [False, True])
def test_each_job_starts_once_when_others_end_meanwhile(tmp_path, refuses):
    queue = Queue(AtOnce(refuses), folder=tmp_path)
    queue.pause()
    made = [add(queue, title) for title in "abcd"]
    queue.resume()
    assert [job.state for job in made] == ["failed" if refuses else "done"] + ["done"] * 3
    assert [job.attempts for job in made] == [1] * 4 and not queue.waiting()


def test_a_short_job_waits_for_no_long_one(single, tmp_path):
    long = start(single, work.until, str(tmp_path / "go"), plan=Plan())
    others = [add(single, "long", seconds=2.0), add(single, "unknown")]
    wait_until(lambda: single._places[-1]._executor._slots)  # its process begins before a short job is there
    short = single.submit(work.niceness, title="short", plan=Plan(short=True))
    assert short.result(LONG) == work.lower_by(SHORT_NICENESS)
    assert long.state == "running" and [job.words for job in others] == ["Waiting for a free worker"] * 2
    (tmp_path / "go").touch()
    assert [job.result(LONG) for job in others] == [2, 2]


def test_fifty_jobs_wait_in_the_queue_and_none_is_lost(tmp_path):
    with ThreadPoolExecutor(3) as executor:
        queue = Queue(executor, folder=tmp_path)
        queue.pause()
        jobs = [queue.submit(work.count_others, title=str(i)) for i in range(50)]
        assert queue.waiting() == jobs
        dropped = [job for job in queue.waiting()[-10:] if queue.cancel(job.id)]
        queue.resume()
        assert all(job.wait(LONG) for job in jobs)
        assert {(job.state, job.error) for job in jobs if job not in dropped} == {("done", None)} and len(dropped) == 10
        assert max(job.result() for job in jobs if job not in dropped) <= 3
        assert queue.waiting() == [] and len(queue.jobs()) == 50


# --- memory


@pytest.fixture
def bounded(tmp_path, monkeypatch):
    """A queue of one process, for which ``bounded.free`` bytes are free."""
    monkeypatch.setattr("xmlcore.jobs.queue.POLL_SECONDS", 0.05)
    queue = Queue(ThreadPoolExecutor(4), folder=tmp_path / "records", free_bytes=lambda: queue.free)
    yield queue
    queue.shutdown()


def test_a_job_waits_until_its_memory_is_free_and_says_so(bounded):
    bounded.free = GB
    job = add(bounded, "large", bytes=3_100_000_000)
    assert job.state == "queued" and job.attempts == 0
    assert job.words == "Waiting for 3.1 GB of memory (1.0 GB free)"
    assert add(bounded, "short", bytes=GB // 2, short=True).result(LONG) == 2
    bounded.free = 4 * GB
    assert job.wait(LONG) and job.state == "done"


def test_what_running_jobs_may_still_take_is_not_free(bounded, tmp_path):
    bounded.free = 5 * GB
    first = bounded.submit(work.until, str(tmp_path / "go"), title="first", plan=Plan(bytes=3 * GB))
    second = add(bounded, "second", bytes=3 * GB)
    wait_until(lambda: first.state == "running")
    assert second.waits_for.startswith("3.0 GB of memory (2.0 GB")
    (tmp_path / "go").touch()
    assert second.wait(LONG) and second.state == "done"


def test_a_job_that_can_never_fit_starts_if_the_user_insists(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "total", lambda: 8 * GB)
    monkeypatch.setattr(memory, "available", lambda: 6 * GB)
    queue = Queue(folder=tmp_path, n_workers=1)  # which asks for the memory from now on
    job = add(queue, "huge", bytes=31 * GB)
    assert not job.fits and job.words == "Waiting for 31.0 GB of memory, more than the 8.0 GB of this machine"
    assert add(queue, "other", bytes=GB).result(LONG) == 2 and job.state == "queued"
    queue.insist(job.id)
    assert job.wait(LONG) and job.state == "done" and job.fits
    queue.shutdown()


def test_a_job_too_large_for_its_container_does_not_start(single, monkeypatch):
    for module in (memory, system):
        monkeypatch.setattr(module, "memory_of_control_groups", lambda: (4 * GB, GB))
    assert "2.0 GB of memory (1.0 GB" in add(single, "later", bytes=2 * GB).words
    assert "more than the 4.0 GB" in add(single, "never", bytes=5 * GB).words


def test_only_short_jobs_pass_one_that_waits_for_memory(bounded):
    bounded.free = 2 * GB
    large, small = add(bounded, "large", bytes=3 * GB), add(bounded, "small", bytes=GB)
    assert small.words == "Waiting for the jobs before it"
    assert all(add(bounded, "short", bytes=GB, short=True).result(LONG) == 2 for _ in range(7))
    assert not small.wait(0.2) and large.state == small.state == "queued"
    bounded.free = 3 * GB  # for one of the two at a time
    assert large.wait(LONG) and small.wait(LONG) and large.started <= small.started


# A process of its own: in this one, freed memory may be given again, and then nothing is added.
_TAKES_MEMORY_AND_IS_WATCHED_AGAIN = """
from mmap import mmap
from xmlcore.jobs import memory
outer = memory.Usage()
kept = mmap(-1, 100_000_000)
kept.write(b"x" * len(kept))
present, peak = outer.now()
kept.close()
later = outer.now()[1]
inner = memory.Usage()
last, part = outer.now()[1], inner.now()[1] - inner.at_start
print(present - outer.at_start, peak - outer.at_start, later - peak, int(outer._exact), last - outer.at_start, part)
"""


def test_memory_of_a_part_of_a_job_is_measured_by_itself():
    if memory.resident() is None:
        pytest.skip("this system does not tell")
    script = [sys.executable, "-c", _TAKES_MEMORY_AND_IS_WATCHED_AGAIN]
    told = subprocess.run(script, capture_output=True, text=True, check=True)
    present, peak, later, exact, outer, inner = map(int, told.stdout.split())
    assert 90e6 < present <= peak and later >= 0
    if exact:  # other systems tell the present memory only
        assert outer > 90e6 and inner < 50e6


# Blocks of the C library's pools, of which the last stays: the others are free, and the process holds them.
_IS_WATCHED_AFTER_WORK = """
from xmlcore.jobs import memory
blocks = [bytes(10_000) for _ in range(10_000)]
before, blocks = memory.resident(), blocks[-1:]
usage = memory.Usage()
blocks += [bytes(10_000) for _ in range(10_000)]
print(before - usage.at_start, usage.now()[1] - usage.at_start)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the C library of Linux keeps pools of memory")
def test_memory_freed_before_counts_for_who_takes_it():
    script = [sys.executable, "-c", _IS_WATCHED_AFTER_WORK]
    told = subprocess.run(script, capture_output=True, text=True, check=True)
    given_back, taken = map(int, told.stdout.split())
    assert given_back > 90e6 and taken > 90e6


def test_many_threads_begin_to_watch_memory_at_once(monkeypatch):
    for quick in ("return_free_memory", "resident"):
        monkeypatch.setattr(memory, quick, lambda: None)
    monkeypatch.setattr(memory.Usage, "now", lambda self: (None, None))
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            made = list(threads.map(lambda _: [memory.Usage() for _ in range(200)], range(8)))
    finally:
        sys.setswitchinterval(before)
    assert sum(map(len, made)) == 1600


# --- workers that die


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_the_job_of_a_killed_worker_is_started_again(tmp_path):
    queue = Queue(folder=tmp_path / "records", n_workers=2)
    other = start(queue, work.until, str(tmp_path / "other"))
    job = start(queue, work.until, str(tmp_path / "go"))
    wait_until(lambda: job.phase)
    killed = job._record["pid"]
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: job.attempts == 2 and job.state == "running")
    assert any("The worker process ended unexpectedly (out of memory?): it starts again" in line for line in job.log)
    (tmp_path / "go").touch()
    assert job.result(LONG) != killed and other.state == "running"
    (tmp_path / "other").touch()
    assert other.result(LONG) > 0
    queue.shutdown()


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_a_job_whose_workers_die_twice_fails(single):
    job = single.submit(work.vanish, title="Vanish")
    assert job.wait(LONG) and job.attempts == 2
    assert job.error == "The worker process ended unexpectedly (out of memory?)"


# --- log and memory


def test_a_job_has_a_log_and_its_memory(single):
    for _ in range(2):  # a worker gives each job its own
        job = single.submit(work.talk, 40_000_000, title="Talk")
        assert job.wait(LONG) and job.error is None
        said = [line.split(" ", 1)[1] for line in job.log]
        assert said == ["Talking", "UserWarning: too warm", "Info: trained 3 trees", "Warning: disk is slow", "Leaving"]
        assert job.memory > 40_000_000
    small = single.submit(work.talk, 1, title="Talk")
    assert small.wait(LONG) and small.memory < job.memory - 20_000_000  # of this job alone, in the same process
    long = single.submit(work.chatter, 1000, title="Chatter")
    assert long.wait(LONG) and len(long.log) == 200 and "Phase 999" in long.log[-1]
    assert max(map(len, long.log)) < 320


def test_an_unasked_job_is_stopped_by_one_that_is_asked_for(single, tmp_path):
    unasked = start(single, work.until, str(tmp_path / "go"), plan=Plan(unasked=True))
    waiting = add(single, "w", unasked=True)
    assert unasked.state == "running" and waiting.active, "two unasked jobs do not stop each other"
    asked = add(single, "a")
    assert asked.result(LONG) == 2
    assert unasked.wait(LONG) and waiting.wait(LONG) and unasked.gave_way and waiting.gave_way


def test_an_unasked_job_gives_way_twice_but_not_to_short_ones(single, tmp_path):
    for gives_way in (True, True, False):
        job = start(single, work.until, str(tmp_path / "go"), key="k", plan=Plan(unasked=True))
        assert add(single, "short", short=True).result(LONG) == 2 and not job.cancelling
        add(single, "long")
        assert job.cancelling == gives_way
        if gives_way:
            assert job.wait(LONG) and job.gave_way
    (tmp_path / "go").touch()
    assert job.wait(LONG) and job.state == "done"


def test_unasked_jobs_that_wait_start_last(line, monkeypatch):
    monkeypatch.setattr(Job, "gives_way", False)
    unasked, asked = add(line, "a", unasked=True), add(line, "b")
    line.go()
    assert unasked.wait(LONG) and asked.wait(LONG) and asked.started < unasked.started


def test_an_unasked_job_that_somebody_asks_for_is_not_stopped(single, tmp_path):
    unasked = start(single, work.until, str(tmp_path / "go"), key="k", plan=Plan(unasked=True))
    assert single.submit(work.add, 1, 1, title="the same", owner="m", key="k") is unasked
    other = add(single, "a")
    (tmp_path / "go").touch()
    assert other.wait(LONG) and unasked.state == "done"
    stopped = start(single, work.until, str(tmp_path / "never"))
    single.cancel(stopped.id)
    assert stopped.wait(LONG) and not stopped.gave_way, "a user stopped it"
