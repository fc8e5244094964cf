"""All measures of a result, for all labels and for each bucket of labels."""

import math

import pandas as pd
import streamlit as st

from pages.shared import fields, format, tables, tasks
from pages.shared.figures import charts
from pages.shared.results import measured, results
from pages.train import answer
from xmlcore import experiment, metrics
from xmlcore.metrics.buckets import MEANING

SHOWN = {"all": "all labels", "head": "head", "torso": "torso", "tail": "tail"}


def show(run, key: str, file_name: str) -> None:
    left, right = st.columns([6, 5], gap="medium")
    with left:
        headline = measured.headline(key).assign(bucket="all")
        tables.show(lines(headline, "all").drop(columns="meaning"), "train.headline", _columns(), most=600)
    with right:
        answer.measures(run, file_name, "train.every.measures")
    task = experiment.task("measures", {"run": key})
    tasks.shown(
        task,
        lambda found: _table(found, file_name),
        automatic_below=0,  # few readers want more than the measures above; each look at a result would start it
        button="Take all measures, of head, torso and tail labels too",
        key="train.every",
    )


def _table(found, file_name) -> None:
    bucket = fields.radio("Labels", SHOWN, "train.every.bucket", "all", help=MEANING)
    frame = lines(found.measures, bucket)
    tables.show(frame, "train.every.table", _columns() | {"meaning": tables.text("Meaning", 530)}, most=420)
    st.caption(
        f"{len(frame)} measures in percent, in brackets the 95\u00a0% interval from {found.n_resamples:,} draws of the "
        "test rows. Larger is better, unless the meaning says otherwise.",
        help=measured.INTERVAL,
    )
    charts.csv_button(
        "All measures, CSV",
        found.measures,
        f"{file_name}-measures-all",
        f"{format.count(len(found.measures), 'line')}: each bucket, measure and k with value, low and high",
    )


def _columns():
    ks = {f"k = {k}": tables.text(f"k = {k}", 150) for k in results.KS}
    return {"measure": tables.text("Measure, %", 125, help=measured.INTERVAL, pinned=True)} | ks


def lines(measures, bucket: str):
    """Return a line per measure of a bucket: ``measure``, a text for each k, ``meaning``."""
    mine = measures[(measures["bucket"] == bucket) & measures["k"].isin(results.KS)]
    texts = []
    for measure, rows in mine.groupby("measure", sort=False):
        line = {"measure": measure} | {f"k = {row.k}": in_percent(row) for row in rows.itertuples()}
        texts.append(line | {"meaning": metrics.MEASURES[measure].explained})
    return pd.DataFrame(texts)


def in_percent(row) -> str:
    """Return a measure with its interval in percent: ``83.21 (81.9–84.4)``; a dash where it is not defined."""
    if row.value != row.value:
        return "–"
    value, low, high = 100 * row.value, 100 * row.low, 100 * row.high
    if not 0 < value < 1:
        return f"{value:.2f} ({low:.1f}–{high:.1f})"
    digits = 2 - math.floor(math.log10(value))
    return f"{value:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"
