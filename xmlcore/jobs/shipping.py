"""Artifacts of the store on their way between machines that share no files, in pieces of bounded size.

A piece is a tuple ``(name, offset, bytes)`` of a file of the artifact, and the last one is ``("", 0, facts)`` with the
facts of its record as JSON. The receiver writes the artifact with :func:`xmlcore.store.writing`, so that it is found
complete or not at all.
"""

import json
import shutil
import time
import uuid
from pathlib import Path, PurePosixPath

from xmlcore import store
from xmlcore.system import cache_root

PIECE = 8_000_000  # bytes of a piece at most
STALE_SECONDS = 24 * 3600  # what arrived of an artifact longer ago, and not completely, is removed
_RECORD = store.META
# Facts that the receiver's store writes itself, like value_bytes and others of that kind.
_OF_THE_STORE = ("kind", "key", "created", "bytes", "files", "value")


def size(kind: str, key: str) -> int:
    return sum(path.stat().st_size for path in _files(store.folder(kind, key)))


def _files(folder):
    """Return the files of an artifact without its record."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / _RECORD)


def pieces(kind: str, key: str):
    facts = store.info(kind, key)
    folder = store.folder(kind, key)
    for path in _files(folder):
        name, offset = path.relative_to(folder).as_posix(), 0
        with open(path, "rb") as file:
            while (block := file.read(PIECE)) or not offset:
                yield name, offset, block
                offset += len(block)
                if not block:
                    break
    yield "", 0, json.dumps(facts).encode()


class Arrival:
    """Collects the pieces of an artifact and keeps it in the store of this machine."""

    def __init__(self, kind, key, replace=False):
        store.folder(kind, key)  # raises for an invalid name
        self._kind, self._key, self._again = kind, key, replace
        parent = cache_root() / "jobs" / "arriving"
        parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        for old in parent.iterdir():
            if old.is_dir() and time.time() - old.stat().st_mtime > STALE_SECONDS:
                shutil.rmtree(old, ignore_errors=True)
        self._folder = parent / uuid.uuid4().hex
        self._folder.mkdir(mode=0o700)

    def take(self, name: str, offset: int, block: bytes) -> bool:
        """Take a piece, and return whether it was the last one: the artifact is kept then."""
        if not name:
            self._keep(json.loads(block))
            return True
        parts = PurePosixPath(name).parts
        if PurePosixPath(name).is_absolute() or ".." in parts or "\\" in name or ":" in name:
            raise ValueError(f"{name!r:.200} is no name of a file of an artifact")
        path = self._folder / Path(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        if offset != (path.stat().st_size if path.exists() else 0):
            raise ValueError(f"a piece of {name} is missing")
        with open(path, "ab") as file:
            file.write(block)
        return False

    def _keep(self, facts):
        """Keep the artifact, whose pieces have all arrived."""
        value = self._folder / str(facts.get("value", store.VALUE))
        if value.is_file() and value.parent == self._folder:  # the store may have rewritten it under another name
            value.replace(self._folder / store.VALUE)
        facts = {name: v for name, v in facts.items() if name not in _OF_THE_STORE and not name.startswith("value_")}
        try:
            with store.writing(self._kind, self._key, replace=self._again, **facts) as target:
                for path in list(self._folder.iterdir()):
                    shutil.move(path, target / path.name)
        finally:
            self.drop()

    def drop(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
