"""Zip files that others may have made: what reading them can raise, and checks before anything is unpacked."""

import lzma
import math
import os
import zipfile
import zlib

import numpy as np

# What zipfile raises for a damaged archive, for a method of compression or a password that it does not know, and for
# the end of a cut-off file. A damaged entry compressed by bzip2 also raises OSError and ValueError.
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, NotImplementedError)
_PIECE = 1 << 20  # bytes that are unpacked at a time


def unpack_entry(archive: zipfile.ZipFile, name: str, target, most_bytes: int) -> tuple[int, int]:
    """Write an entry of an archive to a file, but not much more than a number of bytes."""
    size = checksum = 0
    with archive.open(name) as source, open(target, "wb") as file:
        while size <= most_bytes and (piece := source.read(_PIECE)):
            size, checksum = size + len(piece), zlib.crc32(piece, checksum)
            if size <= most_bytes:
                file.write(piece)
    return size, checksum


def plain_arrays(path) -> dict[str, np.ndarray]:
    """Return the arrays of an npz file whose headers promise no more than the file holds; no pickle is read."""
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            with archive.open(info) as stream:
                version = np.lib.format.read_magic(stream)
                read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                shape, _, dtype = read(stream)
                n_bytes = math.prod(shape) * dtype.itemsize
                fits = info.compress_type == zipfile.ZIP_STORED and stream.tell() + n_bytes == info.file_size
                if dtype.hasobject or not fits or info.file_size > os.path.getsize(path):
                    raise ValueError(f"{info.filename[:60]!r} is no plain array")
    # np.load does not close a damaged file that it opened itself, and Windows cannot remove an open file.
    with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}
