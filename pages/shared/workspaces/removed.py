"""Remove a data set from the workspace, and bring back the one that was removed last."""

import time

import streamlit as st

from pages.shared.operator import audit
from pages.shared.workspaces import dataset_list, result_list, workspace

REMOVED = "data.removed"  # key of st.session_state: what was removed last, and when, in seconds since 1970
UNDO_WITHIN = 600  # seconds
FIELDS = ("known", *result_list.LISTS.values(), "shown")  # fields of the workspace that have entries of data sets


def remove(fingerprint: str) -> None:
    """Remove a data set and its results from the workspace; what is stored may belong to other workspaces too."""
    if workspace.refuse():
        return
    before = {name: _of(workspace.get(name), fingerprint) for name in FIELDS}
    before["dataset"] = workspace.get("dataset") == fingerprint

    def change(data):
        """Remove the data set from the workspace's fields."""
        data["known"].pop(fingerprint, None)
        for kind in result_list.LISTS.values():
            data[kind] = [record for record in data[kind] if record["fingerprint"] != fingerprint]
        data["shown"].pop(fingerprint, None)
        if data["dataset"] == fingerprint:
            data["dataset"], data["wanted"] = None, None

    workspace.update(change)
    audit.note("delete", kinds=["datasets"], keys=[fingerprint], listed_only=True)
    st.session_state[REMOVED] = before, time.time()


def last() -> str | None:
    """Return the name of the data set that this session removed last; None if it is there again, or after a while."""
    before, when = st.session_state.get(REMOVED, ({}, 0.0))
    known = before.get("known", {})
    if not known or time.time() - when > UNDO_WITHIN or known.keys() & workspace.get("known").keys():
        return None
    return next(iter(known.values()))["name"]


def undo() -> None:
    """Bring back the data set and its results that this session removed last."""
    if workspace.refuse():
        return
    before, _ = st.session_state.pop(REMOVED, ({}, 0.0))

    def change(data):
        """Add the entries to the workspace's fields; those that are listed by now stay as they are."""
        for fingerprint, entry in before.get("known", {}).items():
            taken = [other["name"] for other in data["known"].values()]
            entry = entry | ({"entry": dataset_list.catalog_name(entry)} if entry["source"] == "catalog" else {})
            data["known"].setdefault(fingerprint, entry | {"name": dataset_list.free_name(entry["name"], taken)})
            if before["dataset"] and data["dataset"] is None:
                data["dataset"] = fingerprint
        for kind in result_list.LISTS.values():
            listed = {record["key"] for record in data[kind]}
            data[kind] += [record for record in before.get(kind, ()) if record["key"] not in listed]
            data[kind].sort(key=lambda record: record["created"])
        data["shown"] = before.get("shown", {}) | data["shown"]

    workspace.update(change)


def _of(field, fingerprint):
    """Return the entries of a data set in a field of the workspace."""
    if isinstance(field, dict):
        return {fingerprint: field[fingerprint]} if fingerprint in field else {}
    return [record for record in field if record["fingerprint"] == fingerprint]
