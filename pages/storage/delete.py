"""Deleting what a workspace keeps, with what was computed from it."""

import contextlib
import threading

import streamlit as st

from pages.shared import actions, format, server
from pages.shared.operator import audit
from pages.shared.process import room
from pages.shared.workspaces import removed, stored, workspace
from pages.storage import owned, trials
from xmlcore import experiment, store

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


def delete(goes: list, found) -> None:
    """Take artifacts from this workspace, and from the disk if no other workspace lists them."""
    keys, listed = {one.key for one in goes}, elsewhere(workspace.token())
    entries, aside = removed.forget(keys), []
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
    size = format.size(sum(one.bytes for one in gone.values()))
    removed.remember(f"{format.count(len(goes), 'thing')}, {size} on the disk", entries, aside)
    for one in gone.values():
        if one.kind == "sweeps":
            experiment.engine.sweep_unfinished.forget(one.key)
        name = store.set_aside(*one.name)
        aside += [] if name is None else [(one.kind, name)]
    server.forget()
    audit.note("delete", kinds=[one.kind for one in gone.values()], keys=[one.key for one in gone.values()])
    timer = threading.Timer(room.UNDO_SECONDS + 1, store.remove_aside, [room.UNDO_SECONDS])
    timer.daemon = True
    timer.start()


def _all_go(record, keys, found) -> bool:
    """Return whether all trainings of a sweep that are kept are deleted."""
    return all(key in keys for key in trials.keys([record]) if found.with_key(key))


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
        go = "goes" if len(also) == 1 else "go"
        st.markdown(f"**{format.count(len(also), 'result')} computed from this** {go} with it:")
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
        f"{room.UNDO_SECONDS / 60:.0f} minutes this can be undone; then the space is free."
    )
    actions.confirm("Delete", "storage.confirm", _delete, (goes, found), no="Keep", no_key="storage.keep")


def _named(some, titles) -> str:
    if len(some) > 3:
        return f"**{len(some):,} things**"
    return format.listed([f"**{format.plain(titles[one.key])}** ({owned.kind_words(one)})" for one in some])


def _delete(goes, found):
    if workspace.refuse():
        return
    try:
        delete(goes, found)
    except OSError as error:
        workspace.notify(f"Not deleted: {store.trouble(0) or error}")
