"""What all sessions of one server process share."""

import asyncio
import gc
import logging
import signal
import subprocess
import sys
import threading
import time
import tomllib
import weakref
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.library.dashboard_server import Server
from pages.shared import frame, server
from xmlcore import experiment, store

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("headless", "addresses", "wanted"),
    [
        (True, {}, []),
        (False, {"browser.serverAddress": "localhost"}, ["http://localhost:8599/"]),
        (False, {"server.address": "127.0.0.2"}, ["http://127.0.0.2:8599/"]),
        (False, {"server.address": "0.0.0.0", "server.baseUrlPath": "/x/"}, ["http://localhost:8599/x"]),
        (False, {"server.address": "::1", "browser.serverAddress": "localhost"}, ["http://[::1]:8599/"]),
    ],
)
def test_the_browser_is_opened_when_the_server_starts_unless_it_is_headless(headless, addresses, wanted, monkeypatch):
    opened, made_ready = [], []
    monkeypatch.setattr(server, "get_ready", lambda: made_ready.append(True))
    options = {"server.headless": headless, "server.port": 8599, **addresses}
    monkeypatch.setattr(server.st, "get_option", lambda name: options.get(name, ""))
    monkeypatch.setattr(server.webbrowser, "open", opened.append)

    async def start():
        async with server.lifespan(None):
            end = time.monotonic() + (60 if wanted else 0.7)
            while not opened and time.monotonic() < end:
                await asyncio.sleep(0.02)

    asyncio.run(start())
    assert opened == wanted
    assert made_ready == [True]


def test_the_default_data_set_is_made_before_kernels_are_compiled(own_cache, monkeypatch):
    submitted = []

    class Queue:
        def submit(self, function, *args, title, owner, key, plan=None):
            submitted.append(title)

    monkeypatch.setattr(server.jobs, "Queue", Queue)
    server._queue("a folder")
    assert submitted == ["Preparing api-docs", "Compiling code, once"]
    experiment.keep(server.default_dataset())
    server._queue("the same folder, later")
    assert submitted[2:] == ["Compiling code, once"]


@pytest.fixture
def serving():
    """A server runs, and has read nothing yet."""
    server._serving.set()
    server._ahead.clear()
    yield
    server._serving.clear()
    server._ahead.clear()


def test_what_pages_need_first_is_read_once_and_again_when_it_has_changed(serving, monkeypatch):
    assert server.is_unread("a", 1) and not server.is_unread("a", 1)
    assert server.is_unread("b") and server.is_unread("a", 2) and not server.is_unread("a", 2)
    monkeypatch.setattr(server, "MOST_AHEAD", 2)
    assert server.is_unread("c") and not server.is_unread("a", 2)
    assert server.is_unread("b"), "names that were read long ago are forgotten"
    server._serving.clear()
    assert not server.is_unread("d"), "no server runs"


def test_modules_that_take_long_and_what_a_page_needs_are_read_in_the_background(monkeypatch):
    monkeypatch.setattr(server, "CALM", 0.0)
    monkeypatch.setattr(server, "LATER", ("json.tool",))
    monkeypatch.delitem(sys.modules, "json.tool", raising=False)
    done, threads = threading.Event(), []

    def read():
        threads.append(threading.current_thread().name)
        done.set()
        server.read_run("a" * 32)  # a run that is gone: the page that needs it says so

    server.read_ahead(read)
    assert done.wait(60) and threads == [server.READER] and "json.tool" in sys.modules


def test_garbage_is_collected_once_after_the_last_of_several_runs(monkeypatch):
    collected = []
    monkeypatch.setattr(server, "CALM", 0.05)
    monkeypatch.setattr(server.gc, "collect", lambda: collected.append(True))
    server.tidy_later()
    assert not server._tidying.is_alive(), "no server runs"
    server._serving.set()
    try:
        for _ in range(5):
            server.tidy_later()
        server._tidying.join()
    finally:
        server._serving.clear()
    assert collected == [True] and server._tidy_by is None
    with open(ROOT / ".streamlit/config.toml", "rb") as file:
        assert tomllib.load(file)["runner"]["postScriptGC"] is False


def test_garbage_of_closed_tabs_is_collected_when_streamlit_no_longer_waits_for_them(monkeypatch):
    collected = []
    monkeypatch.setattr(server, "CALM", 0.01)
    monkeypatch.setattr(server, "UNTIDY", 0.05)
    monkeypatch.setattr(server.st, "get_option", {"server.disconnectedSessionTTL": 0.1}.get)
    monkeypatch.setattr(server.gc, "collect", lambda: collected.append(time.monotonic()))
    server._serving.set()
    try:
        server.tidy_later()
        end = time.monotonic() + 60
        while len(collected) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.3)
    finally:
        server._serving.clear()
        server._tidying.cancel()
    assert len(collected) == 2 and collected[1] - collected[0] >= 0.15  # and no more: nobody is there


def test_garbage_is_collected_also_while_pages_are_drawn_all_the_time(monkeypatch):
    collected = []
    monkeypatch.setattr(server, "UNTIDY", 0.2)
    monkeypatch.setattr(server.gc, "collect", lambda: collected.append(True))
    server._serving.set()
    try:
        begin = time.monotonic()
        while len(collected) < 2 and time.monotonic() < begin + 60:  # several sessions: never as calm as is waited for
            server.tidy_later()
            time.sleep(0.02)
        seconds = time.monotonic() - begin
    finally:
        server._serving.clear()
        server._tidying.cancel()
        monkeypatch.setattr(server, "_tidy_by", None)
    assert 2 <= len(collected) <= 1 + seconds / 0.2


def test_what_was_imported_is_left_out_of_collections_until_nobody_waits(monkeypatch):
    class Session:
        """What refers to itself, as sessions do."""

        def __init__(self):
            self.itself = self

    gone = []
    monkeypatch.setattr(server, "_imported", len(sys.modules) - server.MANY_MODULES)
    session = Session()
    weakref.finalize(session, gone.append, True)
    try:
        server.collect(everything=False)
        assert gc.get_freeze_count() > 1000 and server._imported == len(sys.modules)
        before = gc.get_freeze_count()
        more = [[] for _ in range(10_000)]
        server.collect(everything=False)
        assert gc.get_freeze_count() <= before, "nothing was imported"
        del session
        server.collect(everything=False)
        assert not gone
        server.collect(everything=True)
        assert gone and all(one is not more for one in gc.get_objects()), "what is there now is left out, too"
    finally:
        gc.unfreeze()


def test_views_of_kept_tables_are_forgotten_when_they_are_gone(own_cache):
    @server.shared(max_entries=10)
    def kept(name):
        """Return a table."""
        return {"tables": [pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})]}

    def remembered():
        return [len(block.refs.referenced_blocks) for block in table._mgr.blocks]

    (table,) = kept("one")["tables"]
    view = table[:]
    for _ in range(200):
        table["a"].sum()
        table["b"].str.upper()
    assert min(remembered()) >= 200, "pandas remembers views in another way: is forgetting them still needed?"
    try:
        server.collect(everything=False)
    finally:
        gc.unfreeze()
    assert max(remembered()) <= 5
    view.loc[0, "a"] = 5.0
    assert table.loc[0, "a"] == 1.0


@pytest.mark.skipif(sys.platform != "linux", reason="the C library of Linux keeps pools of memory")
def test_memory_that_is_free_goes_back_to_the_system_when_garbage_is_collected():
    code = """
import gc, sys, threading
from pages.shared import server

def held():
    with open("/proc/self/smaps_rollup") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("Anonymous:")) * 1024

def fill():
    made = [bytearray(20_000) for _ in range(4_000)]  # too small for the system to give each its own place
    last.append(bytearray(20_000))  # at the end of the pool
    del made

last = []
server.collect(everything=False)
before = held()
for _ in range(2):
    thread = threading.Thread(target=fill)
    thread.start()
    thread.join()
kept = held() - before
server.collect(everything=False)
print(kept, held() - before)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    kept, left = map(int, done.stdout.split())
    assert kept > 60e6 and left < 0.2 * kept, done.stderr


def test_garbage_is_collected_also_after_a_page_that_failed(monkeypatch):
    asked = []
    monkeypatch.setattr(frame.server, "tidy_later", lambda: asked.append(True))
    monkeypatch.setattr(frame, "_draw", lambda page, compare: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        frame.around(None, None)
    assert asked == [True]


def test_garbage_is_collected_also_after_a_part_of_a_page_that_is_run_alone(monkeypatch):
    asked, drawn = [], []
    monkeypatch.setattr(server, "tidy_later", lambda: asked.append(True))
    monkeypatch.setattr(server.st, "fragment", lambda draw: draw)
    server.fragment(lambda *args, **named: drawn.append((args, named)))(1, two=2)
    with pytest.raises(ZeroDivisionError):
        server.fragment(lambda: 1 / 0)()
    assert drawn == [((1,), {"two": 2})] and asked == [True, True]


@pytest.mark.parametrize("has_results", [False, True])
def test_getting_ready_begins_the_work_and_imports_what_pages_draw_with(own_cache, has_results):
    if has_results:
        store.save("runs", "a" * 32, 1)
    code = (
        "import gc, sys\n"
        "from pages.shared import server\n"
        "server.queue = lambda: print('begun')\n"
        "server.get_ready()\n"
        "print({'pandas', 'xmlcore.figures', 'plotly'} <= set(sys.modules), gc.get_freeze_count() > 1000)\n"
        "print(set(server.LATER) <= set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split("\n")[:3] == ["begun", "True True", str(has_results)], done.stderr


def test_a_server_that_is_terminated_ends_as_with_ctrl_c_and_leaves_nothing(own_cache, tmp_path):
    server_ = Server(tmp_path, cache=own_cache).start()
    try:
        end = time.monotonic() + 60
        while not server_.processes() and time.monotonic() < end:  # its workers have semaphores
            time.sleep(0.1)
    finally:
        left = server_.stop(signal.SIGTERM)
    assert server_.process.returncode == 0 and left == [] and server_.bad_lines() == []


def test_reading_ahead_does_not_warn_of_its_spinners_and_other_warnings_stay():
    def record(thread, level):
        found = logging.LogRecord("streamlit", level, "", 0, "missing ScriptRunContext", None, None)
        found.threadName = thread
        return found

    assert not server._says_nothing_of_reader(record(server.READER, logging.WARNING))
    assert server._says_nothing_of_reader(record(server.READER, logging.ERROR))
    assert server._says_nothing_of_reader(record("Thread-1", logging.WARNING))
