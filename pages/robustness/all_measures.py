"""Measures of the results at one level of noise or of an attack."""

import streamlit as st

from pages.robustness import noise
from pages.robustness.measured import MEASURES, PAPER_MEASURE, title
from pages.shared import fields, tables
from pages.shared.figures import charts
from pages.shared.results import results
from xmlcore import robustness
from xmlcore.robustness.perturbations import KINDS

IN_TABLE = ("P@k", "nDCG@k", PAPER_MEASURE)


def show(measurements) -> None:
    settings = measurements.settings
    with st.columns([1, 2])[0]:
        level = choose_level("Level", "robustness.level", settings)
    measures = [measure for measure in IN_TABLE if measure in measurements.measures]
    table = robustness.loss_table(measurements.summary, level, measures, results.KS, measurements.n_rows)
    shown, config, signs = _columns(table, measures, settings.kind, level)
    first = tuple(config)[:5]
    best = None if shown["run"].nunique() == 1 else shown.groupby("k")[measures].transform("max") == shown[measures]
    tables.show(shown, "robustness.drops", config, signs=signs, best=best, first=first, most=420)
    st.caption("Measures in percent" + ("." if best is None else "; the best of each k is bold."))
    with st.container(horizontal=True, gap="small"):
        charts.csv_button("Table, CSV", table, f"{measurements.files}-lost", "This table, with intervals")
        about = "Every level, k, repeat, bucket and measure of each result"
        charts.csv_button("All measurements, CSV", measurements.frame, f"{measurements.files}-all", about)


def _columns(table, measures, kind, level):
    signs, of, changed = {}, noise.called(kind), "attacked" if KINDS[kind].is_attack else "noisy"
    shown = table[["run", "k"]].copy()
    config = {"run": tables.text("Result"), "k": tables.number("k", 35, "%d")}
    for measure in measures:
        short = title(measure)
        for column, label, help in (
            (f"{measure} clean", f"{short} clean", f"{short} without {of}, %: {MEASURES[measure]}."),
            (measure, f"{short} {changed}", f"{short} at {noise.level_text(kind, level)}, %: mean over repeats."),
            (
                f"{measure} drop",
                f"{short} lost, % of it",
                f"Share of {short} without {of} that is lost, in percent of it; negative is gained.",
            ),
        ):
            shown[column] = 100 * table[column]
            loss = column.endswith("drop")
            config[column] = tables.number(label, 60 + 8 * len(short), None if loss else "%.2f", help)
            signs |= {column: "{:.2f}"} if loss else {}
    return shown, config, signs


def choose_level(label: str, key: str, settings) -> float:
    """Show a slider of the levels measured and return the chosen one; at first the largest."""
    texts = {level: noise.level_text(settings.kind, level) for level in settings.levels}
    return fields.choice(label, texts, key, settings.levels[-1], widget="select_slider")
