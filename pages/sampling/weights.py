"""What f has learned: the weight of each feature of a row and a class."""

import numpy as np
import streamlit as st

from pages.shared import format
from pages.shared.figures import charts
from xmlcore import figures
from xmlcore.explain import candidates


def weights(view) -> None:
    """Draw weights scaled so that they can be compared, and list the meaning of each feature."""
    table = candidates.feature_weights(view.model)
    top = table.iloc[0]
    left, right = st.columns([2, 3], gap="large")
    with left:
        charts.show_figure(
            figures.feature_weights(table),
            table,
            f"{view.files}-weights",
            "f is the sum of weight × feature. Each bar is a weight times the size of the feature’s differences "
            f"between labels in training, so bars can be compared; the largest is **{format.plain(top['name'])}** "
            f"({format.signed(top['value'])}).",
            key="sampling.weights",
        )
    with right:
        st.markdown("\n\n".join(_about(r) for r in table.itertuples()))
        st.caption(
            f"The {format.count(len(table), 'feature')} of a row and a label, the most influential first. Sums go over "
            "the terms that both the row and the label have. In brackets are weights: they belong to features of very "
            "different sizes; the figure’s CSV has the scales, too. Features are correlated, so a single weight does "
            "not show a cause."
        )


def _about(r) -> str:
    return f"**{format.plain(r.name)}** ({_plain_number(r.weight)}): {format.plain(r.meaning)}"


def _plain_number(value) -> str:
    """Return a number with three significant digits, never in powers of ten: ``−0.0000457``."""
    text = np.format_float_positional(float(f"{value:.3g}"), trim="-")
    return text.replace("-", "−")
