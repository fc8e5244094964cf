"""Errors of the store; and whether results can be kept: room on the disk, and a folder that can be written to."""

import contextlib
import errno
import os
import shutil
from pathlib import Path

from xmlcore import wording
from xmlcore.system import CACHE_VARIABLE, UnsafeCacheError, cache_root, make_private, secure_cache
from xmlcore.validation import check_count

LEAST_FREE = 50_000_000  # bytes that must be free on the disk before work begins
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_REMEDY = "Free some, for example by deleting results that are not needed"


class StoreError(KeyError):
    """An artifact cannot be read."""

    def __str__(self):
        """Return the message without quotation marks, which ``KeyError`` would add."""
        return str(self.args[0]) if self.args else ""


class MissingArtifactError(StoreError):
    """Nothing is stored under this key."""


class DamagedArtifactError(StoreError):
    """The artifact is damaged. It stays until it is made again."""


class DamagedUploadError(DamagedArtifactError):
    """The artifact is damaged and cannot be made again. It has not been removed or changed."""


class UnreadableArtifactError(StoreError):
    """The artifact is whole, but this version of the program cannot read it. It has not been removed."""


class ChangedBytesError(ValueError):
    """A file has other bytes than were written."""


class CannotKeepError(OSError):
    """A result cannot be written: the disk is full, or the folder cannot be written to."""


def trouble(least_free: int = LEAST_FREE) -> str | None:
    """Return why results cannot be kept now, and what to do; None if they can be."""
    check_count(least_free, "least_free", 0)
    try:
        root = make_private(secure_cache())
    except UnsafeCacheError as error:
        return f"The folder for results is not safe: {error}"
    except OSError as error:
        return _not_writable(cache_root(), error)
    if not os.access(root, os.W_OK | os.X_OK):
        return _not_writable(root)
    free = free_on_disk()
    if free < least_free:
        return f"The disk with {root} is full: {wording.size(free)} are free. {_REMEDY}."
    return None


def check_room() -> None:
    """Raise CannotKeepError if a result could not be kept, before any work is done."""
    why = trouble(LEAST_FREE)
    if why is not None:
        raise CannotKeepError(f"Nothing was computed, as the result could not be kept. {why}")


def explained(error: OSError) -> CannotKeepError | None:
    """Return the error to raise in place of one that a full disk or a lost folder has caused; None for other errors."""
    # NumPy raises an OSError without a number when an array is written only in part.
    if isinstance(error, (CannotKeepError, UnsafeCacheError)):
        return None
    root = cache_root()
    full = error.errno in _FULL or (error.errno is None and free_on_disk() < LEAST_FREE)
    if full:
        free = wording.size(free_on_disk())
        return CannotKeepError(error.errno or errno.ENOSPC, f"The disk with {root} is full: {free} are free. {_REMEDY}")
    if error.errno == errno.EROFS or (isinstance(error, (PermissionError, FileNotFoundError)) and trouble(0)):
        return CannotKeepError(error.errno, _not_writable(root, error))
    return None


def free_on_disk() -> int:
    """Return the free bytes of the disk with the cache folder, or on which it would be made if it is not there."""
    root = cache_root()
    for path in (root, *root.parents):
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            return shutil.disk_usage(path).free
    return 0


def _not_writable(root: Path, error: OSError | None = None) -> str:
    """Return the sentences for a folder that cannot be written to."""
    why = f" ({os.strerror(error.errno)})" if error is not None and error.errno else ""
    return (
        f"The folder for results, {root}, cannot be written to{why}. Make it writable, connect its disk again, or "
        f"name another folder in {CACHE_VARIABLE}."
    )
