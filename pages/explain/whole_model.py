"""The features of one label, and of the whole model: whether explanations name what the model uses."""

import streamlit as st

from pages.shared import cached, format, selectors, tables, tasks
from pages.shared.figures import charts
from pages.shared.rows import explaining
from xmlcore import explain, figures

ROWS_OF_LABEL = 200  # rows with a label that are explained at most
SHARE = "The share says how a row is divided among its candidates, in proportion to exp(f); it is no probability."
MODEL_BARS = 20  # features drawn for the whole model
BARS = "bars are the mean of their sizes, diamonds the mean with its sign."


def of_a_label(view) -> None:
    key, query = "explain.features.label", "explain.label.query"
    label = selectors.choose_label(view.data, "features", key, query, first=view.label)
    learned = _importance(view.key, label)
    name = view.data.label_name(label)
    if not learned.frame["mean_abs"].any():
        st.caption(f"No feature of rows with {format.bold(name)} contributes to it.")
        return
    frame = explaining.named(learned.frame, view.data, view.kind)
    rows = format.showing(learned.n_rows, learned.n_having, f"{learned.part} row")
    charts.show_figure(
        figures.importance_bars(frame, unit=view.unit, title=f"Features of {explaining.in_title(name)}"),
        frame,
        f"{view.files}-label{label}-importance",
        f"Contributions to {format.bold(name)} over rows that have it ({rows}): {BARS}",
        counted="features",
    )


@cached.shared("Explaining rows with the label")
def _importance(key: str, label: int) -> explain.LabelImportance:
    data = cached.dataset(cached.run(key).fingerprint)
    return explain.label_importance(cached.model(key), data, label, ROWS_OF_LABEL)


def of_all_labels(view) -> None:
    task = tasks.explain_task(view.key, view.data)
    if not task.exists():
        over = f"{task.params['n_rows']:,} of {format.count(view.data.n_test, 'test row')}"
        st.markdown(f"Over {over}: which features decide most, and whether explanations name what the model uses.")
    tasks.shown(task, lambda found: _results(view, found), button="Explain these rows", key="explain.measure")


def _results(view, explained):
    if explained.deletion.empty:
        st.caption("No test row has features, so there is nothing to explain about the whole model.")
        return
    over = (
        f"Means over {len(explained.rows):,} of {format.count(explained.n_test, 'test row')}, with 95\u00a0% intervals."
    )
    left, right = st.columns(2, gap="large")
    with left:
        _deletion(view, explained.deletion, over)
    with right:
        if explained.stability.empty:
            st.caption("No row could be explained under noise.")
        else:
            charts.show_figure(
                figures.stability_curves(explained.stability),
                explained.stability,
                f"{view.files}-stability",
                f"How far explanations stay the same under noise; σ is a share of the mean size of a value. {over}",
            )
    part = explaining.SCALES[view.kind].part
    importance = explaining.named(explained.importance, view.data, view.kind)
    if not importance["mean_abs"].any():
        return
    charts.show_figure(
        figures.importance_bars(importance, MODEL_BARS, unit=view.unit, title=f"{part.capitalize()}s that decide most"),
        importance,
        f"{view.files}-importance",
        f"Contributions to each row’s first label, over {format.count(len(explained.rows), 'row')}: {BARS}",
        counted=f"{part}s that occur",
    )


def _deletion(view, deletion, over: str) -> None:
    is_score = view.kind == "score"
    noun = "probability" if explaining.SCALES[view.kind].percent else "score"
    axis = "Label’s share of the candidates" if is_score else f"{noun.capitalize()} of the label"
    named = "of largest value" if is_score else "that are named"  # methods that the model has
    figure = figures.deletion_curves(deletion, title=f"Do the features {named} matter?", score=axis)
    left = figure.layout.meta["left"].items()
    tables.cards(*((f"Left, {method}", explaining.share(value), axis) for method, value in left))
    charts.show_figure(
        figure,
        deletion,
        f"{view.files}-deletion",
        "Each row’s features are removed, those ranked highest first; the sooner the curve falls, the better the "
        f"ranking names what the model uses. {over}{f' {SHARE}' if is_score else ''}",
    )
