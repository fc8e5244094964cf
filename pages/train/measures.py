"""How good a result is: all measures, whether its probabilities are right, and whether more data would help."""

import math

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import fields, format, tables, tasks
from pages.shared.figures import charts
from pages.shared.results import measured, predictions, results
from pages.train import answer
from xmlcore import experiment, figures, metrics
from xmlcore.experiment.kinds.decide import MEASURES, can_decide
from xmlcore.metrics.buckets import BUCKETS, MEANING

SHOWN = {"all": "all labels", "head": "head", "torso": "torso", "tail": "tail"}
BINS = {"equal width": "of equal width", "equal count": "of equal count"}
BINS_HELP = (
    "Of equal width: 0 to 10\u00a0%, 10 to 20\u00a0% and so on. Of equal count: about as many predictions in each, "
    "which shows more where most predictions are."
)
RIGHT = 0.02  # largest mean error of probabilities that the sentence calls right
LEAST = 20  # least predictions of the bin that the sentence names
CAPTION = (
    "On the dotted line predictions are as often right as they say; below it the model is overconfident. Vertical "
    "lines are 95\u00a0% intervals, bars count predictions. *Decide*, on Predict, predicts by calibrated probabilities."
)
HELP = {
    "Expected error": "Difference between the mean probability and the share that is right, mean over all predictions "
    "(ECE). It depends on the bins.",
    "Largest error": "The largest such difference of a bin (MCE). A bin with few predictions makes it large by chance.",
    "Brier score": "Mean squared difference between the probability and 1 for a right or 0 for a wrong prediction; "
    "smaller is better. 0.25 is what a probability of 50\u00a0% everywhere gives.",
}
BY_BUCKET = "Recall@5 by label frequency"
VIEWS = ("P@1", "P@3", "P@5", BY_BUCKET)


def every(ready) -> None:
    left, right = st.columns([6, 5], gap="medium")
    with left:
        headline = measured.headline(ready.key).assign(bucket="all")
        tables.show(lines(headline, "all").drop(columns="meaning"), "train.headline", _columns(), most=600)
    with right:
        answer.measures(ready.run, ready.files, "train.every.measures")
    task = experiment.task("measures", {"run": ready.key})
    tasks.shown(
        task,
        lambda found: _table(found, ready.files),
        automatic_below=0,  # few readers want more than the measures above; each look at a result would start it
        button="Take all measures, of head, torso and tail labels too",
        key="train.every",
    )


def _table(taken, file_name) -> None:
    bucket = fields.radio("Labels", SHOWN, "train.every.bucket", "all", help=MEANING)
    frame = lines(taken.measures, bucket)
    tables.show(frame, "train.every.table", _columns() | {"meaning": tables.text("Meaning", 530)}, most=420)
    st.caption(
        f"{len(frame)} measures in percent, in brackets the 95\u00a0% interval from {taken.n_resamples:,} draws of the "
        "test rows. Larger is better, unless the meaning says otherwise.",
        help=measured.INTERVAL,
    )
    charts.csv_button("All measures, CSV", taken.measures, f"{file_name}-measures-all")


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


def calibration(ready) -> None:
    data, run = ready.data, ready.run
    meaning = predictions.meaning(run)
    left, right = st.columns([3, 2], gap="large")
    ks = results.ks(data.n_labels)
    with right:
        k = fields.radio("Labels predicted", ks, "train.calibration.k", ks[-1])
        bins = fields.radio("Bins", BINS, "train.calibration.bins", "equal width", help=BINS_HELP)
        found = _probabilities(run, ready.key, data)
        frames = {name: metrics.reliability(data.Y_test, each, k, bins=bins) for name, each in found.items()}
        if frames["uncalibrated"].empty:
            st.caption("The model predicts no label, so there are no probabilities to check.")
            return
        errors = {name: metrics.calibration_error(frame) for name, frame in frames.items()}
        noun = "score" if meaning else "probability"
        st.markdown(
            in_words(worst(frames["uncalibrated"]), errors["uncalibrated"].expected, noun), help=meaning or None
        )
        _errors(errors, {name: metrics.brier_score_at_k(data.Y_test, each, k)[-1] for name, each in found.items()})
    with left:
        asked = "Are scores right as probabilities" if meaning else "Are probabilities right"
        calibrated = frames.get("calibrated")
        figure = figures.reliability_curve(frames["uncalibrated"], f"{asked}? Top {k}", calibrated=calibrated)
        if meaning:
            figure.update_layout(xaxis_title_text="Score, taken as a probability, %")
        charts.show_figure(
            figure,
            pd.concat(frames, names=["probabilities"]).reset_index(level=0),
            f"{ready.files}-reliability-{k}",
            CAPTION,
        )


def _probabilities(run, key, data) -> dict:
    """Return the ranking of a run, and one with calibrated probabilities, or else a button that has them learnt."""
    found = {"uncalibrated": run.ranking}
    if run.has_model and can_decide(data):
        task = experiment.task("decide", {"run": key})
        learnt = tasks.ready(task, button="Calibrate", key="train.calibrate")
        if learnt is not None:
            scores = learnt.rule(MEASURES[0]).calibration(run.ranking.scores).astype(np.float32)
            found["calibrated"] = run.ranking._replace(scores=scores)
    return found


def worst(frame) -> pd.Series:
    """Return the bin that the sentence is about: of those with some predictions, with the largest part of the error."""
    gap = (frame["predicted"] - frame["observed"]).abs() * frame["n"]
    return frame.loc[gap.where(frame["n"] >= LEAST, -1.0).idxmax()]


def in_words(gap: pd.Series, expected: float, noun: str) -> str:
    off = f"{100 * expected:.1f} points off on average"
    if expected <= RIGHT:
        return f"**Right as probabilities**: {off}."
    low, high = (format.significant(100 * end) for end in (gap.low, gap.high))
    return (
        f"**{off.capitalize()}**, most for labels predicted with a {noun} of {low} to {high}\u00a0%: it is "
        f"{'overconfident' if gap.predicted > gap.observed else 'underconfident'} there, as "
        f"**{100 * gap.observed:.0f}\u00a0% are right**."
    )


def _errors(errors, brier):
    texts = {
        "Expected error": {name: f"{100 * error.expected:.1f} points" for name, error in errors.items()},
        "Largest error": {name: f"{100 * error.maximal:.1f} points" for name, error in errors.items()},
        "Brier score": {name: f"{value:.4f}" for name, value in brier.items()},
    }
    calibrated = {name: f"{of['calibrated']} calibrated" for name, of in texts.items() if "calibrated" in of}
    tables.cards(*((name, of["uncalibrated"], HELP[name], calibrated.get(name)) for name, of in texts.items()))


def more_data(ready) -> None:
    run = ready.run
    params = {name: value for name, value in run.params.items() if name != "random_state"}
    task = experiment.task("learning_curve", {"dataset": run.fingerprint}, {"model": run.model, "params": params})
    tasks.shown(
        task,
        lambda curve: _draw(curve, ready.files, task.key),
        automatic_below=0,  # some twenty trainings: few readers of a result want them
        button="See whether more data would help",
    )


def _draw(curve, file_name, key):
    view = fields.radio(
        "Measure on the test rows",
        VIEWS,
        "train.more_data.view",
        help=f"Recall@5: the share of the true labels that are among the first five of their rows. {MEANING}",
    )
    measure, buckets = (view, ("all",)) if view != BY_BUCKET else ("Recall@5", BUCKETS)
    charts.show_figure(
        figures.learning_curve(curve.frame, measure, buckets),
        curve.frame,
        f"{file_name}-learning-curve-{key[:6]}",
        "Each point is a training on a random sample of the rows. A line that rises at its end: more rows would help.",
    )
    for note in curve.notes:
        st.caption(f"Not trained: {format.plain(note)}")
