"""Calibration: whether labels that are predicted with a probability of 80 % are right in 80 % of the cases."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import fields, server, tables, tasks
from pages.shared.figures import charts
from pages.shared.results import predictions, results
from xmlcore import experiment, figures, metrics
from xmlcore.experiment.kinds.decide import MEASURES, can_decide

BINS = {"equal width": "of equal width", "equal count": "of equal count"}
RIGHT = 0.02  # mean error of probabilities that are called right
LEAST = 20  # predictions in a bin that a sentence is about
CAPTION = (
    "Each point is a bin of predictions with similar probabilities. On the dotted line they are as often right as they "
    "say; below it the model is too sure, above it not sure enough. Vertical lines are 95\u00a0% intervals of the "
    "share that is right; bars count the predictions."
)
EXPECTED = (
    "Difference between the mean probability and the share that is right, mean over all predictions (ECE). It depends "
    "on the bins."
)
LARGEST = "The largest such difference of a bin (MCE). A bin with few predictions makes it large by chance."
BRIER = (
    "Mean squared difference between the probability and 1 for a right or 0 for a wrong prediction; smaller is better. "
    "0.25 is what a probability of 50\u00a0% everywhere gives."
)


def show(run, key: str, file_name: str) -> None:
    meaning = predictions.meaning(run)
    left, right = st.columns([3, 2], gap="large")
    data = server.dataset(run.fingerprint)
    ks = results.ks(data.n_labels)
    with right:
        k = fields.radio("Labels predicted", ks, "train.calibration.k", ks[-1])
        bins = fields.radio(
            "Bins",
            BINS,
            "train.calibration.bins",
            "equal width",
            help="Of equal width: 0 to 10\u00a0%, 10 to 20\u00a0% and so on. Of equal count: about as many predictions "
            "in each, which shows more where most predictions are.",
        )
        found, learnt = {"as they are": run.ranking}, _learnt(run, key, data)
        if learnt is not None:
            probabilities = learnt.rule(MEASURES[0]).calibration(run.ranking.scores).astype(np.float32)
            found["calibrated"] = run.ranking._replace(scores=probabilities)
        frames = {name: metrics.reliability(data.Y_test, each, k, bins=bins) for name, each in found.items()}
        if frames["as they are"].empty:
            st.caption("The model predicts no label, so there are no probabilities to check.")
            return
        errors = [metrics.calibration_error(frame) for frame in frames.values()]
        st.markdown(sentence(frames["as they are"], errors[0], bool(meaning)), help=meaning or None)
        if learnt is not None:
            st.markdown(
                f"**Calibrated, it is {100 * errors[1].expected:.1f} points off.** What scores are worth was learnt "
                f"from {learnt.n_held_out:,} training rows that a twin of the model did not see; test rows decided "
                "nothing. *Decide*, on the Predict page, predicts by these probabilities."
            )
        brier = [metrics.brier_score_at_k(data.Y_test, each, k)[-1] for each in found.values()]
        numbers = {
            "Expected error": ([f"{100 * error.expected:.1f} points" for error in errors], EXPECTED),
            "Largest error": ([f"{100 * error.maximal:.1f} points" for error in errors], LARGEST),
            "Brier score": ([f"{value:.4f}" for value in brier], BRIER),
        }
        tables.cards([
            (name, values[0], help, f"{values[1]} calibrated" if learnt is not None else None)
            for name, (values, help) in numbers.items()
        ])  # fmt: skip
    with left:
        asked = "Are scores right as probabilities" if meaning else "Are probabilities right"
        figure = figures.reliability_curve(
            frames["as they are"], f"{asked}? Top {k}", calibrated=frames.get("calibrated")
        )
        if meaning:
            figure.update_layout(xaxis_title_text="Score, taken as a probability, %")
        charts.show_figure(
            figure,
            pd.concat(frames, names=["probabilities"]).reset_index(level=0),
            f"{file_name}-reliability-{k}",
            CAPTION,
            key="train.reliability",
        )


def _learnt(run, key, data):
    """Return the decisions learnt for a run, or None and a button that has them learnt."""
    if not run.has_model or not can_decide(data):
        return None
    task = experiment.task("decide", {"run": key})
    return tasks.ready(task, button="Calibrate", key="train.calibrate")


def sentence(frame, error, of_scores: bool) -> str:
    """Say how far probabilities, or scores that are none, are from the share that is right, and where most."""
    if error.expected <= RIGHT:
        said = "Scores can be taken as probabilities" if of_scores else "Probabilities can be taken as they are"
        return f"**{said}**: on average they differ by {100 * error.expected:.1f} points from the share that is right."
    gap = frame["predicted"] - frame["observed"]
    weight = (gap.abs() * frame["n"]).where(frame["n"] >= LEAST, -1.0)
    worst = frame.loc[weight.idxmax()]
    sure = worst["predicted"] > worst["observed"]
    noun, taken = ("score", ", taken as a probability,") if of_scores else ("probability", "")
    low, high, mean = worst["low"], worst["high"], round(worst["predicted"], 2)
    ends, mean = (
        (f"{low:.3g} to {high:.3g}", f"{mean:.3g}")
        if of_scores
        else (f"{100 * low:.3g} to {100 * high:.3g}\u00a0%", f"{100 * mean:.3g}\u00a0%")
    )
    return (
        f"On average a {noun}{taken} is {100 * error.expected:.1f} points off. The largest part of that comes from "
        f"labels predicted with a {noun} of {ends}: **{100 * worst['observed']:.0f}\u00a0% are right**, and their mean "
        f"{noun} is {mean}, so the model is **{'too sure' if sure else 'not sure enough'}** there."
    )
