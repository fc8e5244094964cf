"""Deletions from a workspace, and their undo, which is offered above every page, also after a reload."""

import time
from typing import NamedTuple

import streamlit as st

from pages.shared import actions, format
from pages.shared.operator import audit
from pages.shared.operator.user_workspaces import LISTS, listed_keys
from pages.shared.process import room
from pages.shared.workspaces import workspace
from pages.shared.workspaces.records import free_dataset_name
from xmlcore import store

FIELDS = ("known", *LISTS, "made", "shown", "widgets", "dataset")  # of the workspace: those that name what goes


class Deletion(NamedTuple):
    """A deletion from a workspace: its title for users, the removed entries of the workspace's fields, and its time.

    ``aside`` are kinds and names for :func:`xmlcore.store.put_back`, of what was taken from the disk.
    """

    token: str
    title: str
    entries: dict
    aside: list
    when: float


_REMOVALS: list[Deletion] = []  # of all workspaces of this server, oldest first


def remove(kind: str, keys: list[str], title: str, also: tuple = ()) -> None:
    """Remove entries of a kind from the workspace, and others with the keys ``also``; all stays on the disk."""
    remember(title, forget({*keys, *also}), [])
    audit.note("delete", kinds=[kind] * len(keys), keys=keys, listed_only=True)


def forget(keys: set[str]) -> dict:
    """Take the entries with some keys out of the workspace's fields, and return them."""
    before = {name: workspace.get(name) for name in FIELDS}
    workspace.update(lambda data: _drop(data, keys))
    after = {name: workspace.get(name) for name in FIELDS}
    entries = {name: _minus(before[name], after[name]) for name in FIELDS if name != "dataset"}
    return entries | {"dataset": before["dataset"] if before["dataset"] in keys else None}


def remember(title: str, entries: dict, aside: list) -> None:
    """Remember a deletion for undo; more may be added to ``aside``."""
    now = time.time()
    _REMOVALS[:] = [removal for removal in _REMOVALS if removal.when > now - room.UNDO_SECONDS]
    _REMOVALS.append(Deletion(workspace.token(), title, entries, aside, now))


def offer() -> None:
    """Show the last deletion, if any, with buttons that undo it or free its space at once."""
    removal = _last()
    if removal is not None and not workspace.read_only():
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.caption(f"Deleted {format.plain(removal.title)}.", width="content")
            actions.button("Undo", key="undo", on_click=undo, type="tertiary", icon=":material/undo:")
            if removal.aside:
                actions.button("Free the space now", key="undo.free", on_click=_free, type="tertiary")


def undo() -> None:
    """Undo the last deletion; entries listed since stay as they are."""
    removal = _last()
    if removal is None:
        return
    _REMOVALS[:] = [other for other in _REMOVALS if other is not removal]
    there = [store.put_back(kind, name) for kind, name in removal.aside]
    workspace.update(lambda data: _restore(data, removal.entries))
    if not all(there):
        workspace.notify("Some of it was removed from the disk meanwhile: make it again.")


def _last() -> Deletion | None:
    """Return the last deletion that can still be undone, unless all of it is there again."""
    since = time.time() - room.UNDO_SECONDS
    removals = [removal for removal in _REMOVALS if removal.token == workspace.token() and removal.when > since]
    listed = listed_keys({name: workspace.get(name) for name in FIELDS}) if removals else ()
    for removal in removals[::-1]:
        # Some of what goes from the disk has no entry: a copy of a published data set, trainings of a sweep.
        if not listed_keys(removal.entries) <= listed or any(store.is_aside(*one) for one in removal.aside):
            return removal
    return None


def _free():
    removal = _last()
    if removal is not None:
        _REMOVALS[:] = [other for other in _REMOVALS if other is not removal]
        for kind, name in removal.aside:
            store.remove_aside_one(kind, name)


def _drop(data, keys):
    """Remove the entries with some keys from the fields of a workspace, in place."""
    data["known"] = {fingerprint: entry for fingerprint, entry in data["known"].items() if fingerprint not in keys}
    for name in (*LISTS, "made"):
        data[name] = [entry for entry in data[name] if _key(entry) not in keys]
    data["shown"] = {name: key for name, key in data["shown"].items() if key not in keys and name not in keys}
    # A choice for one result or data set, such as a decision, has its key as the last word of the name.
    data["widgets"] = {name: value for name, value in data["widgets"].items() if name.split(" ")[-1] not in keys}
    if data["dataset"] in keys:
        data["dataset"], data["wanted"] = None, None


def _restore(data, entries):
    """Add entries to the fields of a workspace; a data set whose name is taken by now gets a number."""
    for fingerprint, entry in entries["known"].items():
        taken = [other["name"] for other in data["known"].values()]
        entry = ({"entry": entry["name"]} if entry["source"] == "catalog" else {}) | entry
        data["known"].setdefault(fingerprint, entry | {"name": free_dataset_name(entry["name"], taken)})
    for name in (*LISTS, "made"):
        listed = {_key(entry) for entry in data[name]}
        data[name] += [entry for entry in entries[name] if _key(entry) not in listed]
    for name in LISTS:
        data[name].sort(key=lambda record: record.get("created") or record["asked"])
    for name in ("shown", "widgets"):
        data[name] = entries[name] | data[name]
    data["dataset"] = data["dataset"] or entries["dataset"]


def _minus(entries, others):
    if isinstance(entries, dict):
        return {name: entry for name, entry in entries.items() if name not in others}
    keys = {_key(other) for other in others}
    return [entry for entry in entries if _key(entry) not in keys]


def _key(entry) -> str:
    return entry["key"] if isinstance(entry, dict) else entry[1]  # a record, or a kind and a key
