"""Where artifacts are, their records, and their files: checksums, and writing through to the disk."""

import json
import os
import re
import zlib
from pathlib import Path

from xmlcore.system import cache_root

VALUE = "value.joblib"
META = "meta.json"
DAMAGED = "damaged"  # an empty file beside files of which one was found to be damaged when it was read
DATASETS = "datasets"  # kind of artifacts that are taken for uploads when their record does not say what they are
COUNTS = frozenset(("n_train", "n_test", "n_features", "n_labels"))  # sizes that the record of a data set has
# How folders are called that are being written, being deleted, and deleted but kept for a while; no key begins so.
WRITING, DELETING, ASIDE = HIDDEN = (".tmp-", ".old-", ".aside-")
BLOCK = 1 << 20  # bytes of a file that are read at a time
KIND = re.compile(r"[a-z][a-z0-9-]{0,39}")
KEY = re.compile(r"[0-9a-f]{8,128}")


def kind_folder(kind) -> Path:
    """Return the folder of all artifacts of a kind, which need not exist."""
    if not (isinstance(kind, str) and KIND.fullmatch(kind)):
        raise ValueError(f"kind must be lower case letters, digits and hyphens (at most 40), not {kind!r:.200}")
    return cache_root() / "artifacts" / kind


def folder(kind: str, key: str) -> Path:
    """Return the folder of an artifact, whether or not it exists."""
    parent = kind_folder(kind)
    if not (isinstance(key, str) and KEY.fullmatch(key)):
        raise ValueError(f"key must be 8 to 128 hex digits (0-9, a-f), not {key!r:.200}")
    return parent / key


def can_be_made_again(path) -> bool:
    """Return whether the artifact in a folder can be made again; a data set that does not say it may be an upload."""
    try:
        return bool(read_record(path).get("again", path.parent.name != DATASETS))
    except (OSError, ValueError):
        return path.parent.name != DATASETS


def is_there(path) -> bool:
    """Return whether there is an artifact in a folder, and none that is damaged and has to be made again."""
    if not (path / META).is_file():
        return False
    return not ((path / DAMAGED).is_file() and can_be_made_again(path))


def read_record(path) -> dict:
    """Read the record in the folder of an artifact; ValueError unless it is the record of this artifact."""
    try:
        meta = json.loads((path / META).read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError(f"the record in {path} is nested too deeply") from None
    if not isinstance(meta, dict) or meta.get("kind") != path.parent.name or meta.get("key") != path.name:
        raise ValueError(f"not the record of {path.parent.name}/{path.name}")
    is_data = meta["kind"] == DATASETS and not COUNTS.isdisjoint(meta)
    for fact, least in (dict.fromkeys((*COUNTS, "bytes"), 1) if is_data else {"bytes": 0}).items():
        if type(meta.get(fact, 0)) is not int or meta.get(fact, 0) < least:
            raise ValueError(f"its record does not say {fact}")
    return meta


def paths(kind: str) -> list[Path]:
    """Return the folders of all artifacts of a kind, in no order."""
    parent = kind_folder(kind)
    try:
        return [parent / name for name in os.listdir(parent) if KEY.fullmatch(name)]
    except (FileNotFoundError, NotADirectoryError):
        return []


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
