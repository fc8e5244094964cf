"""All runs of this workspace on the data set: choose, name and delete them; the Compare page compares them."""

from typing import Any

import pandas as pd
import streamlit as st

from pages.shared import addresses, fields, format, settings, tables
from pages.shared.results import measured, results, run_changes, run_names
from pages.shared.workspaces import workspace
from pages.train import answer


def choose(runs, shown) -> None:
    if len(runs) < 2:
        return
    by_key, titles = {r["key"]: r for r in runs}, run_names.names(runs)

    def reopen(key):
        workspace.update(lambda data: data["shown"].__setitem__(shown["fingerprint"], key))

    help = "All results of this workspace on this data set."
    fields.pick("Result shown", titles, "train.shown", shown["key"], reopen, help=help)
    frame = table(runs, shown)
    key = f"train.listed.{hash(tuple(frame['key'])) & 0xFFFFFF:x}"  # ticks belong to the lines of one table
    ticks: dict[str, Any] = {} if workspace.only_looks() else {"on_select": "rerun", "selection_mode": "multi-row"}
    ticked = tables.show(
        frame,
        key,
        {
            "shown": tables.text("Shown", 52),
            "run": tables.text("Result", 112),
            "settings": tables.text("Settings", 142, "Settings that differ from the defaults."),
            "training s": tables.number("Training, s", 85, tables.time_format(frame["training s"])),
            "trained": tables.moments("Trained"),
            **{c: tables.number(c, 65, "%.2f") for c in frame.columns if "@" in c},
        },
        most=178,
        column_order=_in_order(frame),
        **ticks,
    )
    if workspace.only_looks():
        st.caption(f"{len(frame)} results, measures in percent.")
        addresses.link("Compare", "Compare results", addresses.ICONS["Compare"])
        return
    lines = [line for line in ticked.selection.rows if line < len(frame)]
    chosen = [by_key[frame["key"].iloc[line]] for line in lines] or [shown]
    hint = f"{len(lines)} ticked." if lines else "Tick one to name or delete it, several to delete them."
    st.caption(f"{len(frame)} results, measures in percent. {hint}")
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if len(chosen) == 1:
            run_changes.name_button(chosen, "train")
        run_changes.delete_button(chosen, "train")
        addresses.link("Compare", "Compare results", addresses.ICONS["Compare"])


def _in_order(frame) -> list[str]:
    first = ["run", "shown", "settings", "P@1", "P@5", "PSP@5", "training s"]
    return [*first, *(c for c in frame.columns if c not in (*first, "key", "model"))]


def table(runs, shown) -> pd.DataFrame:
    lines = []
    for record in runs:
        listed = results.measures(record)
        if listed is None:
            continue
        measures, times = listed
        line = {"key": record["key"], "shown": "shown" if record["key"] == shown["key"] else ""}
        line |= {"model": record["model"], "run": record.get("name") or record["model"]}
        line |= {
            f"{m[:-1]}{k}": 100 * answer.value(measures, m, k) for m in measured.SHOWN_MEASURES for k in results.KS
        }
        line["training s"] = times["fit_s"]
        line["settings"] = settings.short_changed(record["model"], record["params"]) or "default settings"
        line["trained"] = format.moment(record["created"])
        lines.append(line)
    return pd.DataFrame(lines)
