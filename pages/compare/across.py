"""Several data sets: which models are better over all of them, and whether that is chance."""

import streamlit as st

from pages.shared import format, tables
from pages.shared.figures import charts
from xmlcore import experiment, figures, metrics

HEAD = 16  # letters of a name above a column


def show(lines, measure: str) -> None:
    frame = experiment.best_of_models(lines, measure)
    if frame.shape[0] < 2 or frame.shape[1] < 2:
        st.caption("Train two models on the same two data sets or more: they are then compared here.")
        return
    st.markdown(_answer(frame, measure))
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


def _answer(frame, measure) -> str:
    n = len(frame)
    means = frame.rank(axis=1, ascending=False).mean().sort_values(kind="stable")
    first, second = (format.plain(name) for name in means.index[:2])
    if frame.shape[1] == 2:
        wins = int((frame[means.index[0]] > frame[means.index[1]]).sum())
        p = float(metrics.wilcoxon(frame).iloc[0, 1])
        text = f"**{first}** is better than **{second}** in {measure} on **{wins} of {n}** data sets. "
        test, few = "Wilcoxon's signed-rank test", "it could hardly find any: six or more are needed"
    else:
        p = metrics.friedman(frame).p_value
        text = f"**{first}** has the best mean rank in {measure} over {n} data sets, {means.iloc[0]:.2f}. "
        test, few = "Friedman's test", "it finds only what nearly all of them share"
    if p < metrics.SURE:
        return f"{text}{test} finds that the models differ (p = {p:.2g})."
    few = f" With {n} data sets {few}." if n < 6 else ""
    return f"{text}{test} does not find that the models differ (p = {p:.2g}).{few}"
