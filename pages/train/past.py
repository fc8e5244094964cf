"""All runs of this workspace on the data set: a table, and a figure of what their precision costs."""

import pandas as pd
import streamlit as st

from pages.shared import charts, format, results, workspace
from pages.train import answer
from xmlcore import figures

COSTS = {"training s": "Training, seconds"}
MEASURES = ("P@1", "PSP@5")


def show(runs, shown, file_name: str) -> None:
    """Show all runs, given by their records, as a table and a figure; nothing when there is only one.

    ``shown`` is the record of the run that the page shows; files are named after ``file_name``.
    """
    if len(runs) < 2:
        return
    st.header("Results on this data set")
    lines = []
    for record in runs:
        found = results.measures(record)
        if found is None:
            continue
        measures, times = found
        line = {"shown": "shown" if record["key"] == shown["key"] else "", "model": record["model"]}
        line["settings"] = answer.settings_text(record["model"], record["params"])
        line |= {f"{m[:-1]}{k}": 100 * answer.value(measures, m, k) for m in answer.SHOWN_MEASURES for k in results.KS}
        line |= {"training s": format.in_seconds(times["fit_s"]), "trained": format.when(record["created"])}
        lines.append(line)
    frame = pd.DataFrame(lines)
    numbers = [c for c in frame.columns if "@" in c]
    st.dataframe(
        frame,
        hide_index=True,
        key="train.past",
        column_config={
            "shown": st.column_config.TextColumn("Shown", width=60),
            "model": "Model",
            "settings": st.column_config.TextColumn(
                "Settings", help="Settings that differ from the defaults.", width=200
            ),
            "training s": st.column_config.NumberColumn("Training, s", format="%g"),
            "trained": "Trained",
            **{c: st.column_config.NumberColumn(c, format="%.2f") for c in numbers},
        },
    )
    st.caption("Measures in percent. To see a result, choose it at “Result shown” above.")
    if len(frame) >= 2:
        st.fragment(_frontier)(frame, file_name)


def _frontier(frame, file_name) -> None:
    """Draw the training time of the runs against a measure that the user chooses."""
    numbers = frame.groupby("model").cumcount(ascending=False) + 1
    again = frame["model"].duplicated(keep=False)
    frame = frame.assign(run=frame["model"] + (" " + numbers.astype(str)).where(again, ""))
    measure = st.radio(
        "Measure", MEASURES, horizontal=True, **workspace.keep("train.frontier.measure", MEASURES[0], options=MEASURES)
    )
    charts.show_figure(
        figures.frontier(frame, COSTS, [measure], f"{measure} against training time"),
        frame,
        f"{file_name}-frontier",
        "Further left is faster, further up is better. No run is better in both than those on the dotted line. "
        "Runs of one model are numbered in the order of their training.",
        key="train.frontier",
    )
