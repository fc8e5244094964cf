"""Queues, and functions that their workers import."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from xmlcore.jobs import Queue

sys.path.insert(0, str(Path(__file__).parent))  # for `import job_functions`, here and in worker processes

import job_functions as work  # noqa: E402
from watching import LONG, start  # noqa: E402


@pytest.fixture(scope="module")
def queue(tmp_path_factory):
    """Two workers for all tests that do not count them."""
    queue = Queue(folder=tmp_path_factory.mktemp("records"), grace=0.3)
    yield queue
    queue.shutdown()


@pytest.fixture(scope="session")
def one_worker(tmp_path_factory):
    queue = Queue(folder=tmp_path_factory.mktemp("records"), n_workers=1)
    yield queue
    queue.shutdown()


@pytest.fixture
def single(one_worker):
    """A queue of one worker, which tests share: a worker takes a second of processor time to start."""
    yield one_worker
    left = [job for job in one_worker.jobs() if job.active]
    assert all(one_worker.cancel(job.id) and job.wait(LONG) for job in left)


@pytest.fixture
def line(tmp_path):
    """A queue of one thread that is busy until ``go()`` is called."""
    with ThreadPoolExecutor(1) as executor:
        queue = Queue(executor, folder=tmp_path / "records")
        queue.first = start(queue, work.until, str(tmp_path / "go"))
        queue.go = (tmp_path / "go").touch
        yield queue
        queue.go()
        queue.shutdown()
