"""A queue for all tests of a file, and functions that its workers import."""

import sys
from pathlib import Path

import pytest

from xmlcore.jobs import Queue

sys.path.insert(0, str(Path(__file__).parent))  # for `import job_functions`, here and in worker processes


@pytest.fixture(scope="module")
def queue(tmp_path_factory):
    """Two workers for all tests that do not count them."""
    queue = Queue(folder=tmp_path_factory.mktemp("records"), grace=0.3)
    yield queue
    queue.shutdown()
