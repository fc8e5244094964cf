"""Records of jobs, by which jobs are known after the program has ended.

A record says what the job does, for whom (hashed), its state, times, memory, error and log.
Only jobs with a task (see :class:`xmlcore.jobs.Plan`) have a record. A record holds no data and no pickle. A record
that says "queued" or "running" although the process of its queue has ended is of an interrupted job.
"""

import contextlib
import hashlib
import json
import shutil
import time
import weakref
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from xmlcore.jobs.job import utc
from xmlcore.state import database
from xmlcore.state.holders import runs, this_process

TABLE = "jobs"
MOST_RECORDS = 500
OLDEST_SECONDS = 30 * 24 * 3600  # records that were written longer ago are removed, in seconds
STALE_SECONDS = 7 * 24 * 3600  # a queue on another machine that was not heard of for so long has ended, in seconds
QUEUE_FILE = "queue.json"
HEARD_OF = 3600.0  # seconds between two signs of life of a queue, for programs on other machines
ACTIVE = ("queued", "running")


@dataclass(frozen=True)
class PastJob:
    """A job of the past, as its record describes it."""

    # id, key: as of :class:`xmlcore.jobs.Job`
    id: str
    key: str
    title: str  # what the owner who asked for the record called it
    # as of a job; or `"gave way"`: an unasked one to another job; or `"interrupted"`: the program ended while the job
    # waited or ran. `"queued"` and `"running"` are of a job of another program that uses the same cache folder.
    state: str
    task: dict
    queued: datetime
    started: datetime | None = None
    ended: datetime | None = None
    elapsed: float = 0.0  # seconds that the job took
    seconds: float | None = None  # seconds that it was expected to take
    memory: int | None = None  # most bytes that its worker had in memory
    phase: str = ""  # the phase reported last
    fraction: float = 0.0  # the part of that phase that was done
    group: str = ""  # see :class:`xmlcore.jobs.Plan`
    error: str | None = None
    log: list = field(default_factory=list)


class Records:
    """The records of jobs in the database of the cache folder, for all programs that use it."""

    def __init__(self, parent):
        self.parent = parent
        self._read = {}  # by id: when the record was written, and the record; None for one that was removed meanwhile

    def write(self, job, state: str | None = None) -> None:
        """Write the record of a job; nothing for a job without a task. A disk that is full is no error."""
        if job.plan.task is None:
            return
        record = job._record
        about = {
            "id": job.id,
            "key": job.key,
            "task": job.plan.task,
            "owners": {hashed(owner): title for owner, title in job._owners.items()},
            "queue": str(job._queue.folder),
            "state": state or job._state,
            "queued": job.queued.timestamp(),
            "started": record.get("started"),
            "ended": job._ended,
            "seconds": job.plan.seconds,
            "group": job.plan.group,
            "memory": record.get("memory_peak"),
            "phase": record.get("phase", ""),
            "fraction": record.get("fraction", 0.0),
            "error": job.error,
            "log": [*job._earlier_log, *job._log][-200:],
        }
        with contextlib.suppress(OSError):
            database().put(TABLE, job.id, about)

    def forget(self, job_id: str) -> None:
        with contextlib.suppress(OSError):
            database().remove(TABLE, job_id)

    def all(self) -> list[dict]:
        """Return all records, the newest first."""
        read = {}
        with contextlib.suppress(OSError):
            for key, written in database().written(TABLE).items():
                known = self._read.get(key)
                is_new = known is None or known[0] != written
                read[key] = (written, database().get(TABLE, key)) if is_new else known
        self._read = read
        records = (record for _, record in read.values() if record is not None)
        return sorted(records, key=lambda record: -record["queued"])

    def past(self, owner: str | None = None) -> list[PastJob]:
        """Return the jobs of an owner by their records, or all jobs; the newest first."""
        mine = None if owner is None else hashed(owner)
        return [_past(record, mine) for record in self.all() if mine is None or mine in record["owners"]]

    def recover(self) -> None:
        """Mark jobs whose program has ended as interrupted, and remove old records."""
        # Called before the folders of ended queues are removed: they have the last progress of their jobs.
        alive = {}
        for number, record in enumerate(self.all()):
            folder = self.parent / str(record.get("queue"))
            if record["state"] in ACTIVE:
                if folder not in alive:
                    alive[folder] = is_alive(folder)
                if not alive[folder]:
                    with contextlib.suppress(OSError):
                        database().put(TABLE, record["id"], _interrupted(record, folder / record["id"]))
            elif number >= MOST_RECORDS or time.time() - (record.get("ended") or record["queued"]) > OLDEST_SECONDS:
                self.forget(record["id"])


def hashed(owner: str) -> str:
    """Return a hash of an owner: his token opens his workspace, so it is not written to disk."""
    return hashlib.blake2b(owner.encode(), digest_size=12, person=b"xmlcore-jobs").hexdigest()


def _interrupted(record, folder) -> dict:
    """Return the record of an interrupted job, with the progress that its worker has written last."""
    changed = {"state": "interrupted", "ended": time.time()}
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        progress = json.loads((folder / "progress.json").read_text(encoding="utf-8"))
        changed |= {name: progress[name] for name in ("phase", "fraction", "started")}
        changed |= {"memory": progress["memory_peak"], "ended": progress["written"]}
        changed["log"] = json.loads((folder / "log.json").read_text(encoding="utf-8"))
    return record | changed


def _past(record, owner) -> PastJob:
    titles, started, ended = record["owners"], record.get("started"), record.get("ended")
    about = {name: record[name] for name in ("id", "state", "task", "log")}
    about |= {name: record.get(name) for name in ("seconds", "memory", "error")}
    about |= {name: str(record.get(name) or "") for name in ("key", "phase", "group")}
    about |= {name: utc(record.get(name)) for name in ("queued", "started", "ended")}
    return PastJob(
        title=str(titles.get(owner) or next(iter(titles.values()), "")),
        elapsed=max(0.0, (ended or time.time()) - started) if started else 0.0,
        fraction=float(record.get("fraction") or 0.0),
        **about,
    )


# --- which queues are there ---


def make_queue_folder(queue) -> None:
    """Make the folder of a queue, with a file that names its process, unless it exists; it goes with the queue."""
    file = queue.folder / QUEUE_FILE
    if file.is_file():
        if time.time() - file.stat().st_mtime > HEARD_OF:
            file.touch()
        return
    queue.folder.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(this_process()), encoding="utf-8")
    weakref.finalize(queue, shutil.rmtree, queue.folder, ignore_errors=True)  # when it is deleted, or at exit


def remove_dead_queues(parent: Path) -> None:
    """Remove the folders of queues whose process has ended without removing them."""
    for folder in parent.iterdir() if parent.is_dir() else ():
        if is_alive(folder) is False:
            shutil.rmtree(folder, ignore_errors=True)


def is_alive(folder: Path) -> bool | None:
    """Return whether the process of the queue with a folder may still run; None if it is no folder of a queue."""
    try:
        running = runs(json.loads((folder / QUEUE_FILE).read_text(encoding="utf-8")))
        if running is None:  # on another machine: that is all that can be found out
            return time.time() - (folder / QUEUE_FILE).stat().st_mtime <= STALE_SECONDS
        return running
    except (OSError, ValueError, KeyError, TypeError):
        return None
