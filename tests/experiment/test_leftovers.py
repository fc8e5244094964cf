"""What killed processes have left is removed within a day, and nothing else."""

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from xmlcore import experiment, store
from xmlcore.state import database
from xmlcore.system import cache_root, data_root, make_private

DAY = 24 * 3600
LEFT = {  # what each writer leaves when it is killed
    "a half-written result": lambda: cache_root() / "artifacts" / "runs" / f".tmp-{'0' * 32}-abc" / "value.joblib",
    "files given to a task": lambda: cache_root() / "given" / "abc.123" / "‹data›",
    "an unfinished download": lambda: data_root() / "bibtex" / ".arriving",
    "an unpacked archive": lambda: data_root() / "bibtex" / ".unpacked-x" / "0" / "train.txt",
    "a packed model's folder": lambda: Path(tempfile.gettempdir()) / "xmlcore-tmp-x" / "arrays.npz",
    "a cluster job's folder": lambda: Path(tempfile.gettempdir()) / "xmlcore-job-x" / "progress.json",
}
KEPT = (
    lambda: data_root() / "bibtex" / "bibtex.zip",
    lambda: Path(tempfile.gettempdir()) / "xmlcore-memory-0" / "7.json",
)


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("XMLCORE_DATA", str(tmp_path / "data"))


def make(file, age):
    """Write a file that was changed last so many seconds ago, with the folders that it makes."""
    new = [folder for folder in file.parents if not folder.exists()]
    make_private(file.parent)
    file.write_text("{}")
    for path in (file, *new):
        os.utime(path, (time.time() - age,) * 2)
    return file


@pytest.mark.parametrize("what", LEFT)
def test_what_a_killed_process_left_is_removed_within_a_day(what):
    store.save("runs", "1" * 32, 5)
    kept = [make(place(), 3 * DAY) for place in KEPT]
    file = make(LEFT[what](), DAY / 2)
    assert experiment.remove_leftovers() == 0 and file.exists()
    for path in (file, *file.parents):
        if path.stat().st_mtime < time.time() - DAY / 3:
            os.utime(path, (time.time() - DAY + 60,) * 2)
    assert experiment.remove_leftovers() == 1 and not file.exists()
    assert all(other.exists() for other in kept) and store.load("runs", "1" * 32) == 5


def test_files_of_a_waiting_job_stay():
    database().put("jobs", "1", {"state": "queued", "key": "abc"})
    file = make(LEFT["files given to a task"](), 3 * DAY)
    assert experiment.remove_leftovers() == 0 and file.exists()
    database().put("jobs", "1", {"state": "done", "key": "abc"})
    assert experiment.remove_leftovers() == 1 and not file.exists()


def test_a_link_is_not_followed(tmp_path):
    precious = make(tmp_path / "precious" / "file", 3 * DAY)
    (tmp_path / "xmlcore-tmp-link").symlink_to(precious.parent)
    assert experiment.remove_leftovers() == 0 and precious.exists()


WRITER = """
import io, os, signal, sys
import numpy as np
from xmlcore import store
from xmlcore.experiment.engine import task_files

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def work(what):
    if what == "write":
        with store.writing("runs", "2" * 32) as path:
            store.write_value(path, np.zeros(100_000))
            die()
    if what == "replace":
        os.fsync = die
        with store.writing("runs", "1" * 32, replace=True) as path:
            store.write_value(path, np.ones(9))
    if what == "give":  # as when an upload is taken over
        os.rename = die
        task_files.put("abc", {"data": io.BytesIO(b"1 1 1")})

for what in ("write", "replace", "give"):  # each in a process that has imported all already
    os.environ["XMLCORE_CACHE"] = os.path.join(sys.argv[1], what)
    child = os.fork() or work(what)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_killed_writers_leave_what_was_there(tmp_path, monkeypatch):
    caches = [tmp_path / what for what in ("write", "replace", "give")]
    for cache in caches:
        monkeypatch.setenv("XMLCORE_CACHE", str(cache))
        store.save("runs", "1" * 32, 5)
    root = Path(__file__).resolve().parents[2]
    subprocess.run([sys.executable, "-c", WRITER, str(tmp_path)], cwd=root, check=True)
    for cache in caches:
        monkeypatch.setenv("XMLCORE_CACHE", str(cache))
        assert [one["key"] for one in store.entries("runs")] == ["1" * 32] and store.load("runs", "1" * 32) == 5
        assert not store.exists("runs", "2" * 32)
        for path in (*(cache_root() / "artifacts").rglob("*"), *(cache_root() / "given").rglob("*")):
            os.utime(path, (1, 1))
        assert experiment.remove_leftovers() == 1 and store.load("runs", "1" * 32) == 5, cache
        store.save("runs", "2" * 32, 6)
        assert store.load("runs", "2" * 32) == 6


def test_a_running_server_removes_leftovers_again_and_again(monkeypatch):
    from pages.shared.process import room

    monkeypatch.setattr(room, "TIDY_EVERY", 0.05)
    ended = threading.Event()
    thread = threading.Thread(target=room.keep_tidy, args=(ended,))
    thread.start()
    try:
        for name in ("first", "second"):
            file = make(cache_root() / "given" / name / "file", 2 * DAY)
            until = time.monotonic() + 20
            while file.exists() and time.monotonic() < until:
                time.sleep(0.01)
            assert not file.exists()
    finally:
        ended.set()
        thread.join(20)
    assert not thread.is_alive()
