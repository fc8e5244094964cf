"""Files are written whole or not at all; archives are read as they were, and refused before they do harm."""

import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest

from tests.archiving import (
    MANIFEST,
    changed,
    members,
    npz,
    npz_bomb,
    npz_compressed,
    npz_of_objects,
    npz_of_shared_bytes,
    replaced,
    zipped,
)
from xmlcore import archives
from xmlcore.system import atomic_write


class ThingError(ValueError):
    pass


USE = archives.Use("thing", "file of a thing", r"a/value\.json|a/arrays\.npz|README\.md", ThingError)


def written(tmp_path):
    (tmp_path / "README").write_bytes(b"read me")
    made = io.BytesIO()
    with archives.writing(made, USE, {"score": float("nan"), "count": np.int64(3)}) as archive:
        archive.json("a/value.json", {"names": ["x", "é"], "inf": float("inf")})
        archive.arrays("a/arrays.npz", {"ids": np.arange(5, dtype=np.int32), "none": np.zeros((0, 3))})
        archive.file("README.md", tmp_path / "README")
    return made.getvalue()


@pytest.fixture
def content(tmp_path):
    return written(tmp_path)


def read(content):
    with archives.reading(io.BytesIO(content), USE) as archive:
        return archive.about, archive.json("a/value.json"), archive.arrays("a/arrays.npz")


def test_the_same_content_makes_the_same_bytes(content, tmp_path, monkeypatch):
    about, value, arrays = read(content)
    assert about == {"score": None, "count": 3} and value == {"names": ["x", "é"], "inf": None}
    assert (
        arrays["ids"].tolist() == [0, 1, 2, 3, 4] and arrays["ids"].dtype == np.int32 and arrays["none"].shape == (0, 3)
    )
    monkeypatch.setattr("time.time", lambda: 2e9)
    monkeypatch.setattr("time.localtime", lambda *_: (2033, 5, 18, 3, 33, 20, 2, 138, 0))
    assert written(tmp_path) == content
    with archives.reading(io.BytesIO(content), USE) as archive:
        path = archive.extract("README.md")
        assert path.read_bytes() == b"read me"
    assert not path.exists()


def test_zeros_beyond_the_archives_size_are_refused(monkeypatch):
    def write():
        with archives.writing(made := io.BytesIO(), USE, {}) as archive:
            archive.json("a/value.json", [])
            archive.arrays("a/arrays.npz", {"x": np.zeros(10**6)})
        return made.getvalue()

    few = write()
    assert read(few)[2]["x"].size == 10**6
    monkeypatch.setattr(archives, "ALWAYS", 0)
    with pytest.raises(ThingError, match="more than 50 times the size"):
        write()
    with pytest.raises(ThingError, match="unpacks to 8,"):
        read(few)


def test_other_programs_may_pack_it_again(content):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a/", b"")  # some programs list folders
        for name, part in reversed(members(content).items()):
            archive.writestr(name, part)
    assert read(made.getvalue())[0]["count"] == 3


def without_manifest(content):
    files = members(content)
    del files[MANIFEST]
    return zipped(files)


def with_manifest(content, part):
    return zipped(members(content) | {MANIFEST: part})


def twice(content):
    made = io.BytesIO(content)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(made, "a") as archive:
        archive.writestr("README.md", b"another")
    return made.getvalue()


def with_password(content):
    at = content.rindex(b"README.md") - 46 + 8  # flags in the list of members
    return content[:at] + b"\x01" + content[at + 1 :]


def size_made_smaller(content):
    """The list of members says a smaller size: what is unpacked must not go beyond it."""
    at = content.rindex(b"a/arrays.npz") - 46 + 24
    size = int.from_bytes(content[at : at + 4], "little")
    return content[:at] + (size // 2).to_bytes(4, "little") + content[at + 4 :]


def unlisted(**parts):
    return lambda content: changed(content, lambda files, about: files.update(parts), listed=False)


def listed_as(facts):
    return lambda content: changed(
        content, listed=False, members=json.loads(members(content)[MANIFEST])["members"] | facts
    )


REFUSED = {
    "no zip": (lambda content: b"Not a zip file", "no zip file"),
    "empty": (lambda content: b"", "no zip file"),
    "a pickle": (lambda content: pickle.dumps({"model": 1}), "no zip file"),
    "an empty zip": (lambda content: zipped({}), "has no manifest.json"),
    "cut": (lambda content: content[: len(content) // 2], "damaged"),
    "no manifest": (without_manifest, "has no manifest.json"),
    "a manifest that is cut": (lambda content: with_manifest(content, members(content)[MANIFEST][:-9]), "damaged"),
    "a deep manifest": (lambda content: with_manifest(content, b"[" * 10**6), "damaged"),
    "a manifest many times as long as the rest": (lambda content: with_manifest(content, b" " * 40_000_000), "than 1"),
    "a manifest that is a list": (lambda content: with_manifest(content, b"[]"), "no file of a thing"),
    "another format": (lambda content: changed(content, format="x"), "does not say 'xmlcore archive'"),
    "another use": (lambda content: changed(content, holds="model"), "it holds a 'model'"),
    "a later version": (lambda content: changed(content, version=9, xmlcore="7.1"), r"version 9 .*7\.1.*update"),
    "no description": (lambda content: changed(content, about=3), "no description"),
    "a member more": (unlisted(x=b"x"), "has 'x', which its manifest.json does not list"),
    "a member less": (listed_as({"b": [1, 2]}), "lacks 'b'"),
    "a path that leads out": (lambda content: replaced(content, "../../evil", b"x"), r"it has '\.\./\.\./evil'"),
    "an absolute path": (lambda content: replaced(content, "/etc/x", b"x"), "it has '/etc/x'"),
    "a pickle as member": (lambda content: replaced(content, "a/value.joblib", b"x"), "it has 'a/value.joblib'"),
    "no size": (listed_as({"README.md": 7}), "no size and checksum"),
    "another size": (listed_as({"README.md": [8, 0]}), "another size"),
    "other bytes": (lambda content: changed(content, lambda files, about: files.update(
        {"a/value.json": files["a/value.json"][:-1] + b" "}), listed=False), "other bytes"),
    "two of one name": (twice, "two files of one name"),
    "another packing": (lambda content: zipped(members(content), zipfile.ZIP_BZIP2), "not packed by deflation"),
    "a password": (with_password, "has a password"),
    "a size that is a lie": (size_made_smaller, "another size"),
    "no arrays": (lambda content: changed(content, lambda files, about: files.pop("a/arrays.npz")), "it lacks a/"),
    "an array that states more": (lambda content: replaced(content, "a/arrays.npz", npz_bomb()), "no plain array"),
    "arrays in one place": (lambda content: replaced(content, "a/arrays.npz", npz_of_shared_bytes()), "state more"),
    "an array by pickle": (lambda content: replaced(content, "a/arrays.npz", npz_of_objects()), "no plain array"),
    "a compressed array": (lambda content: replaced(content, "a/arrays.npz", npz_compressed()), "no plain array"),
    "no array": (lambda content: replaced(content, "a/arrays.npz", b"nothing"), "damaged"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_such_archive_is_refused_and_nothing_is_left(kind, content, tmp_path, monkeypatch):
    change, reason = REFUSED[kind]
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    with pytest.raises(ThingError, match=reason) as caught:
        read(change(content))
    assert str(tmp_path) not in str(caught.value) and len(str(caught.value)) < 400
    assert not list((tmp_path / "scratch").iterdir())


@pytest.mark.parametrize("bound, least, reason", [
    ("MOST_TIMES", 0, "at most 0 are read"),
    ("MOST_BYTES", 100, "at most 100 are read"),
    ("MOST_MEMBERS", 2, "4 files; at most 2"),
    ("MOST_TEXT", 5, "at most 5 are read"),
    ("MOST_MANIFEST", 9, "more than 9 bytes"),
    ("MOST_VALUES", 2, "more than 2 values in manifest.json"),
    ("free_bytes", lambda: 100, "too large for the memory of this machine"),
])  # fmt: skip
def test_what_unpacks_to_more_than_a_bound_is_refused(bound, least, reason, content, monkeypatch):
    monkeypatch.setattr(archives, "ALWAYS", 0)
    monkeypatch.setattr(archives, bound, least)
    with pytest.raises(ThingError, match=reason):
        read(content)


@pytest.mark.parametrize(("bound", "value"), [("MOST_VALUES", [1, 2, 3]), ("MOST_LISTS", [[], []])])
def test_json_that_could_not_be_read_is_not_written(bound, value, monkeypatch):
    monkeypatch.setattr(archives, bound, 2)
    with pytest.raises(ThingError, match="a/value.json of the file of a thing would have more than 2 "):
        with archives.writing(io.BytesIO(), USE, {}) as archive:
            archive.json("a/value.json", value)


def test_arrays_are_read_as_they_are(tmp_path):
    (tmp_path / "a.npz").write_bytes(npz(x=np.float32([1, np.nan]), s=np.array(["é", "bb"])))
    arrays = archives.plain_arrays(tmp_path / "a.npz")
    assert np.isnan(arrays["x"][1]) and arrays["s"].tolist() == ["é", "bb"]


def test_a_small_file_does_not_become_millions_of_lists(content):
    lists = replaced(content, "a/value.json", b"[" + b"[]," * 2_000_000 + b"[]]")
    with pytest.raises(ThingError, match=r"more than 2,000,000 lists in a/value.json"):
        read(lists)
    texts = replaced(content, "a/value.json", b"[" + b'"",' * 7_000_000 + b'""]')
    assert len(texts) < 100_000
    with pytest.raises(ThingError, match="unpacks to 21,"):
        read(texts)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_file_is_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    for name in ("pipe", "link", "."):
        with pytest.raises(FileExistsError, match="is there and is no file: give the name of a file"):
            with atomic_write(tmp_path / name):
                pytest.fail("it gave a file")
    assert pipe.is_fifo() and sorted(os.listdir(tmp_path)) == ["link", "pipe"]


def test_a_file_is_replaced_and_stays_after_an_error(tmp_path):
    path = tmp_path / "a"
    for content in (b"one", b"two"):
        with atomic_write(path) as file:
            file.write(content)
        assert path.read_bytes() == content
    with pytest.raises(ZeroDivisionError), atomic_write(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert path.read_bytes() == b"two" and os.listdir(tmp_path) == ["a"]
