"""The table of all results, and the buttons that change those that are ticked."""

import pandas as pd
import streamlit as st

from pages.compare import answer, listed
from pages.shared import format, settings, tables
from pages.shared.figures import charts
from pages.shared.results import run_changes, run_names
from pages.shared.workspaces import workspace
from xmlcore import experiment, metrics

CHOSEN = "compare.chosen"  # name in the workspace's "widgets": keys of the results that are ticked
UNTICKED = "compare.unticked"  # key of st.session_state: how often all lines were unticked
MOST = 7  # columns that are shown before the user asks for more
# Columns that are shown first, beside the measure by which lines are ordered; the first of them if they are too many.
FIRST = (
    "run", "dataset", "spread", "n", "problem", "archived", "tags", *answer.TIMES, "PSP@5", "P@5", "P@1", "model_mb",
)  # fmt: skip
GROWN = "By how much the process grew at most, beyond the program and the data. Empty where the system did not tell."
TIME = {  # title, width and help of the column with the time of training
    "fit_cpu_s": ("Processor time, s", 122, "Of the training, added up over threads: other work hardly changes it."),
    "fit_s": ("Training, s", 85, "By the clock: longer beside other work. Some older results have only this."),
}
SMALL = 46  # width of a column of an interval, in pixels


def chosen_keys() -> list[str]:
    keys = workspace.get("widgets").get(CHOSEN, [])
    return [key for key in keys if isinstance(key, str)] if isinstance(keys, list) else []


def choose_keys(keys: list[str]) -> None:
    workspace.remember(CHOSEN, keys)


def untick() -> None:
    """Untick all lines; called by a button. A table with another key is a new one: the browser keeps the old ticks."""
    choose_keys([])
    st.session_state[UNTICKED] = st.session_state.get(UNTICKED, 0) + 1


def show(lines, choice, frame, compared) -> None:
    """Show the lines, with the marks of some in the figures."""
    if lines.empty:
        _empty(frame)
        return
    total = len(frame)
    drawn, columns = _drawn(lines, choice, compared.of)
    if marks := compared.marks():
        drawn["mark"] = lines["key"].map(marks)
        columns = {"mark": st.column_config.ImageColumn("Mark", width=50, help="In the figures above.")} | columns
    ticked, before = set(chosen_keys()), []
    for number, keys in enumerate(lines["keys"]):
        if ticked.issuperset(keys):
            before.append(number)
    shape = tuple(lines["key"]), choice.lines, st.session_state.get(UNTICKED, 0)
    key = f"compare.table.{hash(shape) & 0xFFFFFFFF:x}"

    def remember():
        rows = st.session_state[key].selection.rows
        here = {one for keys in lines["keys"] for one in keys}
        own = [one for row in rows if row < len(lines) for one in lines["keys"].iloc[row]]
        choose_keys([one for one in chosen_keys() if one not in here] + own)

    tables.show(
        drawn,
        key,
        columns,
        most=420,
        on_select=remember,
        selection_mode="multi-row",
        column_order=_order(columns, choice),
        **tables.ticked(before),
    )
    shown = sum(len(keys) for keys in lines["keys"])
    grouped = f" in {format.count(len(lines), 'line')}" if shown != len(lines) else ""
    st.caption(f"Showing {shown:,} of {format.count(total, 'result')}{grouped}.")


def _order(columns, choice) -> list[str]:
    """Return the columns that are shown: the first ones, and those that the user has asked for."""
    settings_shown = ["model", *(name for name in columns if name.startswith("param."))]
    groups = {listed.DIFFERING: settings_shown, listed.EVERY: settings_shown, listed.TRAINED: ["created"]}
    groups |= {listed.TIMES: answer.TIMES, listed.MEMORY: ["model_mb", "training_mb"]}
    asked = [name for column in choice.more for name in groups.get(column, [column])]
    if {*asked} & {*experiment.DECIDED}:
        asked.append("decision")
    first = [name for name in dict.fromkeys((choice.measure, *FIRST)) if name in columns]
    first = first[: MOST + (listed.TIMES in choice.more)]  # the second time takes no other column's place
    return [name for name in columns if name == "mark" or name in first or name in asked]


def _empty(frame) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        of = format.count(len(frame), "result")
        if frame["archived"].all():
            st.caption(f"Showing 0 of {of}: all are archived. *Archived, too* shows them.", width="content")
        else:
            st.caption(f"Showing 0 of {of}.", width="content")
            st.button("Clear filters", key="compare.clear", icon=":material/filter_alt_off:", on_click=listed.clear)


def _drawn(lines, choice, of_figures) -> tuple[pd.DataFrame, dict]:
    frame = pd.DataFrame({"run": lines["title"]})
    columns = {
        choice.measure: tables.bar(choice.measure, 130, _meaning(choice.measure), "%.2f"),
        "run": tables.text("Result", 240, run_names.footnote(lines["title"])),
    }  # a phone shows both
    if lines["fingerprint"].nunique() > 1:
        frame["dataset"] = lines["dataset"]
        columns["dataset"] = tables.text("Data set", 170)
    frame["model"] = lines["model"]
    columns["model"] = tables.text("Model", 100)
    several = bool((lines["n"] > 1).any())
    frame[choice.measure] = 100 * lines[choice.measure]
    if several:
        frame["spread"] = 100 * experiment.half_width(lines, choice.measure)
        columns["spread"] = tables.number("±", SMALL, "%.2f", f"Of {choice.measure}, over seeds.")
        frame["n"] = lines["n"]
        columns["n"] = tables.number("Seeds", 58, "%d", "Results with these settings and other seeds.")
    for name, (title, values, column, help) in _parameters(lines, choice).items():
        frame[name] = values
        columns[name] = column(title, width=max(70, min(160, 9 * len(title))), help=help)
    for measure in (*listed.SHOWN, *listed.further_measures(choice.more)):
        if measure != choice.measure:
            frame[measure] = 100 * lines[measure]
            columns[measure] = tables.number(measure, max(68, 9 * len(measure)), "%.2f", _meaning(measure))
    for name in experiment.DECIDED:
        times = 1 if name == "labels" else 100
        frame[name] = times * lines[name]
        title = "Labels a row" if name == "labels" else name
        columns[name] = tables.number(title, 9 * len(title), "%.1f" if times == 1 else "%.2f", listed.OF_DECISION)
    if lines["decision"].astype(bool).any():
        frame["decision"] = lines["decision"].where(lines["decision"] != "", "after training")
        columns["decision"] = tables.text("Decision", 130, listed.OF_DECISION)
    for time in answer.TIMES if listed.TIMES in choice.more else [answer.cost(of_figures, answer.TIMES)]:
        frame[time], shape = lines[time], tables.amount_format(lines[time])
        columns[time] = tables.number(*TIME[time][:2], shape, TIME[time][2])
    frame["model_mb"] = lines["model_bytes"] / 1e6
    columns["model_mb"] = tables.number(
        "In memory, MB",
        110,
        tables.amount_format(frame["model_mb"]),
        "The model; its size on disk is on the page Storage.",
    )
    if lines["training_bytes"].notna().any():
        frame["training_mb"] = (lines["training_bytes"] / 1e6).round()
        columns["training_mb"] = tables.number("Training, MB", 96, "%d", GROWN)
    for name, title, width in (("tags", "Tags", 100), ("note", "Note", 140)):
        if lines[name].astype(bool).any():
            frame[name] = lines[name]
            columns[name] = tables.text(title, width)
    if lines["archived"].any():
        frame["archived"] = ["archived" if value else "" for value in lines["archived"]]
        columns["archived"] = tables.text("Archived", 80)
    if lines["problem"].astype(bool).any():
        frame["problem"] = lines["problem"]
        columns["problem"] = tables.text("Cannot be read", 160)
    frame["created"] = [format.moment(value) for value in lines["created"]]
    columns["created"] = tables.moments("Trained")
    return frame, columns


def _meaning(measure: str) -> str:
    name, _, _ = measure.rpartition("@")
    return f"In percent. {metrics.MEASURES[name + '@k'].explained}."


def _parameters(lines, choice) -> dict:
    known = {p.name: p for info in experiment.MODELS.values() for p in info.parameters}
    found, titles = {}, set()
    for name, values in experiment.parameters(
        lines, listed.EVERY in choice.more, seed=choice.lines == "result"
    ).items():
        label = known[name].label if name in known else name
        title = label.split(",")[0]
        title = f"{title} ({name})" if title in titles or title in listed.SHOWN else title
        titles.add(title)
        help = f"{format.plain(label)} ({format.plain(name)})"
        given = [value for value in values if value is not None]
        if given and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in given):
            found[f"param.{name}"] = (title, pd.to_numeric(values), tables.number, help)
        else:
            texts = ["" if value is None else settings.value_text(value, known.get(name)) for value in values]
            found[f"param.{name}"] = (title, texts, tables.text, help)
    return found


def buttons(records: list, lines, frame, choice) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if records:
            st.caption(f"{format.count(len(records), 'result')} ticked:", width="content")
            if len({(r["fingerprint"], r["model"]) for r in records}) == 1:
                run_changes.name_button(records, "compare")
            run_changes.tags_button(records, "compare")
            run_changes.archive_button(records, "compare")
            run_changes.delete_button(records, "compare")
            st.button("Untick all", key="compare.untick", type="tertiary", on_click=untick)
        charts.csv_button("All results, CSV", lambda: everything(frame), "results", ALL_CSV, key="compare.csv")
        keys = [record["key"] for record in records] or [key for keys in lines["keys"] for key in keys]
        if keys:
            charts.file_button(
                "Report, HTML",
                lambda: _report(keys, frame, choice.measure),
                "report.html",
                "One file with tables, figures, tests, settings and versions that needs no network: of the ticked "
                "results, or else of all in the table. It says which cannot be read, and why",
            )


ALL_CSV = "A line per result with all parameters, measures, times, tags and notes; filters do not count"


def everything(frame) -> pd.DataFrame:
    own = ["key", "run", "dataset", "fingerprint", "model", "tags", "note", "archived"]
    rest = [name for name in frame if name not in (*own, *listed.OF_PAGES)]
    frame = frame.assign(seed=frame["seed"].astype("Int64"))  # models without a seed would make all of them floats
    return pd.concat([frame[own], frame[rest], experiment.parameters(frame, every=True).add_prefix("param.")], axis=1)


def _report(keys, frame, measure) -> str:
    names = dict(zip(frame["key"], frame["setting_title"])) | dict(zip(frame["fingerprint"], frame["dataset"]))
    return experiment.report(keys, measure=measure, names=names)
