"""The decorators that compile kernels, and the folder in which compiled code is kept."""

import hashlib
import tempfile
import warnings
from pathlib import Path

import numba
from numba.core import config

from xmlcore.system import kernel_cache_root


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


KERNELS_VERSION = kernels_version()
CACHE_FOLDER = kernel_cache_root() / KERNELS_VERSION


def _cache_usable() -> bool:
    """Return whether files can be written to the cache folder; warn if not."""
    try:
        CACHE_FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=CACHE_FOLDER):  # Numba would use another folder without a warning
            return True
    except OSError as error:
        warnings.warn(
            f"compiled kernels cannot be kept in {CACHE_FOLDER} ({error}): each process compiles them anew; "
            "name a writable folder in XMLCORE_CACHE",
            RuntimeWarning,
            stacklevel=2,
        )
        return False


CACHE_IS_USED = _cache_usable()

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
