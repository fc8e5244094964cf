"""The first sentence and figures: which model is best, on what, by how much, at what cost, and is that significant?"""

import streamlit as st

from pages.compare import listed, of_runs
from pages.shared import door, fields, format, tables
from pages.shared.figures import charts
from pages.shared.results import measured, run_names
from pages.shared.workspaces import workspace
from xmlcore import figures
from xmlcore.experiment import side_by_side

WORDS = {"settings": "setting", "result": "result", "model": "model"}  # the noun for a line of the table
OF_DIFFERENCES = "Better or worse than the result in the title, with 95\u00a0% intervals; faint: not significant. {how}"
COSTS = {  # column of the lines -> title, title of the axis, and the unit drawn, in that of the column
    "fit_cpu_s": ("Processor time", "Training, processor seconds", 1.0),  # hardly changed by what else runs
    "fit_s": ("Training time", "Training, seconds", 1.0),
    "total_s": ("Total time", "Training and test rows, seconds", 1.0),
    "training_bytes": ("Training memory", "Training memory, MB", 1e6),
    "model_bytes": ("Model size", "Model in memory, MB", 1e6),
}
TIMES = ("fit_cpu_s", "fit_s")


def sentence(lines, choice, compared) -> None:
    """Say which is best of two or more that are ticked, or else of all on the data set of those compared."""
    told = compared.wanted if compared.ticked else lines
    told = told[told[choice.measure].notna()]
    if told.empty:
        silent = [door.SILENT.format(format.plain(name)) for name in lines["dataset"].drop_duplicates()]
        st.markdown(" ".join(silent) or "No result matches the filters below.")
        return
    fingerprints = told["fingerprint"].tolist()
    first = compared.fingerprint if compared.fingerprint in fingerprints else fingerprints[0]
    told = told[told["fingerprint"] == first]
    found = side_by_side.best(told, choice.measure, told["title"].tolist(), _tests(told, choice, compared))
    noun = "result" if (told["n"] == 1).all() else WORDS[choice.lines]
    among = format.count(len(told), f"ticked {noun}" if compared.ticked else noun)
    text = found.text(choice.measure, among, "**{}**", format.plain)
    help = run_names.footnote([*found.names, found.second]) or None
    st.markdown(f"On {format.bold(told['dataset'].iloc[0])}, {text}", help=help)
    used = workspace.get("known").get(choice.used)
    if used is not None and choice.used not in {*lines["fingerprint"]}:
        st.caption(f"Results on other data: none in the table is on {format.bold(used['name'])}, which is in use.")


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
            tables.cards(*measured.cards(keys[0]))
        return
    lines = lines.assign(total_s=lines["fit_s"] + lines["predict_s"])
    known = [column for column in COSTS if (lines[column] > 0).sum() > 1]
    *left, right = st.columns(2, gap="medium", vertical_alignment="bottom") if known else [st.container()]
    if left:
        with left[0]:
            _costs(lines, keys, known, choice, file_name, compared)
    with right:
        if len(keys) > 1:
            _differences(keys, names, choice, file_name, compared)


def cost(among) -> str:
    """Return the cost that was chosen, or else the first."""
    chosen = st.session_state.get("compare.cost", workspace.get("widgets").get("compare.cost"))
    return chosen if chosen in among else among[0]


def _costs(lines, keys, known, choice, file_name, compared) -> None:
    measure = choice.measure
    titles = {column: COSTS[column][0] for column in known}
    first = cost(known)
    x = fields.radio("x axis", known, "compare.cost", first, format_func=titles.get, label_visibility="collapsed")
    name, axis, unit = COSTS[x]
    frame = of_runs.styled(lines).assign(**{x: lines[x] / unit, measure: 100 * lines[measure]})
    if keys:
        ends = of_runs.intervals(keys, measure, listed.further_names(choice.more))
        for end in ends:  # a mean over seeds has no interval
            frame[f"{measure} {end}"] = 100 * lines["key"].map(ends[end]).where(lines["n"] == 1)
    drawn = lines[lines[x] > 0]
    charts.show_figure(
        figures.frontier(frame, {x: axis}, [measure], f"{measure} against {name.lower()}", compared).update_layout(
            height=of_runs.HEIGHT
        ),
        frame,
        f"{file_name}-frontier",
        f"Further left is cheaper, further up is better; {len(drawn)} of {len(lines)} lines have a known cost.",
        of=list(drawn["key"]),
    )


def _differences(keys, names, choice, file_name, compared) -> None:
    measures, drawn = of_runs.tested(choice), dict(zip(keys, compared["run"]))
    tests = of_runs.tests(keys, measures)
    shown = tests[tests["measure"].isin(side_by_side.drawn_measures(tests))]
    title = f"Better or worse than {figures.cut_apart(drawn.values(), of_runs.NAME)[compared['run'].iloc[0]]}"
    charts.show_figure(
        figures.differences(of_runs.named(shown, drawn), title, compared).update_layout(height=of_runs.HEIGHT),
        of_runs.named(shown, names),
        f"{file_name}-differences",
        OF_DIFFERENCES.format(how=side_by_side.how_tested(tests)),
        of=keys,
    )
