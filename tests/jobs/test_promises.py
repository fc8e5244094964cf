"""Memory is promised to one job of a machine, also if another process looks after the next one."""

import subprocess
import sys
import tempfile

import pytest

from xmlcore.jobs import memory
from xmlcore.jobs.promises import Promise
from xmlcore.state import Database

GB = 10**9


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    """A machine with 10 GB free, where nothing is promised."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(memory, "available", lambda: 10 * GB)
    return tmp_path


def test_what_is_promised_to_one_job_is_not_free_for_the_next():
    one, other = Promise(6 * GB), Promise(6 * GB)
    assert one.take() is None
    assert other.take() == 4 * GB
    one.grown(3 * GB)  # by then the system counts these as taken
    assert other.take() is None
    one.end()
    other.end()


def rows(machine):
    (file,) = machine.rglob("memory.sqlite")
    return Database(file).rows("holders")


def test_a_job_that_needs_little_or_an_unknown_amount_waits_for_nothing(machine):
    assert Promise(0).take() is None and not list(machine.rglob("memory.sqlite"))


_OTHER_PROCESS = """
import sys, tempfile
from xmlcore.jobs import memory
from xmlcore.jobs.promises import Promise
tempfile.tempdir = sys.argv[1]
memory.available = lambda: 10 * 10**9
kept = Promise(6 * 10**9)
print(kept.take(), flush=True)
sys.stdin.read()
"""


def test_promises_of_other_processes_count_until_they_end_or_die(machine):
    with subprocess.Popen(
        [sys.executable, "-c", _OTHER_PROCESS, str(machine)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "None\n"
        mine = Promise(6 * GB)
        assert mine.take() == 4 * GB
        other.kill()
        other.wait()
        assert mine.take() is None and len(rows(machine)) == 1
    mine.end()
    assert not rows(machine)
