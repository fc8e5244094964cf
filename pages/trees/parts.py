"""How well fewer or smaller trees of the model predict."""

import streamlit as st

from pages.shared import fields, fragments, tasks
from pages.shared.figures import charts
from pages.shared.results import results
from xmlcore import experiment, figures


def show(model, key, files) -> None:
    """Draw measures of parts of the model of the run ``key``, or show what it takes to measure them."""
    task = experiment.task("prefixes", {"run": key})
    if not task.exists():
        st.markdown(
            "The first trees of the ensemble, and the first nodes of each tree, are what training with fewer trees or "
            "fewer nodes would have given. Measuring them needs predictions only."
        )
    tasks.shown(
        task,
        lambda found: fragments.alone(_curves)(found.measures, model, key, files),
        button="Measure parts of the model",
        key="trees.measure",
    )


def _curves(found, model, key, files):
    measures = [m for m in ("P@k", "nDCG@k", "PSP@k") if (found["measure"] == m).any()]
    chosen = fields.several(
        "Measures", measures, "trees.measures", measures[:2], widget="pills", selection_mode="multi"
    )
    chosen = [m for m in measures if m in chosen] or measures[:1]
    ks = results.ks(model.n_labels_)
    once = "nDCG@1 equals P@1, so only one of them is drawn. " if {"P@k", "nDCG@k"} <= set(chosen) else ""
    texts = {
        (
            "n_trees",
            "Fewer trees",
        ): "Measures when only the first trees are used, at their full size; the last point is "
        f"the whole model. {once}",
        ("max_nodes", "Smaller trees"): "Measures of all trees, cut to their first nodes, as if “Max nodes per tree” "
        "were smaller, and their depth on the right axis; the last point is the whole model (Figure 3 of the paper).",
    }
    for place, ((axis, title), text) in zip(st.columns(2, gap="large"), texts.items()):
        with place:
            figure = figures.measures_of_prefixes(found, axis, chosen, ks, title)
            drawn, name = found[found["axis"] == axis], title.lower().replace(" ", "-")
            charts.show_figure(figure, drawn, f"{files}-{name}", text, key=f"trees.{axis}.{key[:8]}")
