"""The first sentence and figures: which model is best, on what, by how much, at what cost, and is that sure?"""

import pandas as pd
import streamlit as st

from pages.compare import more, of_runs
from pages.shared import fields, format, tables, tasks
from pages.shared.figures import charts
from pages.shared.results import measured, results, run_names
from pages.shared.workspaces import workspace
from xmlcore import figures, metrics
from xmlcore.experiment import side_by_side
from xmlcore.experiment.best_in_words import best_in_words

WORDS = {"settings": "setting", "result": "result", "model": "model"}  # what a line of the table is
OF_DIFFERENCES = (
    "Each point is how much better or worse a result is than the one in the title; lines are 95\u00a0% intervals, by "
    f"drawing the test rows again {metrics.RESAMPLES:,} times. Differences that are not sure are faint. {{how}}"
)
COSTS = {  # a column of the lines -> its title, the title of the axis, and the unit in the column's own
    "fit_cpu_s": ("Processor time", "Training, processor seconds", 1.0),  # hardly changed by what else runs
    "fit_s": ("Training time", "Training, seconds", 1.0),
    "training_bytes": ("Training memory", "Training memory, MB", 1e6),
    "model_bytes": ("Model size", "Model in memory, MB", 1e6),
}
TIMES = ("fit_cpu_s", "fit_s")


def sentence(lines, choice, compared) -> None:
    """Say which is best of two or more that are ticked, or else of all on the data set of those compared."""
    told = compared.wanted if compared.ticked else lines
    told = told[told[choice.measure].notna()]
    if told.empty:
        silent = [measured.SILENT.format(format.plain(name)) for name in lines["dataset"].drop_duplicates()]
        st.markdown(" ".join(silent) or "No result fits what is chosen below.")
        return
    used = workspace.get("dataset")
    fingerprints = told["fingerprint"].tolist()
    first = compared.fingerprint if compared.fingerprint in fingerprints else fingerprints[0]
    if used is not None and used not in fingerprints and not results.kept("runs", used):
        name = format.plain(tasks.dataset_name(used) or "the data set in use")
        st.markdown(f"There is no result on **{name}**, which is in use. These are on other data sets.")
    _best(told[told["fingerprint"] == first], choice, compared)


def _bold(name) -> str:
    return f"**{format.plain(name)}**"


def _best(lines, choice, compared) -> None:
    """Say which is best; a tooltip has names that are cut in it, the measures tested, and what a star says."""
    leads = len(lines) > 1 and lines[choice.measure].iloc[0] > lines[choice.measure].iloc[1]
    tests = _tests(lines, choice, compared) if leads else None
    names = figures.cut_apart([*lines["title"], *compared.names.values()], of_runs.NAME)
    titles = [_bold(names[title]) for title in lines["title"]]
    if tests is not None:
        tests = tests.assign(run=[_bold(names[title]) for title in tests["run"]])
    what = "result" if (lines["n"] == 1).all() else WORDS[choice.lines]
    among = format.count(len(lines), f"ticked {what}" if compared.ticked else what)
    text = best_in_words(lines, choice.measure, titles, among, "**{}**", tests)
    said = [name for name, cut in names.items() if _bold(cut) in text]
    whole = [format.plain(name) for name in said if names[name] != name]
    tested = [] if tests is None else [f"Tested: {', '.join(tests['measure'].drop_duplicates())}."]
    about = "  \n".join(filter(None, [*whole, *tested, run_names.footnote(said)]))
    st.markdown(f"On {_bold(lines['dataset'].iloc[0])}, {text}", help=about or None)


def _tests(lines, choice, compared) -> pd.DataFrame | None:
    """Return the tests of the first line against the others of the figure."""
    a, b = (of_runs.middle(line, choice.measure) for _, line in lines.head(2).iterrows())
    if len(of_runs.readable([a, b], 2)[0]) < 2:
        return None
    keys = compared.keys if compared.keys[:1] == [a] and b in compared.keys else [a, b]  # where the figure has both
    return of_runs.tests(keys, {**compared.names, b: lines["title"].iloc[1]}, choice)


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
        ends = of_runs.intervals(keys, measure, more.names(choice.more))
        for end in ends:  # of a mean over seeds there is none
            frame[f"{measure} {end}"] = 100 * lines["key"].map(ends[end]).where(lines["n"] == 1)
    drawn = lines[lines[x] > 0]
    without = len(lines) - len(drawn)
    left_out = f" Results without a known cost are left out: {without} of {len(lines)}." if without else ""
    faint = "; faint results are not compared, and have none" * (0 < len(keys) < len(drawn))
    caption = (
        "Further left is cheaper, further up is better. Thin lines are 95\u00a0% intervals: where other test rows "
        f"would put the results{faint}. Processor time adds up the threads; training time is by the clock, and longer "
        "beside other work. Both include the trials of settings left on automatic. Training memory is by how much the "
        "process grew at most, beyond the program and the data."
    )
    figure = figures.frontier(frame, {x: axis}, [measure], f"{measure} against {name.lower()}", compared)
    charts.show_figure(
        figure.update_layout(height=of_runs.HEIGHT),
        frame,
        f"{file_name}-frontier",
        caption + left_out,
        key="compare.frontier",
        of=list(drawn["key"]),
    )


def _differences(keys, names, choice, file_name, compared) -> None:
    charts.show_figure(
        of_runs.differences_figure(keys, compared, choice),
        of_runs.first_tests(keys, names, choice),
        f"{file_name}-differences",
        OF_DIFFERENCES.format(how=side_by_side.how_tested(of_runs.tests(keys, names, choice))),
        key="compare.differences",
        of=keys,
    )
