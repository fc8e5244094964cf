"""What this machine offers: folders for generated files, private to their user; cores; free memory."""

import contextlib
import os
import stat
import sys
from pathlib import Path

CACHE_VARIABLE = "XMLCORE_CACHE"
KERNEL_CACHE_VARIABLE = "XMLCORE_KERNEL_CACHE"
DATA_VARIABLE = "XMLCORE_DATA"
OTHERS = 0o077  # bits of a file's mode that say what other users may do
_OURS = ("artifacts", "data", "given", "jobs", "numba", "workspaces")  # folders of the cache that we make
_RUN = ("artifacts", "numba")  # those with pickles, which run code when they are read


class UnsafeCacheError(PermissionError):
    """Another user could have written to the cache folder, whose files run code when they are read."""


def cache_root() -> Path:
    """Return the folder for generated files, which may be deleted: artifacts, job records, compiled kernels.

    If the environment variable ``XMLCORE_CACHE`` is set, it names the folder. Otherwise a checkout of the project uses
    its folder ``cache/``, and an installed package uses the user's cache folder.

    Returns
    -------
    pathlib.Path
        An absolute path. The folder may not exist yet.
    """
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().resolve()
    project = Path(__file__).resolve().parent.parent
    if (project / "pyproject.toml").is_file() and (project / "app.py").is_file():
        return project / "cache"
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "xmlcore"


def make_private(folder) -> Path:
    """Make a folder, and those above it that do not exist, so that only this user can enter them; return it."""
    folder = Path(folder)
    missing = [one for one in (folder, *folder.parents) if not one.is_dir()]
    for one in reversed(missing):
        one.mkdir(mode=0o700, exist_ok=True)
    return folder


def private_files(folder) -> None:
    """Take from all users but this one what they may do with a folder and what is in it."""
    if os.name != "posix":
        return
    for inner, _, names in os.walk(folder):
        for path in (inner, *(os.path.join(inner, name) for name in names)):
            with contextlib.suppress(FileNotFoundError):  # another process has just removed it
                mode = os.lstat(path).st_mode
                if mode & OTHERS and not stat.S_ISLNK(mode):
                    os.chmod(path, stat.S_IMODE(mode) & ~OTHERS)


def secure_cache() -> Path:
    """Return the cache folder; make what is in it private to this user if it is not.

    The cache has pickles, and reading a pickle runs code. So a folder in which another user could have written is
    refused. The look at an existing private folder takes microseconds.

    Returns
    -------
    pathlib.Path
        :func:`cache_root`. It may not exist yet.

    Raises
    ------
    UnsafeCacheError
        The folder belongs to another user, or others can write to it or to a folder of pickles in it.
    """
    root = cache_root()
    if os.name != "posix":
        return root
    try:
        found = os.stat(root)
    except FileNotFoundError:
        return root
    begun = any((root / name).exists() for name in _RUN)
    if begun or found.st_uid != os.geteuid():  # in a folder without pickles, such as a new checkout's, nothing is run
        _refuse_foreign(root, found)
    if found.st_mode & OTHERS:
        for inner, _, names in (step for name in _RUN for step in os.walk(root / name)):
            for path in (inner, *(os.path.join(inner, name) for name in names)):
                with contextlib.suppress(FileNotFoundError):
                    _refuse_foreign(path, os.lstat(path))
        for name in _OURS:
            private_files(root / name)
        os.chmod(root, stat.S_IMODE(found.st_mode) & ~OTHERS)
    return root


def _refuse_foreign(path, found):
    """Raise UnsafeCacheError if another user owns a file or folder, or can write to it."""
    why = f"Reading its files runs code, so no other user may write there. Or name another folder in {CACHE_VARIABLE}."
    if found.st_uid != os.geteuid():
        raise UnsafeCacheError(
            f"{path} belongs to another user (number {found.st_uid}; this is {os.geteuid()}). If you trust what is "
            f"in it, make it yours: chown -R {os.geteuid()} {cache_root()}. {why}"
        )
    if not stat.S_ISLNK(found.st_mode) and _others_can_write(found):
        raise UnsafeCacheError(
            f"Other users can write to {path} ({stat.filemode(found.st_mode)}). If you trust what is in it, make it "
            f"private: chmod -R go-rwx {cache_root()}. Otherwise delete it. {why}"
        )


def _others_can_write(found) -> bool:
    """Return whether users other than the owner may write; a group that only has the owner does not count."""
    if found.st_mode & stat.S_IWOTH:
        return True
    if not found.st_mode & stat.S_IWGRP:
        return False
    import grp
    import pwd

    try:
        owner, group = pwd.getpwuid(found.st_uid), grp.getgrgid(found.st_gid)
    except KeyError:
        return True
    return owner.pw_gid != found.st_gid or group.gr_name != owner.pw_name or bool({*group.gr_mem} - {owner.pw_name})


def data_root() -> Path:
    """Return the folder for files of published data sets: downloads, and files that users put there.

    It is ``XMLCORE_DATA`` if that is set, else ``data`` in :func:`cache_root`.

    Returns
    -------
    pathlib.Path
        An absolute path. The folder may not exist yet.
    """
    chosen = os.environ.get(DATA_VARIABLE)
    return Path(chosen).expanduser().resolve() if chosen else cache_root() / "data"


def kernel_cache_root() -> Path:
    """Return the folder for compiled kernels: ``XMLCORE_KERNEL_CACHE`` if set, else ``numba`` in :func:`cache_root`.

    With the variable, processes that use different cache folders (tests, one-off jobs) share compiled code. Without it,
    the cache folder is made first, if it is not there, so that it is private from the beginning.
    """
    chosen = os.environ.get(KERNEL_CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().resolve()
    with contextlib.suppress(OSError):  # the store says what is wrong, when something is read or written
        make_private(secure_cache())
    return cache_root() / "numba"


def kernel_cache_variable() -> str:
    """Return the name of the environment variable that decides where compiled kernels are kept."""
    return KERNEL_CACHE_VARIABLE if os.environ.get(KERNEL_CACHE_VARIABLE) else CACHE_VARIABLE


def effective_jobs(n_jobs: int | None) -> int:
    """Return the number of threads: all cores this process may use for None or -1.

    Raises
    ------
    ValueError, TypeError
        Anything else than None, -1 and positive whole numbers.
    """
    if n_jobs is None or n_jobs == -1:
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1
    from xmlcore.validation import check_count

    return check_count(n_jobs, "n_jobs")


def free_bytes() -> int | None:
    """Return the free memory in bytes, or None if the operating system does not report it."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            available = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(available.split()[1]) * 1024  # the file counts in KiB
    except (OSError, StopIteration, ValueError):
        return None
