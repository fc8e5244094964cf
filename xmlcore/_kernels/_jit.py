"""The one decorator of every kernel, and where its compiled code is kept."""

import hashlib
import tempfile
import warnings
from pathlib import Path

import numba
from numba.core import config

from xmlcore.system import kernel_cache_root


def kernels_version() -> str:
    """Return a hash of all kernel sources and the Numba version.

    Numba's own cache looks at the file of the kernel alone and misses a change in another file that the kernel
    calls; a folder per hash cannot be stale.
    """
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


KERNELS_VERSION = kernels_version()
CACHE_FOLDER = kernel_cache_root() / KERNELS_VERSION


def _cache_usable() -> bool:
    try:
        CACHE_FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=CACHE_FOLDER):  # Numba itself would quietly use another, stale-prone place
            return True
    except OSError as error:
        warnings.warn(
            f"compiled kernels cannot be kept in {CACHE_FOLDER} ({error}): each process compiles them anew; "
            "name a writable folder in XMLCORE_CACHE",
            RuntimeWarning,
            stacklevel=2,
        )
        return False


_USE_CACHE = _cache_usable()


def kernel(function=None, **options):
    """Compile ``function`` with Numba: no Python objects, no interpreter lock, kept on disk.

    Parameters
    ----------
    function : callable
        Called with flat NumPy arrays and scalars.
    **options
        Passed on to :func:`numba.njit`; ``fastmath`` is off unless a kernel says otherwise.

    Returns
    -------
    numba.core.dispatcher.Dispatcher
        Or the plain function when ``NUMBA_DISABLE_JIT`` is set.
    """
    if function is None:
        return lambda inner: kernel(inner, **options)
    settings = {"nogil": True, "cache": _USE_CACHE, **options}
    before = config.CACHE_DIR
    config.CACHE_DIR = str(CACHE_FOLDER)  # only for our own kernels: the user's keep their place
    try:
        return numba.njit(**settings)(function)
    finally:
        config.CACHE_DIR = before


def inlined(function):
    """Compile a part of other kernels: copied into its callers, and without counting references to its arrays.

    Numba counts a reference, with an atomic instruction, for nearly every array that a function is handed; in a part
    that is called for each tree node these took more time than the work itself. Such a part must not make arrays.
    """
    return kernel(function, forceinline=True, _nrt=False)


def part(function):
    """Compile a part of other kernels as :func:`inlined` does, without what Python would need to call it.

    Reading a named tuple of many arrays from Python takes long to compile. Python must never call such a part: the
    process would crash.
    """
    return kernel(function, forceinline=True, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)
