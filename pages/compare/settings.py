"""Which settings matter, and which models are better over several data sets."""

import streamlit as st

from pages.shared import fields, format, tables
from pages.shared.figures import charts
from xmlcore import experiment, figures, metrics
from xmlcore.experiment import side_by_side

TRIED = "Trainings of *Try several settings* are on the Train page."


def show(lines, measure: str, file_name: str) -> None:
    of_models = side_by_side.settings_of_models(lines, measure) if len(lines) else {}
    if not of_models:
        st.caption(f"Three lines of one model with different settings are compared here. {TRIED}")
        return
    model = next(iter(of_models))
    if len(of_models) > 1:
        model = fields.radio("Settings of", list(of_models), "compare.coordinates")
    frame, labels = of_models[model]
    title = f"{measure} of {model} by settings, on test rows of {figures.short(lines['dataset'].iloc[0], 30)}"
    figure = figures.parameters_compared(frame, labels, measure, title)
    cut = [label for label, axis in zip(labels.values(), figure.data[0].dimensions) if "…" in axis.label]
    charts.show_figure(
        figure,
        frame,
        f"{file_name}-settings",
        f"Each line is one setting: orange lines are the best in {measure}, blue ones the worst. Draw along an axis to "
        "keep only the lines through that part; a click on the axis brings all back."
        + (f" In full, names above the axes are: {format.listed(cut)}." if cut else ""),
        key="wide.compare.coordinates.figure",
        of=list(lines.loc[frame.index, "key"]),
    )


FEW = "With fewer than six data sets, the test finds only what nearly all of them share."
HEAD = 16  # letters of a name above a column


def across(lines, measure: str) -> None:
    frame = experiment.best_of_models(lines, measure)
    if frame.shape[0] < 2 or frame.shape[1] < 2:
        st.caption("Train two models on the same two data sets or more: they are then compared here.")
        return
    st.markdown(_sentence(frame, measure), help=FEW)
    shown = (100 * frame).round(2).reset_index(names="dataset")
    heads = figures.cut_apart(frame.columns, HEAD)
    tables.show(
        shown,
        "compare.across",
        {"dataset": tables.text("Data set", 130)}
        | {name: tables.number(head, 130, "%.2f", format.plain(name)) for name, head in heads.items()},
    )
    left_out = lines["fingerprint"].nunique() - len(frame)
    out = f" Left out: {format.count(left_out, 'data set')} without a result of every model." if left_out else ""
    st.caption(f"{measure} in percent; of each model the best settings on each data set.{out}")
    charts.csv_button("Data sets, CSV", lambda: frame.reset_index(names="dataset"), "data-sets-compared")
    if frame.shape[1] > 2:
        ranking = metrics.friedman(frame)
        charts.show_figure(
            figures.critical_difference(ranking.ranks, ranking.critical_difference, f"Mean rank in {measure}"),
            ranking.ranks,
            "critical-difference",
            "Rank 1 is best. A bar joins models that Nemenyi's test does not tell apart by their mean ranks.",
            of=list(lines.drop_duplicates(["fingerprint", "model"])["key"]),
        )


def _sentence(frame, measure) -> str:
    """Say which model has the best mean rank; ``frame`` has a line for each data set and a column for each model."""
    means = frame.rank(axis=1, ascending=False).mean().sort_values(kind="stable")
    if frame.shape[1] == 2:
        test, p = "Wilcoxon", float(metrics.wilcoxon(frame).iloc[0, 1])
    else:
        test, p = "Friedman", metrics.friedman(frame).p_value
    significant = "significant" if p < metrics.SURE else "not significant"
    return (
        f"{format.bold(means.index[0])} has the best mean rank in {measure} over {len(frame)} data sets, "
        f"{means.iloc[0]:.2f}: {significant} ({test}'s test, {format.p_value(p)})."
    )
