"""The results that this workspace keeps: size, map, table, pinning and deletion; and the limit for all workspaces."""

import os
import threading

import pandas as pd
import streamlit as st

from pages.shared import actions, cached, format, tables
from pages.shared.figures import charts
from pages.shared.operator import audit
from pages.shared.process import room
from pages.shared.results import run_names
from pages.shared.workspaces import removed, stored, workspace
from pages.storage import owned
from xmlcore import experiment, figures, store
from xmlcore.state import database
from xmlcore.store.limit import BOUND_VARIABLE

LISTED = 8  # titles of what goes with a deletion that are named
REMOVALS = 3  # lines on what was removed to make room


def show(inventory: store.Inventory) -> None:
    fields = {name: workspace.get(name) for name in owned.FIELDS}
    listed = owned.of_workspace(inventory, fields)
    lines = listed + owned.sweeps(inventory, fields["sweeps"], room.pinner(workspace.token()))
    own = owned.spread(lines, inventory, fields["sweeps"])
    try:
        most = store.bound(inventory.bytes)
    except ValueError as error:  # the bound that the operator has set
        st.error(format.plain(error))
        return
    sets = sum(artifact.kind == "datasets" for artifact in lines)
    models = sum(owned.kind_words(artifact) == owned.KIND_WORDS["train"] for artifact in lines)
    counts = {"data set": sets, "trained model": models, "other result": len(lines) - sets - models}
    kept = format.listed([format.count(number, noun) for noun, number in counts.items()])
    st.markdown(f"This workspace keeps **{kept}**.")
    about = (
        "Beyond this limit, the least recently used results are removed first: never pinned ones, those that a job "
        "needs, or data that cannot be made again."
    )
    tables.cards(
        ("This workspace", format.size(sum(artifact.bytes for artifact in own)), None),
        ("All workspaces", format.size(inventory.bytes), about, f"of at most {format.size(most)}"),
        ("Free disk space", format.size(store.free_on_disk()), None),
    )
    for removal in store.removals()[:REMOVALS]:
        st.caption(f":material/history: {format.since(removal.when)}: {format.plain(removal)}.")
    if lines:
        _table(lines, own, inventory, fields)
    _bound(most)


def _table(lines, own, inventory, fields):
    by = room.pinner(workspace.token())
    frame = owned.table(lines, inventory, fields, by)
    sizes = pd.DataFrame({"name": frame["title"], "group": frame["kind"], "size": frame["bytes"] / 1e6})
    caption = "A rectangle is a data set or a result, as large as its files. The table below names small ones, too."
    figure = figures.treemap(sizes, "Size of results", unit="MB", groups=owned.COLORED)
    charts.show_figure(figure, sizes, "storage", caption)
    largest = float(frame["mb"].max())
    # Above the table, where who ticks a line sees it.
    above = st.container(horizontal=True, vertical_alignment="center", gap="small")
    ticked = tables.show(
        frame,
        f"storage.table.{hash(tuple(frame['key'])) & 0xFFFFFF:x}",  # ticks belong to the lines of one table
        {
            "mb": tables.bar("MB", 90, "Size of the files on the disk; in memory it may be another.", most=largest),
            "title": tables.text("Title", None, run_names.footnote(frame["title"])),
            "kind": tables.text("Kind", 145),
            "used": tables.moments("Last used", hours=True),
            "source": tables.text("Made from", 260),
            "users": tables.number("Used by", 65, help="Results that were computed from it."),
            "pinned": tables.text("Pinned", 60),
            "created": tables.moments("Made"),
        },
        first=("mb", "title", "kind", "used", "source", "users", "pinned"),
        on_select="rerun",
        selection_mode="multi-row",
    )
    by_name = {artifact.name: artifact for artifact in lines}
    places = [(frame["folder"].iloc[row], frame["key"].iloc[row]) for row in ticked.selection.rows if row < len(frame)]
    chosen = [by_name[place] for place in places]
    size = f", {format.size(sum(artifact.bytes for artifact in chosen))}" if chosen else ""
    above.caption(
        f"{format.count(len(frame), 'line')}, the largest first; {len(chosen):,} ticked{size}.", width="content"
    )
    if not chosen:
        return
    with above:
        pinned = all(by in artifact.pins for artifact in chosen)
        pins = owned.spread(chosen, inventory, fields["sweeps"])
        actions.button(
            "Unpin" if pinned else "Pin",
            key="storage.pin",
            icon=":material/keep_off:" if pinned else ":material/keep:",
            on_click=_done,
            args=(lambda: [(store.unpin if pinned else store.pin)(*one.name, by=by) for one in pins],),
            help="A pinned result, and all that it was made from, is not removed to make room.",
        )
        members = with_trials(chosen, inventory, fields["sweeps"])
        goes = with_dependents(members, own, inventory)
        names = owned.full_titles(lines + goes, fields)
        needed, also = room.needed(), [names[artifact.key] for artifact in goes[len(members) :]]
        title = names[chosen[0].key] + (f" and {len(members) - 1:,} more" if len(members) > 1 else "")
        title += f", with {format.count(len(also), 'result')} of it" if also else ""
        total, minutes = format.size(sum(artifact.bytes for artifact in goes)), f"{room.UNDO_SECONDS / 60:.0f}"
        actions.button(
            "Delete",
            key="storage.delete",
            icon=":material/delete:",
            on_click=_done,
            args=(lambda: delete(goes, inventory, title), "deleted"),
            disabled=any(artifact.key in needed for artifact in goes),
            help=f"{total}, less results of other workspaces; not while a job needs it. *Undo* brings it back for "
            f"{minutes} minutes.",
        )
    if also:
        named = format.listed([*also[:LISTED], *([f"{len(also) - LISTED:,} more"] if len(also) > LISTED else [])])
        st.caption(f"With it goes what was computed from it: {format.plain(named)}.")
    if uploads := [names[artifact.key] for artifact in goes if not inventory.can_be_made_again(artifact)]:
        st.warning(f"{format.plain(format.listed(uploads))} cannot be made again here: keep your files.")


def _done(change, done: str = "changed") -> bool:
    try:
        change()
    except OSError as error:
        workspace.notify(f"Not {done}: {store.trouble(0) or error}")
        return False
    return True


def _bound(most: int):
    """Let the bound of all results be changed, unless the operator of the server has set it."""
    st.header("How much disk results may take")
    if os.environ.get(BOUND_VARIABLE):
        st.caption(f"The operator of this server has set it to {os.environ[BOUND_VARIABLE]}, by {BOUND_VARIABLE}.")
        return
    now = max(0.1, round(most / 1e9, 1))
    about = "For all workspaces of this machine. By default 20\u00a0GB, or half of what the disk has left if less."
    field = {"step": 1.0, "format": "%.1f", "key": f"storage.bound.{now}", "width": 180, "help": about}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.number_input("At most, GB", 0.1, None, now, **field)
        actions.button("Set", key="storage.set", on_click=_set, args=(chosen,), disabled=abs(chosen - now) < 0.05)
        actions.button("Use the default", key="storage.default", on_click=_set, args=(None,), type="tertiary")


def _set(gigabytes):
    if _done(lambda: store.set_bound(None if gigabytes is None else int(gigabytes * 1e9))):
        room.make_room()


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
    groups = [
        group
        for group in owned.sweeps(inventory, sweeps, "0")
        if group.key in {owned.GROUP + one.key for one in chosen}
    ]
    return owned.spread([*chosen, *groups], inventory, sweeps)


def elsewhere(mine: str) -> set[str]:
    """Return the keys that other workspaces list, all of which are read."""
    keys = set()
    for row in database().rows(stored.TABLE):
        data = {} if row.key == stored.row(mine) else row.value
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
            experiment.forget_sweep(artifact.key)
        name = store.set_aside(*artifact.name)
        aside += [] if name is None else [(artifact.kind, name)]
    cached.forget()
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
