"""The answer of the Train page: a sentence, the main measures as cards, and figures of the run shown."""

import streamlit as st

from pages.shared import format, tables
from pages.shared.figures import charts
from pages.shared.results import measured, results, run_names
from pages.train import labels
from xmlcore import figures, metrics
from xmlcore.metrics.buckets import MEANING

HEIGHT = 340  # of the figures, in pixels


def sentence(ready) -> None:
    """Say how well the run shown predicts; without one, that none has been trained."""
    data, name = ready.data, f"**{format.plain(ready.name)}**"
    if not ready.records:
        st.markdown(
            f"No model has been trained on {name} in this workspace yet: "
            f"{format.count(data.n_train, 'row')} to learn from, {data.n_test:,} to test on."
        )
    elif ready.run is not None and ready.labelled:
        st.markdown(
            f"On {name}, **{format.plain(ready.title)}** ranks a true label first for "
            f"**{format.percent(value(ready.run.measures, 'P@k', 1))}** of the "
            f"{format.count(data.n_test, 'test row')} (P@1).",
            help=run_names.footnote([ready.title]) or None,
        )


def show(run, record) -> None:
    """Show the main measures and the training time of a run as cards; ``record`` is its record."""
    results.mark(record)
    tables.cards(measured.cards(record["key"]))
    results.say_warnings(run)


def buckets(key, name) -> None:
    """Draw how well head, torso and tail labels are predicted."""
    k = int(measured.headline(key)["k"].max())
    every = labels.every_label(key, k)
    frame = metrics.labels_by_bucket(every, every["bucket"].to_numpy())
    charts.show_figure(
        figures.labels_by_bucket(frame, k).update_layout(height=HEIGHT),
        frame,
        f"{name}-labels-at-{k}",
        "Recall is the share of the true labels that are predicted, precision the share of the predictions that are "
        f"right, both over all labels of a bar together; macro F1 is the mean of their F1. {MEANING}",
        key="train.labels.buckets",
    )


def measures(run, name, key: str) -> None:
    """Draw the usual measures of a run for 1 to k labels."""
    charts.show_figure(
        figures.measures_at_k(run.measures).update_layout(height=HEIGHT),
        run.measures,
        f"{name}-measures",
        "Each line is the mean of a measure over the test rows when k labels are predicted for each; higher is better. "
        "P@k usually falls with k: of five labels predicted for a row with three, at most three are right. R@k, the "
        "share of a row’s true labels that are predicted, and PSnDCG@k, nDCG@k in which rare labels count more, are "
        "shown by a click in the legend.",
        key=key,
    )


def value(measures, measure, k) -> float:
    """Return a measure at k from a table of measures; NaN when the table does not have it."""
    lines = measures.loc[(measures["measure"] == measure) & (measures["k"] == k), "value"]
    return float(lines.iloc[0]) if len(lines) else float("nan")
