"""The order in which jobs start: places in the line, pauses, and memory."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import job_functions as work
import pytest
from watching import LONG, is_alive, start, wait_until, within

from xmlcore import system
from xmlcore.jobs import Plan, Queue, memory
from xmlcore.jobs.job import SHORT, Job
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
    line.move(jobs["d"].id, "first")
    line.move(jobs["a"].id, "down")
    assert titles(line) == "dbac"
    line.move(jobs["c"].id, "up")
    line.move(jobs["b"].id, "last")
    assert titles(line) == "dcab"
    assert not line.move(line.first.id, "first") and not line.move("unknown", "up")
    with pytest.raises(ValueError, match="first, up, down, last"):
        line.move(jobs["a"].id, "sideways")
    line.go()
    assert all(job.wait(LONG) for job in jobs.values())
    assert sorted(jobs, key=lambda title: jobs[title].started) == list("dcab")


def test_an_owner_changes_the_order_of_his_jobs_only(line):
    jobs = {title: add(line, title, owner) for title, owner in zip("aXbYc", "mnmnm", strict=True)}
    line.move(jobs["c"].id, "first", owner="m")
    assert titles(line) == "cXaYb"
    assert not line.move(jobs["X"].id, "first", owner="m")
    assert titles(line) == "cXaYb"


def test_a_paused_job_waits_and_the_others_go_on(line):
    a, b = add(line, "a"), add(line, "b")
    line.pause(a.id)
    line.go()
    assert b.wait(LONG) and a.state == "queued" and a.words == "Paused"
    line.resume(a.id)
    assert a.wait(LONG) and a.state == "done"


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


def test_a_group_is_paused_for_one_owner_and_others_of_his_jobs_go_on(line):
    a, b = add(line, "a", "m", group="g"), add(line, "b", "m")
    shared = line.submit(work.add, 1, 1, title="s", owner="m", key="k", plan=Plan(group="g"))
    assert line.submit(work.add, 1, 1, title="s", owner="n", key="k", plan=Plan(group="g")) is shared
    line.pause(owner="m", group="g")
    line.go()
    assert b.wait(LONG) and shared.wait(LONG) and a.words == "Paused", "another owner has not paused the shared one"
    assert line.paused("m", "g") and not line.paused("m") and not line.paused("n", "g")
    line.resume(owner="m", group="g")
    assert a.wait(LONG) and not line.paused("m", "g")


def test_a_job_of_two_groups_starts_while_one_of_them_is_not_paused(line):
    def shared(group):
        return line.submit(work.add, 1, 1, title="s", owner="m", key="k", plan=Plan(group=group, after=(tree(group),)))

    def tree(group):
        return line.submit(work.add, 1, 1, title="t", owner="m", key="tree", plan=Plan(group=group))

    line.pause(owner="m", group="g")
    job, part = shared("g"), tree("g")
    line.go()
    assert line.first.wait(LONG) and job.words == part.words == "Paused"
    line.pause(owner="m", group="h")
    assert shared("h") is job and job.words == part.words == "Paused"
    assert shared("i") is job and job.words != "Paused" != part.words
    assert job.wait(LONG) and job.state == part.state == "done"


def test_a_job_that_one_of_two_groups_does_not_want_any_more_is_paused_with_the_other(line):
    tree = line.submit(work.add, 1, 1, title="t", owner="m", key="t", plan=Plan(group="g"))
    line.submit(work.add, 1, 1, title="t", owner="m", key="t", plan=Plan(group="h"))
    job = line.submit(work.add, 1, 1, title="s", owner="m", key="k", plan=Plan(group="g", after=(tree,)))
    line.submit(work.add, 1, 1, title="s", owner="m", key="k", plan=Plan(group="h", after=(tree,)))
    line.pause(owner="m", group="h")
    assert not line.cancel(job.id, "m", "g") and job.words == tree.words == "Paused"
    assert line.cancel(job.id, "m", "h") and job.state == tree.state == "cancelled"


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
def test_each_job_starts_once_when_others_end_while_they_are_started(tmp_path, refuses):
    queue = Queue(AtOnce(refuses), folder=tmp_path)
    queue.pause()
    made = [add(queue, title) for title in "abcd"]
    queue.resume()
    assert [job.state for job in made] == ["failed" if refuses else "done"] + ["done"] * 3
    assert [job.attempts for job in made] == [1] * 4 and not queue.waiting()


def test_a_short_job_waits_for_no_long_one_and_its_worker_takes_no_other(single, tmp_path):
    long = start(single, work.until, str(tmp_path / "go"), plan=Plan(seconds=100.0))
    others = [add(single, "long", seconds=SHORT + 1), add(single, "unknown")]
    wait_until(lambda: single._places[-1]._executor._slots)  # its process begins before a short job is there
    short = single.submit(work.niceness, title="short", plan=Plan(seconds=2.0))
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
    monkeypatch.setattr("xmlcore.jobs.queue.LOOK_AGAIN", 0.05)
    queue = Queue(ThreadPoolExecutor(4), folder=tmp_path / "records", free_bytes=lambda: queue.free)
    yield queue
    queue.shutdown()


def test_a_job_waits_until_its_memory_is_free_and_says_so(bounded):
    bounded.free = GB
    job = add(bounded, "large", bytes=3_100_000_000)
    assert job.state == "queued" and job.attempts == 0
    assert job.words == "Waiting for 3.1 GB of memory, of which 1.0 GB are free"
    assert add(bounded, "small", bytes=GB // 2).result(LONG) == 2
    bounded.free = 4 * GB
    assert job.wait(LONG) and job.state == "done"


def test_what_running_jobs_may_still_take_is_not_free(bounded, tmp_path):
    bounded.free = 5 * GB
    first = bounded.submit(work.until, str(tmp_path / "go"), title="first", plan=Plan(bytes=3 * GB))
    second = add(bounded, "second", bytes=3 * GB)
    wait_until(lambda: first.state == "running")
    assert second.waits_for.startswith("3.0 GB of memory, of which 2.0 GB")
    (tmp_path / "go").touch()
    assert second.wait(LONG) and second.state == "done"


def test_a_job_that_can_never_fit_starts_only_if_the_user_insists(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "total", lambda: 8 * GB)
    monkeypatch.setattr(memory, "available", lambda: 6 * GB)
    queue = Queue(folder=tmp_path, n_workers=1)  # which asks for the memory from now on
    job = add(queue, "huge", bytes=31 * GB)
    assert not job.fits and job.words == "Waiting for 31.0 GB of memory, more than the 8.0 GB of this machine"
    assert add(queue, "other", bytes=GB).result(LONG) == 2 and job.state == "queued"
    queue.insist(job.id)
    assert job.wait(LONG) and job.state == "done" and job.fits
    queue.shutdown()


def test_a_job_that_fits_the_machine_but_not_its_container_does_not_start(single, monkeypatch):
    for module in (memory, system):
        monkeypatch.setattr(module, "memory_of_control_groups", lambda: (4 * GB, GB))
    assert "2.0 GB of memory, of which 1.0 GB" in add(single, "later", bytes=2 * GB).words
    assert "more than the 4.0 GB" in add(single, "never", bytes=5 * GB).words


def test_small_jobs_overtake_a_large_one_only_a_few_times(bounded):
    bounded.free = 2 * GB
    large = add(bounded, "large", bytes=3 * GB)
    small = [add(bounded, "small", bytes=GB) for _ in range(5)]
    assert all(job.wait(LONG) for job in small)
    late = add(bounded, "late", bytes=GB)
    assert not late.wait(0.2) and late.state == "queued"
    bounded.free = 3 * GB  # for one of the two at a time
    assert large.wait(LONG) and late.wait(LONG)
    assert large.started <= late.started


def test_a_short_job_overtakes_one_that_waits_for_the_memory_of_a_long_one_as_often_as_it_likes(bounded, tmp_path):
    bounded.free = 4 * GB
    long = start(bounded, work.until, str(tmp_path / "go"), plan=Plan(seconds=100.0, bytes=2 * GB))
    large = add(bounded, "large", bytes=3 * GB)
    assert all(add(bounded, "short", bytes=GB, seconds=1.0).result(LONG) == 2 for _ in range(7))
    bounded.free = 2 * GB  # from now on there is not enough for the large one, whatever runs
    (tmp_path / "go").touch()
    assert long.wait(LONG)
    late = add(bounded, "late", bytes=GB, seconds=1.0)
    assert not late.wait(0.2) and large.state == late.state == "queued"
    bounded.free = 5 * GB
    assert large.wait(LONG) and late.wait(LONG)


def test_memory_of_this_machine_is_known():
    if memory.available() is None:
        pytest.skip("this system does not tell")
    assert 0 < memory.available() <= memory.total()


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


def test_memory_of_a_process_is_known_and_a_part_of_a_job_is_measured_by_itself_and_the_peak_before_it_is_kept():
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
def test_memory_that_earlier_work_has_freed_is_counted_for_the_work_that_takes_it():
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
def test_the_job_of_a_killed_worker_is_started_once_more_by_itself(tmp_path):
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
def test_a_job_whose_workers_die_twice_fails_and_is_retried_by_hand(single, tmp_path):
    job = single.submit(work.vanish_unless, str(tmp_path / "go"), title="Vanish", owner="anna", key="k")
    assert job.wait(LONG) and job.attempts == 2
    assert job.error == "The worker process ended unexpectedly (out of memory?)"
    (tmp_path / "go").touch()
    again = single.retry(job.id, "anna")
    assert again is not job and (again.title, again.owners, again.key) == ("Vanish", ("anna",), "k")
    assert again.result(LONG) == "there"
    assert single.retry(again.id) is None and single.retry("unknown") is None


def test_a_cancelled_job_that_never_reports_leaves_its_core_within_two_seconds(single):
    job = start(single, work.deaf, 60)  # with the grace period that users get
    wait_until(lambda: job.phase)
    begin = time.monotonic()
    single.cancel(job.id)
    assert job.wait(LONG) and job.state == "cancelled"
    wait_until(lambda: not is_alive(job._record["pid"]))
    assert time.monotonic() - begin < within(2.0)


# --- log and memory


def test_a_job_has_a_log_of_phases_warnings_and_messages_and_its_memory(single):
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


def test_an_unasked_job_goes_on_beside_short_jobs_and_in_its_second_half_and_after_it_gave_way_twice(single, tmp_path):
    def unasked(seconds, key=None):
        plan = Plan(unasked=True, seconds=seconds)
        return start(single, work.until, str(tmp_path / "go"), key=key, plan=plan)

    begun = unasked(100.0)
    assert add(single, "short", seconds=1.0).result(LONG) == 2 and not begun.cancelling
    add(single, "long", seconds=100.0)
    assert begun.wait(LONG) and begun.gave_way
    old = unasked(0.1)
    wait_until(lambda: old.elapsed > 0.05)
    later = add(single, "long", seconds=100.0)
    assert not old.cancelling and old.state == "running" and later.state == "queued"
    (tmp_path / "go").touch()
    assert later.result(LONG) == 2 and old.state == "done"
    (tmp_path / "go").unlink()
    for gives_way in (True, True, False):
        again = unasked(100.0, "k")
        add(single, "long", seconds=100.0)
        assert again.cancelling == gives_way
        if gives_way:
            assert again.wait(LONG)
    (tmp_path / "go").touch()
    assert again.wait(LONG) and again.state == "done"


def test_an_unasked_job_gives_way_where_its_memory_is_needed_and_suffices(bounded, tmp_path, monkeypatch):
    monkeypatch.setattr(Job, "gives_way", False)
    bounded.free = 4 * GB
    old = start(bounded, work.until, str(tmp_path / "never"), plan=Plan(unasked=True, bytes=2 * GB))
    assert add(bounded, "fits", bytes=GB).result(LONG) == 2 and not old.cancelling
    too_large = add(bounded, "too large", bytes=5 * GB)
    assert too_large.state == "queued" and not old.cancelling, "without it too little would be free, too"
    assert add(bounded, "does not", bytes=3 * GB).result(LONG) == 2 and old.gave_way


def test_an_unasked_job_gives_way_to_a_short_one_that_finds_no_worker_and_if_it_is_long_overdue(single, tmp_path):
    unasked = start(single, work.until, str(tmp_path / "never"), plan=Plan(unasked=True, seconds=1000))
    lane = start(single, work.until, str(tmp_path / "go"), plan=Plan(seconds=4))
    assert not unasked.cancelling, "the lane took the short one"
    assert add(single, "short", seconds=1).wait(LONG) and unasked.gave_way
    (tmp_path / "go").touch()
    assert lane.wait(LONG)
    overdue = start(single, work.until, str(tmp_path / "never"), plan=Plan(unasked=True, seconds=0.01))
    wait_until(lambda: overdue.elapsed > 0.05)
    assert add(single, "asked", seconds=20).wait(LONG) and overdue.gave_way


def test_unasked_jobs_that_wait_start_last(line, monkeypatch):
    monkeypatch.setattr(Job, "gives_way", False)
    unasked, asked = add(line, "a", unasked=True), add(line, "b")
    line.go()
    assert unasked.wait(LONG) and asked.wait(LONG) and asked.started < unasked.started


def test_a_job_that_nobody_waits_for_is_not_short():
    assert Plan(seconds=1.0).is_short and not Plan(seconds=1.0, unasked=True).is_short


def test_a_short_job_stays_short_while_it_waits_for_code_to_be_compiled():
    assert Plan(seconds=20.0, compiling=19.0).is_short and not Plan(seconds=20.0).is_short


def test_an_unasked_job_that_somebody_asks_for_is_not_stopped(single, tmp_path):
    unasked = start(single, work.until, str(tmp_path / "go"), key="k", plan=Plan(unasked=True))
    assert single.submit(work.add, 1, 1, title="the same", owner="m", key="k") is unasked
    other = add(single, "a")
    (tmp_path / "go").touch()
    assert other.wait(LONG) and unasked.state == "done"
    stopped = start(single, work.until, str(tmp_path / "never"))
    single.cancel(stopped.id)
    assert stopped.wait(LONG) and not stopped.gave_way, "a user stopped it"
