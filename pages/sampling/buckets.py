"""Head, torso and tail labels, beside the results of other models."""

import pandas as pd
import streamlit as st

from pages.sampling import answer
from pages.sampling.view import MODEL, by_bucket
from pages.shared import jobs, tables
from pages.shared.figures import charts
from pages.shared.results import results, run_names
from xmlcore import figures
from xmlcore.metrics.buckets import MEANING

OTHERS = 4  # most results of other models shown beside this one
SHARES = ["candidate_recall", "accuracy", "macro_f1"]


def buckets(view, study, past, names) -> None:
    """Draw accuracy and the F1 of means by label frequency; ``past`` has all runs, ``names`` their names by key."""
    if study is None:
        st.caption("These numbers are measured together with other numbers of candidates, above.")
        return
    others = _newest_of_each_model(past)
    frame, looks = _frame(view, study, others, names), run_names.looks([view.record, *others], names)
    if frame.empty:
        st.caption("No test row has a label.")
        return
    beside = " The other bars show the newest result of every other model." if others else ""
    captions = {
        "accuracy": f"Share of the test examples of these labels whose label is predicted first.{beside}",
        "macro_f1": f"{answer.MACRO_F1_HELP} A rare label counts as much as a frequent one.",
    }
    for place, (measure, caption) in zip(st.columns(2, gap="large"), captions.items()):
        with place:
            charts.show_figure(
                figures.bucket_bars(frame.join(looks, on="run"), measure),
                frame,
                f"{view.files}-buckets-{measure.replace('_', '-')}",
                caption,
                key=f"sampling.buckets.{measure}",
            )
    _table(view, study)


def _newest_of_each_model(past) -> list:
    """Return the newest run of each other model, at most :data:`OTHERS` runs."""
    newest = {}
    for r in past:
        if r["model"] != MODEL:
            newest.setdefault(run_names.style_model(r), r)
    return list(newest.values())[:OTHERS]


def _frame(view, study, others, names):
    parts = [study.buckets.assign(run=names[view.key])]
    for r in others:
        of_run = results.read(by_bucket, r)  # None: it cannot be read and is being made again
        if of_run is not None:
            parts.append(of_run.assign(run=names[r["key"]]))
        else:
            jobs.watch(jobs.active("train", key=r["key"]))
    frame = pd.concat(parts, ignore_index=True)
    return frame[frame["n_rows"] > 0]


def _table(view, study):
    shown = study.buckets[["bucket", "n_classes", "n_rows", *SHARES]].copy()
    shown[SHARES] *= 100
    share = {"format": "%.2f", "width": 100}
    tables.show(
        shown,
        "sampling.buckets",
        {
            "bucket": tables.text("Frequency", 85, MEANING),
            "n_classes": tables.number("Labels", 80, "localized"),
            "n_rows": tables.number("Test examples", 110, "localized"),
            "candidate_recall": tables.number(
                f"Among {view.q:,}, %", help="Share of test examples whose label is among the candidates.", **share
            ),
            "accuracy": tables.number("micro R@1, %", **share),
            "macro_f1": tables.number(f"{answer.MACRO_F1}, %", **share),
        },
    )
    st.caption("Labels with a test row, by training rows.")
