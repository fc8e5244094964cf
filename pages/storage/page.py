"""The Storage page: what this workspace keeps on the disk, and how much room all results may take."""

import os

import pandas as pd
import streamlit as st

from pages.shared import actions, format, tables
from pages.shared.figures import charts
from pages.shared.process import room
from pages.shared.results import run_names
from pages.shared.workspaces import workspace
from pages.storage import delete, owned, trials
from xmlcore import figures, store
from xmlcore.store.limit import BOUND_VARIABLE

HEIGHT = 420  # pixels of the table
REMOVALS = 3  # lines on what was removed to make room


def main() -> None:
    st.title("Storage")
    inventory = room.inventory()
    fields = {name: workspace.get(name) for name in owned.FIELDS}
    listed = owned.of_workspace(inventory, fields)
    lines = listed + trials.groups(inventory, fields["sweeps"], room.pinner(workspace.token()))
    own = trials.spread(lines, inventory, fields["sweeps"])
    _answer(lines, own, inventory)
    if lines:
        _table(lines, own, inventory, fields)
    _room(inventory)


def _answer(lines, own, inventory):
    sets = sum(artifact.kind == "datasets" for artifact in lines)
    mine = sum(artifact.bytes for artifact in own)
    copies = sum(artifact.kind == owned.COPY for artifact in lines)
    kept = [(sets, "data set"), (copies, "copy as published", "copies as published")]
    models = sum(owned.kind_words(artifact) == owned.KIND_WORDS["train"] for artifact in lines)
    kept += [(models, "trained model"), (len(lines) - sets - copies - models, "other result" if models else "result")]
    counts = [format.count(*words) for words in kept if words[0]]
    st.markdown(f"This workspace keeps **{format.listed(counts)}**." if counts else "This workspace keeps nothing yet.")
    try:
        most = store.bound(inventory.bytes)
    except ValueError as error:
        st.error(format.plain(error))
        return
    tables.cards(
        [
            ("This workspace", format.size(mine), None),
            (
                "All workspaces",
                format.size(inventory.bytes),
                "When all takes more than it may, what was used longest ago is removed first. Never removed are what "
                "is pinned, what a job needs, and data that cannot be made again.",
                f"of at most {format.size(most)}",
            ),
            ("Left on the disk", format.size(store.free_on_disk()), None),
        ]
    )
    for removal in store.removals()[:REMOVALS]:
        st.caption(f":material/history: {format.since(removal.when)}: {format.plain(removal)}.")


def _table(lines, own, inventory, fields):
    by = room.pinner(workspace.token())
    frame = owned.table(lines, inventory, fields, by)
    sizes = pd.DataFrame({"name": frame["title"], "group": frame["kind"], "size": frame["bytes"] / 1e6})
    caption = "A rectangle is a data set or a result, as large as its files. The table below names small ones, too."
    figure = figures.treemap(sizes, "What takes how much", unit="MB", groups=owned.COLORED)
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
            "kind": tables.text("What", 145),
            "used": tables.moments("Last used", hours=True),
            "source": tables.text("Made from", 260),
            "users": tables.number("Used by", 65, help="Results that were computed from it."),
            "pinned": tables.text("Pinned", 60),
            "created": tables.moments("Made"),
        },
        first=("mb", "title", "kind", "used", "source", "users", "pinned"),
        most=HEIGHT,
        widest=350,
        on_select="rerun",
        selection_mode="multi-row",
    )
    rows = [row for row in ticked.selection.rows if row < len(frame)]
    by_name = {artifact.name: artifact for artifact in lines}
    chosen = [by_name[frame["folder"].iloc[row], frame["key"].iloc[row]] for row in rows]
    members = trials.spread(chosen, inventory, fields["sweeps"])
    if not chosen:
        to_do = "" if workspace.only_looks() else " Tick some to delete or pin them."
        above.caption(f"{format.count(len(frame), 'line')}, the largest first.{to_do}", width="content")
        return
    about = f"{len(chosen):,} of {len(frame):,} ticked, {format.size(sum(artifact.bytes for artifact in chosen))}"
    about += f": {format.plain(frame['title'].iloc[rows[0]])}." if len(rows) == 1 else "."
    above.caption(about, width="content")
    if workspace.only_looks():
        return
    with above:
        pinned = all(by in artifact.pins for artifact in chosen)
        actions.button(
            "Unpin" if pinned else "Pin",
            key="storage.pin",
            icon=":material/keep_off:" if pinned else ":material/keep:",
            on_click=_pin,
            args=(members, by, not pinned),
            help="What is pinned, and what it was made from, is not removed to make room.",
        )
        if actions.button("Delete …", key="storage.delete", icon=":material/delete:"):
            members = delete.with_trials(chosen, inventory, fields["sweeps"])
            goes = delete.with_dependents(members, own, inventory)
            titles = owned.full_titles(lines + goes, fields)
            delete.ask(chosen, goes, len(goes) - len(members), titles, inventory)


def _pin(chosen, by, pin):
    if workspace.refuse_change():
        return
    try:
        for artifact in chosen:
            (store.pin if pin else store.unpin)(*artifact.name, by=by)
    except OSError as error:
        workspace.notify(f"Not changed: {store.trouble(0) or error}")


def _room(inventory):
    if workspace.only_looks():
        return
    st.header("How much disk results may take")
    if os.environ.get(BOUND_VARIABLE):
        st.caption(f"Whoever runs this server has set it to {os.environ[BOUND_VARIABLE]}, by {BOUND_VARIABLE}.")
        return
    most = store.bound(inventory.bytes) / 1e9
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.number_input(
            "At most, GB",
            min_value=0.1,
            value=max(0.1, round(most, 1)),
            step=1.0,
            format="%.1f",
            key=f"storage.bound.{most:.1f}",
            width=180,
            help="For all workspaces of this machine together. By default 20\u00a0GB, or half of what the disk has for "
            "results if that is less.",
        )
        actions.button("Set", key="storage.set", on_click=_set, args=(chosen,), disabled=abs(chosen - most) < 0.05)
        actions.button("Use the default", key="storage.default", on_click=_set, args=(None,), type="tertiary")


def _set(gigabytes):
    if workspace.refuse_change():
        return
    try:
        store.set_bound(None if gigabytes is None else int(gigabytes * 1e9))
    except OSError as error:
        workspace.notify(f"Not changed: {store.trouble(0) or error}")
        return
    room.make_room()


main()
