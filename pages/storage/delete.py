"""Deleting what a workspace keeps, with what was computed from it."""

import contextlib
import threading

import streamlit as st

from pages.shared import actions, format, server
from pages.shared.operator import audit
from pages.shared.process import room
from pages.shared.workspaces import removed, stored, workspace
from pages.storage import owned
from xmlcore import experiment, store

LISTED = 8  # titles that the question lists


def with_dependents(chosen: list, own: list, inventory) -> list:
    """Return chosen artifacts of a workspace, and then all of the workspace that was computed from them."""
    mine = {artifact.name for artifact in own}
    goes = {artifact.name: artifact for artifact in chosen}
    for artifact in chosen:
        computed = [*inventory.dependents(*artifact.name), *owned.copies(artifact, inventory)]
        goes |= {other.name: other for other in computed if other.name in mine}
    return list(goes.values())


def with_trials(chosen: list, inventory, sweeps: list) -> list:
    """Return chosen lines of the table as artifacts; the trainings of a sweep go with it."""
    groups = [group for group in owned.sweeps(inventory, sweeps, "0") if group.key in map(owned.group_of, chosen)]
    return owned.spread([*chosen, *groups], inventory, sweeps)


def elsewhere(mine: str) -> set[str]:
    """Return the keys that other workspaces list, all of which are read."""
    keys = set()
    for data in stored.all_but(mine):
        with contextlib.suppress(KeyError, TypeError, ValueError, AttributeError):  # a damaged one lists nothing
            keys |= owned.keys(data) | owned.trial_keys(data.get("sweeps", ()))
    return keys


def delete(goes: list, inventory, title: str) -> None:
    """Take artifacts from this workspace, and from the disk if no other workspace lists them; the undo names them."""
    listed = elsewhere(workspace.token())
    entries, aside = removed.forget({artifact.key for artifact in goes}), []
    gone = _of_nobody(goes, inventory, listed | owned.keys({name: workspace.get(name) for name in owned.FIELDS}))
    freed = sum(artifact.bytes for artifact in gone.values())
    removed.remember(f"{title}, {format.size(freed)}" if freed else title, entries, aside)
    for artifact in gone.values():
        if artifact.kind == "sweeps":
            experiment.engine.sweep_unfinished.forget(artifact.key)
        name = store.set_aside(*artifact.name)
        aside += [] if name is None else [(artifact.kind, name)]
    server.forget()
    kinds, keys = [artifact.kind for artifact in gone.values()], [artifact.key for artifact in gone.values()]
    audit.note("delete", kinds=kinds, keys=keys)
    timer = threading.Timer(room.UNDO_SECONDS + 1, store.remove_aside, [room.UNDO_SECONDS])
    timer.daemon = True
    timer.start()


def _of_nobody(goes: list, inventory, still: set[str]) -> dict:
    """Return what of some artifacts, and of what was computed from them, no workspace lists; ``still`` are listed."""
    keys = {artifact.key for artifact in goes}
    if any(artifact.kind == owned.TRIALS for artifact in goes):  # other sweeps may have some of them in common
        for trials in (owned.trial_keys([record]) for record in workspace.get("sweeps")):
            still |= set() if all(key in keys for key in trials if inventory.with_key(key)) else trials
    still |= {copy.key for artifact in goes if artifact.key in still for copy in owned.copies(artifact, inventory)}
    gone, line = {}, list(goes)
    while line:
        artifact = line.pop()
        if artifact.key not in still and artifact.name not in gone:
            gone[artifact.name] = artifact
            line += inventory.computed_from(artifact.key)
    return gone


@st.dialog("Delete")
def ask(chosen: list, goes: list, n_also: int, titles: dict, inventory) -> None:
    """Say what is deleted and what goes with it, and ask; the last ``n_also`` of ``goes`` were computed from others."""
    needed = room.needed()
    if any(artifact.key in needed for artifact in goes):
        st.markdown("A job that waits or runs needs some of this. Stop it first: the sidebar lists it.")
        return
    st.markdown(f"Delete {_named(chosen, titles)}?")
    if n_also:
        st.markdown(f"With it: **{format.count(n_also, 'result')} computed from this**.")
        st.markdown("\n".join(f"- {format.plain(titles[artifact.key])}" for artifact in goes[-n_also:][:LISTED]))
        if n_also > LISTED:
            st.caption(f"{format.showing(LISTED, n_also, 'result')}.")
    if uploads := [artifact for artifact in goes if not inventory.can_be_made_again(artifact)]:
        st.warning(f"{_named(uploads, titles)} cannot be made again here: keep your files.")
    size, minutes = format.size(sum(artifact.bytes for artifact in goes)), f"{room.UNDO_SECONDS / 60:.0f}"
    st.caption(f"{size} in all, but for what other workspaces list too. This can be undone for {minutes} minutes.")
    more = len(goes) - n_also - 1
    title = titles[chosen[0].key] + (f" and {more:,} more" if more else "")
    title += f", with {format.count(n_also, 'result')} of it" if n_also else ""
    actions.confirm("Delete", "storage.confirm", _delete, (goes, inventory, title), no="Keep", no_key="storage.keep")


def _named(some, titles) -> str:
    if len(some) > 3:
        return f"**{len(some):,} lines**, {format.size(sum(artifact.bytes for artifact in some))}"
    return format.listed([f"**{format.plain(titles[one.key])}** ({format.size(one.bytes)})" for one in some])


def _delete(goes, inventory, title):
    try:
        delete(goes, inventory, title)
    except OSError as error:
        workspace.notify(f"Not deleted: {store.trouble(0) or error}")
