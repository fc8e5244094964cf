"""Views: each tab of a workspace has its own.

The row of a workspace has the view that was chosen last in any tab, with which a new tab begins. An open tab keeps its
own: what another tab chooses does not change it. What is new is shown in every tab: a data set that was put in use when
it became ready, and a result that the user asked for after this tab's last choice. What another tab has removed is no
longer in the view. The address alone could not say so: it does not have the time of a choice.
"""

from copy import deepcopy

FIELDS = ("dataset", "shown", "widgets")  # of the workspace, see pages.shared.workspaces.workspace
DECISION, FILES = "predict.decision ", "predict.files "  # how names in "widgets" begin that are the same in all tabs


def of(data: dict) -> dict:
    return {name: deepcopy(data[name]) for name in FIELDS}


def merged(data: dict, view: dict, since: dict, selection_prefix: str) -> dict:
    """Return a workspace's fields with the view of a tab, and add what is newer than its choices, ``since``."""
    drop_removed(data, view)
    if data["used"] > since.get("dataset", since[""]) or view["dataset"] is None:
        view["dataset"] = data["dataset"]
        since["dataset"] = max(data["used"], since[""])
    for field, name, record in _shown(data, selection_prefix):
        asked = record.get("asked") or 0.0
        if asked > since.get((field, name), since[""]):
            view[field][name] = record["key"]
            since[field, name] = asked
    return {**data, **deepcopy(view)}


def drop_removed(data: dict, view: dict) -> None:
    """Remove entries from a view that its workspace has no longer, but for decisions and files."""
    if view["dataset"] not in data["known"]:
        view["dataset"] = data["dataset"]
    listed = {record["key"] for record in data["runs"]}
    view["shown"] = {name: key for name, key in view["shown"].items() if key in listed}
    of_all = {name: value for name, value in data["widgets"].items() if name.startswith((DECISION, FILES))}
    own = {name: value for name, value in view["widgets"].items() if not name.startswith((DECISION, FILES))}
    view["widgets"] = own | of_all


def note(before: dict, after: dict, since: dict, now: float) -> None:
    """Note in ``since`` which choices of a tab differ between the fields before and after."""
    if _chose_dataset(before, after):
        since["dataset"] = now
    for field in ("shown", "widgets"):
        for name in before[field].keys() | after[field].keys():
            if before[field].get(name) != after[field].get(name):
                since[field, name] = now


def written(data: dict, before: dict, after: dict) -> dict:
    """Return the fields to write: those after a change, but of the view only the changed ones."""
    result = dict(after)
    for field in FIELDS:
        if field == "dataset":
            result[field] = after[field] if _chose_dataset(before, after) else data[field]
            continue
        changed = {k: v for k, v in after[field].items() if k not in before[field] or before[field][k] != v}
        removed = before[field].keys() - after[field].keys()
        result[field] = {k: v for k, v in (data[field] | changed).items() if k not in removed}
    return result


def _chose_dataset(before, after):
    """Return whether a change put a data set in use; it may be the one that the tab looked at before."""
    return before["dataset"] != after["dataset"] or before["used"] != after["used"]


def _shown(data, selection_prefix):
    """Yield the results shown by the row: a field, a name in it, and the record of the run or selection."""
    runs = {record["key"]: record for record in data["runs"]}
    selections = {record["key"]: record for record in data["selections"]}
    for name, key in data["shown"].items():
        if key in runs:
            yield "shown", name, runs[key]
    for name, key in data["widgets"].items():
        if name.startswith(selection_prefix) and isinstance(key, str) and key in selections:
            yield "widgets", name, selections[key]
