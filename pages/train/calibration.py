"""Calibration: whether labels that are predicted with a probability of 80 % are right in 80 % of the cases."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import fields, server, tables, tasks
from pages.shared.figures import charts
from pages.shared.results import predictions, results
from xmlcore import experiment, figures, metrics
from xmlcore.experiment.kinds.decide import MEASURES, can_decide

BINS = {"equal width": "of equal width", "equal count": "of equal count"}
BINS_HELP = (
    "Of equal width: 0 to 10\u00a0%, 10 to 20\u00a0% and so on. Of equal count: about as many predictions in each, "
    "which shows more where most predictions are."
)
RIGHT = 0.02  # mean error of probabilities that are called right
LEAST = 20  # predictions in a bin that the sentence is about
CAPTION = (
    "Each point is a bin of predictions with similar probabilities. On the dotted line they are as often right as they "
    "say; below it the model is too sure, above it not sure enough. Vertical lines are 95\u00a0% intervals of the "
    "share that is right; bars count the predictions. Calibrated probabilities are learnt from training rows that "
    "another training of the model did not see; test rows decide nothing. *Decide*, on the Predict page, predicts by "
    "them."
)
HELP = {
    "Expected error": "Difference between the mean probability and the share that is right, mean over all predictions "
    "(ECE). It depends on the bins.",
    "Largest error": "The largest such difference of a bin (MCE). A bin with few predictions makes it large by chance.",
    "Brier score": "Mean squared difference between the probability and 1 for a right or 0 for a wrong prediction; "
    "smaller is better. 0.25 is what a probability of 50\u00a0% everywhere gives.",
}


class Worst(NamedTuple):
    """How far probabilities are from the share that is right, and the bin with the largest part of that."""

    expected: float  # mean difference over all predictions
    low: float
    high: float
    predicted: float  # mean probability of the bin
    observed: float  # share of it that is right


def show(run, key: str, file_name: str) -> None:
    meaning = predictions.meaning(run)
    left, right = st.columns([3, 2], gap="large")
    data = server.dataset(run.fingerprint)
    ks = results.ks(data.n_labels)
    with right:
        k = fields.radio("Labels predicted", ks, "train.calibration.k", ks[-1])
        bins = fields.radio("Bins", BINS, "train.calibration.bins", "equal width", help=BINS_HELP)
        found = _probabilities(run, key, data)
        frames = {name: metrics.reliability(data.Y_test, each, k, bins=bins) for name, each in found.items()}
        if frames["as they are"].empty:
            st.caption("The model predicts no label, so there are no probabilities to check.")
            return
        errors = {name: metrics.calibration_error(frame) for name, frame in frames.items()}
        noun = "score" if meaning else "probability"
        st.markdown(sentence(worst(frames["as they are"], errors["as they are"]), noun), help=meaning or None)
        _cards(errors, {name: metrics.brier_score_at_k(data.Y_test, each, k)[-1] for name, each in found.items()})
    with left:
        asked = "Are scores right as probabilities" if meaning else "Are probabilities right"
        calibrated = frames.get("calibrated")
        figure = figures.reliability_curve(frames["as they are"], f"{asked}? Top {k}", calibrated=calibrated)
        if meaning:
            figure.update_layout(xaxis_title_text="Score, taken as a probability, %")
        charts.show_figure(
            figure,
            pd.concat(frames, names=["probabilities"]).reset_index(level=0),
            f"{file_name}-reliability-{k}",
            CAPTION,
            key="train.reliability",
        )


def _probabilities(run, key, data) -> dict:
    """Return the ranking of a run, and one with calibrated probabilities, or else a button that has them learnt."""
    found = {"as they are": run.ranking}
    if run.has_model and can_decide(data):
        task = experiment.task("decide", {"run": key})
        learnt = tasks.ready(task, button="Calibrate", key="train.calibrate")
        if learnt is not None:
            scores = learnt.rule(MEASURES[0]).calibration(run.ranking.scores).astype(np.float32)
            found["calibrated"] = run.ranking._replace(scores=scores)
    return found


def worst(frame, error) -> Worst:
    """Return what the sentence is about: of bins with some predictions the one with the largest part of the error."""
    gap = (frame["predicted"] - frame["observed"]).abs() * frame["n"]
    line = frame.loc[gap.where(frame["n"] >= LEAST, -1.0).idxmax()]
    return Worst(error.expected, line["low"], line["high"], line["predicted"], line["observed"])


def sentence(found: Worst, noun: str) -> str:
    off = f"{100 * found.expected:.1f} points off on average"
    if found.expected <= RIGHT:
        return f"**Right as probabilities**: {off}."
    return (
        f"**{'Too sure' if found.predicted > found.observed else 'Not sure enough'}**: of labels predicted with a "
        f"{noun} of {100 * found.low:.3g} to {100 * found.high:.3g}\u00a0%, **{100 * found.observed:.0f}\u00a0% are "
        f"right**. It is {off}."
    )


def _cards(errors, brier):
    texts = {
        "Expected error": {name: f"{100 * error.expected:.1f} points" for name, error in errors.items()},
        "Largest error": {name: f"{100 * error.maximal:.1f} points" for name, error in errors.items()},
        "Brier score": {name: f"{value:.4f}" for name, value in brier.items()},
    }
    tables.cards([
        (name, of["as they are"], HELP[name], f"{of['calibrated']} calibrated" if "calibrated" in of else None)
        for name, of in texts.items()
    ])  # fmt: skip
