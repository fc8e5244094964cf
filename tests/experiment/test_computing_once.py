"""The same result is computed once by all processes that share a cache folder."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from making import stop

from xmlcore import experiment
from xmlcore.datasets import Dataset, save_dataset
from xmlcore.experiment.engine.task import PHASE, computing
from xmlcore.progress import Cancelled, silent
from xmlcore.state import database, holders

ROOT = Path(__file__).resolve().parents[2]
HOLDER = """
import sys, time
from xmlcore.experiment.engine.task import computing
with computing(sys.argv[1], print):
    print("begun", flush=True)
    time.sleep(100)
"""


@pytest.fixture
def holder():
    """Another process whose turn it is for the key "a"."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER, "a"], cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"begun\n"
    yield process
    process.kill()
    process.communicate()


def test_a_result_that_several_ask_for_at_once_is_computed_once(monkeypatch):
    data = Dataset("small", [[1.0, 0.0], [0.0, 2.0]], [[0], [1]], [[3.0, 0.0]], [[0]])
    task = experiment.task("description", {"dataset": save_dataset(data)})
    compute, runs, waits, go = type(task).run, [], [], threading.Event()

    def run(*args, **options):
        runs.append(threading.get_ident())
        assert go.wait(60)
        return compute(*args, **options)

    def progress(phase, fraction, detail=""):
        if phase == PHASE:
            waits.append(threading.get_ident())
            if len(set(waits)) == 2:
                go.set()

    monkeypatch.setattr(type(task), "run", run)
    threads = [threading.Thread(target=experiment.keep, args=(task, progress)) for _ in range(3)]
    for thread in threads:  # each locks by itself, as a process does
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(runs) == 1 and task.exists() and database().rows("holders") == []


def test_a_turn_ends_with_its_process_and_other_keys_do_not_wait(holder):
    with computing("b", silent) as waited:
        assert not waited

    def kill(phase, fraction, detail=""):
        assert phase == PHASE
        holder.kill()

    with computing("a", kill) as waited:
        assert waited


def test_a_turn_ends_when_its_process_was_killed(holder):
    with computing("b", silent):
        assert holders.remove_dead(database()) == 0
    holder.kill()
    holder.wait(10)
    assert holders.remove_dead(database(), 1000) == 0 and holders.remove_dead(database()) == 1
    assert database().rows("holders") == []


def test_who_waits_can_be_stopped(holder):
    with pytest.raises(Cancelled), computing("a", stop):
        pass
    assert holder.poll() is None
