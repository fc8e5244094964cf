"""The explanation under noise: how contributions and predictions change when the row's feature values do."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.explain.view import TOP
from pages.shared import fields, format, label_tables, tables
from pages.shared.figures import charts
from pages.shared.rows import explaining
from pages.shared.view import look, now
from xmlcore import explain, figures, robustness
from xmlcore.experiment.catalog import NOISE_SUPPORTS as SUPPORTS

REPEATS = 10  # noisy copies of the row
MORE_DRAWN = 5  # features drawn besides the TOP ones: those that contribute much only with noise


def under_noise(view) -> None:
    st.header("Does it hold under noise?")
    gaussian, seed = _choose(view)
    noisy = gaussian.apply(view.x, rows=np.array([view.row]), seed=seed)
    changed = explain.contributions(view.model, noisy, view.label)
    named = explaining.named(changed, view.data, view.kind)
    compared = explain.side_by_side(view.contributions, named, TOP)
    left, right = st.columns(2, gap="large")
    with left:
        if compared.empty:
            st.caption("Nothing contributes, with noise or without.")
        else:
            charts.show_figure(
                figures.contributions_compared(compared.head(TOP + MORE_DRAWN), unit=view.unit),
                lambda: explain.side_by_side(view.contributions, named),
                f"{view.file}-label{view.label}-noise",
                f"The {TOP} features that contribute most without noise, and features that are among the first {TOP} "
                "only with noise. "
                f"{explaining.totals(view.attrs, changed.attrs)}",
                key="explain.noise",
            )
    with right:
        _labels(view, noisy)
        _stability(view, gaussian, seed)


def _choose(view):
    size = float(np.abs(view.x.data).mean()) if view.x.nnz else 1.0
    left, middle, right = st.columns([1, 2, 1], vertical_alignment="bottom")
    key, first = f"explain.sigma {view.run.fingerprint[:8]}", explaining.round_size(0.3 * size)
    about = f"Standard deviation, in the units of the feature values: this row’s are {size:.3g} on average."
    sigma = fields.real("Noise, σ", 0.0, None, key, first, place=left, help=about)
    support = fields.choice("Features with noise", SUPPORTS, "explain.support", "nonzero", place=middle)
    right.button(
        "Draw other noise",
        key="explain.noise.again",
        width="stretch",
        on_click=lambda: look(draw=(now().draw or 0) + 1),
        help="The same σ with other random numbers.",
    )
    return robustness.GaussianNoise(sigma, support), now().draw or 0


def _labels(view, noisy):
    before, after = view.ranked, view.model.predict_topk(noisy, view.k).labels[0]
    after = after[after >= 0]
    scores_before, scores_after = view.values(before), view.values(after, noisy)
    places = {int(j): i + 1 for i, j in enumerate(before)}
    lines = []
    for i in range(max(before.size, after.size)):
        j = int(after[i]) if i < after.size else None
        lines.append(
            {
                "rank": i + 1,
                "before": view.data.label_name(int(before[i])) if i < before.size else "",
                "score before": scores_before[i] if i < before.size else np.nan,
                "after": "" if j is None else view.data.label_name(j),
                "score": np.nan if j is None else scores_after[i],
                "was": "" if j is None else str(places.get(j, "–")),
            }
        )
    if not lines:
        st.caption("No label is predicted, with noise or without.")
        return
    frame = pd.DataFrame(lines)
    scores = frame[["score before", "score"]]
    label_tables.show(
        frame,
        {"before": "Without noise", "after": "With noise"},
        {
            "rank": tables.number("Rank", 44, "%d"),
            "score before": explaining.column_config(view.kind, scores),
            "score": explaining.column_config(view.kind, scores, f"{explaining.COLUMN[view.kind]} "),
            "was": tables.text("Was", 54, "Its rank without noise; – for a new label."),
        },
        "explain.noise.labels",
        signs=explaining.signs(view.kind, "score before", "score"),
    )


def _stability(view, gaussian, seed):
    if gaussian.sigma == 0:
        st.caption("σ is 0, so there is no noise and nothing changes.")
        return
    stability = explain.stability(view.model, view.x, view.label, gaussian, REPEATS, TOP, seed=seed, row=view.row)
    means = stability[["spearman", "overlap"]].mean()
    n = len(stability)
    spearman = (
        f"Spearman’s rank correlation of contributions without and with noise, mean of {n} noisy copies; 1 is the same "
        "order."
    )
    overlap = (
        f"Share of the {TOP} most contributing features that stay among the first {TOP}; mean of {n} noisy copies."
    )
    tables.cards(
        [
            ("Rank correlation", format.number(means["spearman"]), spearman),
            (f"Same top {TOP}", f"{100 * means['overlap']:.0f}\u00a0%", overlap),
        ]
    )
    st.caption(
        f"Over {n} noisy copies of the row, {explaining.range_of_totals(view.attrs, stability['total'])}. The figure "
        "and the table show one further copy."
    )
    charts.csv_button(
        "Noisy copies, CSV", stability, f"{view.file}-label{view.label}-stability", "Agreement for each noisy copy"
    )
