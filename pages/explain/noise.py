"""The explanation under noise: how contributions and predictions change when the row's feature values do."""

import numpy as np
import streamlit as st

from pages.explain.view import TOP
from pages.shared import fields, tables
from pages.shared.figures import charts
from pages.shared.results import before_after
from pages.shared.rows import explaining
from pages.shared.view import look, now
from xmlcore import explain, figures, robustness
from xmlcore.experiment.catalog import NOISE_SUPPORTS as SUPPORTS

REPEATS = 10  # noisy copies of the row
MORE_DRAWN = 5  # features drawn besides the TOP ones: those that contribute much only with noise


def under_noise(view) -> None:
    gaussian, seed = _choose(view)
    noisy = gaussian.apply(view.x, rows=np.array([REPEATS * view.row]), seed=seed)  # the first copy of _stability
    changed = explain.contributions(view.model, noisy, view.label)
    named = explaining.named(changed, view.data, view.kind)
    n_features = len(explain.side_by_side(view.contributions, named))
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
                "only with noise. " * (n_features > TOP) + explaining.totals(view.attrs, changed.attrs),
                key="explain.noise",
            )
    with right:
        before_after.show(view.data, view.model, view.x, noisy, view.k, "explain.noise.labels")
        _stability(view, gaussian, seed, n_features)


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


def _stability(view, gaussian, seed, n_features):
    if gaussian.sigma == 0:
        st.caption("σ is 0, so there is no noise and nothing changes.")
        return
    stability = explain.stability(view.model, view.x, view.label, gaussian, REPEATS, TOP, seed=seed, row=view.row)
    means = stability[["spearman", "overlap"]].mean()
    n = len(stability)
    of = f"without and with noise, mean of {n} noisy copies"
    tables.cards(explaining.agreement_cards(means["spearman"], means["overlap"], TOP, n_features, of))
    st.caption(
        f"Over {n} noisy copies of the row, {explaining.range_of_totals(view.attrs, stability['total'])}. The figure "
        "and the table show the first of them."
    )
    charts.csv_button(
        "Noisy copies, CSV", stability, f"{view.file}-label{view.label}-stability", "Agreement for each noisy copy"
    )
