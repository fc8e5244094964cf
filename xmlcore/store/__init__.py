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

**Damage.** The record has the size and the checksum of each file, which are compared before a file is read. A damaged
artifact is marked, counts as not there, and is replaced when it is made again. An upload cannot be made again: it is
left as it is, and whoever reads it is told.

**Room.** All artifacts together take at most :func:`bound` bytes. :func:`make_room` removes those that were used
longest ago, never what cannot be made again. ``inventory().dependents`` says what is deleted with an artifact. The last
use of an artifact is the time of its record's file.

**Who may read it.** ``value.joblib`` is a pickle, and reading a pickle runs code. Only what this program wrote itself
is ever read: kinds and keys are checked so that no user's text becomes part of a path, and uploads never get a name
that load reads. Folders and files are private to their user, and a cache folder in which others could have written is
refused: see :func:`xmlcore.system.secure_cache`.
"""

from xmlcore.store.artifacts import (
    changed,
    changes,
    check,
    damaged,
    entries,
    exists,
    info,
    load,
    save,
    used,
    verify,
    write_value,
    writing,
)
from xmlcore.store.kept import Artifact, Inventory, inventory, pin, unpin
from xmlcore.store.limit import Removal, bound, make_room, parse_size, removals, set_bound
from xmlcore.store.places import DAMAGED, META, VALUE, folder
from xmlcore.store.removing import (
    STALE_SECONDS,
    delete,
    is_aside,
    put_back,
    remove_all_stale,
    remove_aside,
    remove_aside_one,
    remove_stale,
    set_aside,
)
from xmlcore.store.room import (
    CannotKeepError,
    ChangedBytesError,
    DamagedArtifactError,
    DamagedUploadError,
    MissingArtifactError,
    StoreError,
    UnreadableArtifactError,
    check_room,
    free_on_disk,
    trouble,
)
from xmlcore.system import cache_root

__all__ = [
    "DAMAGED", "META", "STALE_SECONDS", "VALUE", "Artifact", "CannotKeepError", "ChangedBytesError",
    "DamagedArtifactError", "DamagedUploadError", "Inventory", "MissingArtifactError", "Removal", "StoreError",
    "UnreadableArtifactError", "bound", "cache_root", "changed", "changes", "check", "check_room",
    "damaged", "delete", "entries", "exists", "folder", "free_on_disk", "info", "inventory",
    "is_aside", "load", "make_room", "parse_size", "pin", "put_back", "removals", "remove_all_stale",
    "remove_aside", "remove_aside_one", "remove_stale", "save", "set_aside", "set_bound", "trouble", "unpin",
    "used", "verify", "write_value", "writing",
]  # fmt: skip
