"""A server that is killed while a file is on its way to it, or while a worker reads one, and then started again."""

import contextlib
import os
import signal
import sqlite3
import time

import pytest
from browsing import WAIT, Tab, easy_file, playwright_error

from benchmarks.library.dashboard_server import Server
from pages.shared.streamlit_fixes.transfers import LOST
from xmlcore.state import FILE

# Quicker: test_streamlit_fixes.py (a session that follows another one), test_read.py, and tests/pages/jobs.
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.long]
ROWS = 100_000  # of the uploaded file: so many that sending and reading it take a moment


@pytest.fixture
def server(tmp_path, with_data):
    one = Server(tmp_path, cache=with_data(tmp_path / "cache")).start()
    yield one
    one.stop()


@pytest.fixture
def tab(server, browser):
    one = Tab(browser, f"http://localhost:{server.port}/")
    yield one
    one.context.close()  # the browser's console has said that there was no server


@pytest.fixture
def large(tmp_path):
    rows = easy_file(1000).split(b"\n", 1)[1]
    path = tmp_path / "large.txt"
    path.write_bytes(b"%d 24 12\n" % ROWS + rows * (ROWS // 1000))
    return path


def choose(tab, path):
    """Choose a training file as a user does, which also works for a file that was chosen before."""
    field = tab.page.get_by_test_id("stFileUploader").filter(has_text="Training file", visible=True)
    if not field.count():
        tab.page.get_by_test_id("stExpander").get_by_text("Add a data set").click()
    with tab.page.expect_file_chooser() as chooser:
        field.get_by_role("button").last.click()
    chooser.value.set_files(path)
    return field


def until(condition, seconds=3 * WAIT / 1000, every=0.005):
    """Wait until something holds, which may be true for moments only."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(every)


def artifacts(server, pattern):
    return [*(server.cache / "artifacts" / "datasets").glob(pattern)]


def held(server, prefix):
    """What processes of a server hold, by their names."""
    with contextlib.closing(sqlite3.connect(f"{(server.cache / FILE).as_uri()}?mode=ro", uri=True)) as state:
        return state.execute("SELECT key FROM holders WHERE key LIKE ?", (f"{prefix}%",)).fetchall()


def test_a_file_on_its_way_is_lost_and_one_being_read_is_kept(server, tab, large):
    until(lambda: [*(server.cache / "artifacts" / "prepared").glob("[!.]*")])  # no worker writes anything more
    tab.idle()
    network = tab.context.new_cdp_session(tab.page)
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1}
    network.send("Network.emulateNetworkConditions", slow | {"uploadThroughput": 1_000_000})
    with tab.page.expect_request(lambda request: request.method == "PUT"):
        field = choose(tab, large)
    tab.page.wait_for_timeout(1000)
    server.stop(signal.SIGKILL)
    tab.text("Network Error")
    server.start()
    tab.text(LOST)
    assert "Network Error" not in tab.page.get_by_test_id("stApp").inner_text()
    assert server.unfinished() == [] and [*(server.cache / "given").glob("*")] == []
    network.send("Network.emulateNetworkConditions", slow | {"uploadThroughput": -1})
    field = choose(tab, large)
    field.get_by_text("large.txt").wait_for()
    tab.page.get_by_text(LOST).first.wait_for(state="detached")
    tab.read()
    until(lambda: held(server, "given/"))  # a worker has taken the file
    for pid in (server.process.pid, *server.processes()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert server.stop(signal.SIGKILL) == [] and len(artifacts(server, "[!.]*")) == 1  # nothing half-written is found
    server.start()
    tab.text("The server was restarted during: ")
    tab.go("Jobs")
    tab.text("The server was restarted during 1 job")
    again = tab.page.get_by_role("button", name="Start again")
    for _ in range(12):
        again.click()
        with contextlib.suppress(playwright_error()):  # nothing arrives while the tab connects: then once more
            again.wait_for(state="detached", timeout=5_000)
            break
    tab.go("Data")
    tab.text(f"{ROWS:,} rows")
    until(lambda: [*(server.cache / "given").glob("*")] == [])
    assert len(artifacts(server, "[!.]*")) == 2
