"""Room on the disk: kept artifacts, those in use, and removal when all take more than the limit."""

import contextlib
import hashlib
import threading
import time

from pages.shared import cached
from pages.shared.process import job_queue
from pages.shared.process.turns import serving
from xmlcore import experiment, store

UNDO_SECONDS = 600.0  # for which what was deleted can be brought back; then it is removed
TIDY_EVERY = 6 * 3600  # seconds between two removals of what killed processes have left


def inventory() -> store.Inventory:
    """Return the inventory of this machine; it is read again when it has changed, and once a minute."""
    return _inventory(store.changes(), time.time() // 60)


@cached.shared(most=1)
def _inventory(changes, minute):
    """Return the inventory; ``changes`` says when artifacts were made, deleted or pinned last."""
    return store.inventory()


def pinner(token: str) -> str:
    """Return the name under which a workspace pins artifacts: a hash of its token."""
    return hashlib.blake2b(token.encode(), digest_size=8, person=b"xmlcore pin").hexdigest()


def needed() -> set[str]:
    """Return the keys of the inputs and results of all waiting and running jobs and sweeps."""
    active = [job for job in job_queue.queue().jobs() if job.active]
    keys = {key for job in active for _, key in (*job.plan.reads, *job.plan.writes)}
    return keys.union(*(driver.needs() for driver in list(job_queue.drivers().values())))


def make_room() -> None:
    """Remove the least recently used results if all take more than the limit, but none that a job needs."""
    store.remove_aside(UNDO_SECONDS)
    with contextlib.suppress(OSError, ValueError):  # a wrong size in the variable is said on the Storage page
        if store.make_room(needed() | experiment.needed_by_sweeps()) is not None:
            cached.forget()


def make_room_later() -> None:
    """Call :func:`make_room` in the background, as a result has been kept."""
    if serving.is_set():
        threading.Thread(target=make_room, name="xmlcore-make-room", daemon=True).start()


def tidy_store() -> None:
    """Remove leftovers of killed processes, and results if all take more than the limit."""
    experiment.remove_leftovers()
    make_room()


def keep_tidy(ended) -> None:
    """Do :func:`tidy_store` now and every :data:`TIDY_EVERY` seconds, until the event ``ended`` is set."""
    while True:
        with contextlib.suppress(OSError):  # the disk is gone: pages say so
            tidy_store()
        if ended.wait(TIDY_EVERY):
            return
