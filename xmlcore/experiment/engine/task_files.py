"""Files that a user gives to a task: they wait in a folder until the task has read them.

A task has no place for the content of files. Its parameters have a hash of each, from :func:`described`, and
:func:`put` writes the files where the task takes them by its key, also in a worker process, and then removes them.
"""

import contextlib
import hashlib
import os
import shutil
import uuid
from pathlib import Path

from xmlcore.jobs.worker import runs_jobs_only
from xmlcore.state import database, holders
from xmlcore.system import cache_root, free_bytes, limited, make_private, secure_cache

MAX_TEXT = 4 << 30  # most bytes of an unpacked file: 1 GB of gzip can unpack to more than any machine's memory
SECONDS = 3600  # that a worker may take to read files
LEAST_ROOM = 1 << 28  # bytes that it may always take
_read = {}  # by key: folders of files that runs of this process have read, and what they hold
NAME = "‹{}›"  # what a file is called, so that its name in messages can be replaced by what its user calls it


def described(files: dict) -> dict:
    made = {}
    for role, file in files.items():
        content = _content(file)
        made[role] = {"hash": hashlib.blake2b(content, digest_size=16).hexdigest(), "bytes": len(content)}
    return made


def put(key: str, files: dict) -> None:
    """Write files for the task with a key; those that wait already stay."""
    folder, own = _folder(key), _folder(f"{key}.{uuid.uuid4().hex}")
    secure_cache()
    make_private(own)
    try:
        for role, file in files.items():
            (own / NAME.format(role)).touch(mode=0o600)
            (own / NAME.format(role)).write_bytes(_content(file))
        os.rename(own, folder)  # all files in one step, as a task may take those of another session at this moment
    except OSError:
        if not folder.is_dir():
            raise
        os.utime(folder)
    finally:
        shutil.rmtree(own, ignore_errors=True)


@contextlib.contextmanager
def taken(key: str, names):
    """Give the files of the task with a key to whoever runs it; :func:`done` removes them, or an exception does.

    A worker may take :data:`SECONDS` with them, and the memory that is free.
    """
    folder = _folder(f"{key}.{uuid.uuid4().hex}")
    hold = holders.take(database(), f"given/{folder.name}")
    try:
        with contextlib.suppress(FileNotFoundError):
            os.rename(_folder(key), folder)
        for left in () if folder.is_dir() else _folder(key).parent.glob(f"{key}.*"):
            holder = database().get(holders.TABLE, f"given/{left.name}")
            if holder is not None and not holders.is_held(holder):  # its run was killed
                with contextlib.suppress(FileNotFoundError):
                    os.rename(left, folder)
                    break
        paths = {name: folder / NAME.format(name) for name in names}
        if not all(path.is_file() for path in paths.values()):
            raise ValueError("the files are not here any more: choose them again")
        free = free_bytes()
        room = None if free is None else max(free, LEAST_ROOM)
        with limited(room, SECONDS) if runs_jobs_only() else contextlib.nullcontext():
            yield paths
        _read.setdefault(key, []).append((folder, hold))
    except BaseException:
        _remove(folder, hold)
        raise


def done(key: str) -> None:
    """Remove the files that runs of the task with a key have taken in this process: its result is kept."""
    for folder, hold in _read.pop(key, ()):
        _remove(folder, hold)


def _remove(folder, hold) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        hold.release()


def drop(key: str) -> None:
    """Remove all files that were given to the task with a key; none of its runs may need them."""
    for folder in (_folder(key), *_folder(key).parent.glob(f"{key}.*")):
        shutil.rmtree(folder, ignore_errors=True)


def _content(file):
    if hasattr(file, "getbuffer"):
        return file.getbuffer()
    file.seek(0)
    return file.read()


def _folder(key) -> Path:
    return cache_root() / "given" / key
