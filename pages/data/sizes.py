"""How large the data set is, and how often its labels occur: described at once, or as a task if it is very large."""

import pandas as pd
import streamlit as st

from pages.shared import cached, format, tables, tasks
from pages.shared.figures import charts
from xmlcore import datasets, experiment, figures
from xmlcore.metrics.buckets import MEANING

AT_ONCE = 50_000_000  # bytes; a larger data set is described by a worker, which starts unasked
EXAMINED_AT_ONCE = 20_000_000  # values; a data set with more is examined by a worker
# Columns of numbers by their names in the description: title, and help.
SPREAD = {
    "median": ("Median", None),
    "min": ("Least", None),
    "max": ("Most", None),
    "q05": ("5\u00a0%", "5\u00a0% of the rows, or labels, have at most this number."),
    "q25": ("25\u00a0%", None),
    "q75": ("75\u00a0%", None),
    "q95": ("95\u00a0%", "95\u00a0% of the rows, or labels, have at most this number."),
}


def description(fingerprint):
    """Return the description of a data set; None while a worker makes it, and then show its progress."""
    task = experiment.task("description", {"dataset": fingerprint})
    estimate = cached.estimated(task)
    if estimate is None or estimate.bytes < AT_ONCE:
        return cached.description(fingerprint)
    if not task.exists() and tasks.once(task.key):
        tasks.start(task)
    result = tasks.ready(task, button="Count its labels")
    return None if result is None else cached.description(fingerprint)


def examination(fingerprint):
    """Return the examination of a data set, or None; then a button that starts it, or its progress, is shown."""
    task = experiment.task("examine", {"dataset": fingerprint})
    estimate = cached.estimated(task)
    if estimate is None or estimate.values < EXAMINED_AT_ONCE:
        return _examination(fingerprint)
    return tasks.ready(task, button="Examine the data")


@cached.shared("Examining the data set")
def _examination(fingerprint):
    return datasets.examine(cached.dataset(fingerprint))


@cached.shared()
def all_labels(fingerprint):
    return datasets.all_labels(cached.dataset(fingerprint))


def show(described, examination, fingerprint, name) -> None:
    """Show the spread of the numbers per row and per label; ``name`` begins the names of files."""
    st.header("How large is it?")
    numbers, summary = described.spread, described.summary
    columns = {"quantity": tables.text("Number of", 125), "part": tables.text("Rows", 70)}
    columns["mean"] = tables.number("Mean", 70, "%.2f")
    for column, (title, help) in SPREAD.items():
        form = "localized" if (numbers[column] % 1 == 0).all() else "%.1f"
        columns[column] = tables.number(title, 70, form, help)
    tables.show(numbers, "sizes.table", columns)
    once = summary["n_label_sets_once"] / max(summary["n_label_sets"], 1)
    tables.cards(
        ("Label sets", f"{summary['n_label_sets']:,}", "Different sets of labels that rows have."),
        ("Label sets on one row", f"{100 * once:.0f}\u00a0%", "Share of the label sets that occur once."),
        ("Most frequent label set", f"{summary['label_set_max']:,}", "Rows that have it."),
        ("Complexity (TCS)", f"{summary['tcs']:.2f}", "The logarithm of features × labels × label sets."),
    )
    charts.csv_button("All statistics, CSV", statistics(described, examination), f"{name}-statistics")
    for box, noun in zip(st.columns(2, gap="medium"), ("label", "feature")):
        with box:
            frame, figure = drawn(fingerprint, noun)
            text = f"Share of the training rows and of the test rows that have so many {noun}s."
            if figure.layout.meta["width"] > 1 or figure.layout.meta["last"] is not None:
                text += " A bar may stand for several numbers; the CSV has each."
            charts.show_figure(figure, frame, f"{name}-{noun}s-per-row", text)


@cached.shared()
def drawn(fingerprint, noun):
    """Return the numbers of rows by their number of labels, or of features, and the figure of these."""
    data = cached.dataset(fingerprint)
    frame = tables.per_row(data, f"{noun}s")
    return frame, figures.per_row(frame, f"{noun}s")


def statistics(described, examination) -> pd.DataFrame:
    """Return all numbers that describe a data set: ``statistic``, ``value``; ``examination`` may be None."""
    numbers = described.summary | ({} if examination is None else examination.summary)
    return pd.DataFrame({"statistic": list(numbers), "value": list(numbers.values())})


def show_frequency(data, described) -> None:
    st.header("How often does a label occur?")
    if not data.Y_train.nnz:
        return
    summary = described.summary
    numbers = {bucket: summary[f"n_labels_{bucket}"] for bucket in ("head", "tail")}
    rarer = "How many times rarer a label is than the most frequent one, mean over labels. Charte et al. 2015."
    beside = "Whether rare labels occur on the rows of frequent ones, from 0 (never) to 1. Charte et al. 2019."
    missing = f"Of training rows, about {round(summary['n_missing_estimate']):,}; by the model of Jain et al. 2016."
    tables.cards(
        *(
            (f"{bucket.capitalize()} labels", f"{number:,}", MEANING, format.percent(number / summary["n_labels"]))
            for bucket, number in numbers.items()
        ),
        ("Mean imbalance (IRLbl)", f"{summary['irlbl_mean']:,.1f}", rarer),
        ("SCUMBLE", f"{summary['scumble']:.3f}", beside),
        ("Missing labels (a guess)", f"about {100 * summary['share_missing_estimate']:.0f}\u00a0%", missing),
    )


def curve(data, described, fingerprint, name) -> None:
    """Draw how many training rows each label has, from the most frequent one to the rarest."""
    if not data.Y_train.nnz:
        st.caption("No training row has a label, so there is nothing to draw.")
        return
    figure = label_frequency(fingerprint)
    meta = figure.layout.meta
    text = f"Each point is a label, most frequent first. {MEANING}"
    if meta["without_rows"]:
        text += f" {format.count(meta['without_rows'], 'label')} without a training row cannot be drawn."
    if meta["shown"] < meta["total"]:
        text += f" Showing {meta['shown']:,} of {meta['total']:,} labels as points; the curve passes through all."
    charts.show_figure(figure, described.labels, f"{name}-label-frequency", text)


@cached.shared()
def label_frequency(fingerprint):
    return figures.label_frequency(cached.description(fingerprint).labels)
