"""Writing, reading and deleting artifacts: see :mod:`xmlcore.store`."""

import contextlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

from xmlcore.store import places, room
from xmlcore.store.removing import remove, remove_stale, taken_away
from xmlcore.system import cache_root, make_private, private_files, secure_cache

_OWN_META = ("created", "bytes", "value_bytes", "value_crc", "files")
USED_SECONDS = 3600  # the last use of an artifact is recorded once in each hour
REPLACING, TRIES = 0.02, 9  # seconds after which what is being replaced is there again, and how often it is looked for


def exists(kind: str, key: str) -> bool:
    """Return whether an artifact is stored under a key.

    One that was found to be damaged when it was read, and that can be made again, is there no longer.
    """
    return places.is_there(places.folder(kind, key))


def info(kind: str, key: str) -> dict[str, Any]:
    """Return the record of an artifact, without loading the object."""
    return _careful(places.read_record, kind, key)


def _careful(read, kind, key):
    """Return ``read(folder)`` for the folder of an artifact."""
    # When reading fails, raise MissingArtifactError, UnreadableArtifactError, or DamagedArtifactError (after the
    # artifact is marked). If other processes replaced the artifact during a try, it is read again.
    path = places.folder(kind, key)
    if (path / places.DAMAGED).is_file() and places.can_be_made_again(path):
        raise room.DamagedArtifactError(f"the stored {kind}/{key} is damaged; make it again")
    for left in reversed(range(TRIES)):
        before = _version(path)
        try:
            return read(path)
        except room.StoreError:
            raise
        except (FileNotFoundError, NotADirectoryError) as error:
            if not (reason := _what_is_missing(path, error, left)):
                continue
        except (MemoryError, OSError):  # the artifact is not the cause
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            if _is_whole(path, error):
                raise room.UnreadableArtifactError(
                    f"the stored {kind}/{key} was written by another version and cannot be read ({reason}); "
                    "make it again"
                ) from None
        if before is not None and before == _version(path):
            break
    raise _marked(path, reason) from None


def _what_is_missing(path, error, left) -> str:
    """Return which file is missing; nothing if it may be there in a moment, as the artifact is being replaced."""
    if path.exists():
        return f"no {Path(error.filename or path).name}"
    if not left or not any(path.parent.glob(f"{places.DELETING}{path.name}-*")):
        raise missing(path) from None
    time.sleep(REPLACING)
    return ""


def missing(path) -> room.MissingArtifactError:
    """Return what to raise where an artifact is not stored."""
    noun = f"{'the data set' if path.parent.name == 'datasets' else 'the result'} {path.parent.name}/{path.name}"
    return room.MissingArtifactError(f"{noun} is not stored: it was deleted, or never made; make it again")


def _marked(path, reason) -> room.DamagedArtifactError:
    with contextlib.suppress(OSError):
        (path / places.DAMAGED).touch(mode=0o600)
        os.utime(path.parent)  # a change that changes() sees
    damage = f"the stored {path.parent.name}/{path.name} is damaged ({reason})"
    if places.can_be_made_again(path):
        return room.DamagedArtifactError(f"{damage}; make it again")
    return room.DamagedUploadError(
        f"{damage}. It cannot be made again, so it is left as it is: save the same content again, or restore its "
        "folder from a backup"
    )


def _version(path) -> tuple | None:
    """Return the identity of a folder, which another in its place has not; None if it is not there."""
    with contextlib.suppress(OSError):
        return (found := path.stat()).st_ino, found.st_mtime_ns


def damaged(kind: str, key: str) -> bool:
    """Return whether an artifact was found to be damaged when it was read last.

    Parameters
    ----------
    kind, key : str
    """
    return (places.folder(kind, key) / places.DAMAGED).is_file()


def _is_whole(path, error) -> bool:
    """Return whether the file of the object is unchanged, so that the program is the cause of ``error``."""
    try:
        return _check_value(path) is not None and not isinstance(error, room.ChangedBytesError)
    except (OSError, ValueError):
        return False


def check(kind: str, key: str) -> None:
    """Raise what :func:`load` would raise for an artifact that is missing or cut short, without reading the object."""
    _careful(_check_value, kind, key)


def changed(kind: str) -> int:
    """Return when an artifact of a kind was last made or deleted."""
    try:
        return places.kind_folder(kind).stat().st_mtime_ns
    except OSError:
        return 0


def changes() -> str:
    """Return a text that is another one when artifacts of any kind were made or deleted since."""
    try:
        kinds = sorted(os.listdir(cache_root() / "artifacts"))
    except OSError:
        return ""
    found = []
    for kind in kinds:
        with contextlib.suppress(ValueError):  # not a folder of ours
            found.append(f"{kind} {changed(kind)}")
    return "\n".join(found)


def load(kind: str, key: str) -> Any:
    """Read a stored object.

    Parameters
    ----------
    kind, key : str

    Returns
    -------
    object
        The object that :func:`save` or :func:`write_value` wrote.

    Raises
    ------
    MissingArtifactError
        If nothing is stored under the key.
    DamagedArtifactError
        If a file was cut short or changed; it stays until the artifact is made again.
    DamagedUploadError
        If a file of an artifact that cannot be made again was cut short or changed; it is left as it is.
    UnreadableArtifactError
        If the file is unchanged but cannot be read, for example because a class has moved.
    StoreError
        If the artifact was written without an object.
    """
    secure_cache()
    value = _careful(_read_value, kind, key)
    used(kind, key)
    with contextlib.suppress(OSError):
        (places.folder(kind, key) / places.DAMAGED).unlink(missing_ok=True)  # it was restored
    return value


def verify(kind: str, key: str) -> None:
    """Raise ChangedBytesError if a file of an artifact beside its object has other bytes than were written.

    :func:`load` compares the object's file. Call this before other files are read, such as a model. Nothing is removed.
    """
    path = places.folder(kind, key)
    for name, written in _careful(places.read_record, kind, key).get("files", {}).items():
        if places.facts(path / name) != written:
            raise room.ChangedBytesError(f"{name} has other bytes than were written")
    used(kind, key)


def used(kind: str, key: str, now: bool = False) -> None:
    """Record that an artifact is used: as the time of its record's file, once in each hour."""
    file = places.folder(kind, key) / places.META
    with contextlib.suppress(OSError):  # it was deleted, or the disk cannot be written to: nothing depends on it
        if now or time.time() // USED_SECONDS != file.stat().st_mtime // USED_SECONDS:
            os.utime(file)


def _check_value(path):
    """Return the file of the object, or None if there is no object; ValueError unless it has the recorded size."""
    meta = places.read_record(path)
    if meta.get("value_bytes") is None:
        return None
    file = path / places.VALUE
    size = file.stat().st_size
    if size != meta["value_bytes"]:
        raise ValueError(f"{file.name} has {size} bytes where {meta['value_bytes']} were written")
    return file


def _read_value(path):
    import joblib

    file = _check_value(path)
    if file is None:
        raise room.StoreError(f"{path.parent.name}/{path.name} holds no object, only files; see store.folder()")
    # Compared first: changed bytes may be read as another object.
    if places.crc(file) != places.read_record(path)["value_crc"]:
        raise room.ChangedBytesError(f"{file.name} has other bytes than were written")
    return joblib.load(file)


def save(kind: str, key: str, value: object, **meta: object) -> Path:
    """Store an object as an artifact, unless there is one with this key already.

    Parameters
    ----------
    kind, key : str
        See :func:`folder`.
    value : object
        Anything that joblib can write.
    **meta
        Further facts for the record, in types that JSON has. :func:`info` and :func:`entries` return them. ``again``
        (bool) says whether the artifact can be made again; if not, it is never removed without being asked for.
        ``inputs`` (dict) has the keys of what it was made from.

    Returns
    -------
    pathlib.Path
        The folder of the artifact. An existing artifact is kept, because an object is determined by its key.
    """
    if not exists(kind, key):
        with writing(kind, key, **meta) as path:
            write_value(path, value)
    return places.folder(kind, key)


def write_value(path: str | PathLike[str], value: object) -> None:
    """Write the object that :func:`load` returns into a folder given by :func:`writing`."""
    import joblib

    joblib.dump(value, Path(path) / places.VALUE)


@contextmanager
def writing(kind: str, key: str, *, replace: bool = False, **meta: object) -> Iterator[Path]:
    """Write an artifact that may have several files; other processes see all of them or none."""
    target = places.folder(kind, key)
    if own := [name for name in _OWN_META if name in meta]:
        raise ValueError(f"{own[0]!r:.200} is written by the store itself; give this fact another name")
    json.dumps(meta, default=_json_scalar)  # raises TypeError for an unsuitable fact before the work begins
    secure_cache()
    path = target.parent / f"{places.WRITING}{key}-{uuid.uuid4().hex[:12]}"
    try:
        make_private(target.parent)
        remove_stale(kind)
        path.mkdir(mode=0o700)
        yield path
        written = sorted(file for file in path.rglob("*") if file.is_file())
        files = {file.relative_to(path).as_posix(): places.facts(file) for file in written}
        n_bytes, (size, crc) = sum(facts[0] for facts in files.values()), files.pop(places.VALUE, (None, None))
        record = {
            "kind": kind,
            "key": key,
            "created": datetime.now(UTC).isoformat(timespec="microseconds"),
            "bytes": n_bytes,
            "value_bytes": size,
            "value_crc": crc,
            "files": files,
            **meta,
        }
        text = json.dumps(record, indent=1, ensure_ascii=False, default=_json_scalar)
        (path / places.META).write_text(text, encoding="utf-8")
        private_files(path)
        places.force_to_disk(path)
        with taken_away(target) if replace else contextlib.nullcontext():  # so it is gone for two renamings only
            _publish(path, target)
    except OSError as error:
        clearer = room.explained(error)
        if clearer is None:
            raise
        raise clearer from error
    finally:
        shutil.rmtree(path, ignore_errors=True)  # after the renaming the folder does not exist


def _publish(path, target):
    """Rename the written folder to its final name, unless another process has finished the same artifact."""
    for attempt in range(10):
        try:
            os.rename(path, target)
            places.sync(target.parent)
            return
        except OSError:
            if attempt == 9 or not path.is_dir():
                raise
        try:
            places.read_record(target)
            if places.is_there(target):
                return  # another process has finished the same artifact
            remove(target)
        except (FileNotFoundError, NotADirectoryError, ValueError):
            if attempt:  # still not readable: an incomplete folder, not one that is just being deleted
                remove(target)


def _json_scalar(value):
    """Return a NumPy scalar as a Python number; TypeError for any other value that JSON does not have."""
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        return value.item()
    raise TypeError(
        f"{value!r:.200} ({type(value).__name__}) cannot be kept in {places.META}; give numbers, text, lists or dicts"
    )


def entries(kind: str) -> list[dict[str, Any]]:
    """Return the records of all artifacts of a kind. Other files in the folder are skipped."""
    found = []
    for path in places.paths(kind):
        with contextlib.suppress(OSError, ValueError):
            if places.is_there(path):
                found.append(places.read_record(path))
    return sorted(found, key=lambda meta: (str(meta.get("created", "")), meta["key"]), reverse=True)
