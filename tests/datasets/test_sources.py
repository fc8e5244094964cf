"""Sources: paths, bytes, uploads and archives."""

import bz2
import gzip
import io
import lzma
import tarfile
import warnings
import zipfile

import numpy as np
import pytest
from datasets.reads import EXPECTED, TEXT, failure, read, zip_without_a_name

from tests import archiving
from xmlcore.datasets import DatasetFormatError, read_dataset, read_matrix


def zipped(*names, content=TEXT):
    """A zip archive; folders are empty, and so is what systems put into an archive beside its files."""
    return archiving.zipped({name: b"" if name.endswith("/") else content for name in names})


def tarred(mode):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        entry = tarfile.TarInfo("a.txt")
        entry.size = len(TEXT)
        archive.addfile(entry, io.BytesIO(TEXT))
    return buffer.getvalue()


PACKED = {
    "gz": gzip.compress(TEXT),
    "gz in two parts": gzip.compress(TEXT[:9]) + gzip.compress(TEXT[9:]),
    "bz2": bz2.compress(TEXT),
    "bz2 in two parts": bz2.compress(TEXT[:9]) + bz2.compress(TEXT[9:]),
    "xz": lzma.compress(TEXT),
    "xz in two parts": lzma.compress(TEXT[:9]) + lzma.compress(TEXT[9:]) + b"\0" * 8,
    "zip": zipped("a/train.txt", "__MACOSX/a/._train.txt"),
    "zip of macOS": zipped("__MACOSX/._a.txt", "a.txt", "d/__MACOSX/._a.txt", "d/._a.txt"),
    "zip of Windows": zipped("data/", "data/set/", "data/set/a.txt", "a/Thumbs.db", "desktop.ini", "a/.DS_Store"),
    "zip without a name": zip_without_a_name(TEXT),
}
REFUSED = {
    "tar": (tarred("w"), "it is a tar archive"),
    "beginning of a tar": (b"\0" * 257 + b"ustar" + b"\0" * 300, "it is a tar archive"),
    "tar.gz": (tarred("w:gz"), "it is a compressed tar archive"),
    "tar.bz2": (tarred("w:bz2"), "it is a compressed tar archive"),
    "tar.xz": (tarred("w:xz"), "it is a compressed tar archive"),
    "zip in zip": (zipped("b.zip", content=zipped("a.txt")), "a zip archive within compressed data"),
    "gzip in bzip2": (bz2.compress(gzip.compress(TEXT)), "gzip data within compressed data"),
    "another packing": (archiving.zipped({"a.txt": TEXT}, zipfile.ZIP_LZMA), "not packed by deflation"),
    "two files": (zipped("train.txt", "test.txt"), "holds 2 files (train.txt, test.txt)"),
    "no file": (zipped(), "holds 0 files"),
}


@pytest.mark.parametrize("kind", PACKED)
def test_compressed_sources_are_recognised_by_their_bytes(kind, tmp_path):
    path = tmp_path / "train.txt"  # the name says nothing
    path.write_bytes(PACKED[kind])
    for source in (PACKED[kind], path, str(path), bytearray(PACKED[kind])):
        assert read(source) == EXPECTED
    with open(path, "rb") as stream:
        assert read(stream) == EXPECTED


@pytest.mark.parametrize("kind", list(PACKED)[:7])
def test_damaged_archives_are_format_errors(kind):
    packed = PACKED[kind]
    for size in range(8, len(packed) - 12):
        cut = packed[:size]
        try:
            read_matrix(cut)
        except DatasetFormatError:
            pass
    assert "archive" in failure(packed[: len(packed) // 2]).remedy or "parts" in kind
    rng = np.random.default_rng(0)
    for _ in range(100):
        changed = bytearray(packed)
        for at in rng.integers(6, len(packed), 3):
            changed[at] = rng.integers(0, 256)
        try:
            with warnings.catch_warnings(action="ignore"):
                read_matrix(bytes(changed))
        except DatasetFormatError:
            pass


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, lambda c: zipped("a", content=c), bytes])
def test_a_compression_bomb_ends_at_the_bound(pack):
    bomb = pack(b"1 2 2\n" + b"\n" * 3_000_000)  # longer than the parts in which it is unpacked
    error = failure(bomb, max_bytes=1_000_000)
    assert "more than 1,000,000 bytes of text" in error.found
    assert error.fault.argument == "max_bytes"
    read_matrix(bomb, max_bytes=3_000_006)


@pytest.mark.parametrize("kind", REFUSED)
def test_other_archives_are_refused_with_what_to_do(kind):
    packed, found = REFUSED[kind]
    error = failure(packed)
    assert found in error.found and "give " in error.remedy.lower()


class Upload(io.BytesIO):
    """As Streamlit hands it over."""

    name = "C/Users/me/my data.txt.gz"


def test_an_upload_is_read_whole_and_goes_by_its_name():
    upload = Upload(gzip.compress(TEXT))
    upload.read()  # an earlier rerun
    assert read(upload) == EXPECTED
    assert failure(Upload(gzip.compress(b"x"))).source == "my data.txt.gz"
    assert read_dataset(upload).name == "my data"


def test_text_mode_files_and_other_things_are_type_errors(tmp_path):
    with pytest.raises(TypeError, match="binary mode"):
        read_matrix(io.StringIO("1 2 3"))
    with pytest.raises(TypeError, match="a path, bytes or a binary file object"):
        read_matrix(7)
    with pytest.raises(FileNotFoundError):
        read_matrix(tmp_path / "nothing.txt")
