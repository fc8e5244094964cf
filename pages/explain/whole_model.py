"""The features of one label, and of the whole model: whether explanations name what the model uses."""

import streamlit as st

from pages.explain.view import label_importance
from pages.shared import format, selectors, server, tasks
from pages.shared.figures import charts
from pages.shared.rows import explaining
from xmlcore import figures

ROWS_OF_LABEL = 200  # rows with a label that are explained at most
SHARE = "The share says how a row is divided among its candidates, in proportion to exp(f); it is no probability."
MODEL_BARS = 20  # features drawn for the whole model


def of_a_label(view) -> None:
    names = server.label_names(view.run.fingerprint)
    key, query = "explain.features.label", "explain.label.query"
    label = selectors.choose_label(view.data, names, "features", key, query, first=view.label)
    learned = label_importance(view.key, label, ROWS_OF_LABEL)
    name = view.data.label_name(label)
    if not learned.frame["mean_abs"].any():
        st.caption(f"No feature of rows with **{format.plain(name)}** contributes to it.")
        return
    frame = explaining.named(learned.frame, view.data, view.kind)
    rows = format.count(learned.n_having, f"{learned.part} row")
    if learned.n_rows < learned.n_having:
        rows = f"{learned.n_rows:,} of {rows}"
    charts.show_figure(
        figures.importance_bars(frame, unit=view.unit, title=f"Features of {explaining.in_title(name)}"),
        frame,
        f"{view.files}-label{label}-importance",
        f"Contributions to **{format.plain(name)}** over {rows} that have it: bars are the mean of their sizes, "
        "diamonds the mean with its sign.",
        counted="features",
        key="explain.label.importance",
    )


def of_all_labels(view) -> None:
    task = tasks.explain_task(view.key, view.data)
    if not task.exists():
        st.markdown(
            f"Over {task.params['n_rows']:,} of {format.count(view.data.n_test, 'test row')}, drawn at random: which "
            "features decide most, whether the prediction disappears when they are removed, and whether explanations "
            "stay the same under noise."
        )
    tasks.shown(task, lambda found: _results(view, found), button="Explain these rows", key="explain.measure")


def _results(view, explained):
    if explained.deletion.empty:
        st.caption("No test row has features, so there is nothing to explain about the whole model.")
        return
    rows = format.count(explained.n_test, "test row")
    rows = f"all {rows}" if len(explained.rows) == explained.n_test else f"{len(explained.rows):,} of {rows}"
    left, right = st.columns(2, gap="large")
    with left:
        is_score = view.kind == "score"
        named = "of largest value" if is_score else "that are named"  # methods that the model has
        noun = "probability" if view.kind in explaining.PERCENT else "score"
        curve = "share of its first label among the candidates" if is_score else f"{noun} of its first label"
        axis = "Label’s share of the candidates" if is_score else f"{noun.capitalize()} of the label"
        figure = figures.deletion_curves(explained.deletion, title=f"Do the features {named} matter?", score=axis)
        left_over = ", ".join(
            f"{explaining.share(value)} ({method})" for method, value in figure.layout.meta["left"].items()
        )
        charts.show_figure(
            figure,
            explained.deletion,
            f"{view.files}-deletion",
            f"Each row’s features are removed, those ranked highest first; the sooner the {curve} falls, the better "
            f"the ranking names what the model uses. What is left of it in the end: {left_over}. Means over {rows} "
            "with 95\u00a0% intervals." + (f" {SHARE}" if is_score else ""),
            key="explain.deletion",
        )
    with right:
        if explained.stability.empty:
            st.caption("No row could be explained under noise.")
        else:
            charts.show_figure(
                figures.stability_curves(explained.stability),
                explained.stability,
                f"{view.files}-stability",
                "How far the explanation of a row’s first label stays the same when its feature values get noise; σ is "
                f"given as a share of the mean size of a value. Means over {rows} with 95\u00a0% intervals.",
                key="explain.stability",
            )
    importance = explaining.named(explained.importance, view.data, view.kind)
    if not importance["mean_abs"].any():
        return
    charts.show_figure(
        figures.importance_bars(importance, MODEL_BARS, unit=view.unit, title="Features that decide most"),
        importance,
        f"{view.files}-importance",
        f"Contributions to each row’s first label, over {rows}: bars are the mean of their sizes, diamonds the mean "
        "with its sign.",
        counted="features that occur",
        key="explain.importance",
    )
