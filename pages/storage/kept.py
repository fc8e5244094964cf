"""What this workspace keeps on the disk: how much, a map and a table; and how much room all results may take."""

import os
from typing import NamedTuple

import pandas as pd
import streamlit as st

from pages.shared import actions, format, tables
from pages.shared.figures import charts
from pages.shared.process import room
from pages.shared.results import run_names
from pages.shared.workspaces import workspace
from pages.storage import delete, owned
from xmlcore import figures, store
from xmlcore.store.limit import BOUND_VARIABLE

HEIGHT = 420  # pixels of the table
REMOVALS = 3  # lines on what was removed to make room


class KeptCounts(NamedTuple):
    """How much of which kind a workspace keeps."""

    datasets: int
    models: int
    others: int
    bytes: int
    bytes_of_all: int  # of all workspaces
    most: int  # bytes that all may take
    free: int  # bytes

    def sentence(self) -> str:
        counts = [(self.datasets, "data set"), (self.models, "trained model"), (self.others, "other result")]
        return f"This workspace keeps **{format.listed([format.count(*count) for count in counts])}**."

    def cards(self) -> list:
        about = (
            "When all takes more than it may, what was used longest ago is removed first. Never removed are what is "
            "pinned, what a job needs, and data that cannot be made again."
        )
        of = f"of at most {format.size(self.most)}"
        return [
            ("This workspace", format.size(self.bytes), None),
            ("All workspaces", format.size(self.bytes_of_all), about, of),
            ("Left on the disk", format.size(self.free), None),
        ]


def answer(lines, own, inventory) -> KeptCounts:
    """Return the answer for the lines of a workspace, and the artifacts that these stand for."""
    sets = sum(artifact.kind == "datasets" for artifact in lines)
    models = sum(owned.kind_words(artifact) == owned.KIND_WORDS["train"] for artifact in lines)
    taken = sum(artifact.bytes for artifact in own), inventory.bytes, store.bound(inventory.bytes)
    return KeptCounts(sets, models, len(lines) - sets - models, *taken, store.free_on_disk())


def show(inventory: store.Inventory) -> None:
    """Show what is kept, and let it be pinned or deleted."""
    fields = {name: workspace.get(name) for name in owned.FIELDS}
    listed = owned.of_workspace(inventory, fields)
    lines = listed + owned.sweeps(inventory, fields["sweeps"], room.pinner(workspace.token()))
    own = owned.spread(lines, inventory, fields["sweeps"])
    try:
        found = answer(lines, own, inventory)
    except ValueError as error:  # the bound that the operator has set
        st.error(format.plain(error))
        return
    st.markdown(found.sentence())
    tables.cards(found.cards())
    for removal in store.removals()[:REMOVALS]:
        st.caption(f":material/history: {format.since(removal.when)}: {format.plain(removal)}.")
    if lines:
        _table(lines, own, inventory, fields)
    _bound(found.most)


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
        actions.button(
            "Unpin" if pinned else "Pin",
            key="storage.pin",
            icon=":material/keep_off:" if pinned else ":material/keep:",
            on_click=_pin,
            args=(owned.spread(chosen, inventory, fields["sweeps"]), by, not pinned),
            help="What is pinned, and what it was made from, is not removed to make room.",
        )
        if actions.button("Delete …", key="storage.delete", icon=":material/delete:"):
            members = delete.with_trials(chosen, inventory, fields["sweeps"])
            goes = delete.with_dependents(members, own, inventory)
            titles = owned.full_titles(lines + goes, fields)
            delete.ask(chosen, goes, len(goes) - len(members), titles, inventory)


def _pin(chosen, by, pin):
    try:
        for artifact in chosen:
            (store.pin if pin else store.unpin)(*artifact.name, by=by)
    except OSError as error:
        workspace.notify(f"Not changed: {store.trouble(0) or error}")


def _bound(most: int):
    """Let the bound of all results be changed, unless whoever runs the server has set it."""
    st.header("How much disk results may take")
    if os.environ.get(BOUND_VARIABLE):
        st.caption(f"Whoever runs this server has set it to {os.environ[BOUND_VARIABLE]}, by {BOUND_VARIABLE}.")
        return
    now = max(0.1, round(most / 1e9, 1))
    about = "For all workspaces of this machine. By default 20\u00a0GB, or half of what the disk has left if less."
    field = {"step": 1.0, "format": "%.1f", "key": f"storage.bound.{now}", "width": 180, "help": about}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = st.number_input("At most, GB", 0.1, None, now, **field)
        actions.button("Set", key="storage.set", on_click=_set, args=(chosen,), disabled=abs(chosen - now) < 0.05)
        actions.button("Use the default", key="storage.default", on_click=_set, args=(None,), type="tertiary")


def _set(gigabytes):
    try:
        store.set_bound(None if gigabytes is None else int(gigabytes * 1e9))
    except OSError as error:
        workspace.notify(f"Not changed: {store.trouble(0) or error}")
        return
    room.make_room()
