"""The decorators that compile kernels, and the folder in which compiled code is kept."""

import hashlib
import tempfile
import warnings
from pathlib import Path

import numba
from numba.core import config

from xmlcore._kernels import _caching
from xmlcore.system import kernel_cache_root, kernel_cache_variable, own_temporary_folder


def kernels_version() -> str:
    """Return a hash of all kernel sources and the Numba version: it names the folder of compiled code."""
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def usable_folders(folder: Path) -> tuple[tuple[Path, ...], Path | None]:
    """Return the folders from which compiled code is loaded, and the one to keep it in; warn where that matters."""
    try:
        _make_writable(folder)
        return (folder,), folder
    except OSError as error:
        problem = error
    try:
        is_filled = _caching.holds_code(folder)
    except OSError:
        is_filled = False
    try:
        own = own_temporary_folder() / "kernels" / folder.name
        _make_writable(own)
    except OSError:
        own = None
    found = tuple(place for place in (folder if is_filled else None, own) if place is not None)
    if not is_filled:
        instead = "each process compiles them anew" if own is None else f"they are kept in {own}"
        warnings.warn(
            f"compiled kernels cannot be kept in {folder} ({problem}): {instead}; "
            f"name a writable folder in {kernel_cache_variable()}",
            RuntimeWarning,
            stacklevel=2,
        )
    return found, own


def _make_writable(folder):
    """Make a folder and raise OSError if no file can be written there."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass


KERNELS_VERSION = kernels_version()
NAMED_FOLDER = kernel_cache_root() / KERNELS_VERSION  # where code is kept if it can be written to
FOLDERS, _WRITTEN = usable_folders(NAMED_FOLDER)
CACHE_IS_USED = bool(FOLDERS)
CACHE_FOLDER = _WRITTEN or NAMED_FOLDER

# Kernels are compiled by subclasses of parts of Numba that may change. With a version that was not tried, numba.njit
# takes their place: it makes the same code, but the first compilation takes half as long again.
TRIED = ((0, 61), (0, 68))
IS_TRIED = TRIED[0] <= tuple(map(int, numba.__version__.split(".")[:2])) <= TRIED[1]
if IS_TRIED:
    from xmlcore._kernels._dispatchers import Kernel, KernelCompiler


def kernel(function=None, **options):
    """Compile a function with Numba, without Python objects and interpreter lock; keep the compiled code on disk."""
    # Division by zero follows NumPy's rules: it gives inf, nan, or 0 for whole numbers. Python's rules would raise, and
    # test each divisor. ``options`` are those of :func:`numba.njit`.
    if function is None:
        return lambda inner: kernel(inner, **options)
    if config.DISABLE_JIT:
        return function
    if IS_TRIED:
        options = {"nopython": True, "nogil": True, "no_cfunc_wrapper": True, "error_model": "numpy", **options}
        made = Kernel(function, targetoptions=options, pipeline_class=KernelCompiler)
    else:
        made = numba.njit(**{"nogil": True, "error_model": "numpy", **options})(function)
    if IS_TRIED and CACHE_IS_USED:
        made.keep_in(FOLDERS, _WRITTEN)
    elif _WRITTEN is not None:
        before = config.CACHE_DIR
        config.CACHE_DIR = str(CACHE_FOLDER)  # only for kernels of xmlcore: functions of users keep their folder
        try:
            made.enable_caching()
        finally:
            config.CACHE_DIR = before
    return made


def inlined(function):
    """Compile a function that kernels call, and that creates no arrays: its code is copied into the callers."""
    # So it counts no array references. Counting took more time than the work itself where it was done for each node.
    return kernel(function, forceinline=True, _nrt=False)


part = inlined  # the name for a step of a longer kernel
