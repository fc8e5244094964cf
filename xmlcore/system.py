"""The machine this runs on: folders for generated files, cores, free memory."""

import os
import sys
from pathlib import Path

CACHE_VARIABLE = "XMLCORE_CACHE"
KERNEL_CACHE_VARIABLE = "XMLCORE_KERNEL_CACHE"


def cache_root() -> Path:
    """Folder for everything that can be made again: artifacts, job records, compiled kernels.

    The environment variable ``XMLCORE_CACHE`` decides when it is set. Otherwise a checkout of the project uses its
    own ``cache/`` folder, and an installed package the user's cache folder.

    Returns
    -------
    pathlib.Path
        Absolute; not necessarily there yet.
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


def kernel_cache_root() -> Path:
    """Folder for compiled kernels: ``XMLCORE_KERNEL_CACHE``, or ``numba`` under :func:`cache_root`.

    A place of its own lets throw-away caches (tests, one-off jobs) share compiled code.
    """
    chosen = os.environ.get(KERNEL_CACHE_VARIABLE)
    return Path(chosen).expanduser().resolve() if chosen else cache_root() / "numba"


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
    """Return the memory that the system could give now; None where it does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            found = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(found.split()[1]) * 1024
    except (OSError, StopIteration, ValueError):
        return None
