"""Mixing ticked results: one press makes a model of theirs, whose result is ticked beside them."""

import streamlit as st

from pages.shared import actions, jobs, tasks
from pages.shared.results import results

TWINS = 0.8  # the share of the training rows on which models are trained that find the weights on the others
MANY = 1000  # of the others, from which on weights by frequency are tried
SEARCH, OF_MANY = 0.25, 4.0  # seconds for each model, of finding weights on few and on many rows
HOW = (
    "One model of the ticked ones: the mean of their calibrated probabilities decides. Its weights come from models of "
    f"the same settings, which are trained on {100 * TWINS:.0f} % of the training rows and judged on the others. The "
    "ticked models themselves are its members, and are not trained again."
)


def task_of(records: list):
    """Return the task that mixes results; None unless they are several models on one data set that can be mixed."""
    if len(records) < 2 or len({r["fingerprint"] for r in records}) > 1:
        return None
    if any(map(results.is_given, records)):
        return None
    members = sorted(({name: r[name] for name in ("model", "params", "k")} for r in records), key=str)
    return tasks.train_task(records[0]["fingerprint"], "Mixture", {"members": members}, results.K)


def button(task, tick) -> None:
    """Show the button; ``tick`` is called with the key of the result."""

    def start():
        tasks.start(task)
        tick(task.key)

    actions.button("Mix", key="compare.mix", type="tertiary", icon=":material/join:", help=HOW, on_click=start)


def seconds_of(frame, n_train: int) -> float:
    """Return about how long mixing results takes: training, predicting the other rows, and finding the weights."""
    others = (1 - TWINS) * n_train
    search = len(frame) * (OF_MANY if others >= MANY else SEARCH)
    return float(TWINS * frame["fit_s"].sum() + others * frame["predict_ms_per_row"].sum() / 1000 + search)


def below(task, ticked: list, frame) -> None:
    """Say how long mixing takes, by the lines of the ticked results, and show mixtures that are being made."""
    if task is not None and not task.exists():
        seconds = seconds_of(frame, task.sizes["n_train"])
        share = f"{100 * TWINS:.0f} % of the training rows"
        st.caption(f"Mix finds weights with models trained on {share}: {tasks.takes(seconds)}.")
    for key in ticked:
        jobs.follow("train", key=key)
