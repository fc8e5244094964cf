"""The answer of the Robustness page: its facts, a sentence, curves over levels of noise, and a table of losses."""

import pandas as pd
import streamlit as st

from pages.robustness import choices
from pages.robustness.measured import MEASURES, title
from pages.shared import fields, first_results, format, fragments, tables
from pages.shared.figures import charts
from pages.shared.results import results
from xmlcore import figures
from xmlcore.robustness.perturbations import CERTIFIED, KINDS

SIGNIFICANT = (
    "Significant: the same rows are compared unchanged and changed, and p, corrected for all results and levels, is "
    "small. This can be so although bands overlap: each is of one level alone."
)
SHARES = {1: "larger", -1: "smaller", 0: "not significant"}


def facts(measurements) -> tuple[str, float, float, bool, int]:
    """Return what the most accurate result without noise loses: its name, a level, points, significance, and rows.

    The level is the least at which P@1 significantly changes, or the largest one; points are those of P@1 lost there,
    or of certificates the percentage of rows that are certified.
    """
    run, levels = measurements.best, measurements.settings.levels
    if measurements.certified:
        share = measurements.value(run, CERTIFIED, 1, levels[-1])
        return run, levels[-1], 100 * share, False, measurements.n_rows[run]
    level = next((at for at in levels if measurements.loses(run, at)), levels[-1])
    lost = measurements.value(run, "P@k", 1, 0.0) - measurements.value(run, "P@k", 1, level)
    return run, level, 100 * lost, measurements.loses(run, level) != 0, measurements.n_rows[run]


def sentence(name: str, comparison) -> str:
    if not comparison.compared:
        return comparison.left_out
    if comparison.measurements is None:
        return f"How well do models predict {format.bold(name)} under noise? Measure it to see."
    settings = comparison.measurements.settings
    result, level, points, significant, n_rows = facts(comparison.measurements)
    who, rows = format.bold(result), format.count(n_rows, "test row")
    if comparison.measurements.certified:
        return (
            f"No change of length {level:g} or less alters the first label of {who} for "
            f"**{points:.1f}\u00a0%** of {rows}."
        )
    under = format.plain(choices.noise_text(settings.kind, settings.options, level))
    change = f"{'gains' if points < 0 else 'loses'} **{abs(points):.1f} points**"
    return f"With {under}, {who} {change} of P@1 on {rows}: {'' if significant else 'not '}significant."


def figures_of(comparison, data) -> None:
    if comparison.measurements is None:
        if comparison.compared:
            first_results.comes(data.fingerprint, "robustness")
        return
    fragments.alone(_curves)(comparison.measurements, data)


def losses(measurements) -> None:
    """Show P@1 of all results at every level, and how much of it they lose, in a small table."""
    settings = measurements.settings
    every = measurements.summary.query("bucket == 'all' and k == 1")
    summary = every[every["measure"] == (CERTIFIED if measurements.certified else "P@k")]
    wide = 100 * summary.pivot_table(index="run", columns="sigma", values="mean", sort=False)
    called = "Certified rows" if measurements.certified else "P@1"
    columns = {"run": tables.text(f"{called}, %")}
    for level in sorted(wide.columns):
        name = choices.level_text(settings.kind, level) if level else f"no {choices.called(settings.kind)}"
        short = name.partition(" of ")[0].rpartition("= ")[2] if level else "none"
        columns[f"{level:g}"] = tables.number(short, 44, "%.1f", f"{called} at {name}: mean over repeats.")
    shown = wide.rename(columns="{:g}".format).reset_index()
    if not measurements.certified:
        shown, last = shown.join(compared(measurements), on="run"), settings.levels[-1]
        at = choices.level_text(settings.kind, last)
        columns["from"] = tables.text("Loses from", None, "The lowest level with a significant loss of P@1.")
        columns["lost"] = tables.number("Lost, %", None, "%.1f", f"Share of its own P@1 that is lost at {at}.")
        best = f"Whether it loses a significantly larger or smaller share at {at} than {measurements.best}."
        if len(shown) > 1:
            columns["more"] = tables.text("Against the best", None, best)
    tables.show(shown[[*columns]], "robustness.kept", columns, first=tuple(columns), most=480)


def compared(measurements) -> pd.DataFrame:
    """Return from which level each result significantly loses P@1, and the share lost at the largest, by result."""
    settings = measurements.settings
    last, lines = settings.levels[-1], {}
    for run in measurements.results:
        level = next((at for at in settings.levels if measurements.loses(run, at) > 0), None)
        lines[run] = {
            "from": "" if level is None else choices.level_text(settings.kind, level),
            "lost": 100 * measurements.value(run, "P@k", 1, last, "drop_mean"),
            "more": "" if run == measurements.best else SHARES[measurements.loses(run, last, "more")],
        }
    return pd.DataFrame.from_dict(lines, orient="index")


def _curves(measurements, data) -> None:
    settings, picture = measurements.settings, st.container()
    measure, k, way = CERTIFIED, 1, "value"
    if not measurements.certified:
        left, middle, right = st.columns([2, 1, 1], vertical_alignment="bottom")
        titles = {measure: title(measure) for measure in measurements.measures}
        help = "  \n".join(f"**{name}**: {MEASURES[measure]}." for measure, name in titles.items())
        measure = fields.choice("Measure", titles, "robustness.measure", "P@k", place=left, help=help)
        k = fields.choice("k", results.ks(data.n_labels), "robustness.k", 1, place=middle)
        ways = {"value": "Value", "drop": "Share lost"}
        way = fields.choice("Show", ways, "robustness.drawn", "value", place=right)
    several = settings.n_repeats > 1
    bands = f"bands: 95\u00a0% over {settings.n_repeats} repeats" if several else "one repeat, so no bands"
    mine = measurements.summary.query("bucket == 'all' and measure == @measure")
    shown = title(measure).replace("@k", f"@{k}")
    figure = figures.robustness_curves(
        mine.assign(measure=title(measure)).join(measurements.styles["place"], on="run"),
        title(measure),
        k,
        drop=way == "drop",
        level=choices.level_title(settings.kind, settings.options),
        title=f"{shown} under {choices.noise_text(settings.kind, settings.options)}",
    )
    subtitle = f"{settings.rows_text.removesuffix(', drawn at random')}; {bands}"
    figure.update_layout(title_subtitle_text=subtitle, margin_t=92)
    caption = (
        f"{title(measure)}: {MEASURES[measure]}. On {settings.rows_text}; {bands}. Other test rows would change up to "
        f"±{100 * measurements.margin_of_rows:.1f} points, alike for every result and level."
    )
    if KINDS[settings.kind].is_attack:
        named = format.plain(next(result.surrogate for result in measurements.results.values()) or "")
        tree = f" The attack was computed on {named}, and every model predicted the same attacked rows."
        caption += tree if settings.transferred else " The attack follows the gradient of each model itself."
    with picture:
        charts.show_figure(figure, mine, f"{measurements.files}-curves", caption)
