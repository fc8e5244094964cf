"""Deleting what a workspace keeps, with what was computed from it, and bringing it back."""

import contextlib
import threading
import time

import streamlit as st

from pages.shared import format, server
from pages.shared.operator import audit
from pages.shared.process import room
from pages.shared.workspaces import stored, workspace
from pages.storage import owned, trials
from xmlcore import experiment, store

DELETED = "storage.deleted"  # key of st.session_state: what was deleted last in this session
UNDO_WITHIN = room.UNDO_SECONDS  # for which a deletion can be undone; its space is free after them
LISTED = 8  # titles that the question lists


def with_dependents(chosen: list, own: list, found) -> list:
    """Return chosen artifacts of a workspace, and then all of the workspace that was computed from them."""
    mine = {one.name for one in own}
    goes = {one.name: one for one in chosen}
    for one in chosen:
        goes |= {other.name: other for other in found.dependents(*one.name) if other.name in mine}
    return list(goes.values())


def with_trials(chosen: list, found, sweeps: list) -> list:
    """Return chosen lines of the table as artifacts; the trainings of a sweep go with it."""
    groups = [group for group in trials.groups(found, sweeps, "0") if group.key in map(trials.group_of, chosen)]
    return trials.spread([*chosen, *groups], found, sweeps)


def elsewhere(mine: str) -> set[str]:
    """Return the keys that other workspaces list. The files of all workspaces are read."""
    keys = set()
    for data in stored.all_but(mine):
        with contextlib.suppress(KeyError, TypeError, ValueError, AttributeError):  # a damaged file lists nothing
            keys |= owned.keys(data) | trials.keys(data.get("sweeps", ()))
    return keys


def delete(goes: list, found) -> dict:
    """Take artifacts from this workspace, and from the disk if no other workspace lists them.

    What was computed from them and belongs to no workspace goes with them.
    """
    keys, listed = {one.key for one in goes}, elsewhere(workspace.token())
    before = {name: workspace.get(name) for name in (*owned.FIELDS, "shown", "dataset")}
    workspace.update(lambda data: _forget(data, keys))
    still = listed | owned.keys({name: workspace.get(name) for name in owned.FIELDS})
    if any(one.kind == trials.FOLDER for one in goes):  # other sweeps may have some of them in common
        others = [record for record in workspace.get("sweeps") if not _all_go(record, keys, found)]
        still |= trials.keys(others)
    gone, line = {}, list(goes)
    while line:
        one = line.pop()
        if one.key not in still and one.name not in gone:
            gone[one.name] = one
            line += found.computed_from(one.key)
    for one in gone.values():
        if one.kind == "sweeps":
            experiment.engine.sweep_unfinished.forget(one.key)
    aside = [(one.kind, store.set_aside(*one.name)) for one in gone.values()]
    server.forget()
    audit.note("delete", kinds=[one.kind for one in gone.values()], keys=[one.key for one in gone.values()])
    n_bytes = sum(one.bytes for one in gone.values())
    timer = threading.Timer(UNDO_WITHIN + 1, store.remove_aside, [UNDO_WITHIN])
    timer.daemon = True
    timer.start()
    aside = [(kind, name) for kind, name in aside if name is not None]
    return {"before": before, "aside": aside, "count": len(goes), "bytes": n_bytes, "when": time.time()}


def _all_go(record, keys, found) -> bool:
    """Return whether all trainings of a sweep that are kept are deleted."""
    return all(key in keys for key in trials.keys([record]) if found.with_key(key))


def _forget(data, keys):
    """Remove keys from the fields of a workspace."""
    data["known"] = {fingerprint: entry for fingerprint, entry in data["known"].items() if fingerprint not in keys}
    for kind in owned.LISTS:
        data[kind] = [record for record in data[kind] if record["key"] not in keys]
    data["made"] = [one for one in data["made"] if one[1] not in keys]
    data["shown"] = {name: key for name, key in data["shown"].items() if key not in keys and name not in keys}
    if data["dataset"] in keys:
        data["dataset"], data["wanted"] = None, None


def undo(deleted: dict) -> bool:
    """Bring back what :func:`delete` has deleted; return whether all of it is there again."""
    there = [store.put_back(kind, name) for kind, name in deleted["aside"]]
    before = deleted["before"]

    def restore(data):
        """Add the entries to the workspace's fields; those that are listed by now stay as they are."""
        data["known"] = before["known"] | data["known"]
        for kind in owned.LISTS:
            listed = {record["key"] for record in data[kind]}
            data[kind] += [record for record in before[kind] if record["key"] not in listed]
            data[kind].sort(key=lambda record: record.get("created") or record["asked"])
        data["made"] += [one for one in before["made"] if one not in data["made"]]
        data["shown"] = before["shown"] | data["shown"]
        data["dataset"] = data["dataset"] or before["dataset"]

    workspace.update(restore)
    return all(there)


@st.dialog("Delete")
def ask(chosen: list, goes: list, n_also: int, titles: dict, found) -> None:
    """Say what is deleted and what goes with it, and ask; the last ``n_also`` of ``goes`` were computed from others."""
    needed = room.needed()
    if any(one.key in needed for one in goes):
        st.markdown("A job that waits or runs needs some of this. Stop it first: the sidebar lists it.")
        return
    also = goes[len(goes) - n_also :]
    st.markdown(f"Delete {_named(chosen, titles)}?")
    if also:
        st.markdown(f"**{format.count(len(also), 'result')} computed from this** {_go(also)} with it:")
        st.markdown("\n".join(f"- {format.plain(titles[one.key])}" for one in also[:LISTED]))
        if len(also) > LISTED:
            st.caption(f"{LISTED} of {len(also):,} are listed.")
    uploads = [one for one in goes if not found.can_be_made_again(one)]
    if uploads:
        st.warning(
            f"{_named(uploads, titles)} cannot be made again here: keep your files, or write the workspace first."
        )
    st.caption(
        f"{format.size(sum(one.bytes for one in goes))} in all. What other workspaces list too stays on the disk. For "
        f"{UNDO_WITHIN / 60:.0f} minutes this can be undone; then the space is free."
    )
    with st.container(horizontal=True):
        if st.button("Delete", type="primary", key="storage.confirm", on_click=_delete, args=(goes, found)):
            st.rerun()
        if st.button("Keep", key="storage.keep"):
            st.rerun()


def _go(also) -> str:
    """Return the verb for a number of results."""
    return "goes" if len(also) == 1 else "go"


def _named(some, titles) -> str:
    """Return the titles of a few artifacts, or their number."""
    if len(some) > 3:
        return f"**{len(some):,} things**"
    return format.listed([f"**{format.plain(titles[one.key])}** ({owned.kind_words(one)})" for one in some])


def _delete(goes, found):
    """Delete; called by the button."""
    if workspace.refuse():
        return
    try:
        st.session_state[DELETED] = delete(goes, found)
    except OSError as error:
        workspace.notify(f"Not deleted: {store.trouble(0) or error}")


def offer_undo() -> None:
    """Say what this session has deleted last, with buttons that bring it back or free its space at once."""
    deleted = st.session_state.get(DELETED)
    if deleted is None or time.time() - deleted["when"] > UNDO_WITHIN:
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption(
            f"Deleted: {format.count(deleted['count'], 'thing')}, {format.size(deleted['bytes'])} on the disk.",
            width="content",
        )
        st.button("Undo", key="storage.undo", on_click=_undo, type="tertiary", icon=":material/undo:")
        if deleted["aside"]:
            st.button("Free the space now", key="storage.free", on_click=_free, type="tertiary")


def _undo():
    """Bring back what was deleted; called by the button."""
    deleted = st.session_state.pop(DELETED, None)
    if deleted is not None and not undo(deleted):
        workspace.notify("Some of it was removed from the disk meanwhile: make it again.")


def _free():
    """Remove what this session has deleted last from the disk; called by the button."""
    deleted = st.session_state.pop(DELETED, None)
    for kind, name in deleted["aside"] if deleted else ():
        store.remove_aside_one(kind, name)
