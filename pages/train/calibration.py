"""Calibration: whether labels that are predicted with a probability of 80 % are right in 80 % of the cases."""

import streamlit as st

from pages.shared import fields, server, tables
from pages.shared.figures import charts
from pages.shared.results import measured, predictions, results
from xmlcore import figures, metrics

BINS = {"equal width": "of equal width", "equal count": "of equal count"}
RIGHT = 0.02  # mean error of probabilities that are called right
LEAST = 20  # predictions in a bin that a sentence is about


def show(run, key: str, file_name: str) -> None:
    meaning = predictions.meaning(run)
    st.header(
        "Are its scores right as probabilities?" if meaning else "Are its probabilities right?", help=meaning or None
    )
    left, right = st.columns([2, 3], gap="large")
    ks = results.ks(server.dataset(run.fingerprint).n_labels)
    with left:
        k = fields.radio("Labels predicted for a row", ks, "train.calibration.k", ks[-1])
        bins = fields.radio(
            "Bins of probabilities",
            BINS,
            "train.calibration.bins",
            "equal width",
            help="Of equal width: 0 to 10\u00a0%, 10 to 20\u00a0% and so on. Of equal count: about as many predictions "
            "in each, which shows more where most predictions are.",
        )
        frame = measured.reliability(key, k, bins)
        if frame.empty:
            st.caption("The model predicts no label, so there are no probabilities to check.")
            return
        error = metrics.calibration_error(frame)
        st.markdown(sentence(frame, error))
        tables.cards(
            [
                (
                    "Expected error",
                    f"{100 * error.expected:.1f} points",
                    "Difference between the mean probability and the share that is right, mean over all predictions "
                    "(ECE). It depends on the bins.",
                ),
                (
                    "Largest error",
                    f"{100 * error.maximal:.1f} points",
                    "The largest such difference of a bin (MCE). A bin with few predictions makes it large by chance.",
                ),
                (
                    "Brier score",
                    f"{measured.brier(key, k):.4f}",
                    "Mean squared difference between the probability and 1 for a right or 0 for a wrong prediction; "
                    "smaller is better. 0.25 is what a probability of 50\u00a0% everywhere gives.",
                ),
            ]
        )
    with right:
        charts.show_figure(
            figures.reliability_curve(frame, f"Are probabilities right? Top {k}"),
            frame,
            f"{file_name}-reliability-{k}",
            "Each point is a bin of predictions with similar probabilities. On the dotted line they are as often right "
            "as they say; below it the model is too sure, above it not sure enough. Vertical lines are 95\u00a0% "
            "intervals of the share that is right; bars count the predictions.",
            key="train.reliability",
        )


def sentence(frame, error) -> str:
    if error.expected <= RIGHT:
        return (
            "**Probabilities can be taken as they are**: on average they differ by "
            f"{100 * error.expected:.1f} points from the share that is right."
        )
    gap = frame["predicted"] - frame["observed"]
    weight = (gap.abs() * frame["n"]).where(frame["n"] >= LEAST, -1.0)
    worst = frame.loc[weight.idxmax()]
    sure = worst["predicted"] > worst["observed"]
    return (
        f"On average a probability is {100 * error.expected:.1f} points off. The largest part of that comes from "
        f"labels predicted with a probability of {100 * worst['low']:.3g} to {100 * worst['high']:.3g}\u00a0%: "
        f"**{100 * worst['observed']:.0f}\u00a0% are right**, and their mean probability is "
        f"{100 * worst['predicted']:.0f}\u00a0%, so the model is **{'too sure' if sure else 'not sure enough'}** there."
    )
