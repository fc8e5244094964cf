"""The first sentence and figures: which model is best, on what, by how much, at what cost, and is that significant?"""

from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.compare import listed, of_runs
from pages.shared import door, fields, format, tables
from pages.shared.figures import charts
from pages.shared.results import measured, run_names
from pages.shared.workspaces import workspace
from xmlcore import figures, metrics
from xmlcore.experiment import side_by_side

WORDS = {"settings": "setting", "result": "result", "model": "model"}  # what a line of the table is
OF_DIFFERENCES = (
    "Each point is how much better or worse a result is than the one in the title; lines are 95\u00a0% intervals, by "
    f"drawing the test rows again {metrics.RESAMPLES:,} times. Differences that are not significant are faint. {{how}}"
)
COSTS = {  # a column of the lines -> its title, the title of the axis, and the unit in the column's own
    "fit_cpu_s": ("Processor time", "Training, processor seconds", 1.0),  # hardly changed by what else runs
    "fit_s": ("Training time", "Training, seconds", 1.0),
    "training_bytes": ("Training memory", "Training memory, MB", 1e6),
    "model_bytes": ("Model size", "Model in memory, MB", 1e6),
}
TIMES = ("fit_cpu_s", "fit_s")


class HighestLine(NamedTuple):
    """Which lines of one data set are highest in a measure, and by how much they lead the next."""

    leaders: list  # titles: several where their measures are equal
    value: float
    among: int
    second: str = ""  # the title of the next line; empty without one
    points: float = np.nan  # by which it is behind
    significant: bool = False


def best(lines, measure: str, tests=None) -> HighestLine:
    """Return the facts of lines, the highest first; ``tests`` are of the first against the second, if known."""
    leaders = lines["title"][lines[measure] == lines[measure].iloc[0]].tolist()
    found = HighestLine(leaders, float(lines[measure].iloc[0]), len(lines))
    if len(leaders) > 1 or len(lines) < 2:
        return found
    lead = 100 * (found.value - float(lines[measure].iloc[1]))
    test = None if tests is None or tests.empty else tests.iloc[0]
    significant = test is not None and bool(test["sure"]) and test["difference"] < 0
    return found._replace(second=lines["title"].iloc[1], points=lead, significant=significant)


def sentence(lines, choice, compared) -> None:
    """Say which is best of two or more that are ticked, or else of all on the data set of those compared."""
    told = compared.wanted if compared.ticked else lines
    told = told[told[choice.measure].notna()]
    if told.empty:
        silent = [door.SILENT.format(format.plain(name)) for name in lines["dataset"].drop_duplicates()]
        st.markdown(" ".join(silent) or "No result fits what is chosen below.")
        return
    fingerprints = told["fingerprint"].tolist()
    first = compared.fingerprint if compared.fingerprint in fingerprints else fingerprints[0]
    told = told[told["fingerprint"] == first]
    found = best(told, choice.measure, _tests(told, choice, compared))
    what = "result" if (told["n"] == 1).all() else WORDS[choice.lines]
    among = format.count(found.among, f"ticked {what}" if compared.ticked else what)
    who, value = format.listed([_bold(title) for title in found.leaders]), f"**{format.percent(found.value)}**"
    text = f"On {_bold(told['dataset'].iloc[0])}, {who} has the highest {choice.measure} of {among}: {value}"
    if found.second:
        test = "significant" if found.significant else "not significant"
        text += f", {found.points:.1f} points above {_bold(found.second)} ({test})"
    elif len(found.leaders) > 1:
        text = text.replace(" has the ", " share the ")
    st.markdown(f"{text}.", help=run_names.footnote([*found.leaders, found.second]) or None)


def _bold(name) -> str:
    return f"**{format.plain(name)}**"


def _tests(lines, choice, compared):
    """Return the test of the first line against the second in the measure; None where they cannot be read."""
    pair = [of_runs.middle(line, choice.measure) for _, line in lines.head(2).iterrows()]
    if len(of_runs.readable(pair, 2)[0]) < 2:
        return None
    both = compared.keys if compared.keys[:1] == pair[:1] and pair[1] in compared.keys else pair  # as in the figure
    tests = of_runs.tests(both, of_runs.tested(choice))
    return tests[(tests["measure"] == tests["measure"].iloc[0]) & (tests["run"] == pair[1])]


def pictures(lines, keys, names, choice, compared, file_name) -> None:
    """Draw what the lines of a data set cost beside the differences of those compared; of one, show its measures."""
    if len(lines) < 2:
        if keys:
            tables.cards(measured.cards(keys[0]))
        return
    known = [column for column in COSTS if (lines[column] > 0).sum() > 1]
    *left, right = st.columns(2, gap="medium", vertical_alignment="bottom") if known else [st.container()]
    if left:
        with left[0]:
            _costs(lines, keys, known, choice, file_name, compared)
    with right:
        if len(keys) > 1:
            _differences(keys, names, choice, file_name, compared)


def cost(lines, among) -> str:
    """Return the cost that was chosen, or else the first that most lines have: older results have no processor time."""
    count = {column: (lines[column] > 0).sum() for column in among}
    chosen = st.session_state.get("compare.cost", workspace.get("widgets").get("compare.cost"))
    return chosen if count.get(chosen, 0) > 1 else max(count, key=count.get)


def _costs(lines, keys, known, choice, file_name, compared) -> None:
    measure = choice.measure
    titles = {column: COSTS[column][0] for column in known}
    first = cost(lines, known)
    x = fields.radio("x axis", known, "compare.cost", first, format_func=titles.get, label_visibility="collapsed")
    name, axis, unit = COSTS[x]
    frame = of_runs.styled(lines).assign(**{x: lines[x] / unit, measure: 100 * lines[measure]})
    if keys:
        ends = of_runs.intervals(keys, measure, listed.further_names(choice.more))
        for end in ends:  # of a mean over seeds there is none
            frame[f"{measure} {end}"] = 100 * lines["key"].map(ends[end]).where(lines["n"] == 1)
    drawn = lines[lines[x] > 0]
    charts.show_figure(
        figures.frontier(frame, {x: axis}, [measure], f"{measure} against {name.lower()}", compared).update_layout(
            height=of_runs.HEIGHT
        ),
        frame,
        f"{file_name}-frontier",
        f"Further left is cheaper, further up is better. {len(drawn)} of {len(lines)} lines have a known cost. Thin "
        "lines are 95\u00a0% intervals, of those compared: where other test rows would put them. Processor time adds "
        "up the threads; training time is by the clock. Both include trials of automatic settings. Training memory is "
        "by how much the process grew beyond program and data.",
        key="compare.frontier",
        of=list(drawn["key"]),
    )


def _differences(keys, names, choice, file_name, compared) -> None:
    measures = of_runs.tested(choice)
    charts.show_figure(
        of_runs.differences_figure(keys, measures, of_runs.looks(compared)),
        of_runs.named(of_runs.drawn_tests(keys, measures), names),
        f"{file_name}-differences",
        OF_DIFFERENCES.format(how=side_by_side.how_tested(of_runs.tests(keys, measures))),
        key="compare.differences",
        of=keys,
    )
