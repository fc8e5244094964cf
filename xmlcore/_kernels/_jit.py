"""The decorators that compile kernels, and the folder in which compiled code is kept."""

import hashlib
import os
import shutil
import tempfile
import warnings
from pathlib import Path

import numba
from numba.core import config

from xmlcore.system import kernel_cache_root, kernel_cache_variable


def kernels_version() -> str:
    """Return a hash of all kernel sources and the Numba version.

    Numba's own cache compiles a kernel again only if the kernel's own file changed, not if the file of a function that
    it calls did. With a cache folder for each hash, compiled code is never out of date.
    """
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def usable_folder(folder: Path) -> Path | None:
    """Return the folder for compiled code if files can be written there, else a copy of it; warn if there is none.

    A folder that was filled by another user, such as in a container image, is copied to a folder of this user among the
    temporary files, once: Numba writes to the folder from which it loads.
    """
    try:
        _make_writable(folder)
        return folder
    except OSError as error:
        problem = error
    try:
        if any(folder.glob("**/*.nbi")):  # Numba's lists of what is compiled
            return _copy_of_own(folder)
    except OSError as error:
        problem = error
    warnings.warn(
        f"compiled kernels cannot be kept in {folder} ({problem}): each process compiles them anew; "
        f"name a writable folder in {kernel_cache_variable()}",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


def _make_writable(folder):
    """Make a folder and raise OSError if no file can be written there; Numba would use another one without a word."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass


def _copy_of_own(folder) -> Path:
    """Return a copy of a folder that only this user can write to; it is made unless there is one."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    root = Path(tempfile.gettempdir()) / f"xmlcore-kernels-{user}"
    root.mkdir(mode=0o700, exist_ok=True)
    found = root.stat()
    if hasattr(os, "getuid") and (found.st_uid != user or found.st_mode & 0o022):
        raise PermissionError(f"{root} belongs to somebody else, or others can write to it")
    copy = root / folder.name
    if not copy.is_dir():
        part = Path(tempfile.mkdtemp(dir=root))
        shutil.copytree(folder, part, dirs_exist_ok=True)
        try:
            part.replace(copy)
        except OSError:  # another process was quicker
            shutil.rmtree(part, ignore_errors=True)
    _make_writable(copy)
    return copy


KERNELS_VERSION = kernels_version()
_USABLE = usable_folder(kernel_cache_root() / KERNELS_VERSION)
CACHE_IS_USED = _USABLE is not None
CACHE_FOLDER = _USABLE or kernel_cache_root() / KERNELS_VERSION

# Kernels are compiled by subclasses of parts of Numba that may change. With a version that was not tried, numba.njit
# takes their place: it makes the same code, but the first compilation takes half as long again.
TRIED = ((0, 61), (0, 68))
IS_TRIED = TRIED[0] <= tuple(map(int, numba.__version__.split(".")[:2])) <= TRIED[1]
if IS_TRIED:
    from xmlcore._kernels._dispatchers import Kernel, KernelCompiler


def kernel(function=None, **options):
    """Compile a function with Numba, without Python objects and interpreter lock; keep the compiled code on disk.

    What is kept is machine code that Python called. Code of functions that kernels call is a part of these kernels.

    Parameters
    ----------
    function : callable
        Called with flat NumPy arrays and scalars.
    **options
        Options of :func:`numba.njit`, such as ``fastmath``, which is off by default.

    Returns
    -------
    numba.core.dispatcher.Dispatcher
        A :class:`xmlcore._kernels._dispatchers.Kernel` with the versions of Numba that were tried. Or the plain
        function when ``NUMBA_DISABLE_JIT`` is set.
    """
    if function is None:
        return lambda inner: kernel(inner, **options)
    if config.DISABLE_JIT:
        return function
    if IS_TRIED:
        options = {"nopython": True, "nogil": True, "no_cfunc_wrapper": True, **options}
        made = Kernel(function, targetoptions=options, pipeline_class=KernelCompiler)
    else:
        made = numba.njit(**{"nogil": True, **options})(function)
    if CACHE_IS_USED:
        before = config.CACHE_DIR
        config.CACHE_DIR = str(CACHE_FOLDER)  # only for kernels of xmlcore: functions of users keep their folder
        try:
            made.enable_caching()
        finally:
            config.CACHE_DIR = before
    return made


def inlined(function):
    """Compile a function that kernels call: its code is copied into the callers, and it counts no array references.

    Numba counts a reference, with an atomic instruction, for nearly every array argument. In functions that are called
    for each tree node this counting took more time than the work itself. The function must not create arrays.
    """
    return kernel(function, forceinline=True, _nrt=False)


part = inlined  # the name for a step of a longer kernel
