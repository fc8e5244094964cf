"""Room on the disk: what is kept there, what of it is needed, and what is removed when all takes more than it may."""

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
    """Return what is kept on this machine; it is looked up again when it has changed, and once a minute."""
    return _inventory(store.changes(), time.time() // 60)


@cached.shared(most=1)
def _inventory(changes, minute):
    """Return what is kept; ``changes`` says when artifacts were made, deleted or pinned last."""
    return store.inventory()


def pinner(token: str) -> str:
    """Return the name under which a workspace pins artifacts: a hash of its token."""
    return hashlib.blake2b(token.encode(), digest_size=8, person=b"xmlcore pin").hexdigest()


def needed() -> set[str]:
    """Return the keys of what jobs and sweeps that wait or run read, and of what they make, whoever started them."""
    active = [job for job in job_queue.queue().jobs() if job.active]
    keys = {key for job in active for _, key in (*job.plan.reads, *job.plan.writes)}
    return keys.union(*(driver.needs() for driver in list(job_queue.drivers().values())))


def make_room() -> None:
    """Remove results that were used longest ago if all take more than they may; never what a job needs."""
    store.remove_aside(UNDO_SECONDS)
    with contextlib.suppress(OSError, ValueError):  # a wrong size in the variable is said on the Storage page
        if store.make_room(needed() | experiment.needed_by_sweeps()) is not None:
            cached.forget()


def make_room_later() -> None:
    """Do what :func:`make_room` does in the background: a result has been kept."""
    if serving.is_set():
        threading.Thread(target=make_room, name="xmlcore-make-room", daemon=True).start()


def tidy_store() -> None:
    """Remove what killed processes have left, and results if all take more than they may."""
    experiment.remove_leftovers()
    make_room()


def keep_tidy(ended) -> None:
    """Do :func:`tidy_store` now and every :data:`TIDY_EVERY` seconds, until the event ``ended`` is set."""
    while True:
        with contextlib.suppress(OSError):  # the disk is gone: pages say so
            tidy_store()
        if ended.wait(TIDY_EVERY):
            return
