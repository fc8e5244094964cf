"""Figures of the Data page: how often labels occur, and how many labels rows have."""

import streamlit as st

from pages.data import answer
from pages.shared import charts, format, tables
from xmlcore import figures


def show(data, described, name) -> None:
    """Show how often each label occurs, and how many labels rows have; ``name`` begins the names of files."""
    left, right = st.columns(2, gap="medium")
    with left:
        if data.Y_train.nnz:
            figure = figures.label_frequency(described.labels)
            text = _about_frequency(figure.layout.meta, described.labels["n_train"].to_numpy())
            charts.show_figure(figure, tables.csv_safe(described.labels), f"{name}-label-frequency", text)
        else:
            st.markdown("**How often each label occurs**")
            st.caption("No training row has a label, so there is nothing to draw.")
    with right:
        frame = tables.labels_per_row(data)
        charts.show_figure(
            figures.labels_per_row(frame),
            frame,
            f"{name}-labels-per-row",
            "Each pair of bars is the share of the training rows and of the test rows that have this number of labels. "
            "Equal heights mean that test rows have as many labels as training rows.",
        )


def _about_frequency(meta, counts):
    """Return the caption of the figure of label frequencies; ``meta`` is the figure's description."""
    text = "Each point is a label, most frequent first."
    if meta["flat"]:
        if meta["least"] == meta["most"]:
            text += f" Each has {format.count(meta['most'], 'training row')}."
        else:
            text += f" The counts differ little: {meta['least']:,} to {meta['most']:,} training rows."
    elif answer.has_long_tail(counts):
        text += " A straight fall on these axes is a long tail: few labels with many rows, many with few."
    drawn = (
        f", {format.count(meta['without_rows'], 'label')} without a training row not drawn"
        if meta["without_rows"]
        else ""
    )
    if counts.size >= answer.TAIL_LABELS:
        buckets = meta["buckets"]
        text += (
            f" Head: {format.count(buckets['head'], 'label')}, half of all training label occurrences; "
            f"torso: {buckets['torso']:,}, the next 30 %; tail: {buckets['tail']:,}, the rest{drawn}."
        )
    elif drawn:
        text += f" {drawn[2:].replace(' not drawn', ' cannot be drawn')}."
    if meta["shown"] < meta["total"]:
        text += f" {meta['shown']:,} of {meta['total']:,} labels are drawn as points; the curve has all of them."
    return text
