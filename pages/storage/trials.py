"""Trainings of sweeps, which the Storage page shows as one line for each sweep."""

import contextlib

from pages.shared import sweeping
from xmlcore import store

FOLDER = "trials"  # the store's name for trainings of sweeps
_GROUP = "trainings of "  # before the key of a sweep: the key of the line of its trainings


def keys(records) -> set[str]:
    """Return the keys of the trainings of sweeps, also of those that are not kept."""
    return {key for record in records for key in _of(record)}


def _of(record) -> list[str]:
    """Return the keys of the trainings of a sweep, as far as it has come."""
    # Of a sweep whose data set is gone, or whose settings no longer exist, no training is known.
    with contextlib.suppress(store.StoreError, OSError, ValueError, TypeError, KeyError):
        return [line["key"] for line in sweeping.task_of(record).plan().trials]
    return []


def _kept(record, inventory) -> list[store.Artifact]:
    return [inventory.artifacts[FOLDER, key] for key in _of(record) if (FOLDER, key) in inventory.artifacts]


def groups(inventory: store.Inventory, records, by: str) -> list[store.Artifact]:
    """Return a line for each sweep that has trainings on the disk, as if they were one artifact."""
    lines = []
    for record in records:
        if own := _kept(record, inventory):
            about = {"task": "trial", "inputs": {"dataset": record["fingerprint"]}, "count": len(own)}
            about |= {"fingerprint": record["fingerprint"], "model": record["params"].get("model")}
            created, used = max(artifact.created for artifact in own), max(artifact.used for artifact in own)
            pins = (by,) if all(by in artifact.pins for artifact in own) else ()
            n_bytes = sum(artifact.bytes for artifact in own)
            lines.append(store.Artifact(FOLDER, _GROUP + record["key"], n_bytes, created, used, about, pins))
    return lines


def spread(lines, inventory: store.Inventory, records) -> list[store.Artifact]:
    """Return artifacts with the trainings of sweeps in place of the lines that stand for them, each once."""
    by_key = {_GROUP + record["key"]: record for record in records}
    all_of = {}
    for artifact in lines:
        if artifact.key in by_key:
            all_of |= {other.name: other for other in _kept(by_key[artifact.key], inventory)}
        else:
            all_of[artifact.name] = artifact
    return list(all_of.values())


def group_of(sweep: store.Artifact) -> str:
    """Return the key of the line of the trainings of a sweep."""
    return _GROUP + sweep.key
