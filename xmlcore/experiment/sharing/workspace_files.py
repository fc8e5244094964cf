"""Workspaces as files: data sets and results with their names, tags and notes, for another machine or session.

::

    manifest.json                           see :mod:`xmlcore.archives`; ``about`` is described below
    <kind>/<key>/value.json, arrays.npz     the object of an artifact, as portable.pack returns it
                /model/params.json, ...     the fitted model, as its method save writes it

``about`` has ``created``, ``contents`` (what a workspace lists) and ``artifacts``: for each its ``kind``, ``key`` and
``record``. ``workspace_reading.py`` reads the file. Of a sweep its trials are artifacts, and ``contents`` has its
settings: its result follows from the trials.
"""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from xmlcore import archives, store, wording
from xmlcore.atomic import atomic_write
from xmlcore.datasets import load_saved
from xmlcore.datasets.saved import as_plain
from xmlcore.experiment.sharing.portable import NotPortableError, pack
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.typing import FilePath

VALUE, ARRAYS = "value.json", "arrays.npz"
MODEL_FILES = ("model/params.json", "model/arrays.npz")
_FILES = "|".join(map(re.escape, (VALUE, ARRAYS, *MODEL_FILES)))


class WorkspaceFileError(ValueError):
    """The file is no workspace that can be read here; the message has the beginning of what ``error`` says."""

    def __init__(self, message: str, error: Exception | None = None):
        super().__init__(message if error is None else f"{message} ({f'{type(error).__name__}: {error}':.400})")


USE = archives.Use("workspace", "file of a workspace", rf"[a-z-]+/[0-9a-f]{{32}}/({_FILES})", WorkspaceFileError)
DATASETS = "datasets"
# Kinds that are left out: files that can be written again, how data sets were made, which is of use only here, what was
# opened or predicted from a user's file, and trees of a training that has not ended.
LEFT_OUT = ("catalog", "exports", "workspace-files", "workspace-imports", "prepared", "readings", "splits", "synthetic")
LEFT_OUT += ("packed-models", "opened-models", "predictions", "opened-predictions", "trees")
MADE_AGAIN = ("descriptions", "examinations")  # of a data set, at once: those in a file are passed over
LEFT_OUT += MADE_AGAIN
RECORD = ("task", "version", "inputs", "params", "xmlcore", "libraries", "name")  # facts that are written


def export_workspace(
    path: FilePath, keys: Sequence[str], contents: dict[str, Any] | None = None, progress: ProgressLike = silent
) -> dict[str, Any]:
    """Write data sets and results to one file, from which :func:`import_workspace` brings them back.

    Parameters
    ----------
    path : str or path-like
        The file, a zip archive; it is replaced if it exists.
    keys : list of str
        Keys of runs, selections and other results, and fingerprints of data sets. What they were computed from, and
        the trials of sweeps, are added.
    contents : dict, optional
        What a workspace lists: ``known``, the data sets by fingerprint; ``runs`` and ``selections``, records with
        names, tags and notes; ``sweeps``, records with key, fingerprint, parameters and time; ``made``, pairs of kind
        and key. By default, all that is written, without such names.
    progress : :class:`xmlcore.progress.Progress` or "bar", optional

    Returns
    -------
    dict
        ``count``, the number of artifacts written, and ``left_out``, the number left out by the reason.

    Raises
    ------
    KeyError
        Nothing is kept under one of the keys.
    """
    progress = to_progress(progress)
    found = store.inventory()
    wanted, sweeps, left_out = _closure(found, keys)
    written, n_bytes, before = [], sum(artifact.bytes for artifact in wanted), 0
    about = {"created": datetime.now(UTC).isoformat(timespec="seconds"), "artifacts": written}
    with atomic_write(Path(path)) as file, archives.writing(file, USE, about) as archive:
        for artifact in wanted:
            archive.wrote = _reporting(progress, before, artifact.bytes, n_bytes)
            archive.wrote(0)
            before += artifact.bytes
            try:
                _write_artifact(archive, artifact)
            except (NotPortableError, store.StoreError) as error:
                left_out["cannot be read" if isinstance(error, store.StoreError) else "cannot be written"] += 1
                continue
            record = {fact: artifact.record[fact] for fact in RECORD if fact in artifact.record}
            written.append({"kind": artifact.kind, "key": artifact.key, "record": record})
        about["contents"] = _listed(contents, wanted, sweeps, written)
    return {"count": len(written), "left_out": dict(left_out)}


def _reporting(progress, before, own, total):
    """Return a function that is told of bytes that are written, ``own`` in all, after so many that are done."""
    written = 0

    def wrote(n_bytes):
        nonlocal written
        written = min(own, written + n_bytes)  # in the store, an artifact may take less than in the file
        at = before + written
        progress("Writing", at / max(total, 1), f"{wording.size(at)} of {wording.size(total)}")

    return wrote


def _closure(found, keys):
    """Return artifacts after all that they were computed from, sweeps, and how many are left out, by the reason."""
    order, sweeps, left_out = {}, [], Counter()

    def add(key) -> bool:
        """Add what has a key, after its inputs; return whether all of that is kept and can be written."""
        complete = True
        for artifact in found.with_key(key):
            if artifact.name in order:
                continue
            if artifact.kind != DATASETS and "task" not in artifact.record:
                left_out["no task makes it"] += 1
                complete = False
            elif artifact.kind == "sweeps":
                sweeps.append(artifact)
                for trial in _trials(artifact):
                    add(trial)
            elif not all([add(other) and found.with_key(other) for other in artifact.inputs.values()]):
                left_out["what it was computed from is gone"] += 1
                complete = False
            elif artifact.kind not in LEFT_OUT:
                order[artifact.name] = artifact
        return complete

    for key in keys:
        if not found.with_key(key):
            raise KeyError(f"nothing is kept under {key}")
        add(key)
    return list(order.values()), sweeps, left_out


def _trials(sweep) -> list[str]:
    try:
        return store.load(sweep.kind, sweep.key)["trials"]["key"].tolist()
    except (store.StoreError, KeyError, TypeError, AttributeError):
        return []


def _write_artifact(archive, artifact) -> None:
    """Write the files of an artifact into the archive, or nothing if it raises an error."""
    kind, key = artifact.kind, artifact.key
    tree, arrays = pack(as_plain(load_saved(key)) if kind == DATASETS else store.load(kind, key))
    folder, place = store.folder(kind, key), f"{kind}/{key}"
    models = MODEL_FILES if all((folder / name).is_file() for name in MODEL_FILES) else ()
    if models:
        store.verify(kind, key)
    archive.json(f"{place}/{VALUE}", tree)
    archive.arrays(f"{place}/{ARRAYS}", arrays)
    for name in models:
        archive.file(f"{place}/{name}", folder / name)


def _listed(contents, wanted, sweeps, written) -> dict:
    there = {(one["kind"], one["key"]) for one in written}
    if contents is None:
        contents = _contents_of(wanted) | {"sweeps": [_record_of(one) for one in sweeps]}
    runs, selections = (
        [r for r in contents.get(name, ()) if (name, r["key"]) in there] for name in ("runs", "selections")
    )
    return {
        "known": {key: entry for key, entry in contents.get("known", {}).items() if (DATASETS, key) in there},
        "runs": runs,
        "selections": selections,
        "sweeps": [one for one in contents.get("sweeps", ()) if (DATASETS, one["fingerprint"]) in there],
        "made": [list(pair) for pair in contents.get("made", ()) if tuple(pair) in there],
    }


def _record_of(sweep) -> dict:
    about = {"key": sweep.key, "fingerprint": sweep.inputs["dataset"], "params": sweep.record["params"]}
    return about | {"asked": sweep.created}


def _contents_of(artifacts) -> dict:
    """Return what a workspace would list of artifacts, without names of its own."""
    known, lists, made = {}, {"runs": [], "selections": []}, []
    for artifact in artifacts:
        if artifact.kind == DATASETS:
            known[artifact.key] = {"name": artifact.record.get("name", "data"), "source": "upload", "notes": []}
        elif artifact.kind in lists:
            lists[artifact.kind].append({"key": artifact.key, "created": artifact.record["created"]})
        elif artifact.kind != "trials":
            made.append([artifact.kind, artifact.key])
    return {"known": known, **lists, "made": made}
