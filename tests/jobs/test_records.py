"""What is known of jobs after their program has ended."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import job_functions as work
import pytest
from watching import LONG, is_alive, start, wait_until

from xmlcore.jobs import Plan, Queue, records
from xmlcore.state import FILE, database
from xmlcore.system import cache_root

PROJECT = Path(records.__file__).parents[2]
TASK = {"kind": "train", "inputs": {"dataset": "ab"}, "params": {"model": "PLT"}}
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")


def test_ended_jobs_are_there_after_a_restart(tmp_path):
    first = Queue(ThreadPoolExecutor(1), folder=tmp_path)
    done = first.submit(work.add, 1, 2, title="Add", owner="anna", key="k", plan=Plan(TASK, 2.5, group="g"))
    failed = first.submit(work.fail, "no file", title="Fail", owner="anna", plan=Plan(task=TASK))
    untold = first.submit(work.add, 1, 2, title="No task", owner="anna")
    assert done.wait(LONG) and failed.wait(LONG) and untold.wait(LONG)
    first.shutdown()
    second = Queue(folder=tmp_path)
    found = {job.title: job for job in second.past("anna")}
    assert set(found) == {"Add", "Fail"}
    kept = found["Add"]
    assert (kept.id, kept.key, kept.state, kept.task, kept.seconds) == (done.id, "k", "done", TASK, 2.5)
    assert kept.group == done.group == "g" and found["Fail"].group == ""
    assert kept.started == done.started and kept.ended == done.ended and kept.memory == done.memory > 0
    assert kept.elapsed == pytest.approx(done.elapsed) and kept.log == done.log
    assert (found["Fail"].state, found["Fail"].error) == ("failed", "ValueError: no file")
    assert second.past("ben") == [] and len(second.past()) == 2
    second.forget(done.id)
    assert [job.title for job in second.past("anna")] == ["Fail"]


def test_jobs_that_the_end_of_the_program_stops_can_go_on(tmp_path):
    first = Queue(folder=tmp_path, n_workers=1)
    running = start(first, work.until, "never", title="Running", plan=Plan(task=TASK))
    stopped = first.submit(work.add, 1, 1, title="Stopped", plan=Plan(task=TASK))
    first.submit(work.add, 1, 1, title="Waiting", plan=Plan(task=TASK))
    first.cancel(stopped.id)
    wait_until(lambda: running.phase)
    first.shutdown()
    found = {job.title: job.state for job in Queue(folder=tmp_path).past()}
    assert found == {"Running": "interrupted", "Waiting": "interrupted", "Stopped": "cancelled"}


SCRIPT = """
import sys, time
sys.path[:0] = [{project!r}, {tests!r}]
import job_functions as work
from xmlcore.jobs import Plan, Queue
queue = Queue(folder={folder!r}, n_workers=1)
job = queue.submit(work.until, "never", title="Long", owner="anna", key="k", plan=Plan(task={task!r}))
queue.submit(work.add, 1, 1, title="Next", owner="anna", plan=Plan(task={task!r}))
while not job.phase:
    time.sleep(0.01)
print(job._record["pid"], flush=True)
time.sleep(60)
"""


@posix
def test_jobs_of_a_killed_program_are_interrupted(tmp_path):
    folder = tmp_path / "jobs"
    code = SCRIPT.format(project=str(PROJECT), tests=str(Path(work.__file__).parent), folder=str(folder), task=TASK)
    program = subprocess.Popen([sys.executable, "-c", code], stdout=-1, text=True, cwd=tmp_path)
    pid = int(program.stdout.readline())
    other = Queue(folder=folder)  # a second program on the same folder
    assert [(job.title, job.state) for job in other.past("anna")] == [("Next", "queued"), ("Long", "running")]
    program.kill()
    program.wait()
    program.stdout.close()
    wait_until(lambda: not is_alive(pid))
    later = Queue(folder=folder)
    assert [job.state for job in later.past("anna")] == ["interrupted"] * 2
    _, long = later.past("anna")
    assert (long.phase, long.fraction, long.key, long.task) == ("Waiting", 0.5, "k", TASK)
    assert long.memory > 0 and long.elapsed >= 0 and long.log[0].endswith("Waiting")
    assert os.listdir(folder) == []
    again = later.submit(work.add, 1, 1, title=long.title, owner="anna", key=long.key, plan=Plan(task=long.task))
    assert again.result(LONG) == 2
    later.shutdown()


def test_two_queues_on_one_folder_do_not_disturb_each_other(tmp_path):
    with ThreadPoolExecutor(4) as executor:
        one, two = Queue(executor, folder=tmp_path), Queue(executor, folder=tmp_path)
        job = start(one, work.until, str(tmp_path / "go"), title="One", plan=Plan(task=TASK))
        assert two.submit(work.add, 1, 1, title="Two", plan=Plan(task=TASK)).result(LONG) == 2
        third = Queue(executor, folder=tmp_path)
        assert {(past.title, past.state) for past in third.past()} == {("One", "running"), ("Two", "done")}
        assert [past.title for past in one.past()] == ["Two"]
        (tmp_path / "go").touch()
        assert job.wait(LONG) and job.state == "done"
        wait_until(lambda: {past.state for past in third.past()} == {"done"})


def test_a_record_holds_no_token(tmp_path):
    with ThreadPoolExecutor(1) as executor:
        queue = Queue(executor, folder=tmp_path)
        token = "0123456789abcdef" * 2
        assert queue.submit(work.add, 1, 2, title="Add", owner=token, plan=Plan(task=TASK)).wait(LONG)
        wait_until(lambda: Queue(executor, folder=tmp_path).past(token)[0].state == "done")
    (row,) = database().rows("jobs")
    assert token not in json.dumps(row.value)


def test_each_owner_of_a_shared_job_reads_his_own_title(tmp_path):
    with ThreadPoolExecutor(1) as executor:
        queue = Queue(executor, folder=tmp_path)
        busy = start(queue, work.until, str(tmp_path / "go"))
        for owner in ("anna", "ben"):
            queue.submit(work.add, 1, 2, title=f"For {owner}", owner=owner, key="k", plan=Plan(task=TASK))
        (job,) = queue.waiting()
        assert job.title_for("ben") == "For ben" and job.title == "For anna"
        other = Queue(executor, folder=tmp_path)
        assert [other.past(owner)[0].title for owner in ("anna", "ben")] == ["For anna", "For ben"]
        (tmp_path / "go").touch()
        assert busy.wait(LONG) and job.wait(LONG)


def test_records_are_bounded_in_number_and_age(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "MOST_RECORDS", 3)
    with ThreadPoolExecutor(1) as executor:
        queue = Queue(executor, folder=tmp_path)
        for i in range(6):
            assert queue.submit(work.add, 1, i, title=str(i), plan=Plan(task=TASK)).wait(LONG)
        wait_until(lambda: [job.state for job in Queue(executor, folder=tmp_path).past()] == ["done"] * 3)
        later = Queue(executor, folder=tmp_path)
    assert [job.title for job in later.past()] == ["5", "4", "3"]
    monkeypatch.setattr(records.time, "time", lambda real=time.time: real() + records.OLDEST_SECONDS + 60)
    assert Queue(folder=tmp_path).past() == []


def test_a_database_that_cannot_be_written_stops_no_job(tmp_path):
    (cache_root() / FILE).mkdir(parents=True)  # a folder where the file should be
    with ThreadPoolExecutor(1) as executor:
        queue = Queue(executor, folder=tmp_path)
        assert queue.submit(work.add, 1, 2, title="Add", plan=Plan(task=TASK)).result(LONG) == 3
        assert queue.past() == []
