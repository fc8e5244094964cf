"""What belongs to a workspace among all that is kept on this machine, in words."""

import pandas as pd

from pages.shared import format
from pages.shared.operator.user_workspaces import LISTS
from pages.shared.operator.user_workspaces import listed_keys as keys
from pages.shared.results import run_names
from pages.shared.workspaces import sources
from xmlcore import store

# Kinds of results, by the kind of their task, as the table calls them.
KIND_WORDS = {
    "train": "trained model",
    "select": "selection of features",
    "compare_selections": "comparison of selections",
    "selection_stability": "stability of a selection",
    "reduced": "model on selected features",
    "prefixes": "parts of an ensemble",
    "node_quality": "quality of nodes",
    "robustness": "robustness",
    "explanations": "explanations",
    "sampling": "study of sampling",
    "measures": "more measures",
    "sweep": "sweep",
    "trial": "training of a sweep",
    "learning_curve": "learning curve",
    "description": "description of data",
    "power_law": "test of frequencies",
    "statistics": "statistics",
    "examine": "examination of data",
    "export": "file of a data set",
    "export_workspace": "file of the workspace",
    "pack_model": "file of a model",
    "open_model": "model from a file",
    "predict": "predictions for a file",
    "predict_opened": "predictions for a file",
}
# Of each data set, whoever has it: these say nothing about what another workspace has done.
OF_EVERY_DATASET = ("statistics", "description", "examine", "power_law", "export")
LEAST_SHOWN = 0.1  # MB: what is smaller is shown as this
FIELDS = ("known", *LISTS, "made")  # fields of a workspace that say what belongs to it


def of_workspace(found: store.Inventory, fields: dict) -> list[store.Artifact]:
    """Return what belongs to a workspace: what it lists, and what was computed from its models and selections."""
    listed = keys(fields)
    own = {one.name: one for key in listed for one in found.with_key(key)}
    for one in list(own.values()):
        for other in found.dependents(*one.name):
            computed = one.kind != "datasets" and other.record.get("task") not in ("train", "select")
            if computed or other.record.get("task") in OF_EVERY_DATASET and other.inputs == {"dataset": one.key}:
                own[other.name] = other
    return list(own.values())


def table(own: list[store.Artifact], found: store.Inventory, fields: dict, by: str) -> pd.DataFrame:
    """Return a line for each artifact of a workspace, the largest first."""
    titles, users, zone = titles_of(own, found, fields), _users(own, found), format.zone()
    lines = [
        {
            "kind": kind_words(one),
            "title": titles[one.key],
            "bytes": one.bytes,
            "mb": max(LEAST_SHOWN, one.bytes / 1e6),
            "created": pd.Timestamp(one.created, unit="s", tz="UTC").tz_convert(zone),
            "used": pd.Timestamp(one.used, unit="s", tz="UTC").tz_convert(zone),
            "source": _source(one, titles, fields),
            "users": users.get(one.key, 0),
            "pinned": "pinned" if by in one.pins else "",
            "again": found.can_be_made_again(one),
            "folder": one.kind,
            "key": one.key,
        }
        for one in sorted(own, key=lambda one: (-one.bytes, one.key))
    ]
    columns = ["kind", "title", "bytes", "mb", "created", "used", "source", "users", "pinned", "again", "folder", "key"]
    return pd.DataFrame(lines, columns=columns)


def kind_words(one: store.Artifact) -> str:
    if one.kind == "datasets":
        return "data set"
    if "count" in one.record:
        return "trainings of a sweep"
    return KIND_WORDS.get(one.record.get("task"), one.kind.replace("-", " "))


def titles_of(own: list[store.Artifact], found: store.Inventory, fields: dict) -> dict[str, str]:
    """Return what the user calls each artifact, by key."""
    titles = {fingerprint: entry["name"] for fingerprint, entry in fields["known"].items()}
    for _, records in _by_dataset(fields["runs"]).items():
        titles |= run_names.names(records)
    for _, records in _by_dataset(fields["selections"]).items():
        titles |= run_names.selections(records)
    for one in own:
        if one.key not in titles:
            titles[one.key] = _title(one, titles)
    return titles


def _by_dataset(records) -> dict[str, list]:
    groups = {}
    for record in records:
        groups.setdefault(record["fingerprint"], []).append(record)
    return groups


def _title(one, titles) -> str:
    """Return the title of a result of another kind: what it was computed from."""
    of = [titles[key] for key in one.inputs.values() if key in titles]
    where = of[0] if of else "a data set"
    if "count" in one.record:
        return f"{one.record['count']:,} trainings of {one.record['model']} on {where}"
    if one.record.get("task") == "sweep":
        return f"sweep of {one.record.get('params', {}).get('model', 'a model')} on {where}"
    return f"{kind_words(one)} of {of[0]}" if of else str(one.record.get("dataset") or kind_words(one))


def _source(one, titles, fields) -> str:
    if one.kind == "datasets":
        made_from = [titles.get(key, "another data set") for key in one.sources.values()]
        entry = fields["known"].get(one.key, {"source": "upload"})
        return f"split of {made_from[0]}" if made_from else sources.words(entry)
    dataset = titles.get(one.record.get("fingerprint"), "")
    if one.record.get("task") == "export_workspace":
        return "this workspace"
    return ", ".join(dict.fromkeys([*(titles[k] for k in one.inputs.values() if k in titles), dataset])).strip(", ")


def _users(own, found) -> dict[str, int]:
    """Return how many artifacts of the workspace were computed from each one, by key."""
    mine = {one.name for one in own}
    counts = {}
    for one in own:
        counts[one.key] = sum(other.name in mine for other in found.dependents(*one.name))
    return counts
