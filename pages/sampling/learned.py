"""The labels and copies that double sampling drew, and the weights that f has learned from them."""

import streamlit as st

from pages.shared import format, tables
from pages.shared.figures import charts
from xmlcore import figures
from xmlcore.explain import candidates


def class_sizes(view) -> None:
    sizes = candidates.class_sizes(view.model, view.data)
    figure = figures.sampled_classes(sizes)
    meta, drawn = figure.layout.meta, "of each label" if view.balanced else "per label"
    charts.show_figure(
        figure,
        sizes,
        f"{view.files}-label-sizes",
        f"{view.n_copies:,} copies of {format.count(view.n_examples, 'example')}; {view.examples:g} drawn {drawn} on "
        f"average. {meta['shown']:,} of {meta['total']:,} labels are points, the CSV has all.",
        key="sampling.class_sizes",
    )


def weights(view) -> None:
    """Draw weights scaled so that they can be compared, and list the meaning of each feature."""
    table = candidates.feature_weights(view.model)
    top = table.iloc[0]
    charts.show_figure(
        figures.feature_weights(table),
        table,
        f"{view.files}-weights",
        "f is the sum of weight × feature. Each bar is a weight times the size of the feature’s differences between "
        f"labels in training, so bars can be compared; the largest is **{format.plain(top['name'])}** "
        f"({format.signed(top['value'])}).",
        key="sampling.weights",
    )
    columns = {
        "name": tables.text("Feature"),
        "weight": tables.number("Weight", 90, "%.3g", "Of features of very different sizes; the CSV has their scales."),
        "meaning": tables.text("Meaning", 900),
    }
    tables.show(table, "sampling.weights.table", columns, most=680)
    st.caption(
        f"The {format.count(len(table), 'feature')} of a row and a label, the most influential first. Features are "
        "correlated, so a single weight does not show a cause."
    )
