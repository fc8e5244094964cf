"""What is drawn at random: training rows of each class, and the copies of its examples from which f was learned."""

import streamlit as st

from pages.shared import format
from pages.shared.figures import charts
from xmlcore import figures
from xmlcore.explain import candidates


def class_sizes(view) -> None:
    st.header("What is drawn")
    sizes = candidates.class_sizes(view.model, view.data)
    figure = figures.sampled_classes(sizes)
    meta = figure.layout.meta
    present = sizes[sizes["class_size"] > 0]
    largest, copies = int(present["class_size"].max()), int(present["sampled_size"].max())
    text = (
        f"Training rows of each label, from {int(present['class_size'].min()):,} to {largest:,}, and copies of its "
        f"examples that f was learned from, at most {copies:,}: the line is their mean over neighbouring ranks, the "
        f"band their 5th to 95th percentile. {_drawn(view)}"
    )
    if meta["without_copies"]:
        text += f" {meta['without_copies']:,} of {meta['total']:,} labels have no copy."
    if meta["without_rows"]:
        text += f" {format.count(meta['without_rows'], 'label')} without training rows are not drawn."
    if meta["shown"] < meta["total"]:
        text += f" Training rows of {meta['shown']:,} of {meta['total']:,} labels are points; the CSV has all."
    charts.show_figure(figure, sizes, f"{view.files}-label-sizes", text, key="sampling.class_sizes")


def _drawn(view) -> str:
    if view.balanced:
        text = f"Sampling draws {view.examples:g} of each label on average"
    else:
        text = "Sampling draws every example equally often, so a frequent label gives more copies"
    if view.n_noisy > 0:
        text += f", and draws from {format.count(view.n_noisy, 'noisy copy', 'noisy copies')} of examples as well"
    text += "."
    if view.near:
        text += (
            " An example is left out if it is the only row of its label, or if its label would be no candidate without "
            "it."
        )
    elif view.run.params.get("leave_one_out"):
        text += " An example that is the only row of its label is left out, so labels of one row have no copies."
    if view.balanced:
        return text
    n = view.n_examples + view.n_noisy
    text += f" There are {format.count(view.n_copies, 'copy', 'copies')} of {format.count(n, 'example')}"
    if view.near or view.run.params.get("leave_one_out"):
        text += f"; about {view.examples * view.n_present:,.0f} if none were left out"
    return f"{text}."
