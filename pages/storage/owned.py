"""What belongs to a workspace among all that is kept on this machine, in words."""

import pandas as pd

from pages.shared import format
from pages.shared.operator.user_workspaces import LISTS
from pages.shared.operator.user_workspaces import listed_keys as keys
from pages.shared.results import run_names
from pages.shared.workspaces import sources
from xmlcore import store

COPY = "catalog"  # the store's name for published data sets as they were made or downloaded, before anyone used them
# Kinds of results, by the kind of their task, as the table calls them.
KIND_WORDS = {
    "train": "trained model",
    COPY: "copy as published",
    "given_predictions": "given predictions",
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
    "power_law": "test of frequencies",
    "examine": "examination of data",
    "export": "file of a data set",
    "pack_model": "file of a model",
    "open_model": "model from a file",
    "predict": "predictions for a file",
    "predict_opened": "predictions for a file",
}
DATASET, SWEPT = "data set", "trainings of a sweep"
COLORED = (KIND_WORDS["train"], DATASET, KIND_WORDS[COPY], KIND_WORDS["select"], SWEPT, KIND_WORDS["decide"])
# Of each data set, whoever has it: these say nothing about what another workspace has done.
OF_EVERY_DATASET = ("description", "examine", "power_law", "export")
VARIED = {"n_adversarial": "κ", "examples_per_class": "π", "n_candidates": "candidates"}  # by studies of sampling
LEAST_SHOWN = 0.1  # MB: what is smaller is shown as this
FIELDS = ("known", *LISTS, "made")  # fields of a workspace that say what belongs to it


def of_workspace(inventory: store.Inventory, fields: dict) -> list[store.Artifact]:
    """Return what belongs to a workspace: what it lists, and what was computed from its models and selections."""
    listed = keys(fields)
    own = {artifact.name: artifact for key in listed for artifact in inventory.with_key(key)}
    for artifact in list(own.values()):
        for other in inventory.dependents(*artifact.name):
            # What another workspace has computed of its own files cannot be made again: it is listed there only.
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
    """Return a line for each artifact of a workspace, the largest first."""
    titles, users, zone = titles_of(own, fields), _users(own, inventory), format.zone()
    lines = [
        {
            "kind": kind_words(artifact),
            "title": titles[artifact.key],
            "bytes": artifact.bytes,
            "mb": max(LEAST_SHOWN, artifact.bytes / 1e6),
            "created": pd.Timestamp(artifact.created, unit="s", tz="UTC").tz_convert(zone),
            "used": pd.Timestamp(_to_the_hour(artifact), unit="s", tz="UTC").tz_convert(zone),
            "source": _source(artifact, titles, fields),
            "users": users.get(artifact.key, 0),
            "pinned": "pinned" if by in artifact.pins else "",
            "folder": artifact.kind,
            "key": artifact.key,
        }
        for artifact in sorted(own, key=lambda artifact: (-artifact.bytes, artifact.key))
    ]
    return pd.DataFrame(lines)


def _to_the_hour(artifact) -> float:
    """Return when an artifact was used last, in seconds since 1970; a use is noted once an hour."""
    return max(artifact.created, artifact.used - artifact.used % 3600)


def kind_words(artifact: store.Artifact) -> str:
    if artifact.kind == "datasets":
        return DATASET
    if "count" in artifact.record:
        return SWEPT
    return KIND_WORDS.get(artifact.record.get("task", artifact.kind), artifact.kind.replace("-", " "))


def titles_of(own: list[store.Artifact], fields: dict) -> dict[str, str]:
    titles = {fingerprint: entry["name"] for fingerprint, entry in fields["known"].items()}
    for _, records in _by_dataset(fields["runs"]).items():
        titles |= run_names.names(records)
    for _, records in _by_dataset(fields["selections"]).items():
        titles |= run_names.selections(records)
    for artifact in own:
        if artifact.key not in titles:
            titles[artifact.key] = _title(artifact, titles)
    return titles


def full_titles(some: list[store.Artifact], fields: dict) -> dict[str, str]:
    """Return the titles of artifacts with the name of their data set, such as ``FALS of api-docs``."""
    titles = titles_of(some, fields)
    of = {artifact.key: titles.get(artifact.record.get("fingerprint")) for artifact in some}
    return {key: f"{title} of {of[key]}" if of.get(key) and of[key] not in title else title
            for key, title in titles.items()}  # fmt: skip


def _by_dataset(records) -> dict[str, list]:
    groups = {}
    for record in records:
        groups.setdefault(record["fingerprint"], []).append(record)
    return groups


def _title(artifact, titles) -> str:
    """Return the title of a result of another kind: what it was computed from."""
    of = [titles[key] for key in artifact.inputs.values() if key in titles]
    where = of[0] if of else "a data set"
    if "count" in artifact.record:
        return f"{format.count(artifact.record['count'], 'training')} of {artifact.record['model']} on {where}"
    if artifact.record.get("task") == "sweep":
        return f"sweep of {artifact.record.get('params', {}).get('model', 'a model')} on {where}"
    if artifact.kind == COPY:
        return f"{kind_words(artifact)}: {artifact.record['name']}"
    words = kind_words(artifact) + _studied(artifact.record.get("params", {}))
    return f"{words} of {of[0]}" if of else str(artifact.record.get("dataset") or words)


def _studied(params) -> str:
    """Return what was varied in a study of sampling, such as ", κ and π,"; empty of other results."""
    return (
        f", {' and '.join(varied)}," if (varied := [sign for name, sign in VARIED.items() if params.get(name)]) else ""
    )


def _source(artifact, titles, fields) -> str:
    if artifact.kind == "datasets":
        made_from = [titles[key] for key in artifact.sources.values() if key in titles]  # else another workspace did
        entry = fields["known"].get(artifact.key, {"source": "upload"})
        return f"split of {made_from[0]}" if made_from else sources.words(entry)
    dataset = titles.get(artifact.record.get("fingerprint"), "")
    return ", ".join(dict.fromkeys([*(titles[k] for k in artifact.inputs.values() if k in titles), dataset])).strip(
        ", "
    )


def _users(own, inventory) -> dict[str, int]:
    mine = {artifact.name for artifact in own}
    counts = {}
    for artifact in own:
        counts[artifact.key] = sum(other.name in mine for other in inventory.dependents(*artifact.name))
    return counts
