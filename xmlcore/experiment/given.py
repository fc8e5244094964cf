"""Files that a user gives to a task: they wait in a folder until the task has read them.

A task has no place for the content of files. Its parameters have a hash of each, from :func:`described`, and
:func:`give` writes the files where the task finds them by its key, also in a worker process. The task removes them.
"""

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path

from xmlcore.system import cache_root

OLD = 24 * 3600  # seconds after which files of a task that was killed are removed
NAME = "‹{}›"  # what a file is called, so that its name in messages can be replaced by what its user calls it


def described(files: dict) -> dict:
    """Return the hash and the size in bytes of each file.

    Parameters
    ----------
    files : dict
        Binary file objects, by what they are.

    Returns
    -------
    dict
        For the parameters of a task: ``{what: {"hash": hex digits, "bytes": size}}``.
    """
    return {what: _hashed(_content(file)) for what, file in files.items()}


def give(key: str, files: dict) -> None:
    """Write files for the task with a key; those that wait already stay.

    Parameters
    ----------
    key : str
    files : dict
        As for :func:`described`.
    """
    _remove_old()
    folder = _folder(key)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.utime(folder)
    for what, file in files.items():
        handle, name = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "wb") as target:
            target.write(_content(file))
        os.replace(name, folder / NAME.format(what))


def paths(key: str, names) -> dict:
    """Return the path of each file that was given to the task with a key.

    Parameters
    ----------
    key : str
    names : iterable of str
        What the files are.

    Returns
    -------
    dict of str to Path

    Raises
    ------
    ValueError
        A file is not there any more.
    """
    found = {what: _folder(key) / NAME.format(what) for what in names}
    if not all(path.is_file() for path in found.values()):
        raise ValueError("the files are not here any more: choose them again")
    return found


def drop(key: str) -> None:
    """Remove the files that were given to the task with a key."""
    shutil.rmtree(_folder(key), ignore_errors=True)


def _content(file):
    """Return the content of a file object, from its beginning."""
    if hasattr(file, "getbuffer"):
        return file.getbuffer()
    file.seek(0)
    return file.read()


def _hashed(content) -> dict:
    """Return a hash and the size of some bytes."""
    return {"hash": hashlib.blake2b(content, digest_size=16).hexdigest(), "bytes": len(content)}


def _folder(key) -> Path:
    """Return the folder of the files of a task."""
    return cache_root() / "given" / key


def _remove_old():
    """Remove files that no task has read within a day: those of tasks that were killed, or never ran."""
    with contextlib.suppress(OSError):
        for folder in (cache_root() / "given").iterdir():
            if time.time() - folder.stat().st_mtime > OLD:
                shutil.rmtree(folder, ignore_errors=True)
