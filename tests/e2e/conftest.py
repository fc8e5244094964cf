"""A real browser and a real server with real worker processes."""

import contextlib
import os
import shutil
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for browsing.py

from browsing import Tab, new_context  # noqa: E402

from benchmarks.library.dashboard_server import Server  # noqa: E402
from pages.shared.workspaces import stored, workspace  # noqa: E402
from tests.pages import making  # noqa: E402

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync", "--renderer-process-limit=1"]


def find_chromium():
    named = os.environ.get("CHROMIUM")
    if named:
        return named
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def missing(what):
    """Skip, or fail where a browser is required."""
    if os.environ.get("XMLCORE_REQUIRE_BROWSER") == "1":
        pytest.fail(f"{what}, and XMLCORE_REQUIRE_BROWSER is 1")
    pytest.skip(what)


_OPEN = contextlib.ExitStack()  # closes the browser
_SHARED = SimpleNamespace(browser=None, context=None)  # of all browser tests in a row


def _close_browser():
    _SHARED.browser = _SHARED.context = None
    _OPEN.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem):
    """Close the browser before tests of another kind, which may need an event loop of their own."""
    try:
        return (yield)
    finally:
        if nextitem is None or not nextitem.get_closest_marker("browser"):
            _close_browser()


@pytest.fixture
def browser():
    if _SHARED.browser is None or not _SHARED.browser.is_connected():
        _close_browser()
        try:
            from playwright.sync_api import sync_playwright
        except ImportError:
            missing("playwright is not installed")
        path = find_chromium()
        if path is None or not Path(path).exists():
            missing("no Chromium was found: name one in CHROMIUM")
        playwright = _OPEN.enter_context(sync_playwright())
        _SHARED.browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        _OPEN.callback(_SHARED.browser.close)
    return _SHARED.browser


@pytest.fixture(scope="session")
def dashboard(tmp_path_factory):
    """A dashboard of its own, with its own cache: its address and the folder of its cache.

    All browser tests of a process use it, each with workspaces of its own.
    """
    server = Server(tmp_path_factory.mktemp("dashboard"), ["--server.fileWatcherType", "none"]).start()
    yield SimpleNamespace(url=f"http://localhost:{server.port}", port=server.port, cache=server.cache)
    server.stop()


@pytest.fixture(scope="session")
def catalog(dashboard):
    """The folder of the data set that comes with xmlcore, once the dashboard has made it, which takes seconds."""
    folder, end = dashboard.cache / "artifacts" / "catalog", time.monotonic() + 120
    while not [*folder.glob("[!.]*")]:
        assert time.monotonic() < end, "the dashboard has not made its data set"
        time.sleep(0.1)
    return folder


@pytest.fixture(scope="session")
def with_data(catalog):
    """Give the cache of a further server the data set that comes with xmlcore."""

    def give(cache):
        shutil.copytree(catalog, cache / "artifacts" / "catalog", ignore=shutil.ignore_patterns(".*"))
        return cache

    return give


@pytest.fixture
def first_context(browser, dashboard):
    """The browser context of each test's first tab: the page that stays open in it keeps scripts compiled."""
    if _SHARED.context is None:
        context = new_context(browser)
        context.new_page().goto(f"{dashboard.url}/_stcore/health")
        _SHARED.context = context
    return _SHARED.context


@pytest.fixture
def tab(browser, first_context, dashboard):
    opened = []

    with contextlib.ExitStack() as closing:  # closes each, whatever another one says

        def open_tab(path="/", **options):
            context = None if opened or options else first_context
            opened.append(Tab(browser, dashboard.url + path, context, **options))
            closing.callback(opened[-1].close)
            return opened[-1]

        yield open_tab


@pytest.fixture
def prepared(dashboard, monkeypatch):
    """Make a workspace with a data set and, if asked, results of PLT on it; return the end of its address.

    It has what an upload and a training leave behind, without the time that they take in a browser.
    """

    def prepare(data, *, trained=0):
        monkeypatch.setenv("XMLCORE_CACHE", str(dashboard.cache))
        one = SimpleNamespace(token=workspace.begin())
        stored.write(one.token, stored.read(one.token))
        making.use(one, data)
        for params in [{}, {"C": 3.0}][:trained]:
            making.show(one, making.train(one, data=data, **params), data)
        return f"?workspace={one.token}"

    return prepare
