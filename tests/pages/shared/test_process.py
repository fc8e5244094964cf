"""What all sessions of one server process share, and the memory of the values that it keeps."""

import asyncio
import logging
import mmap
import subprocess
import sys
import threading
import time
import tomllib
import types
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from streamlit.runtime.scriptrunner.exec_code import modified_sys_path

from pages.shared import cached, fragments, frame
from pages.shared.addresses import SCRIPT
from pages.shared.process import in_memory, job_queue, lifespan, reading, turns
from pages.shared.process.in_memory import Values
from xmlcore import experiment, store

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(("headless", "addresses", "wanted"), [
    (True, {}, []),
    (False, {"browser.serverAddress": "localhost"}, ["http://localhost:8599/"]),
    (False, {"server.address": "127.0.0.2"}, ["http://127.0.0.2:8599/"]),
    (False, {"server.address": "0.0.0.0", "server.baseUrlPath": "/x/"}, ["http://localhost:8599/x"]),
    (False, {"server.address": "::1", "browser.serverAddress": "localhost"}, ["http://[::1]:8599/"]),
])  # fmt: skip
def test_the_browser_is_opened_unless_the_server_is_headless(headless, addresses, wanted, monkeypatch):
    opened, made_ready = [], []
    options = {"server.headless": headless, "server.port": 8599, **addresses}
    monkeypatch.setattr(lifespan, "get_ready", lambda: made_ready.append(True))
    monkeypatch.setattr(lifespan.st, "get_option", lambda name: options.get(name, ""))
    monkeypatch.setattr(lifespan.webbrowser, "open", opened.append)

    async def start():
        async with lifespan.lifespan(None):
            end = time.monotonic() + (60 if wanted else 0.7)
            while not opened and time.monotonic() < end:
                await asyncio.sleep(0.02)

    asyncio.run(start())
    assert opened == wanted and made_ready == [True]


def test_the_view_of_a_page_leaves_the_path_of_imports_alone(monkeypatch):
    monkeypatch.setattr(lifespan, "get_ready", lambda: None)
    monkeypatch.setattr(lifespan.st, "get_option", lambda name: name == "server.headless" or "")
    monkeypatch.setattr(sys, "path", sys.path.copy())

    async def view():
        async with lifespan.lifespan(None):
            before = sys.path.copy()
            with modified_sys_path(str(SCRIPT)):
                return before == sys.path

    assert asyncio.run(view())


def drawn_at_once(n_pages, work=lambda: None, seconds=0.5):
    """Draw pages that do some work and go on until all that get a turn in some seconds have it; return how many did."""
    drawn, over = [], threading.Event()

    def draw():
        with turns.turn():
            drawn.append(True)
            work()
            over.wait(30)

    threads = [threading.Thread(target=draw) for _ in range(n_pages)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + 30
    while len(drawn) < turns.AT_ONCE and time.monotonic() < end:
        time.sleep(0.01)
    end = time.monotonic() + seconds
    while len(drawn) < n_pages and time.monotonic() < end:
        time.sleep(0.01)
    n_drawn = len(drawn)
    over.set()
    for thread in threads:
        thread.join()
    assert len(drawn) == n_pages
    return n_drawn


def test_two_pages_are_drawn_at_once_and_others_wait(monkeypatch):
    monkeypatch.setattr(turns, "LONGEST", 60.0)
    assert drawn_at_once(5) == 2
    slow = cached.shared()(lambda number: time.sleep(0.5))
    assert drawn_at_once(5, lambda: slow(1), 30) == 5, "one makes the value, and the others wait for it"
    assert drawn_at_once(5, lambda: slow(1)) == 2, "the value is there"
    monkeypatch.setattr(turns, "LONGEST", 0.1)
    assert drawn_at_once(5, seconds=30) == 5
    assert drawn_at_once(2, seconds=30) == 2, "no turn is lost or made up"
    monkeypatch.setattr(turns, "LONGEST", 60.0)
    assert drawn_at_once(5) == 2


def test_the_default_data_set_is_made_before_kernels(own_cache, monkeypatch):
    submitted = []
    queue = types.SimpleNamespace(submit=lambda function, *args, title, **about: submitted.append(title))
    monkeypatch.setattr(job_queue.jobs, "Queue", lambda *args, **settings: queue)
    job_queue._queue("a folder")
    assert submitted == ["Preparing api-docs", "Compiling code, once"]
    experiment.keep(job_queue.default_dataset())
    job_queue._queue("the same folder, later")
    assert submitted[2:] == ["Compiling code, once"]


def test_a_run_and_slow_modules_are_read_once_in_the_background(monkeypatch):
    done, read, thread = threading.Event(), [], []

    def run(key):
        read.append(key)
        thread.append(threading.current_thread().name)
        done.set()
        raise store.MissingArtifactError("runs", key, "gone")  # the page that needs it says so

    monkeypatch.setattr(turns, "CALM", 0.0)
    monkeypatch.setattr(reading, "LATER", ("json.tool",))
    monkeypatch.setattr(reading, "_ahead", OrderedDict())
    monkeypatch.setattr(turns, "serving", threading.Event())
    monkeypatch.setattr(reading.cached, "run", run)
    monkeypatch.delitem(sys.modules, "json.tool", raising=False)
    reading.read_ahead("a")
    assert not reading._ahead, "no server runs"
    turns.serving.set()
    for _ in range(2):
        reading.read_ahead("a")
    assert done.wait(60) and thread == [reading.READER] and "json.tool" in sys.modules
    assert read == ["a"]


def test_garbage_is_collected_after_runs_and_closed_tabs(monkeypatch):
    collected, now = [], [0.0]

    class Ended:
        def wait(self, seconds):
            """Let the clock go on; until 40 seconds pages are drawn all the time."""
            now[0] += seconds
            if now[0] <= 40:
                turns.tidy_later()
            return now[0] > 200

    monkeypatch.setattr(turns, "time", types.SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(turns, "_drawn", 0.0)
    monkeypatch.setattr(turns, "collect", lambda everything: collected.append((everything, now[0])))
    monkeypatch.setattr(turns.st, "get_option", {"server.disconnectedSessionTTL": 10}.get)
    turns.keep_tidy(Ended())
    assert collected == [(False, 31.0), (False, 41.0), (True, 80.0)]
    with open(ROOT / ".streamlit/config.toml", "rb") as file:
        assert tomllib.load(file)["runner"]["postScriptGC"] is False


@pytest.mark.skipif(sys.platform != "linux", reason="the C library of Linux keeps pools of memory")
def test_free_memory_goes_back_to_the_system():
    code = """
import threading
from pages.shared.process import turns

def collected():
    turns.collect(everything=False)
    return held()

def held():
    with open("/proc/self/smaps_rollup") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("Anonymous:")) * 1024

def fill():
    made = [bytearray(20_000) for _ in range(4_000)]  # too small for the system to give each its own place
    last.append(bytearray(20_000))  # at the end of the pool

last, before = [], collected()
for _ in range(2):
    thread = threading.Thread(target=fill)
    thread.start()
    thread.join()
print(held() - before, collected() - before)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    kept, left = map(int, done.stdout.split())
    assert kept > 60e6 and left < 0.2 * kept, done.stderr


def test_garbage_is_collected_after_failures_and_parts(monkeypatch):
    asked, drawn = [], []
    monkeypatch.setattr(turns, "tidy_later", lambda: asked.append(True))
    monkeypatch.setattr(frame, "_draw", lambda page: 1 / 0)
    monkeypatch.setattr(fragments.st, "fragment", lambda draw: draw)
    monkeypatch.setattr(fragments, "_of_page", lambda: 1)
    monkeypatch.setattr(fragments, "followed", lambda: ([], []))
    with pytest.raises(ZeroDivisionError):
        frame.around(None)
    fragments.alone(lambda *args, **named: drawn.append((args, named)))(1, two=2)
    with pytest.raises(ZeroDivisionError):
        fragments.alone(lambda: 1 / 0)()
    assert drawn == [((1,), {"two": 2})] and len(asked) == 3


def test_getting_ready_begins_the_work_and_imports(own_cache):
    store.save("runs", "a" * 32, 1)
    code = (
        "import gc, sys\n"
        "from pages.shared.process import job_queue, lifespan, reading\n"
        "job_queue.queue = lambda: print('begun')\n"
        "lifespan.get_ready()\n"
        "print({'pandas', 'xmlcore.figures', 'plotly'} <= set(sys.modules), gc.get_freeze_count() > 1000)\n"
        "print(set(reading.LATER) <= set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.split("\n")[:3] == ["begun", "True True", "True"], done.stderr


def test_reading_ahead_does_not_warn_of_its_spinners():
    def record(thread, level):
        found = logging.LogRecord("streamlit", level, "", 0, "missing ScriptRunContext", None, None)
        found.threadName = thread
        return found

    assert not reading.says_nothing_of_reader(record(reading.READER, logging.WARNING))
    assert reading.says_nothing_of_reader(record(reading.READER, logging.ERROR))
    assert reading.says_nothing_of_reader(record("Thread-1", logging.WARNING))


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test sets."""
    now = types.SimpleNamespace(time=0.0)
    monkeypatch.setattr(in_memory.time, "monotonic", lambda: now.time)
    return now


def test_values_used_longest_ago_are_forgotten_first(clock):
    made = []

    def use(function, name, size):
        values.get(function, (name,), lambda: made.append((function, name)) or np.zeros(size, np.uint8), 10)

    def is_kept(function, name):
        return (function, (name,)) in values._known

    values = Values(lambda: 35_000)
    for function, name in (("one", "a"), ("other", "a"), ("one", "b")):
        use(function, name, 10_000)
        clock.time += 1
    use("one", "a", 10_000)  # used again
    assert len(made) == 3
    clock.time += 2 * in_memory.NEEDED_SECONDS
    use("one", "c", 10_000)
    assert not is_kept("other", "a") and is_kept("one", "b")
    use("one", "d", 20_000)
    assert not is_kept("one", "b") and not is_kept("one", "a") and values.bytes < 35_000
    values = Values(lambda: 10_000)
    use("one", "data", 12_000)
    use("one", "model", 12_000)
    assert is_kept("one", "data")
    use("one", "more", 12_000)
    assert not is_kept("one", "data"), "however lately it was used"
    clock.time += 2 * in_memory.NEEDED_SECONDS
    use("one", "huge", 500_000)
    assert [name for _, (name,) in values._known] == ["huge"]


@pytest.mark.parametrize(("made", "wanted"), [
    (lambda: np.zeros(100_000), 800_000),
    (lambda: np.zeros(100_000)[:5], 800_000),  # which keeps the whole
    (lambda: [np.zeros(100_000)] * 10, 800_000),
    (lambda: {"a": [sp.csr_array(np.ones((300, 300), np.float32))]}, 720_000),
    (lambda: pd.DataFrame({"a": np.zeros(100_000), "b": np.arange(100_000)}), 1_600_000),
    (lambda: [f"name {i:06d}" for i in range(10_000)], 680_000),
    (lambda: np.array([f"name {i:06d}" for i in range(10_000)], dtype=object), 680_000),
    (lambda: np.frombuffer(mmap.mmap(-1, 800_000)), 0),  # of a file, which the system keeps or drops
    (lambda: ["letters " * 1000] * 3, 8_000),
    (lambda: [np.zeros(100_000), lambda: None, np.zeros(5)], 800_000),  # a function cannot be pickled
    (lambda: 1.0, 0),
])  # fmt: skip
def test_the_size_of_a_value_counts_each_part_once(made, wanted):
    values = Values(lambda: 1 << 30)
    values.get("one", (), made, 1)
    assert wanted <= values.bytes < 1.05 * wanted + 5_000


def test_a_data_set_that_is_too_large_is_read_again(own_cache, monkeypatch, clock):
    made = []

    @cached.shared()
    def numbers(name):
        """Return a large value."""
        made.append(name)
        return np.zeros(100_000)

    monkeypatch.setenv(in_memory.VARIABLE, "1 MB")
    cached.forget()
    for name in ("a", "b"):
        for _ in range(3):
            numbers(name)
        clock.time += 2 * in_memory.NEEDED_SECONDS
    assert made == ["a", "b"]
    numbers("a")
    assert made == ["a", "b", "a"] and in_memory.values.bytes < 1 << 20
    cached.forget()


def test_the_bound_is_a_share_of_the_machine_unless_one_is_set(monkeypatch):
    monkeypatch.delenv(in_memory.VARIABLE, raising=False)
    assert in_memory.bound() == int(in_memory.SHARE * in_memory.memory.total())
