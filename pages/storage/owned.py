"""The artifacts of a workspace among all kept on this machine, with titles; a sweep's trainings share a line."""

import contextlib

import pandas as pd

from pages.shared import format, sweeping
from pages.shared.operator.user_workspaces import LISTS
from pages.shared.operator.user_workspaces import listed_keys as keys
from pages.shared.results import run_names
from pages.shared.workspaces import dataset_list
from xmlcore import store

COPY = "catalog"  # the store's name for published data sets as they were made or downloaded, before anyone used them
# Kinds of results, by the kind of their task, as the table calls them.
KIND_WORDS = {
    "train": "trained model",
    COPY: "published data set",
    "given_predictions": "predictions of another program",
    "select": "selection of features",
    "compare_selections": "comparison of selections",
    "selection_stability": "stability of a selection",
    "reduced": "model on selected features",
    "prefixes": "parts of an ensemble",
    "node_quality": "quality of nodes",
    "robustness": "robustness",
    "explanations": "explanations",
    "sampling": "study of sampling",
    "decide": "decisions",
    "measures": "more measures",
    "sweep": "sweep",
    "trial": "training of a sweep",
    "learning_curve": "learning curve",
    "description": "description of data",
    "examine": "examination of data",
    "map": "map of data",
    "export": "file of a data set",
    "pack_model": "file of a model",
    "open_model": "model from a file",
    "predict": "predictions for a file",
    "predict_opened": "predictions for a file",
}
DATASET, SWEPT = "data set", "trainings of a sweep"
COLORED = (KIND_WORDS["train"], DATASET, KIND_WORDS[COPY], KIND_WORDS["select"], SWEPT, KIND_WORDS["decide"])
# Computed from a data set alone, so every workspace with the data set may see them.
OF_EVERY_DATASET = ("description", "examine", "export", "map")
TRIALS = "trials"  # the store's name for trainings of sweeps
GROUP = "trainings of "  # before the key of a sweep: the key of the line of its trainings
LEAST_SHOWN = 0.1  # MB: smaller sizes are shown as this
FIELDS = ("known", *LISTS, "made")  # fields of a workspace that list its artifacts


def of_workspace(inventory: store.Inventory, fields: dict) -> list[store.Artifact]:
    """Return the artifacts of a workspace: those it lists, and those computed from its models and selections."""
    listed = keys(fields)
    own = {artifact.name: artifact for key in listed for artifact in inventory.with_key(key)}
    for artifact in list(own.values()):
        for other in inventory.dependents(*artifact.name):
            # Results that another workspace has computed from its own files cannot be made again: it alone lists them.
            computed = (
                artifact.kind != "datasets" and other.again and other.record.get("task") not in ("train", "select")
            )
            if computed or other.record.get("task") in OF_EVERY_DATASET and other.inputs == {"dataset": artifact.key}:
                own[other.name] = other
    return [*own.values(), *(copy for artifact in own.values() for copy in copies(artifact, inventory))]


def copies(artifact: store.Artifact, inventory: store.Inventory) -> list[store.Artifact]:
    """Return the copies of a published data set as it was made; none of anything else."""
    is_published = artifact.record.get("made_by") == "prepare"
    found = inventory.artifacts.values() if is_published else ()
    return [other for other in found if other.kind == COPY and other.record.get("name") == artifact.record.get("name")]


def table(own: list[store.Artifact], inventory: store.Inventory, fields: dict, by: str) -> pd.DataFrame:
    titles, zone, mine = titles_of(own, fields), format.zone(), {artifact.name for artifact in own}
    at = lambda seconds: pd.Timestamp(seconds, unit="s", tz="UTC").tz_convert(zone)  # noqa: E731
    lines = [
        {
            "kind": kind_words(artifact),
            "title": titles[artifact.key],
            "bytes": artifact.bytes,
            "mb": max(LEAST_SHOWN, artifact.bytes / 1e6),
            "created": at(artifact.created),
            "used": at(max(artifact.created, artifact.used - artifact.used % 3600)),  # a use is noted once an hour
            "source": _source(artifact, titles, fields),
            "users": sum(other.name in mine for other in inventory.dependents(*artifact.name)),
            "pinned": "pinned" if by in artifact.pins else "",
            "folder": artifact.kind,
            "key": artifact.key,
        }
        for artifact in sorted(own, key=lambda artifact: (-artifact.bytes, artifact.key))
    ]
    return pd.DataFrame(lines)


def kind_words(artifact: store.Artifact) -> str:
    if artifact.kind == "datasets":
        return DATASET
    if "count" in artifact.record:
        return SWEPT
    return KIND_WORDS.get(artifact.record.get("task", artifact.kind), artifact.kind.replace("-", " "))


def titles_of(own: list[store.Artifact], fields: dict) -> dict[str, str]:
    titles = {fingerprint: entry["name"] for fingerprint, entry in fields["known"].items()}
    for kind, naming in (("runs", run_names.names), ("selections", run_names.selections)):
        groups = {}
        for record in fields[kind]:
            groups.setdefault(record["fingerprint"], []).append(record)
        for records in groups.values():
            titles |= naming(records)
    return titles | {one.key: _title(one, titles) for one in own if one.key not in titles}


def full_titles(some: list[store.Artifact], fields: dict) -> dict[str, str]:
    """Return the titles of artifacts with the name of their data set, such as ``FALS of api-docs``."""
    titles = titles_of(some, fields)
    of = {artifact.key: titles.get(artifact.record.get("fingerprint")) for artifact in some}
    return {key: f"{title} of {of[key]}" if of.get(key) and of[key] not in title else title
            for key, title in titles.items()}  # fmt: skip


def _title(artifact, titles) -> str:
    if "count" in artifact.record:
        trained = format.count(artifact.record["count"], "training")
        return f"{trained} of {artifact.record['model']} on {titles.get(artifact.record['fingerprint'], 'a data set')}"
    words = kind_words(artifact)
    if artifact.kind == COPY:
        return f"{words}: {artifact.record['name']}"
    of = next((titles[key] for key in artifact.inputs.values() if key in titles), artifact.record.get("dataset"))
    return f"{words} of {of}" if of else words


def _source(artifact, titles, fields) -> str:
    if artifact.kind == "datasets":
        made_from = [titles[key] for key in artifact.sources.values() if key in titles]  # else another workspace did
        entry = fields["known"].get(artifact.key, {"source": "upload"})
        return f"split of {made_from[0]}" if made_from else dataset_list.where_from(entry)
    inputs = [*artifact.inputs.values(), artifact.record.get("fingerprint")]
    return ", ".join(dict.fromkeys(titles[key] for key in inputs if key in titles))


def trial_keys(records) -> set[str]:
    return {key for record in records for key in _of(record)}


def _of(record) -> list[str]:
    """Return the keys of the trainings of a sweep, as far as it has come."""
    # The trainings of a sweep are unknown if its data set is gone or its settings no longer exist.
    with contextlib.suppress(store.StoreError, OSError, ValueError, TypeError, KeyError):
        return [line["key"] for line in sweeping.task_of(record).plan().trials]
    return []


def _kept(record, inventory) -> list[store.Artifact]:
    return [inventory.artifacts[TRIALS, key] for key in _of(record) if (TRIALS, key) in inventory.artifacts]


def sweeps(inventory: store.Inventory, records, by: str) -> list[store.Artifact]:
    """Return a line for each sweep that has trainings on the disk, as if they were one artifact."""
    lines = []
    for record in records:
        if own := _kept(record, inventory):
            about = {"task": "trial", "inputs": {"dataset": record["fingerprint"]}, "count": len(own)}
            about |= {"fingerprint": record["fingerprint"], "model": record["params"].get("model")}
            created, used = max(artifact.created for artifact in own), max(artifact.used for artifact in own)
            pins = (by,) if all(by in artifact.pins for artifact in own) else ()
            n_bytes = sum(artifact.bytes for artifact in own)
            lines.append(store.Artifact(TRIALS, GROUP + record["key"], n_bytes, created, used, about, pins))
    return lines


def spread(lines, inventory: store.Inventory, records) -> list[store.Artifact]:
    """Return artifacts with the trainings of sweeps in place of the lines that stand for them, each once."""
    by_key = {GROUP + record["key"]: record for record in records}
    all_of = {}
    for artifact in lines:
        if artifact.key in by_key:
            all_of |= {other.name: other for other in _kept(by_key[artifact.key], inventory)}
        else:
            all_of[artifact.name] = artifact
    return list(all_of.values())
