"""How often labels occur, and how rare most of them are: figures of label frequencies and of imbalance."""

import streamlit as st

from pages.shared import format, server, tables
from pages.shared.figures import charts
from xmlcore import figures
from xmlcore.metrics.buckets import MEANING


def show(data, described, fingerprint, name) -> None:
    st.header("How often does a label occur?")
    if data.Y_train.nnz:
        _balance_cards(described.summary)
    ratios = described.labels["irlbl"]
    if ratios.notna().any():
        figure = drawn_ratios(fingerprint)
        text = (
            "IRLbl is the number of rows of the most frequent label, divided by those of a label, in training and test "
            "rows. Each bar counts the labels whose IRLbl lies between the two ends of the bar. Half of the labels "
            f"have at most {ratios.median():,.1f}.{_without_rows(figure)}"
        )
        frame = described.labels[["label", "name", "irlbl"]]
        charts.show_figure(figure, frame, f"{name}-imbalance", text)


def curve(data, described, fingerprint, name) -> None:
    """Draw how many training rows each label has, from the most frequent one to the rarest."""
    if not data.Y_train.nnz:
        st.caption("No training row has a label, so there is nothing to draw.")
        return
    figure = drawn(fingerprint)
    meta = figure.layout.meta
    text = f"Each point is a label, most frequent first. {MEANING}{_without_rows(figure)}"
    if meta["shown"] < meta["total"]:
        text += f" Showing {meta['shown']:,} of {meta['total']:,} labels as points; the curve passes through all."
    charts.show_figure(figure, described.labels, f"{name}-label-frequency", text)


@server.shared()
def drawn(fingerprint):
    """Return the figure of the frequencies of labels."""
    return figures.label_frequency(server.description(fingerprint).labels)


@server.shared()
def drawn_ratios(fingerprint):
    """Return the figure of the imbalance ratios of labels."""
    return figures.imbalance_ratios(server.description(fingerprint).labels)


def _without_rows(figure) -> str:
    without = figure.layout.meta["without_rows"]
    return f" {format.count(without, 'label')} without a row cannot be drawn." if without else ""


def _balance_cards(summary):
    n_labels = sum(summary[f"n_labels_{bucket}"] for bucket in ("head", "torso", "tail"))
    balance = [
        (f"{bucket.capitalize()} labels", f"{number:,}", MEANING, format.percent(number / n_labels))
        for bucket in ("head", "tail")
        for number in [summary[f"n_labels_{bucket}"]]
    ]
    tables.cards(
        [
            *balance,
            (
                "Mean imbalance (IRLbl)",
                f"{summary['irlbl_mean']:,.1f}",
                "How many times rarer a label is than the most frequent one, mean over labels, in training and test "
                f"rows together; for the rarest label it is {summary['irlbl_max']:,.0f}. Charte et al. 2015.",
            ),
            (
                "SCUMBLE",
                f"{summary['scumble']:.3f}",
                "Whether rare labels stand on the same rows as frequent ones, from 0 (never) to 1. Where they do, "
                "repeating rows with rare labels balances nothing. Mean over rows. Charte et al. 2019.",
            ),
            (
                "Missing labels (a guess)",
                f"about {100 * summary['share_missing_estimate']:.0f}\u00a0%",
                "Share of the true labels that are likely to be missing from training rows, about "
                f"{round(summary['n_missing_estimate']):,}. By the propensity model of Jain et al. 2016, fitted to "
                "Wikipedia and Amazon: for other data a rough guess.",
            ),
        ]
    )
