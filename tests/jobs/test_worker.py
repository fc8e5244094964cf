import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import job_functions as work
import pytest
from watching import wait_until

from xmlcore.jobs import Queue, worker
from xmlcore.progress import Cancelled

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")


# --- records


def test_progress_is_written_at_most_ten_times_a_second(tmp_path, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(worker.time, "monotonic", lambda: clock[0])
    written = []
    report = worker.Reporter(tmp_path)
    monkeypatch.setattr(
        worker.Reporter, "_write", lambda self, now: (written.append(now), setattr(self, "_written", now))
    )
    for step in range(1000):
        report("One", step / 1000)
        clock[0] += 0.001
    assert 9 <= len(written) <= 11
    report("Two", 0.0)
    report("Three", 0.0)
    assert written[-2:] == [clock[0]] * 2
    assert report.end()["phases"] == pytest.approx({"One": 1.0, "Two": 0.0, "Three": 0.0})


def test_record_is_never_half_written(tmp_path):
    report = worker.Reporter(tmp_path)
    stop = threading.Event()

    def keep_writing():
        i = 0
        while not stop.is_set():
            report(f"Phase {i % 7}", float("nan") if i % 3 else 7.0, "x" * (i % 1000))
            i += 1

    writer = threading.Thread(target=keep_writing)
    writer.start()
    wait_until((tmp_path / worker.RECORD).exists)
    for _ in range(200):
        assert 0 <= json.loads((tmp_path / worker.RECORD).read_text())["fraction"] <= 1
    stop.set()
    writer.join()


def test_every_report_after_a_cancel_raises(tmp_path):
    report = worker.Reporter(tmp_path)
    report("One", 0.0)
    (tmp_path / worker.CANCEL).touch()
    time.sleep(worker.INTERVAL)
    for _ in range(3):  # a job's threads all have to hear it
        with pytest.raises(Cancelled):
            report("One", 0.5)


def test_worker_stops_when_nobody_waits_any_more(tmp_path):
    report = worker.Reporter(tmp_path / "gone")
    with pytest.raises(Cancelled):
        report("One", 0.0)


def test_folders_of_ended_jobs_and_dead_processes_go(tmp_path):
    done = subprocess.Popen([sys.executable, "-c", "pass"])
    done.wait()
    hostname = worker.where_am_i().rsplit(":", 1)[0]
    for name, record in {
        "dead": {"host": hostname, "pid": done.pid},
        "elsewhere": {"host": "another", "pid": done.pid},
        "alive": {"host": hostname, "pid": os.getpid()},
        "odd": ["?"],
    }.items():
        (tmp_path / name / "somejob").mkdir(parents=True)
        (tmp_path / name / "queue.json").write_text(json.dumps(record))
    (tmp_path / "mine.txt").write_text("not ours")
    with ThreadPoolExecutor(1) as executor:
        queue = Queue(executor, folder=tmp_path)
        job = queue.submit(work.add, 1, 2, title="Add")
        assert job.wait(10)
        assert os.listdir(queue.folder) == ["queue.json"]
        left = {"elsewhere", "alive", "odd", "mine.txt", queue.folder.name} | (
            {"dead"} if os.name != "posix" else set()
        )
        assert set(os.listdir(tmp_path)) == left
