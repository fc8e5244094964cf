"""Versions: of the libraries that results are computed with, and what is said of a file of another version."""

import functools
from importlib import metadata
from typing import Any

from xmlcore import __version__

LIBRARIES = ("numpy", "scipy", "numba")  # which may decide the bits of a result
PAGE = "docs/versions.md"


@functools.cache
def library_versions() -> dict[str, str]:
    return {name: metadata.version(name) for name in LIBRARIES}


def refusal(file: str, found: Any, reads: int, written_by: Any = None) -> str:
    """Return what an error says of a file whose format has another version than the one that is read."""
    by = f"xmlcore {written_by}" if isinstance(written_by, str) else "an xmlcore that did not write its version"
    text = f"{file} has version {found!r:.20} of its format, written by {by}, and xmlcore {__version__} reads {reads}"
    later = isinstance(found, int) and found > reads
    todo = "It is newer: update xmlcore" if later else "Make it again, or read it with the xmlcore that wrote it"
    return f"{text}. {todo} ({PAGE})"
