"""Results on disk: one folder per artifact under ``cache/``, found by a key.

::

    cache_root()/artifacts/<kind>/<key>/value.joblib    the object
                                       /meta.json       the record: kind, key, time, size and other facts
                                       /...             other files, such as a model

The key of a result, such as a run, is :func:`xmlcore.artifact_keys.artifact_key`: a hash of its kind, inputs,
parameters and version. The key of a data set is its fingerprint, a hash of its content.

Other processes see a complete artifact or none: an artifact is written to a folder with a temporary name, forced to
disk, and then renamed. So processes may read and write the same key at the same time without a lock. The whole folder
may be deleted at any time: results can be made again, and data sets can be uploaded again.

``value.joblib`` is a pickle, and reading a pickle runs code. Only what this program wrote itself is ever read: kinds
and keys are checked so that no user's text becomes part of a path, and uploads never get a name that load reads.
"""

import json
import os
import re
import shutil
import time
import uuid
import zlib
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from xmlcore.system import cache_root

VALUE = "value.joblib"
META = "meta.json"
STALE_SECONDS = 24 * 3600  # half-written artifacts are removed when they are older, in seconds

_KIND = re.compile(r"[a-z][a-z0-9-]{0,39}")
_KEY = re.compile(r"[0-9a-f]{8,128}")
_OWN_META = ("created", "bytes", "value_bytes", "value_crc")
_HIDDEN = (".tmp-", ".old-")  # prefixes of folders that are being written, and being deleted; no key starts with them


class StoreError(KeyError):
    """An artifact cannot be read."""

    def __str__(self):
        """Return the message without quotation marks, which ``KeyError`` would add."""
        return str(self.args[0]) if self.args else ""


class MissingArtifactError(StoreError):
    """Nothing is stored under this key."""


class DamagedArtifactError(StoreError):
    """The artifact was damaged. It has been removed."""


class ChangedBytesError(ValueError):
    """The file of an object has other bytes than were written."""


class UnreadableArtifactError(StoreError):
    """The artifact is whole, but this version of the program cannot read it. It has not been removed."""


def _check_kind(kind):
    """Raise ValueError unless ``kind`` is a plain folder name."""
    if not (isinstance(kind, str) and _KIND.fullmatch(kind)):
        raise ValueError(f"kind must be lower case letters, digits and hyphens (at most 40), not {kind!r}")


def _kind_folder(kind) -> Path:
    """Return the folder of all artifacts of a kind, which need not exist."""
    _check_kind(kind)
    return cache_root() / "artifacts" / kind


def folder(kind: str, key: str) -> Path:
    """Return the folder of an artifact, whether or not it exists.

    Parameters
    ----------
    kind : str
        Lower case letters, digits and hyphens.
    key : str
        8 to 128 hex digits.

    Returns
    -------
    pathlib.Path
        Never change files in this folder: write a new artifact.

    Raises
    ------
    ValueError
        If ``kind`` or ``key`` has other characters.
    """
    parent = _kind_folder(kind)
    if not (isinstance(key, str) and _KEY.fullmatch(key)):
        raise ValueError(f"key must be 8 to 128 hex digits (0-9, a-f), not {key!r}")
    return parent / key


def exists(kind: str, key: str) -> bool:
    """Return whether an artifact is stored under a key.

    Parameters
    ----------
    kind, key : str

    Returns
    -------
    bool
    """
    return (folder(kind, key) / META).is_file()


def info(kind: str, key: str) -> dict:
    """Return the record of an artifact, without loading the object.

    Parameters
    ----------
    kind, key : str

    Returns
    -------
    dict
        ``kind``, ``key``, ``created`` (ISO time, UTC), ``bytes`` (of all its files except this record),
        ``value_bytes`` and ``value_crc`` (size and CRC-32 of the object's file; None if the artifact has no object),
        and the facts that were given to :func:`save` or :func:`writing`.

    Raises
    ------
    MissingArtifactError, DamagedArtifactError
        See :func:`load`.
    """
    return _careful(_read_meta, kind, key)


def _careful(read, kind, key):
    """Return ``read(folder)`` for the folder of an artifact.

    When reading fails, raise MissingArtifactError, UnreadableArtifactError, or DamagedArtifactError (after the artifact
    is removed). Reading is tried twice before an artifact is removed: another process may have deleted the artifact and
    written it again during the first try.
    """
    path = folder(kind, key)
    for _ in range(2):
        try:
            return read(path)
        except StoreError:
            raise
        except (FileNotFoundError, NotADirectoryError) as error:
            if not path.exists():
                raise MissingArtifactError(f"nothing is stored as {kind}/{key}; make it first") from None
            reason = f"no {Path(error.filename or path).name}"
        except (MemoryError, OSError):  # the artifact is not the cause
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            if _is_whole(path, error):
                raise UnreadableArtifactError(
                    f"the stored {kind}/{key} was written by another version and cannot be read ({reason}); "
                    "make it again"
                ) from None
    delete(kind, key)
    raise DamagedArtifactError(
        f"the stored {kind}/{key} was damaged and has been removed ({reason}); make it again"
    ) from None


def _is_whole(path, error) -> bool:
    """Return whether the file of the object is unchanged, so that the program is the cause of ``error``."""
    try:
        if _check_value(path) is None or isinstance(error, ChangedBytesError):
            return False
        # Artifacts of an early version have no CRC; these errors mean that a class has moved.
        return _read_meta(path).get("value_crc") is not None or isinstance(error, (ImportError, AttributeError))
    except (OSError, ValueError):
        return False


def _read_meta(path) -> dict:
    """Read the record in the folder of an artifact; ValueError unless it is the record of this artifact."""
    meta = json.loads((path / META).read_text(encoding="utf-8"))
    if not isinstance(meta, dict) or meta.get("kind") != path.parent.name or meta.get("key") != path.name:
        raise ValueError(f"not the record of {path.parent.name}/{path.name}")
    return meta


def check(kind: str, key: str) -> None:
    """Raise what :func:`load` would raise for an artifact that is missing or cut short, without reading the object.

    Parameters
    ----------
    kind, key : str
    """
    _careful(_check_value, kind, key)


def changed(kind: str) -> int:
    """Return when an artifact of a kind was last made or deleted.

    Parameters
    ----------
    kind : str

    Returns
    -------
    int
        Nanoseconds since 1970; 0 if there has been no artifact of the kind.
    """
    try:
        return _kind_folder(kind).stat().st_mtime_ns
    except OSError:
        return 0


def load(kind: str, key: str):
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
        If a file was cut short or changed; the artifact is removed.
    UnreadableArtifactError
        If the file is unchanged but cannot be read, for example because a class has moved.
    StoreError
        If the artifact was written without an object.
    """
    return _careful(_read_value, kind, key)


def _check_value(path):
    """Return the file of the object, or None if there is no object; ValueError unless it has the recorded size."""
    meta = _read_meta(path)
    if meta.get("value_bytes") is None:
        return None
    file = path / meta.get("value", VALUE)
    size = file.stat().st_size
    if size != meta["value_bytes"]:
        raise ValueError(f"{file.name} has {size} bytes where {meta['value_bytes']} were written")
    return file


def _read_value(path):
    """Read the object in the folder of an artifact."""
    import joblib

    file = _check_value(path)
    if file is None:
        raise StoreError(f"{path.parent.name}/{path.name} holds no object, only files; see store.folder()")
    written = _read_meta(path).get("value_crc")
    if written is not None and _crc(file) != written:  # compared first: changed bytes may be read as another object
        raise ChangedBytesError(f"{file.name} has other bytes than were written")
    return joblib.load(file)


def save(kind: str, key: str, value, **meta) -> Path:
    """Store an object as an artifact, unless there is one with this key already.

    Parameters
    ----------
    kind, key : str
        See :func:`folder`.
    value : object
        Anything that joblib can write.
    **meta
        Further facts for the record, in types that JSON has. :func:`info` and :func:`entries` return them.

    Returns
    -------
    pathlib.Path
        The folder of the artifact. An existing artifact is kept, because an object is determined by its key.
    """
    if not exists(kind, key):
        with writing(kind, key, **meta) as path:
            write_value(path, value)
    return folder(kind, key)


def write_value(path, value, name: str = VALUE) -> None:
    """Write the object that :func:`load` returns into a folder given by :func:`writing`.

    Parameters
    ----------
    path : str or path-like
    value : object
    name : str
        Name of the file; :func:`load` reads the default one.
    """
    import joblib

    joblib.dump(value, Path(path) / name)


@contextmanager
def writing(kind: str, key: str, *, replace: bool = False, **meta):
    """Write an artifact that may have several files; other processes see all of them or none.

    Parameters
    ----------
    kind, key : str
        See :func:`folder`.
    replace : bool
        Whether to replace an existing artifact of this key; otherwise it is kept.
    **meta
        Further facts for the record, in types that JSON has.

    Yields
    ------
    pathlib.Path
        An empty folder for the files: call :func:`write_value` for the object, and write any other files. The folder
        becomes the artifact when the block ends, unless another process has finished an artifact of the same key: then
        that artifact is kept. After an exception in the block, the folder is removed.

    Examples
    --------
    >>> with writing("runs", key, model="PLT") as path:  # doctest: +SKIP
    ...     write_value(path, run)
    ...     model.save(path / "model")
    """
    target = folder(kind, key)
    _check_names(meta)
    json.dumps(meta, default=_json_scalar)  # raises TypeError for an unsuitable fact before the work begins
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_stale(kind)
    path = target.parent / f"{_HIDDEN[0]}{key}-{uuid.uuid4().hex[:12]}"
    path.mkdir()
    try:
        yield path
        record = {
            "kind": kind,
            "key": key,
            "created": datetime.now(UTC).isoformat(timespec="microseconds"),
            "bytes": sum(p.stat().st_size for p in path.rglob("*") if p.is_file()),
            **_value_facts(path / VALUE),
            **meta,
        }
        text = json.dumps(record, indent=1, ensure_ascii=False, default=_json_scalar)
        (path / META).write_text(text, encoding="utf-8")
        _force_to_disk(path)
        if replace:
            _remove(target)
        _publish(path, target)
    finally:
        shutil.rmtree(path, ignore_errors=True)  # after the renaming the folder does not exist


def _value_facts(file) -> dict:
    """Return size in bytes and CRC-32 of the file of an object, None for both if there is no file."""
    if not file.is_file():
        return {"value_bytes": None, "value_crc": None}
    return {"value_bytes": file.stat().st_size, "value_crc": _crc(file)}


def _crc(file) -> int:
    """Return the CRC-32 of a file, read in blocks of 1 MiB."""
    crc = 0
    with open(file, "rb") as stream:
        while block := stream.read(1 << 20):
            crc = zlib.crc32(block, crc)
    return crc


def _publish(path, target):
    """Rename the written folder to its final name, unless another process has finished the same artifact.

    Up to ten times: the artifact of another process may appear or be deleted between two steps. An incomplete folder of
    the final name is removed.
    """
    for attempt in range(10):
        try:
            os.rename(path, target)
            _sync(target.parent)
            return
        except OSError:
            if attempt == 9 or not path.is_dir():
                raise
        try:
            _read_meta(target)
            return  # another process has finished the same artifact
        except (FileNotFoundError, NotADirectoryError, ValueError):
            if (
                attempt
            ):  # still not readable at the second attempt: an incomplete folder, not one that is just being deleted
                _remove(target)


def _json_scalar(value):
    """Return a NumPy scalar as a Python number; TypeError for any other value that JSON does not have."""
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        return value.item()
    raise TypeError(f"{value!r} ({type(value).__name__}) cannot be kept in {META}; give numbers, text, lists or dicts")


def _force_to_disk(path):
    """Make sure that all files and folders in a folder are on the disk, so that they survive a loss of power."""
    for inner, _, names in os.walk(path, topdown=False):
        for name in names:
            _sync(Path(inner) / name)
        _sync(Path(inner))


def _sync(path):
    """Make sure that one file, or the list of files of one folder, is on the disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows cannot open a folder
    handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def rewrite(kind: str, key: str, value) -> None:
    """Replace the object of an artifact by ``value``, the same content in another format.

    The new object goes to a file of its own, and the record then changes in one step to name that file. So a process
    that reads meanwhile finds one of the two objects, and nothing is lost when this process is killed.

    Parameters
    ----------
    kind, key : str
    value : object
    """
    path = folder(kind, key)
    record = _careful(_read_meta, kind, key)
    before = record.get("value", VALUE)
    record["value"] = f"value-{uuid.uuid4().hex[:8]}.joblib"
    write_value(path, value, record["value"])
    record |= _value_facts(path / record["value"])
    _force_to_disk(path)
    _replace_meta(path, record)
    (path / before).unlink(missing_ok=True)


def add_facts(kind: str, key: str, **meta) -> None:
    """Add facts to the record of an artifact, in one step; its files stay as they are.

    For facts that follow from the object and that an earlier version of the program did not write, so that the object
    need not be read again for them.

    Parameters
    ----------
    kind, key : str
    **meta
        See :func:`save`; a fact that is in the record already is replaced.

    Raises
    ------
    MissingArtifactError, DamagedArtifactError
        See :func:`load`.
    """
    _check_names(meta)
    _replace_meta(folder(kind, key), _careful(_read_meta, kind, key) | meta)


def _replace_meta(path, record):
    """Replace the record in the folder of an artifact; a reader sees either the old or the new one."""
    temporary = path / f"{META}.{uuid.uuid4().hex[:8]}"
    text = json.dumps(record, indent=1, ensure_ascii=False, default=_json_scalar)
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path / META)
    _sync(path)


def _check_names(meta):
    """Raise ValueError if a fact has a name that the store itself writes."""
    for name in _OWN_META:
        if name in meta:
            raise ValueError(f"{name!r} is written by the store itself; give this fact another name")


def entries(kind: str) -> list[dict]:
    """Return the records of all artifacts of a kind. Other files in the folder are skipped.

    Parameters
    ----------
    kind : str

    Returns
    -------
    list of dict
        See :func:`info`; the newest first.
    """
    parent = _kind_folder(kind)
    found = []
    for path in parent.iterdir() if parent.is_dir() else ():
        if not _KEY.fullmatch(path.name):
            continue
        try:
            found.append(_read_meta(path))
        except (OSError, ValueError):
            continue
    return sorted(found, key=lambda meta: (str(meta.get("created", "")), meta["key"]), reverse=True)


def delete(kind: str, key: str) -> bool:
    """Remove an artifact in one step, so that other processes see it complete or not at all.

    Parameters
    ----------
    kind, key : str

    Returns
    -------
    bool
        Whether it was there.
    """
    return _remove(folder(kind, key))


def _remove(path) -> bool:
    """Remove a file or folder, which is first renamed; return whether it existed."""
    hidden = path.parent / f"{_HIDDEN[1]}{path.name}-{uuid.uuid4().hex[:12]}"
    try:
        os.rename(path, hidden)
    except FileNotFoundError:
        return False
    if hidden.is_dir():
        shutil.rmtree(hidden, ignore_errors=True)
    else:
        hidden.unlink(missing_ok=True)
    return True


def remove_stale(kind: str, older_than: float = STALE_SECONDS) -> int:
    """Remove artifacts that are half written or half deleted because a process was killed.

    :func:`writing` calls this function for its kind.

    Parameters
    ----------
    kind : str
        Kind whose folder is cleaned.
    older_than : float
        Age in seconds, since the last change of any file of the artifact. Another process may still be writing a
        younger artifact.

    Returns
    -------
    int
        Number of folders that were removed.
    """
    parent = _kind_folder(kind)
    removed = 0
    for path in parent.iterdir() if parent.is_dir() else ():
        if not path.name.startswith(_HIDDEN):
            continue
        try:
            changed = max(p.stat().st_mtime for p in (path, *path.rglob("*")))
        except OSError:  # another process is just writing or deleting it
            continue
        if time.time() - changed > older_than:
            shutil.rmtree(path, ignore_errors=True)
            removed += 1
    return removed
