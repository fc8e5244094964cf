"""The answer of the Robustness page: a sentence, curves over levels of noise, and tables of losses."""

import itertools

import numpy as np
import streamlit as st

from pages.robustness import noise
from pages.robustness.measured import MEASURES, title
from pages.shared import fields, format, server, tables
from pages.shared.figures import charts
from pages.shared.results import results
from xmlcore import figures
from xmlcore.robustness.perturbations import CERTIFIED, KINDS

SURELY = (
    "Surely: other draws or test rows would hardly undo it. The same rows are compared unchanged and changed, so "
    "this can be sure although bands overlap: each is of one level alone."
)

RISING = "Where values change more, a model may rank other labels, and so be right more often."


def sentence(name, measurements, settings) -> str:
    last, runs = settings.levels[-1], list(measurements.results)
    if CERTIFIED in measurements.measures:
        shares = [(format.plain(run), format.percent(measurements.value(run, CERTIFIED, 1, last))) for run in runs]
        return (
            f"On **{format.plain(name)}** ({settings.rows_text}), no change of length {last:g} or less turns the "
            f"first label of {format.listed([f'**{share}** of the rows by **{run}**' for run, share in shares])}."
        )
    if not np.isfinite(measurements.value(runs[0], "PSP@k", 1, 0.0)):
        return f"No test row of **{format.plain(name)}** that was measured has a label, so no prediction can be right."
    run = measurements.best
    level = next((at for at in settings.levels if measurements.loses(run, at) > 0), last)
    perturbed = format.plain(noise.noise_text(settings.kind, settings.options, level))
    if KINDS[settings.kind].is_attack:
        perturbed += f", computed on {'one label tree for all' if settings.transferred else 'each model itself'}"
    lost = {one: share for one in runs if np.isfinite(share := measurements.value(one, "P@k", 1, level, "drop_mean"))}
    if not lost:
        return f"Without {noise.called(settings.kind)} no first label is right, so nothing can be lost."
    is_sure, rows = measurements.loses(run, level) != 0, format.count(measurements.n_rows[run], "test row")
    text = f"With {perturbed}, "
    if is_sure or measurements.loss(run, level) is None:
        turns = f"{'surely ' * is_sure}{_turns(measurements, run, level)}"
        text += f"**{format.plain(run)}** {turns} of P@1 on {rows}"
        if level != last and measurements.loses(run, last):
            text += f", and {_turns(measurements, run, last)} at {format.plain(noise.level_text(settings.kind, last))}"
        text += "."
    elif measurements.is_unchanged(run, level):
        text += f"**{format.plain(run)}** loses nothing of P@1 on {rows}."
    else:
        text += f"whether **{format.plain(run)}** loses P@1 is not sure on {rows}."
    worst = max(lost, key=lost.get)
    first, fell = _falls_first(measurements, settings, run, level) or (None, level)
    named = {run}
    if measurements.loses_more(worst, level) > 0 and lost[worst] > 0:
        named.add(worst)
        at = format.plain(noise.level_text(settings.kind, level))
        text += f" **{format.plain(worst)}** loses the largest share at {at}: {100 * lost[worst]:.1f}\u00a0%."
    if first is not None:
        at = format.plain(noise.level_text(settings.kind, fell))
        who = "It" if first in named else f"**{format.plain(first)}**"
        text += f" {who} falls first: by {_points(measurements, first, fell):.1f} points already at {at}."
        named.add(first)
    others, levels = [one for one in lost if one not in named], [at for at in settings.levels if at >= level]
    text += beside_the_best(measurements, settings.kind, others, levels)
    crossed = crossing(measurements, settings, run)
    return f"{text} {crossed}" if crossed else text


def _points(measurements, run, level) -> float:
    """Return how many points of P@1 a result loses at a level; P@1 itself differs from that of all rows elsewhere."""
    return 100 * (measurements.value(run, "P@k", 1, 0.0) - measurements.value(run, "P@k", 1, level))


def _turns(measurements, run, level) -> str:
    points = round(_points(measurements, run, level), 1)
    return f"{'gains' if points < 0 else 'loses'} **{abs(points):.1f} points**"


def crossing(measurements, settings, best: str) -> str:
    """Return from about which level the best result there is ahead of that without noise; empty if it is the same."""
    levels = [0.0, *sorted(settings.levels)]

    def right(run, level):
        return measurements.value(run, "P@k", 1, level)

    other = max(sorted(measurements.results), key=lambda run: right(run, levels[-1]))
    ahead = np.array([right(other, level) - right(best, level) for level in levels])
    if not ahead[0] < 0 < ahead[-1] or not measurements.is_ahead(other, levels[-1]):
        return ""
    at = np.flatnonzero(ahead <= 0)[-1]  # the last level before the other one stays ahead
    level = np.interp(0.0, ahead[at : at + 2], levels[at : at + 2])
    where = format.plain(noise.level_text(settings.kind, float(f"{level:.2g}")))
    return f"**{format.plain(other)}** is ahead of **{format.plain(best)}** from about {where}."


def beside_the_best(measurements, kind, runs, levels) -> str:
    """Say who surely loses a larger or smaller share of P@1 than the best result, at which level, and if that turns."""
    sure, unsure, best = {}, [], f"**{format.plain(measurements.best)}**"
    for run in runs:
        signs = [measurements.loses_more(run, level) for level in levels]
        name, first = f"**{format.plain(run)}**", next(filter(None, signs), 0)
        told = [signs.index(sign) for sign in (first, -first) if first and sign in signs]
        shares = [
            f"a {'larger' if signs[at] > 0 else 'smaller'} share{f' than {best}' * (at == told[0])} at "
            f"{format.plain(noise.level_text(kind, levels[at]))}"
            for at in told
        ]
        if shares:
            sure.setdefault(format.listed(shares), []).append(name)
        elif not all(measurements.is_unchanged(one, level) for one in (run, measurements.best) for level in levels):
            unsure.append(name)
    parts = [f"{format.listed(names)} surely lose{'s' * (len(names) == 1)} {shares}" for shares, names in sure.items()]
    said = f" {format.listed(parts)}." if parts else ""
    if unsure:
        lose = f"lose{'s' * (len(unsure) == 1)}"
        said += f" Whether {format.listed(unsure)} {lose} a larger or smaller share than {best} is not sure."
    return said


def _falls_first(measurements, settings, run, said) -> tuple | None:
    """Return who surely loses P@1, and more than ``run``, at a level before ``said``, and the level; None if nobody."""
    for level in (level for level in settings.levels if level < said):
        lose = [one for one in measurements.results if measurements.loses(one, level) > 0]
        if more := [one for one in lose if measurements.loses_more(one, level) > 0]:
            return max(more, key=lambda one: measurements.loss(one, level).lost), level
    return None


def kept(measurements, settings, widest) -> None:
    """Show P@1 of all results at every level in a small table."""
    summary = measurements.summary.query("bucket == 'all' and measure == 'P@k' and k == 1")
    wide = 100 * summary.pivot_table(index="run", columns="sigma", values="mean", sort=False)
    columns = {"run": tables.text("P@1, %")}
    for level in sorted(wide.columns):
        name = noise.level_text(settings.kind, level) if level else f"no {noise.called(settings.kind)}"
        short = noise.level_short(settings.kind, level).rpartition("= ")[2] if level else "none"
        columns[f"{level:g}"] = tables.number(short, 44, "%.1f", f"P@1 at {name}: mean over repeats.")
    shown = wide.rename(columns="{:g}".format).reset_index()
    values = shown.drop(columns="run")
    spread = np.linspace(0, values.shape[1] - 1, min(values.shape[1], tables.COLUMNS - 1)).astype(int)  # with the last
    first = ("run", *(f"{sorted(wide.columns)[at]:g}" for at in spread))
    tables.show(shown, "robustness.kept", columns, best=values == values.max(), first=first, most=480, widest=widest)


def curves(measurements, settings, files, data) -> None:
    picture = st.container()
    measure, k, way = _choose_curves(measurements, data.n_labels)
    bands = f"Bands are 95\u00a0% intervals over {settings.n_repeats} repeats: they show what other draws would change."
    below = f"; bands: 95\u00a0% over {settings.n_repeats} repeats" if settings.n_repeats > 1 else ""
    if settings.n_repeats == 1:
        bands = "One repeat, so no bands." if KINDS[settings.kind].repeats else "Nothing is random here, so no bands."
    mine = measurements.summary.query("bucket == 'all' and measure == @measure")
    shown = title(measure).replace("@k", f"@{k}")
    figure = figures.robustness_curves(
        mine.assign(measure=title(measure)).join(measurements.looks["place"], on="run"),
        title(measure),
        k,
        drop=way == "drop",
        level=noise.level_title(settings.kind, settings.options),
        title=f"{shown} under {noise.noise_text(settings.kind, settings.options)}",
    )
    caption = (
        f"{title(measure)}: {MEASURES[measure]}. {bands} {_other_rows(measurements)} "
        f"On {settings.rows_text}. {_attacked_on(measurements, settings)}"
    )
    if KINDS[settings.kind].fills(settings.options):
        level, length = settings.levels[-1], settings.levels[-1] * data.n_features**0.5
        usual = server.value_scale(data.fingerprint).length
        caption += (
            f"Noise of σ = {level:g} on all features has a length of about {length:.2g}; test rows have {usual:.2g} "
            "(median)."
        )
    figure.update_layout(title_subtitle_text=settings.rows_text.removesuffix(", drawn at random") + below, margin_t=92)
    with picture:
        charts.show_figure(figure, mine, f"{files}-curves", caption, key="robustness.curves")
        if rising := rises(measurements, settings, measure, k):
            st.caption(f"{shown} rises for {rising}.", help=RISING)


def rises(measurements, settings, measure: str, k: int) -> str:
    """Return of which results a measure rises with the noise by more than its bands, and where first; or nothing."""
    found = []
    for run in measurements.results:
        levels = sorted(settings.levels)
        for number, (less, more) in enumerate(itertools.pairwise(levels)):
            if measurements.value(run, measure, k, less, "high") < measurements.value(run, measure, k, more, "low"):
                highest = max(levels[number:], key=lambda level: measurements.value(run, measure, k, level))
                ends = (noise.level_text(settings.kind, level) for level in (less, highest))
                found.append(f"**{format.plain(run)}** from {' to '.join(map(format.plain, ends))}")
                break
    return format.listed(found) if found else ""


def _choose_curves(measurements, n_labels):
    if CERTIFIED in measurements.measures:
        return CERTIFIED, 1, "value"
    left, middle, right = st.columns([2, 1, 1], vertical_alignment="bottom")
    measure = fields.choice(
        "Measure",
        measurements.measures,
        "robustness.measure",
        "P@k",
        place=left,
        format_func=title,
        help="  \n".join(f"**{title(m)}**: {MEASURES[m]}." for m in measurements.measures),
    )
    k = fields.choice("k", results.ks(n_labels), "robustness.k", 1, place=middle)
    ways = {"value": "Value", "drop": "Share lost"}
    return measure, k, fields.choice("Show", ways, "robustness.drawn", "value", place=right)


def _other_rows(measurements) -> str:
    points = 100 * measurements.margin_of_rows
    of = "certified rows" if CERTIFIED in measurements.measures else "P@1"
    if not np.isfinite(points):
        return ""
    return (
        f"What other test rows would change is not in them: that alone is up to ±{points:.1f} points of {of}, but the "
        "rows are the same for every result and level."
    )


def _attacked_on(measurements, settings) -> str:
    """Return a sentence that says by which model's gradient the attacks were computed; empty without an attack."""
    if not KINDS[settings.kind].is_attack:
        return ""
    if not settings.transferred:
        return "The attack follows the gradient of each model itself."
    named = next(result.surrogate for result in measurements.results.values())
    return (
        f"The attack was computed on {format.plain(named)}, and every model predicted the same attacked rows: it is "
        "weaker than an attack on the model itself, and hits models that resemble this tree harder."
    )
