"""All measures of a result, for all labels and for each bucket of labels."""

import streamlit as st

from pages.shared import charts, format, measured, results, tables, tasks, workspace
from xmlcore import experiment

SHOWN = {"all": "all labels", "head": "head", "torso": "torso", "tail": "tail"}


def show(key: str, file_name: str) -> None:
    """Show every measure of a run with its interval, or offer to take them."""
    st.header("All measures, with intervals")
    task = experiment.task("measures", {"run": key})
    if not task.exists():
        st.caption("Precision, recall and F1 in four averages, and more, for all, head, torso and tail labels.")
    tasks.shown(
        task,
        lambda found: _table(found, file_name),
        automatic_below=0,  # few readers want more than the measures above; each look at a result would start it
        button="Take all measures",
        key="train.every",
    )


def _table(found, file_name) -> None:
    """Show a table with a line for each measure of a bucket."""
    bucket = st.radio(
        "Labels",
        list(SHOWN),
        format_func=SHOWN.get,
        horizontal=True,
        help="Head labels are the most frequent in training, tail labels the rarest: see the Data page.",
        **workspace.keep("train.every.bucket", "all", options=list(SHOWN)),
    )
    frame = lines(found.measures, bucket)
    tables.show(
        frame,
        "train.every.table",
        {
            "measure": st.column_config.TextColumn("Measure, %", width=125, pinned=True),
            **{f"k = {k}": st.column_config.TextColumn(f"k = {k}", width=140) for k in results.KS},
            "meaning": st.column_config.TextColumn("Meaning", width=530),
        },
        height=tables.height(len(frame), 420),
    )
    st.caption(
        f"{len(frame)} measures in percent, in brackets the 95\u00a0% interval from {found.n_resamples:,} draws of the "
        "test rows. Smaller is better for abandonment and Hamming loss, larger for all others.",
        help=measured.INTERVAL,
    )
    charts.csv_button(
        "All measures, CSV",
        lambda: found.measures,
        f"{file_name}-measures-all",
        f"{format.count(len(found.measures), 'line')}: each bucket, measure and k with value, low and high",
    )


def lines(measures, bucket: str):
    """Return a line per measure of a bucket: ``measure``, a text for each k, ``meaning``."""
    import pandas as pd

    mine = measures[(measures["bucket"] == bucket) & measures["k"].isin(results.KS)]
    texts = []
    for measure, rows in mine.groupby("measure", sort=False):
        line = {"measure": measure} | {f"k = {row.k}": in_percent(row) for row in rows.itertuples()}
        texts.append(line | {"meaning": measured.MEANING[measure]})
    return pd.DataFrame(texts)


def in_percent(row) -> str:
    """Return a measure with its interval in percent: ``83.21 (81.9 to 84.4)``; a dash where it is not defined."""
    if row.value != row.value:
        return "–"
    low, high = (f"{100 * end:.1f}" for end in (row.low, row.high))
    return f"{100 * row.value:.2f} ({low} to {high})"
