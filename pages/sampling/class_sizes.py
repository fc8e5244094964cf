"""What is drawn at random: training rows of each class, and the copies of its examples from which f was learned."""

import streamlit as st

from pages.shared import charts, format, tables
from xmlcore import figures
from xmlcore.explain import candidates


def class_sizes(view) -> None:
    """Draw class sizes before and after sampling."""
    st.header("What is drawn")
    sizes = candidates.class_sizes(view.model, view.data)
    figure = figures.sampled_classes(sizes)
    meta = figure.layout.meta
    present = sizes[sizes["class_size"] > 0]
    largest, copies = int(present["class_size"].max()), int(present["sampled_size"].max())
    text = (
        f"Training rows of each class, from {int(present['class_size'].min()):,} to {largest:,}, and copies of its "
        f"examples that f was learned from. {_drawn(view)} A class has at most {copies:,} copies. The line of "
        "copies is the mean over neighbouring ranks, the band their 5th to 95th percentile."
    )
    if meta["without_copies"]:
        text += f" For {meta['without_copies']:,} of {meta['total']:,} classes there is no copy."
    if meta["without_rows"]:
        text += f" {format.count(meta['without_rows'], 'class', 'classes')} without training rows are not drawn here."
    if meta["shown"] < meta["total"]:
        text += f" Training rows of {meta['shown']:,} of {meta['total']:,} classes are points; the CSV has all."
    charts.show_figure(
        figure, lambda: tables.csv_safe(sizes), f"{view.files}-class-sizes", text, key="sampling.class_sizes"
    )


def _drawn(view) -> str:
    """Return how many copies are expected of a class, and which examples are left out."""
    if view.balanced:
        text = f"Sampling draws {view.examples:g} of each class on average"
    else:
        each = view.examples * view.n_present / max(1, view.n_examples + view.n_noisy)
        text = f"Sampling takes every example equally often, {each:.2g} times on average: copies go with class size"
    if view.n_noisy > 0:
        text += f", and draws from {format.count(view.n_noisy, 'noisy copy', 'noisy copies')} of examples as well"
    if view.near:
        return (
            f"{text}. Examples are left out if they are alone in their class, or if their class would be no "
            "candidate without them, so some classes have fewer copies or none."
        )
    if view.run.params.get("leave_one_out"):
        return f"{text}. Examples that are alone in their class are left out, so classes of one row have no copies."
    return f"{text}."
