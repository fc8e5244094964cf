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
        figure = figures.labels_per_row(frame)
        charts.show_figure(
            figure,
            frame,
            f"{name}-labels-per-row",
            "Each pair of bars is the share of the training rows and of the test rows with the number of labels that "
            f"stands below it{_in_groups(figure.layout.meta)}. Similar heights mean that training and test rows have "
            "similar label counts.",
        )


def _in_groups(meta):
    """Return the part of a caption that says which numbers of labels share a bar; empty when none do."""
    if meta["width"] == 1 and meta["last"] is None:
        return ""
    text = f", in groups of {meta['width']:,} numbers" if meta["width"] > 1 else ""
    if meta["last"] is not None:
        text += f"{' and' if text else ','} the rare numbers from {meta['last']:,} on together"
    return f"{text}; the CSV has each number"


def _about_frequency(meta, counts):
    """Return the caption of the figure of label frequencies; ``meta`` is the figure's description."""
    text = "Each point is a label, most frequent first."
    if meta["flat"]:
        if meta["least"] == meta["most"]:
            text += f" Each has {format.count(meta['most'], 'training row')}."
        else:
            text += f" The counts differ little: {meta['least']:,} to {meta['most']:,} training rows."
    elif answer.has_long_tail(counts):
        text += (
            " On these logarithmic axes, a straight fall is a long tail: a few labels have many rows, most have few."
        )
    without = meta["without_rows"]
    missing = f" {format.count(without, 'label')} without a training row cannot be drawn." if without else ""
    if counts.size >= answer.TAIL_LABELS:
        buckets = meta["buckets"]
        text += (
            f" Head: the {format.count(buckets['head'], 'most frequent label')}, which together make up half of the "
            f"labels given to training rows; torso: the next {buckets['torso']:,}, another 30 %; tail: the other "
            f"{buckets['tail']:,}."
        )
    text += missing
    if meta["shown"] < meta["total"]:
        text += f" {meta['shown']:,} of {meta['total']:,} labels are drawn as points; the curve has all of them."
    return text
