"""Files of artifacts: checksums, and writing through to the disk."""

import os
import zlib
from pathlib import Path

BLOCK = 1 << 20  # bytes that are read at a time


def crc(file) -> int:
    found = 0
    with open(file, "rb") as stream:
        while block := stream.read(BLOCK):
            found = zlib.crc32(block, found)
    return found


def facts(file) -> list[int]:
    return [Path(file).stat().st_size, crc(file)]


def force_to_disk(path) -> None:
    """Make sure that all files and folders in a folder are on the disk, so that they survive a loss of power."""
    for inner, _, names in os.walk(path, topdown=False):
        for name in names:
            sync(Path(inner) / name)
        sync(Path(inner))


def sync(path) -> None:
    """Make sure that one file, or the list of files of one folder, is on the disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows cannot open a folder
    handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
