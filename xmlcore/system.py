"""What this machine offers: folders for generated files, cores, free memory."""

import os
import sys
from pathlib import Path

CACHE_VARIABLE = "XMLCORE_CACHE"
KERNEL_CACHE_VARIABLE = "XMLCORE_KERNEL_CACHE"
DATA_VARIABLE = "XMLCORE_DATA"


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

    With the variable, processes that use different cache folders (tests, one-off jobs) share compiled code.
    """
    chosen = os.environ.get(KERNEL_CACHE_VARIABLE)
    return Path(chosen).expanduser().resolve() if chosen else cache_root() / "numba"


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
