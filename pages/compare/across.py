"""Several data sets: which models are better over all of them, and whether that is chance."""

from typing import NamedTuple

import streamlit as st

from pages.shared import format, tables
from pages.shared.figures import charts
from xmlcore import experiment, figures, metrics

FEW = "With fewer than six data sets, the test finds only what nearly all of them share."
HEAD = 16  # letters of a name above a column


def show(lines, measure: str) -> None:
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
        most=300,
    )
    left_out = lines["fingerprint"].nunique() - len(frame)
    st.caption(
        f"{measure} in percent; of each model the best settings on each data set."
        + (f" Left out: {format.count(left_out, 'data set')} without a result of every model." if left_out else "")
    )
    charts.csv_button("Data sets, CSV", lambda: frame.reset_index(names="dataset"), "data-sets-compared", "This table")
    if frame.shape[1] > 2:
        ranking = metrics.friedman(frame)
        charts.show_figure(
            figures.critical_difference(ranking.ranks, ranking.critical_difference, f"Mean rank in {measure}"),
            ranking.ranks,
            "critical-difference",
            "Rank 1 is the best model of a data set. A bar joins models whose mean ranks differ by less than the "
            "critical difference: Nemenyi's test does not tell them apart.",
            key="compare.ranks",
            of=list(lines.drop_duplicates(["fingerprint", "model"])["key"]),
        )


class Answer(NamedTuple):
    """Which model has the best mean rank over data sets, and whether models differ."""

    model: str
    rank: float
    test: str
    p: float


def facts(frame) -> Answer:
    """Return the answer of a table with a line for each data set and a column for each model."""
    means = frame.rank(axis=1, ascending=False).mean().sort_values(kind="stable")
    if frame.shape[1] == 2:
        return Answer(means.index[0], means.iloc[0], "Wilcoxon", float(metrics.wilcoxon(frame).iloc[0, 1]))
    return Answer(means.index[0], means.iloc[0], "Friedman", metrics.friedman(frame).p_value)


def _sentence(frame, measure) -> str:
    answer = facts(frame)
    significant = "significant" if answer.p < metrics.SURE else "not significant"
    return (
        f"**{format.plain(answer.model)}** has the best mean rank in {measure} over {len(frame)} data sets, "
        f"{answer.rank:.2f}: {significant} ({answer.test}'s test, p = {answer.p:.2g})."
    )
