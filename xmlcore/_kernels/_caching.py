"""Compiled code of kernels on disk: found wherever the package lies, checked when read, and never half-written."""

import functools
import hashlib
import inspect
import logging
import pickle
import sys
from pathlib import Path

import llvmlite
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from xmlcore.system import ALL_KERNELS_SECONDS, FIRST_FIT_SECONDS, atomic_write

PACKAGE = Path(__file__).resolve().parent
ENDING = ".nbc"
_BEGINS = b"xmlcore kernel 1\n"
_DIGEST_BYTES = 16
COMPILING = (
    "xmlcore compiles its code for this machine, once: the first fit and predictions of PLT take about "
    f"{FIRST_FIT_SECONDS} s of processor time longer. python -m xmlcore.warm_up (the command xmlcore warm-up) compiles "
    f"all ahead, in about {ALL_KERNELS_SECONDS} s."
)
_is_told = False  # whether this process has said that it compiles


class NowhereToKeepError(OSError):
    """No folder can be written to, so that compiled code is not kept."""


class KernelCache(NullCache):
    """The compiled code of one kernel: a file, with a checksum, for each combination of types of arguments.

    Numba's own cache names its folders by the path of the source files, so that code that was compiled while a package
    lay elsewhere is not found; and it loads damaged files, which ends in errors or in a crash. ``folders`` are looked
    through in this order; ``written`` is where code is kept, or None.
    """

    def __init__(self, function, folders, written):
        self._function, self._folders, self._written = function, tuple(folders), written
        self._stamp = _stamp_of(function)

    @property
    def cache_path(self):
        """The folder in which compiled code is kept, or None."""
        return None if self._written is None else str(self._written)

    def load_overload(self, sig, target_context):
        """Return what was compiled for some types of arguments, or None if it was not kept, or is damaged."""
        target_context.refresh()
        key = self._key(sig, target_context.codegen())
        for folder in self._folders if key is not None else ():
            reduced = _read(folder / self._file_name(key), key)
            if reduced is not None:
                try:
                    return CompileResult._rebuild(target_context, *reduced)
                except Exception:  # written by something else that looks the same: compiled again, and overwritten
                    continue
        return None

    def save_overload(self, sig, data):
        """Keep what was compiled for some types of arguments."""
        key = self._key(sig, data.codegen)
        if key is None or data.lifted or data.library.has_dynamic_globals:  # memory addresses of this process
            return
        if self._written is None:
            raise NowhereToKeepError(f"nothing can be written to {', '.join(map(str, self._folders))}")
        content = dumps((key, data._reduce()))
        _write(self._written / self._file_name(key), _BEGINS + _digest(content) + content)

    def _key(self, sig, codegen):
        """Return all that the compiled code depends on, beside the kernels; None if it is not known."""
        if self._stamp is None:
            return None
        return sig, codegen.magic_tuple(), sys.implementation.cache_tag, llvmlite.__version__, self._stamp

    def _file_name(self, key):
        digest = hashlib.blake2b(repr((str(key[0]), *key[1:])).encode(), digest_size=8).hexdigest()
        name = f"{self._function.__module__.rpartition('.')[2]}.{self._function.__qualname__}"
        return f"{name.translate({ord('<'): None, ord('>'): None})[:150]}-{digest}{ENDING}"


def tell_once(text: str | None = COMPILING) -> None:
    """Log that kernels are being compiled, unless that was said in this process; None: say nothing from now on."""
    global _is_told
    if not _is_told and text is not None:
        logging.getLogger("xmlcore").warning(text)  # Python shows warnings in a log that nobody set up
    _is_told = True


def holds_code(folder: Path) -> bool:
    """Return whether a folder holds compiled code; raise OSError if it cannot be read."""
    return any(folder.glob(f"**/*{ENDING}"))


def _stamp_of(function):
    """Return what tells apart functions with the same name that are no kernels of ours; None without a file."""
    code = function.__code__
    cells = tuple(cell.cell_contents for cell in function.__closure__ or ())
    path = Path(inspect.getfile(function))
    content = ""
    if path.parent != PACKAGE and path.resolve().parent != PACKAGE:
        try:
            content = _digest_of_file(path)
        except OSError:
            return None
    return code.co_firstlineno, content, hashlib.blake2b(dumps(cells), digest_size=8).hexdigest() if cells else ""


@functools.lru_cache
def _digest_of_file(path):
    """Return a checksum of a file with kernels that are not ours, such as those of tests."""
    return hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()


def _digest(content):
    return hashlib.blake2b(content, digest_size=_DIGEST_BYTES).digest()


def _read(path, key):
    """Return what was kept for a key; None if there is no such file, or it is damaged or cannot be read."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    begin = len(_BEGINS) + _DIGEST_BYTES
    if not content.startswith(_BEGINS) or _digest(content[begin:]) != content[len(_BEGINS) : begin]:
        return None
    try:
        found, reduced = pickle.loads(content[begin:])
    except Exception:  # a pickle can raise anything
        return None
    return reduced if found == key else None


def _write(path, content):
    """Write a file wholly or not at all; who may read it is decided by the umask."""
    path.parent.mkdir(parents=True, exist_ok=True)  # it may have been deleted meanwhile
    with atomic_write(path, lasting=False) as file:
        file.write(content)
