"""Inventory of the store: size, age, last use, inputs and dependents of each artifact; and pins."""

import contextlib
import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from xmlcore.state import database
from xmlcore.store import places
from xmlcore.store.artifacts import missing
from xmlcore.system import cache_root


@dataclass(frozen=True, eq=False)
class Artifact:
    """Description of an artifact, known without reading its object."""

    kind: str
    key: str
    bytes: int  # size on the disk, without the record
    # created, used: when it was made, and when it was last made or used (to the hour), in seconds since 1970
    created: float
    used: float
    record: dict
    pins: tuple[str, ...] = ()  # who has pinned it: see :func:`pin`

    @property
    def name(self) -> tuple[str, str]:
        return self.kind, self.key

    @property
    def inputs(self) -> dict[str, str]:
        """Keys of the artifacts that it was computed from, by what they are; without them, it has no meaning."""
        return {} if self.kind == places.DATASETS else self.sources

    @property
    def sources(self) -> dict[str, str]:
        """Keys of the artifacts from which it can be made again, by what they are."""
        inputs = self.record.get("inputs")
        return inputs if isinstance(inputs, dict) else {}

    @property
    def again(self) -> bool:
        """Whether it can be made again, as long as its sources are there."""
        return bool(self.record.get("again", self.kind != places.DATASETS))


class Inventory:
    """All artifacts at a time."""

    def __init__(self, found: "Iterable[Artifact]"):
        self.artifacts = {artifact.name: artifact for artifact in found}
        self._of_key = defaultdict(list)
        self._dependents = defaultdict(list)
        for artifact in self.artifacts.values():
            self._of_key[artifact.key].append(artifact)
            for key in set(artifact.inputs.values()):
                self._dependents[key].append(artifact)

    def with_key(self, key: str) -> list[Artifact]:
        """Return the artifacts with a key: one, if any, as keys of different kinds are different."""
        return self._of_key.get(key, [])

    def dependents(self, kind: str, key: str) -> list[Artifact]:
        """Return all artifacts that were computed from one, directly or not, nearest first."""
        found, line = {}, [key]
        while line:
            for artifact in self._dependents.get(line.pop(0), ()):
                if artifact.name not in found and artifact.name != (kind, key):
                    found[artifact.name] = artifact
                    line.append(artifact.key)
        return list(found.values())

    def computed_from(self, key: str) -> list[Artifact]:
        """Return the artifacts that were computed from the one with a key, directly."""
        return self._dependents.get(key, [])

    def can_be_made_again(self, artifact: Artifact) -> bool:
        """Return whether an artifact can be made again: it is no upload, and its sources are there."""
        return artifact.again and all(self.with_key(key) for key in artifact.sources.values())

    @property
    def bytes(self) -> int:
        return sum(artifact.bytes for artifact in self.artifacts.values())


def inventory() -> Inventory:
    """Look at all artifacts; for each one file is read, its record."""
    kinds, found, pins = [], [], defaultdict(list)
    with contextlib.suppress(OSError):
        kinds = sorted(entry.name for entry in os.scandir(cache_root() / "artifacts") if entry.is_dir())
    for row in database().rows("pins"):
        name, by = row.key.rsplit("/", 1)
        pins[name].append(by)
    for kind in kinds:
        with contextlib.suppress(OSError, ValueError):  # not a folder of ours
            found += _of_kind(kind, pins)
    return Inventory(found)


def _of_kind(kind, pins):
    for path in places.paths(kind):
        with contextlib.suppress(OSError, ValueError):
            if not places.is_there(path):
                continue
            record = places.read_record(path)
            mark = os.stat(path / places.META).st_mtime
            by = tuple(pins.get(f"{kind}/{path.name}", ()))
            created = _seconds(record.get("created"), mark)
            yield Artifact(kind, path.name, record.get("bytes", 0), created, max(mark, created), record, by)


def _seconds(iso, default) -> float:
    try:
        return datetime.fromisoformat(iso).timestamp()
    except (TypeError, ValueError):
        return default


def pin(kind: str, key: str, by: str = "0") -> None:
    """Keep an artifact, and what it was computed from, from being removed to make room."""
    path = places.folder(kind, key)
    if not places.is_there(path):
        raise missing(path)
    database().put("pins", _pin_name(kind, key, by), True)
    os.utime(path.parent)  # a change that changes() sees


def unpin(kind: str, key: str, by: str = "0") -> None:
    """Take a pin away; see :func:`pin`."""
    path = places.folder(kind, key)
    database().remove("pins", _pin_name(kind, key, by))
    with contextlib.suppress(FileNotFoundError):
        os.utime(path.parent)


def _pin_name(kind, key, by) -> str:
    if not (isinstance(by, str) and by.isascii() and by.isalnum() and len(by) <= 64):
        raise ValueError(f"by must be up to 64 letters and digits, not {by!r:.200}")
    return f"{kind}/{key}/{by}"
