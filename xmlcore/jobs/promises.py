"""Memory that was promised to jobs of one machine, by whichever process, and that they have not taken yet.

Without it, two jobs that start at the same time would both find the same memory free.
"""

import contextlib
import os
import tempfile
import uuid
from pathlib import Path

from xmlcore.jobs import memory

try:
    import fcntl
except ImportError:  # Windows: only jobs that have taken their memory are seen
    fcntl = None

FOLDER = "xmlcore-memory"  # in the folder for temporary files, which all processes of the machine have


class Promise:
    """Memory for one job.

    Parameters
    ----------
    n_bytes : int
        Memory that the job is expected to need.
    """

    def __init__(self, n_bytes):
        self._bytes, self._file, self._path = n_bytes, None, None

    def take(self) -> int | None:
        """Promise the memory to the job if so much is free."""
        free = memory.available()
        if free is None or not self._bytes:
            return None
        folder = _folder()
        if folder is None:
            return None if self._bytes <= free else free
        with open(folder / "lock", "a") as lock:  # one process of the machine after the other
            fcntl.flock(lock, fcntl.LOCK_EX)
            free = max(0, memory.available() - _promised(folder))
            if self._bytes > free:
                return free
            self._path = folder / f"{uuid.uuid4().hex}.promise"
            self._file = open(self._path, "w", encoding="ascii")  # noqa: SIM115 (locked as long as it is open)
            fcntl.flock(self._file, fcntl.LOCK_EX)
            self._write(self._bytes)
        return None

    def grown(self, n_bytes: int) -> None:
        """Note how much memory the job has taken since it began."""
        if self._file is not None:
            self._write(max(0, self._bytes - max(0, n_bytes)))

    def _write(self, left):
        """Write how much of the memory is still to be taken."""
        with contextlib.suppress(OSError):
            self._file.seek(0)
            self._file.write(f"{left:020d}")
            self._file.flush()

    def end(self) -> None:
        """Take the promise back: the job has ended."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()
            self._file.close()
            self._file = None


def _folder():
    """Return the folder with the promises of this machine; None if there can be none, or if another user made it."""
    if fcntl is None:
        return None
    folder = Path(tempfile.gettempdir()) / f"{FOLDER}-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder if folder.stat().st_uid == os.getuid() and not folder.is_symlink() else None
    except OSError:
        return None


def _promised(folder) -> int:
    """Return the bytes that were promised and not taken; promises of processes that have died are removed."""
    total = 0
    for path in folder.glob("*.promise"):
        with contextlib.suppress(OSError, ValueError), open(path, encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:  # its process has it locked
                total += int(file.read())
            else:
                path.unlink()
    return total
