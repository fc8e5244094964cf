"""What all tests share."""

import gc
import itertools
import os
import sys
from pathlib import Path

import pytest

from xmlcore.datasets.texts import words
from xmlcore.system import KERNEL_CACHE_VARIABLE, kernel_cache_root

os.environ["XMLCORE_FIRST_RESULTS"] = "off"  # tests say themselves what is computed
os.environ[KERNEL_CACHE_VARIABLE] = str(kernel_cache_root())  # shared by all tests and their worker processes
sys.path.insert(0, str(Path(__file__).parent))  # for `import naive`
# Many short processes run: none should parse what another one has parsed.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


gc.disable()  # until all tests are collected, of which it would take a third of the time
LONG_FILES = ("test_types.py", "test_states.py")  # a minute or longer, and among the last by their names
# Compact models have kernels that nothing else needs and no warm-up compiles: one process does it for all.
COMPACT_FILES = ("tests/cli/test_commands.py", "tests/experiment/test_sharing.py", "tests/models/test_compacting.py")
BROWSER_TIMEOUT = 600  # seconds for one test, which waits up to 120 s for each of several jobs


def pytest_configure(config):
    """Of two processes, have one import the folders of tests in reverse: each finds half of the files prepared."""
    here, odd = Path(__file__).parent, os.environ.get("PYTEST_XDIST_WORKER", "gw0")[-1] in "13579"
    if odd and [Path(path).resolve() for path in config.args] == [here]:
        found = {*here.glob("*/"), *here.glob("test_*.py")} - {here / "__pycache__"}
        config.args = [str(path) for path in sorted(found, reverse=True)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Give browser tests a longer timeout than pyproject does, unless they have one of their own, and a second try.

    On a busy machine a click may meet a page that is just being drawn anew. The summary lists what was tried again.
    They come first, and other long files after them: of several processes, one would be alone with them at the end.
    """
    rank = {"e2e": 0} | dict.fromkeys(LONG_FILES, 1)
    items.sort(key=lambda item: (rank.get(item.path.parent.name, rank.get(item.path.name, 2)), item.path))
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))
            if not item.get_closest_marker("timeout"):
                item.add_marker(pytest.mark.timeout(BROWSER_TIMEOUT))


def pytest_collection_finish():
    """Leave what importing and collecting have made out of every later search for garbage, and search less often.

    Python would search each time that 700 more objects are there, which a page makes in a moment.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Have two processes run all browser tests, which slow each other down, and one those of compact models."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class TwoBrowsers(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            if file in COMPACT_FILES:
                return "compact models"
            if not file.startswith("tests/e2e/"):
                return file
            return "one half" if file.endswith("test_browser.py") else "the other half"

    return TwoBrowsers(config, log)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder of real data sets, or a skip."""
    folder = os.environ.get("XMLCORE_TEST_DATA")
    if not folder:
        pytest.skip("XMLCORE_TEST_DATA names no folder of real data sets")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"XMLCORE_TEST_DATA is {folder!r}, which is not a folder")
    return path


@pytest.fixture(scope="session")
def caches(tmp_path_factory):
    """Paths for the caches of tests. To make a folder for each, pytest would look through those of all tests before."""
    folder = tmp_path_factory.mktemp("caches")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def own_cache(caches, monkeypatch):
    """Artifacts of a test go to its own folder; compiled kernels stay where they are."""
    monkeypatch.setenv("XMLCORE_CACHE", str(next(caches)))


@pytest.fixture(autouse=True, scope="session")
def no_wait_for_the_disk():
    """No test has the power fail: files need not be on the disk, for which each would wait for milliseconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


@pytest.fixture(autouse=True)
def no_limit_is_left():
    """A dashboard or a service that a test starts here limits the searches of this process, which outlives it."""
    yield
    words.limit_search(None)
