"""The machine: folders for generated files, private to their user; files that are written whole; cores; free memory."""

import contextlib
import ctypes
import functools
import math
import os
import signal
import stat
import sys
import tempfile
import threading
import uuid
import warnings
from pathlib import Path

CACHE_VARIABLE = "XMLCORE_CACHE"
KERNEL_CACHE_VARIABLE = "XMLCORE_KERNEL_CACHE"
DATA_VARIABLE = "XMLCORE_DATA"
MUCH_FREE = 1 << 24  # bytes from which on free memory is given back while a model is trained
CONTROL_GROUP = "/sys/fs/cgroup"  # the folder in which Linux says what a container may use
OWN_GROUPS = "/proc/self/cgroup"  # the file that names the control groups of this process
_UNLIMITED = 1 << 60  # bytes: a limit of memory above this is none
_MEMORY_FILES = {  # by kind of control group, "" for version 2: limit, use, and the field of what can be dropped
    "": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
# Processor time of compiling the kernels of a PLT, and all, on two cores that did other work besides.
FIRST_FIT_SECONDS, ALL_KERNELS_SECONDS = 16, 113
OTHERS = 0o077  # bits of a file's mode that say what other users may do
_OURS = ("artifacts", "data", "given", "jobs", "numba")  # folders of the cache that we make
_RUN = ("artifacts", "numba")  # those with pickles, which run code when they are read


@contextlib.contextmanager
def limited(n_bytes: int | None, seconds: float | None = None):
    """Limit the further memory of this process and the time of the main thread, where the system can.

    MemoryError is raised for what would be more, and TimeoutError when time is over.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError, OSError, ValueError):  # no Linux
            import resource

            taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5]) * resource.getpagesize()
            before = soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
            most = min((limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY), default=math.inf)
            if n_bytes is not None and taken + n_bytes < most:
                resource.setrlimit(resource.RLIMIT_DATA, (taken + n_bytes, hard))
                stack.callback(resource.setrlimit, resource.RLIMIT_DATA, before)
        if seconds is not None and threading.current_thread() is threading.main_thread() and hasattr(signal, "SIGALRM"):

            def end(number, frame):
                raise TimeoutError(f"it takes more than {seconds / 60:.0f} minutes: a notebook has no such limit")

            stack.callback(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, end))
            stack.callback(signal.setitimer, signal.ITIMER_REAL, *signal.setitimer(signal.ITIMER_REAL, seconds))
        yield


class UnsafeCacheError(PermissionError):
    """Another user could have written to the cache folder, whose files run code when they are read."""


def cache_root() -> Path:
    """Return the folder for generated files, which may be deleted: artifacts, job records, compiled kernels."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        chosen = os.path.expanduser(chosen)
        return _resolved(chosen) if os.path.isabs(chosen) else Path(chosen).resolve()
    folder = _of_checkout()
    if folder is not None and _can_be_written(folder):
        return folder
    try:
        folder = _folder_of_caches() / "xmlcore"
        if _can_be_written(folder):
            return folder
        problem = f"nothing can be written to {folder}"
    except RuntimeError:  # no HOME, and the user is not in the list of users, as in containers
        problem = "this user has no home folder"
    instead = own_temporary_folder() / "cache"
    _say_once(
        f"{problem}, so generated files are kept in {instead}, among the temporary files: name a folder in "
        f"{CACHE_VARIABLE}"
    )
    return instead


@functools.lru_cache(100)  # asking the system takes long, and each drawing of a page asks dozens of times
def _resolved(path: str) -> Path:
    return Path(path).resolve()


def _of_checkout() -> Path | None:
    """Return the folder ``cache/`` of the checkout that the package lies in, or None if it is installed."""
    project = _resolved(__file__).parent.parent
    is_checkout = (project / "pyproject.toml").is_file() and (project / "app.py").is_file()
    return project / "cache" if is_checkout else None


def _folder_of_caches() -> Path:
    """Return where programs keep their caches for this user; raise RuntimeError if the user has no home folder."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _can_be_written(folder: Path) -> bool:
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


@functools.cache
def _say_once(text):
    warnings.warn(text, RuntimeWarning, stacklevel=3)


def own_temporary_folder() -> Path:
    """Return the folder of this user for files that may vanish with the next start of the machine; make it."""
    user = os.geteuid() if hasattr(os, "geteuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"xmlcore-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = os.lstat(folder)
    if os.name == "posix" and (not stat.S_ISDIR(found.st_mode) or found.st_uid != user or found.st_mode & 0o022):
        raise UnsafeCacheError(
            f"{folder} is no folder of this user alone, so nothing is read or written there: name a folder in "
            f"{CACHE_VARIABLE}"
        )
    return folder


def make_private(folder) -> Path:
    """Make a folder, and those above it that do not exist, so that only this user can enter them; return it."""
    folder = Path(folder)
    missing = [path for path in (folder, *folder.parents) if not path.is_dir()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
    return folder


def private_files(folder) -> None:
    """Remove the rights of other users to a folder and its content."""
    if os.name != "posix":
        return
    for path, found in _there(folder):
        if found.st_mode & OTHERS and not stat.S_ISLNK(found.st_mode):
            with contextlib.suppress(FileNotFoundError):  # another process has just removed it
                os.chmod(path, stat.S_IMODE(found.st_mode) & ~OTHERS)


def _there(folder):
    """Yield a folder and its entries, each with its stat result."""
    for inner, _, names in os.walk(folder):
        for path in (inner, *(os.path.join(inner, name) for name in names)):
            with contextlib.suppress(FileNotFoundError):  # another process has just removed it
                yield path, os.lstat(path)


def secure_cache() -> Path:
    """Return the cache folder; make what is in it private to this user if it is not."""
    # The cache has pickles, and reading a pickle runs code. So a folder in which another user could have written is
    # refused. The look at an existing private folder takes microseconds.
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
        for name in _RUN:
            for path, status in _there(root / name):
                _refuse_foreign(path, status)
        for name in _OURS:
            private_files(root / name)
        os.chmod(root, stat.S_IMODE(found.st_mode) & ~OTHERS)
    return root


def _refuse_foreign(path, status):
    why = f"Reading its files runs code, so no other user may write there. Or name another folder in {CACHE_VARIABLE}."
    if status.st_uid != os.geteuid():
        raise UnsafeCacheError(
            f"{path} belongs to another user (number {status.st_uid}; this is {os.geteuid()}). If you trust what is "
            f"in it, make it yours: chown -R {os.geteuid()} {cache_root()}. {why}"
        )
    if not stat.S_ISLNK(status.st_mode) and _others_can_write(status):
        raise UnsafeCacheError(
            f"Other users can write to {path} ({stat.filemode(status.st_mode)}). If you trust what is in it, make it "
            f"private: chmod -R go-rwx {cache_root()}. Otherwise delete it. {why}"
        )


def _others_can_write(status) -> bool:
    """Return whether users other than the owner may write; a group that only has the owner does not count."""
    if status.st_mode & stat.S_IWOTH:
        return True
    if not status.st_mode & stat.S_IWGRP:
        return False
    import grp
    import pwd

    try:
        owner, group = pwd.getpwuid(status.st_uid), grp.getgrgid(status.st_gid)
    except KeyError:
        return True
    return owner.pw_gid != status.st_gid or group.gr_name != owner.pw_name or bool({*group.gr_mem} - {owner.pw_name})


def data_root() -> Path:
    """Return the folder for files of published data sets that users put there, and for unfinished downloads."""
    chosen = os.environ.get(DATA_VARIABLE)
    return Path(chosen).expanduser().resolve() if chosen else cache_root() / "data"


def kernel_cache_root() -> Path:
    """Return the folder for compiled kernels: ``XMLCORE_KERNEL_CACHE`` if set, else ``numba`` in :func:`cache_root`."""
    chosen = os.environ.get(KERNEL_CACHE_VARIABLE)
    folder, problem = _kernel_folder(chosen), None
    if chosen and not folder.exists():
        with contextlib.suppress(OSError):  # who uses it says what is wrong
            folder.mkdir(mode=0o755, parents=True)
    if not chosen:
        try:
            make_private(secure_cache())
        except UnsafeCacheError as error:
            problem = str(error)
        except OSError:  # the store says what is wrong, when something is read or written
            pass
    unsafe = _where_others_write(folder) if problem is None else None
    if unsafe is not None:
        problem = (
            f"other users can write to {unsafe}, whose files are code. If you trust what is in it, take that from "
            f"them: chmod -R go-w {folder}. Otherwise delete it"
        )
    if problem is None:
        return folder
    instead = own_temporary_folder() / "kernels"
    _say_once(f"compiled kernels are kept in {instead}: {problem}")
    return instead


def _kernel_folder(chosen: str | None) -> Path:
    """Return the folder for compiled kernels that the user chose, or the usual one."""
    if chosen:
        return Path(chosen).expanduser().resolve()
    checkout = _of_checkout()
    if checkout is not None and not os.environ.get(CACHE_VARIABLE) and (checkout / "numba").is_dir():
        return checkout / "numba"  # also if this user cannot write there: what is there need not be compiled
    return cache_root() / "numba"


def _where_others_write(folder: Path) -> str | None:
    """Return the first path in a folder, or the folder, that another user owns or can write to; None without one."""
    if os.name != "posix":
        return None
    trusted = {0, os.geteuid()}
    with contextlib.suppress(OSError):  # a package in a zip file
        trusted.add(os.stat(__file__).st_uid)
    waiting = [str(folder)]
    while waiting:
        path = waiting.pop()
        try:
            found = os.lstat(path)
            if found.st_uid not in trusted or (not stat.S_ISLNK(found.st_mode) and _others_can_write(found)):
                return path
            if stat.S_ISDIR(found.st_mode) and (path == str(folder) or found.st_mode & OTHERS):
                waiting += [entry.path for entry in os.scandir(path)]
        except OSError:  # another process has just removed it, or it cannot be read: then nothing is run
            continue
    return None


def kernel_cache_variable() -> str:
    return KERNEL_CACHE_VARIABLE if os.environ.get(KERNEL_CACHE_VARIABLE) else CACHE_VARIABLE


def effective_jobs(n_jobs: int | None, n_tasks: int = 2) -> int:
    """Return how many threads ``n_jobs`` allows; that many tasks may need fewer."""
    if n_jobs is None:
        n_jobs = 1 if n_tasks < 2 else _jobs_of_joblib()
    from xmlcore.validation import check_count

    n_jobs = check_count(n_jobs, "n_jobs", least=-sys.maxsize)
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0: 1 is one thread, and -1 all cores")
    return n_jobs if n_jobs > 0 else max(1, usable_cores() + 1 + n_jobs)


def _jobs_of_joblib() -> int:
    """Return what ``n_jobs=None`` stands for: joblib's configured number, else 1 in a call of joblib's, else -1."""
    joblib = sys.modules.get("joblib.parallel")
    if joblib is None:  # nothing can have been said with it
        return -1
    backend, n_jobs = joblib.get_active_backend()
    if n_jobs is not None:
        return n_jobs
    return 1 if (backend.nesting_level or 0) > 0 else -1


def usable_cores() -> int:
    """Return the number of cores that this process may use: those of its control group and variables, too."""
    from joblib import cpu_count

    return cpu_count()


def free_bytes() -> int | None:
    """Return the memory in bytes that this process may still take, or None if the system does not say it."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            available = next(line for line in lines if line.startswith("MemAvailable:"))
        free = int(available.split()[1]) * 1024  # the file counts in KiB
    except (OSError, StopIteration, ValueError):
        free = None
    found = memory_of_control_groups()
    if found is None:
        return free
    return found[1] if free is None else min(free, found[1])


def check_memory(needed: float, name: str, of: str, remedy: str) -> None:
    """Raise MemoryError if more memory is needed than is free; accept any size if that is unknown."""
    free = free_bytes()
    if free is not None and needed > free:
        raise MemoryError(
            f"{name} would need about {needed / 1e9:,.1f} GB of memory for {of}, but {free / 1e9:,.1f} GB are free: "
            f"{remedy}"
        )


def memory_of_control_groups(root: str = CONTROL_GROUP, own: str = OWN_GROUPS) -> tuple[int, int] | None:
    """Return how many bytes the control groups of this process may use, and how many are left; None without a limit."""
    found = []
    for kind, (largest, used, dropped) in _MEMORY_FILES.items():
        for folder in _own_groups(Path(root, kind), kind, own):
            try:
                limit = int((folder / largest).read_text(encoding="ascii"))
                facts = dict(line.split() for line in (folder / "memory.stat").read_text(encoding="ascii").splitlines())
                taken = int((folder / used).read_text(encoding="ascii")) - int(facts.get(dropped, 0))
            except (OSError, ValueError):  # another version, the root of all groups, or the text "max"
                continue
            if limit < _UNLIMITED:
                found.append((limit, max(0, limit - taken)))
    return (min(limit for limit, _ in found), min(left for _, left in found)) if found else None


def _own_groups(root, kind, own) -> list[Path]:
    """Return the folders of the control group of this process of a kind, and of those that it is in, up to the root."""
    # In a container, the root may be that of the container, and a path be that outside: what does not exist has no
    # limit.
    try:
        lines = Path(own).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return [root]
    fields = [line.split(":", 2) for line in lines if line.count(":") > 1]  # number, kinds, path
    path = next((path for _, kinds, path in fields if kind in kinds.split(",")), "/")
    inner = Path(*(part for part in path.split("/") if part not in ("", "..")))
    return [root / group for group in (inner, *inner.parents)]


class _MallocCounts(ctypes.Structure):
    _fields_ = (("counts", ctypes.c_size_t * 10),)


def return_free_memory(least: int = 0) -> bool:
    """Give memory that this process holds but does not use, ``least`` bytes or more, back where the C library can."""
    try:
        library = ctypes.CDLL(None)
        if least:  # it takes time to get memory again
            library.mallinfo2.restype = _MallocCounts
            if library.mallinfo2().counts[8] < least:  # bytes that are free
                return False
        return bool(library.malloc_trim(0))
    except (AttributeError, OSError, TypeError):  # another C library, or another system
        return False


@contextlib.contextmanager
def atomic_write(path, lasting: bool = True):
    """Give a new binary file beside ``path``, which replaces it at the end if there was no error."""
    # A ``lasting`` file is then on the disk even if the machine stops.
    path = Path(path)
    if path.exists() and not path.is_file():
        raise FileExistsError(f"{path} is there and is no file: give the name of a file")
    temporary = path.with_name(f".{path.name[:100]}.{uuid.uuid4().hex[:12]}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
