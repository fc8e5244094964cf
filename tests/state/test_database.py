"""Rows in the database of the cache folder: transactions, damage, full disks, and processes beside each other."""

import errno
import os
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from xmlcore.state import FILE, TABLES, Database, StateError, database, holders, sqlite
from xmlcore.system import cache_root

ADD = """
import sys
from xmlcore.state import database
for number in range(int(sys.argv[1])):
    with database().change():
        database().put("settings", "count", database().get("settings", "count", 0) + 1)
"""


def test_rows_are_written_read_and_removed():
    state = database()
    assert state.get("pins", "a") is None and state.rows("pins") == [] and not state.remove("pins", "a")
    for key in ("a/1", "a/2", "b%/3", "b/_"):
        state.put("pins", key, {"key": key, "text": "é\ud800"})
    assert state.get("pins", "a/1") == {"key": "a/1", "text": "é\ud800"}
    assert [row.key for row in state.rows("pins", "a/")] == ["a/1", "a/2"]
    assert [row.key for row in state.rows("pins", "b%")] == ["b%/3"]
    assert state.remove("pins", "a/1") and state.written("pins").keys() == {"a/2", "b%/3", "b/_"}
    before = state.written("pins")["a/2"]
    state.touch("pins", "a/2")
    assert state.written("pins")["a/2"] > before
    with pytest.raises(ValueError, match="table must be one of"):
        state.get("pins; DROP TABLE pins", "a")
    for number in range(5):
        database().append("times", "train", number, most=3)
    database().append("times", "training", 9, most=3)
    assert [row.value for row in database().rows("times", "train/")] == [2, 3, 4]


def test_a_change_happens_as_a_whole_or_not_at_all():
    with pytest.raises(KeyError), database().change():
        database().put("settings", "a", 1)
        with database().change():
            database().put("settings", "b", 2)
        raise KeyError
    assert database().rows("settings") == []


def test_no_change_is_lost_among_threads_and_processes():
    def add(number):
        for _ in range(50):
            with database().change():
                database().put("settings", "count", database().get("settings", "count", 0) + 1)

    others = [subprocess.Popen([sys.executable, "-c", ADD, "100"]) for _ in range(2)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(add, range(4)))
    assert [other.wait(60) for other in others] == [0, 0]
    assert database().get("settings", "count") == 400


def test_a_killed_process_loses_nothing_and_holds_up_nobody():
    code = ADD + "with database().change():\n    database().put('settings', 'count', 0)\n    import os; os._exit(9)"
    assert subprocess.run([sys.executable, "-c", code, "5"]).returncode == 9
    assert database().get("settings", "count") == 5
    database().put("settings", "count", 6)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks are of POSIX systems")
def test_a_forked_process_opens_its_own_connections():
    database().put("settings", "a", 1)
    child = os.fork()
    if child == 0:
        database().put("settings", "b", 2)
        os._exit(0 if database().get("settings", "a") == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert database().get("settings", "b") == 2


def damaged(state, start):
    """Fill the database, overwrite its file from a byte on if one is given, and return its content."""
    for number in range(500):
        state.put("workspaces", f"{number}", "x" * 500)
    for _, connection in state._idle:
        connection.close()
    state._idle.clear()
    content = bytearray((cache_root() / FILE).read_bytes())
    if start is not None:
        content[start:] = b"\xff" * len(content[start:])
    (cache_root() / FILE).write_bytes(content)
    return content


def test_a_killed_maker_of_the_file_is_not_waited_for():
    left = cache_root() / f".{FILE}-aside"
    left.mkdir(parents=True)
    os.utime(left, (time.time() - 60,) * 2)
    began = time.monotonic()
    database().put("settings", "a", 1)
    assert database().get("settings", "a") == 1 and time.monotonic() - began < 5 and not left.exists()


@pytest.mark.parametrize("at", ["reading", "writing", "start"])
def test_a_damaged_file_is_set_aside_said_once_and_begun_anew(at):
    state = database()
    content = damaged(state, 4096)
    if at == "reading":
        assert state.rows("workspaces") == []
    elif at == "writing":
        state.put("workspaces", "1", 2)
    else:
        state.check()
    assert len(state.rows("workspaces")) == (at == "writing")
    (aside,) = cache_root().glob(f"damaged-*-{FILE}")
    assert aside.read_bytes() == content and state.get("notices", "damaged") == aside.name


def test_a_file_that_is_deleted_in_use_is_made_again():
    assert database().get("settings", "a") is None and not cache_root().exists()
    database().put("settings", "a", 1)
    (cache_root() / FILE).unlink()  # without the file "-wal", which belonged to it
    assert database().get("settings", "a") is None
    database().put("settings", "a", 2)
    assert database().get("settings", "a") == 2


def test_a_full_disk_is_a_system_error_and_loses_nothing():
    state = database()
    state.put("settings", "a", 1)
    state._idle[0][1].execute("PRAGMA max_page_count = 1")
    with pytest.raises(StateError) as caught:
        state.put("settings", "a", "x" * 100_000)
    assert caught.value.errno == errno.ENOSPC and state.get("settings", "a") == 1


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the administrator may write everywhere")
def test_a_folder_that_cannot_be_written_to_is_read():
    database().put("settings", "a", 1)
    database()._idle.pop()[1].close()
    cache_root().chmod(0o500)
    try:
        assert database().get("settings", "a") == 1
        with pytest.raises(StateError):
            database().put("settings", "a", 2)
    finally:
        cache_root().chmod(0o700)


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_the_file_is_private():
    database().put("settings", "a", 1)
    assert {stat.S_IMODE(path.stat().st_mode) for path in cache_root().iterdir()} == {0o600}


def test_a_file_of_a_later_version_is_left_as_it_is():
    cache_root().mkdir(parents=True)
    with sqlite3.connect(cache_root() / FILE) as later:
        later.execute("PRAGMA user_version = 99")
    with pytest.raises(StateError, match="later version"):
        database().get("settings", "a")
    assert [path.name for path in cache_root().iterdir()] == [FILE]


def test_rows_beside_a_damaged_page_are_kept_with_their_times():
    state = database()
    damaged(state, None)
    before = state.written("workspaces")
    content = bytearray((cache_root() / FILE).read_bytes())
    state._idle.pop()[1].close()
    content[23 * 4096 : 24 * 4096] = bytes(4096)
    (cache_root() / FILE).write_bytes(content)
    state.check()
    assert len(state.rows("workspaces")) > 480 and state.written("workspaces").items() < before.items()


def test_rows_of_a_cut_file_and_of_its_log_are_read():
    state = database()
    damaged(state, None)
    state.put("pins", "runs/ab/me", True)  # in the file "-wal" as long as the connection is open
    os.truncate(cache_root() / FILE, 40 * 4096)
    state.check()
    assert state.get("pins", "runs/ab/me") is True and len(state.rows("workspaces")) > 100


@pytest.mark.parametrize("used", [True, False])
def test_an_empty_file_is_a_damaged_one(used):
    state = database()
    state.put("settings", "a", 1)
    if not used:
        state._idle.pop()[1].close()
    os.truncate(cache_root() / FILE, 0)
    assert state.get("settings", "a") is None and state.has("notices", "damaged")


def test_a_full_disk_before_there_is_a_file_leaves_none(monkeypatch):
    def full(connection):
        connection.execute("PRAGMA max_page_count = 2")
        prepare(state, connection)

    state, prepare = database(), Database._prepare
    monkeypatch.setattr(state, "_prepare", full)
    with pytest.raises(StateError) as caught:
        state.put("settings", "a", 1)
    assert caught.value.errno == errno.ENOSPC and list(cache_root().iterdir()) == []


def test_a_folder_in_place_of_the_file_is_said_with_what_to_do():
    (cache_root() / FILE).mkdir(parents=True)
    with pytest.raises(StateError, match="move it away, or name another folder in XMLCORE_CACHE"):
        database().get("settings", "a")


def test_a_later_version_makes_its_tables(monkeypatch):
    database().put("settings", "a", 1)
    monkeypatch.setattr(sqlite, "VERSION", sqlite.VERSION + 1)
    monkeypatch.setattr(sqlite, "TABLES", (*TABLES, "notes"))
    later = Database(cache_root() / FILE)
    later.put("notes", "b", 2)
    later._idle[0][1].execute("DROP TABLE notes")
    assert later.get("notes", "b") is None and later.get("settings", "a") == 1


@pytest.mark.parametrize("holder", [None, [], {"pid": 1}, {"id": "a", "host": "gone", "pid": 1, "since": 5.0}])
def test_what_a_lost_machine_or_a_damaged_row_holds_is_free(holder):
    database().put("holders", "turn", holder)
    assert holders.take(database(), "turn") is not None
    database().put("holders", "other", holder)
    assert holders.remove_dead(database()) == 1


def test_a_process_of_another_machine_holds_what_it_took_today():
    database().put("holders", "turn", {"id": "a", "host": "other", "pid": 1, "since": time.time()})
    assert holders.take(database(), "turn") is None and holders.take(database(), "turn", elsewhere=False) is not None


def test_rows_survive_the_loss_of_the_write_ahead_file():
    state = database()
    for number in range(50):
        state.put("pins", str(number), number)
    for ending in ("-wal", "-shm"):
        os.unlink(f"{state.path}{ending}")
    assert len(state.rows("pins")) == len(Database(state.path).rows("pins")) == 50
    state.put("pins", "50", 50)
    assert len(Database(state.path).rows("pins")) == 51
