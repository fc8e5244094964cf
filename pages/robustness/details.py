"""All measures at one level; head, torso and tail labels under noise; prediction time under noise."""

import streamlit as st

from pages.robustness import noise
from pages.robustness.measured import MEASURES, PAPER_MEASURE, title
from pages.shared import fields, tables
from pages.shared.figures import charts
from pages.shared.results import results
from xmlcore import figures, robustness
from xmlcore.metrics.buckets import MEANING
from xmlcore.robustness.perturbations import KINDS

IN_TABLE = ("P@k", "nDCG@k", PAPER_MEASURE)


def buckets(measurements, n_labels) -> None:
    settings = measurements.settings
    parts = measurements.summary[measurements.summary["bucket"] != "all"]
    if parts.empty:
        return
    runs = list(measurements.results)
    first_column, second_column = st.columns([3, 1], vertical_alignment="bottom")
    with first_column:
        run = fields.choice("Result", runs, "robustness.buckets.run") if len(runs) > 1 else runs[0]
    with second_column:
        # With few labels, nearly all are among the five predicted, whatever the noise: k = 1 tells more.
        first = results.KS[-1] if n_labels >= 4 * results.KS[-1] else 1
        k = fields.choice("k of both figures", results.ks(n_labels), "robustness.buckets.k", first)
    mine = parts[(parts["run"] == run) & (parts["k"] == k)]
    level = noise.level_title(settings.kind, settings.options)
    of_rows = (mine["measure"] == "R@k").any()  # by versions 1 and 2
    recall, mean = ("R@k", ", as a mean over rows") if of_rows else ("micro R@k", "")
    texts = {
        "P@k": (
            "parts",
            f"What P@{k} consists of",
            f"The shares of head, torso and tail labels among the right ones; the top of the stack is P@{k}. {MEANING}",
        ),
        recall: (
            "recall",
            f"Recall@{k} of head, torso and tail",
            f"Share of the true head, torso or tail labels that are among the {k} predicted{mean}; bands are 95\u00a0% "
            "intervals over repeats.",
        ),
    }
    for place, (measure, (name, heading, caption)) in zip(st.columns(2, gap="large"), texts.items()):
        with place:
            charts.show_figure(
                figures.buckets_under_noise(mine, measure, k, level=level, title=f"{heading}: {run}"),
                mine[mine["measure"] == measure],
                f"{measurements.files}-{name}-{runs.index(run) + 1}",
                caption,
                key=f"robustness.{name}",
            )


def times(measurements) -> None:
    settings = measurements.settings
    of = noise.called(settings.kind)
    mine = measurements.summary.query("measure == 'predict_s' and bucket == 'all'")
    placed = mine.join(measurements.looks["place"], on="run")
    charts.show_figure(
        figures.prediction_times(
            placed, level=noise.level_title(settings.kind, settings.options), title=f"Prediction time under {of}"
        ),
        mine,
        f"{measurements.files}-times",
        f"Time to predict {max(results.KS)} labels for a row, not counting the time to make the {of}; bands are "
        f"95\u00a0% intervals over {settings.n_repeats} repeats; those that overlap tell nothing apart. "
        f"{noise.IN_BLOCKS}",
        key="robustness.times",
    )


def at_one_level(measurements) -> None:
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
