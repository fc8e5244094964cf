"""What one run at a time may have, among all processes that share a database: a turn, files, memory.

Each has a row that names its process. A process that was killed holds nothing any more, which the next one finds out by
its number and time of start. Of a process on another machine nothing can be found out: see :func:`is_held`.
"""

import os
import time
import uuid

from xmlcore.state.processes import runs, this_process

TABLE = "holders"
ELSEWHERE_SECONDS = 24 * 3600  # after which a process of another machine, which may be gone, holds nothing any more
_own = set()  # ids of what this process holds


class Hold:
    """What a run of this process holds; :func:`take` makes it."""

    def __init__(self, database, name, about):
        self._database, self._name = database, name
        self._holder = {"id": uuid.uuid4().hex, "since": time.time(), **this_process(), **about}
        _own.add(self._holder["id"])
        self.note()

    def note(self, **about) -> None:
        self._holder |= about
        self._database.put(TABLE, self._name, self._holder)

    def release(self) -> None:
        _own.discard(self._holder["id"])
        with self._database.change():
            if (self._database.get(TABLE, self._name) or {}).get("id") == self._holder["id"]:
                self._database.remove(TABLE, self._name)


def take(database, name: str, elsewhere: bool = True, **about) -> Hold | None:
    """Take what has a name; None if another run has it. ``elsewhere``: as for :func:`is_held`."""
    with database.change():
        holder = database.get(TABLE, name)
        return None if holder is not None and is_held(holder, elsewhere) else Hold(database, name, about)


def is_held(holder: dict, elsewhere: bool = True) -> bool:
    """Return whether the run that a row names may still go on; ``elsewhere`` if it began on another machine today."""
    if not isinstance(holder, dict) or not holder.keys() >= {"id", "host", "pid", "since"}:
        return False
    if holder["pid"] == os.getpid() and runs(holder):
        return holder["id"] in _own
    running = runs(holder)
    if running is None:
        return elsewhere and time.time() - holder["since"] < ELSEWHERE_SECONDS
    return running


def remove_dead(database, older_than: float = 0.0, elsewhere: bool = True) -> int:
    """Remove the rows of processes that were killed, if written at least so many seconds ago; return how many."""
    old = (row for row in database.rows(TABLE) if time.time() - row.written >= older_than)
    dead = [row.key for row in old if not is_held(row.value, elsewhere)]
    return sum(database.remove(TABLE, key) for key in dead)
