"""Memory that was promised to jobs of one machine, by whichever process, and that they have not taken yet.

Without it, two jobs that start at the same time would both find the same memory free.
"""

import contextlib
import uuid

from xmlcore.jobs import memory
from xmlcore.state import Database, holders
from xmlcore.system import own_temporary_folder

FILE = (
    "memory.sqlite"  # in the folder for temporary files, which all processes of the machine have, whatever their cache
)
PREFIX = "memory/"


class Promise:
    """Memory for one job."""

    def __init__(self, n_bytes):
        self._bytes, self._hold = n_bytes, None

    def take(self) -> int | None:
        """Promise the memory to the job if so much is free."""
        free = memory.available()
        if free is None or not self._bytes:
            return None
        with contextlib.suppress(OSError):
            state = Database(own_temporary_folder() / FILE)
            with state.change():  # one process of the machine after the other
                free = max(0, memory.available() - _promised(state))
                if self._bytes <= free:
                    self._hold = holders.take(state, f"{PREFIX}{uuid.uuid4().hex}", left=self._bytes)
        return None if self._bytes <= free else free

    def grown(self, n_bytes: int) -> None:
        """Note how much memory the job has taken since it began."""
        if self._hold is not None:
            with contextlib.suppress(OSError):
                self._hold.note(left=max(0, self._bytes - max(0, n_bytes)))

    def end(self) -> None:
        """Take the promise back: the job has ended."""
        if self._hold is not None:
            with contextlib.suppress(OSError):
                self._hold.release()
            self._hold = None


def _promised(state) -> int:
    """Return the bytes that were promised and not taken; promises of processes that have died are removed."""
    holders.remove_dead(state, elsewhere=False)  # all are of this machine, also under the name that it had before
    return sum(int(row.value["left"]) for row in state.rows(holders.TABLE, PREFIX))
