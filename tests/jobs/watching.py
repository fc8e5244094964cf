"""Waiting for jobs and processes in tests."""

import os
import time

# Seconds for what takes less than one on an idle machine. A test that passes does not wait so long.
LONG = 120.0


def wait_until(condition, seconds=LONG):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "took too long"
        time.sleep(0.01)


def running(job):
    wait_until(lambda: job.state != "queued")
    assert job.state == "running", job.error
    return job


def start(queue, function, *args, title="Test", **options):
    return running(queue.submit(function, *args, title=title, **options))


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def within(seconds):
    """The seconds that something may take; many more on a machine that does other work, where it says nothing."""
    return seconds if hasattr(os, "getloadavg") and os.getloadavg()[0] < (os.cpu_count() or 1) else LONG
