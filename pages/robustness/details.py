"""Head, torso and tail labels under noise; prediction time under noise."""

import streamlit as st

from pages.robustness import noise
from pages.shared import fields
from pages.shared.figures import charts
from pages.shared.results import results
from xmlcore import figures
from xmlcore.metrics.buckets import MEANING


def buckets(measurements, n_labels) -> None:
    settings = measurements.settings
    parts = measurements.summary[measurements.summary["bucket"] != "all"]
    if parts.empty:
        return
    runs = list(measurements.results)
    first_column, second_column = st.columns([3, 1], vertical_alignment="bottom")
    with first_column:
        run = fields.choice("Result", runs, "robustness.buckets.run") if len(runs) > 1 else runs[0]
    with second_column:
        # With few labels, nearly all are among the five predicted, whatever the noise: k = 1 tells more.
        first = results.KS[-1] if n_labels >= 4 * results.KS[-1] else 1
        k = fields.choice("k of both figures", results.ks(n_labels), "robustness.buckets.k", first)
    mine = parts[(parts["run"] == run) & (parts["k"] == k)]
    level = noise.level_title(settings.kind, settings.options)
    of_rows = (mine["measure"] == "R@k").any()  # by versions 1 and 2
    recall, mean = ("R@k", ", as a mean over rows") if of_rows else ("micro R@k", "")
    texts = {
        "P@k": (
            "parts",
            f"What P@{k} consists of",
            f"The shares of head, torso and tail labels among the right ones; the top of the stack is P@{k}. {MEANING}",
        ),
        recall: (
            "recall",
            f"Recall@{k} of head, torso and tail",
            f"Share of the true head, torso or tail labels that are among the {k} predicted{mean}; bands are 95\u00a0% "
            "intervals over repeats.",
        ),
    }
    for place, (measure, (name, title, caption)) in zip(st.columns(2, gap="large"), texts.items()):
        with place:
            charts.show_figure(
                figures.buckets_under_noise(mine, measure, k, level=level, title=f"{title}: {run}"),
                mine[mine["measure"] == measure],
                f"{measurements.files}-{name}-{runs.index(run) + 1}",
                caption,
                key=f"robustness.{name}",
            )


def times(measurements) -> None:
    settings = measurements.settings
    of = noise.called(settings.kind)
    mine = measurements.summary.query("measure == 'predict_s' and bucket == 'all'")
    placed = mine.join(measurements.looks["place"], on="run")
    charts.show_figure(
        figures.prediction_times(
            placed, level=noise.level_title(settings.kind, settings.options), title=f"Prediction time under {of}"
        ),
        mine,
        f"{measurements.files}-times",
        f"Time to predict {max(results.KS)} labels for a row, not counting the time to make the {of}; bands are "
        f"95\u00a0% intervals over {settings.n_repeats} repeats; those that overlap tell nothing apart. "
        f"{noise.IN_BLOCKS}",
        key="robustness.times",
    )
