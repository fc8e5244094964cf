"""The table of all results, and the buttons that change those that are ticked."""

import pandas as pd
import streamlit as st

from pages.compare import answer, listed
from pages.shared import actions, door, format, jobs, settings, tables, tasks
from pages.shared.figures import charts
from pages.shared.results import results, run_changes, run_names
from pages.shared.workspaces import workspace
from xmlcore import experiment, metrics, papers

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
    "fit_s": ("Training, s", 85, "By the clock: longer beside other work."),
}
# Mixing of ticked results: one press makes a model of theirs, whose result is ticked beside them.
TWINS = 0.8  # the share of the training rows on which models are trained that find the weights on the others
MANY = 1000  # of the others, from which on weights by frequency are tried
SEARCH, OF_MANY = 0.25, 4.0  # seconds for each model, of finding weights on few and on many rows
HOW = (
    "One model of the ticked ones: the mean of their calibrated probabilities decides. Its weights come from models of "
    f"the same settings, which are trained on {100 * TWINS:.0f} % of the training rows and judged on the others. The "
    "ticked models themselves are its members, and are not trained again."
)
SMALL = 46  # width of a column of an interval, in pixels


def chosen_keys() -> list[str]:
    keys = workspace.get("widgets").get(CHOSEN, [])
    return [key for key in keys if isinstance(key, str)] if isinstance(keys, list) else []


def choose_keys(keys: list[str]) -> None:
    workspace.remember(CHOSEN, keys)


def tick(keys: list[str]) -> None:
    """Tick the lines of these results alone. A table with another key is a new one: the browser keeps the old ticks."""
    choose_keys(keys)
    st.session_state[UNTICKED] = st.session_state.get(UNTICKED, 0) + 1


def show(lines, choice, frame, compared) -> None:
    if lines.empty:
        _empty(frame)
        return
    total = len(frame)
    drawn, columns = _drawn(lines, choice)
    if marks := compared.marks():
        drawn["mark"] = lines["key"].map(marks)
        columns = {"mark": st.column_config.ImageColumn("Mark", width=50, help="In the figures above.")} | columns
    ticked = set(chosen_keys())
    before = [number for number, keys in enumerate(lines["keys"]) if ticked.issuperset(keys)]
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
        archived = frame["archived"].all()
        why = ": all are archived. *Archived, too* shows them." if archived else "."
        st.caption(f"Showing 0 of {format.count(len(frame), 'result')}{why}", width="content")
        if not archived:
            st.button("Clear filters", key="compare.clear", icon=":material/filter_alt_off:", on_click=listed.clear)


def _drawn(lines, choice) -> tuple[pd.DataFrame, dict]:
    """Return the table and how its columns look; a column that would say nothing is left out."""
    measure, several = choice.measure, bool((lines["n"] > 1).any())
    named = lines["decision"].astype(bool)
    times = answer.TIMES if listed.TIMES in choice.more else [answer.cost(answer.TIMES)]
    megabytes, training = lines["model_bytes"] / 1e6, (lines["training_bytes"] / 1e6).round()
    on_disk = "The model; its size on disk is on the page Storage."
    others = [one for one in (*listed.SHOWN, *listed.further_measures(choice.more)) if one != measure]
    every = [
        (measure, 100 * lines[measure], tables.bar(measure, 130, _meaning(measure), "%.2f")),
        ("dataset", lines["dataset"], tables.text("Data set", 100)),  # a phone shows these three
        ("run", lines["title"], tables.text("Result", 240, run_names.footnote(lines["title"]))),
        ("model", lines["model"], tables.text("Model", 100)),
        ("spread", 100 * experiment.half_width(lines, measure) if several else None,
         tables.number("±", SMALL, "%.2f", f"Of {measure}, over seeds.")),
        ("n", lines["n"], tables.number("Seeds", 58, "%d", "Results with these settings and other seeds.")),
        *_parameters(lines, choice),
        *((one, 100 * lines[one], tables.number(one, max(68, 9 * len(one)), "%.2f", _meaning(one))) for one in others),
        *((one, 100 * lines[one], tables.number(one, 9 * len(one), "%.2f", listed.OF_DECISION))
          for one in experiment.DECIDED if one != "labels"),
        ("labels", lines["labels"], tables.number("Labels a row", 108, "%.1f", listed.OF_DECISION)),
        ("decision", lines["decision"].where(named, "after training"),
         tables.text("Decision", 240, listed.OF_DECISION)),
        *((one, lines[one], tables.number(*TIME[one][:2], tables.amount_format(lines[one]), TIME[one][2]))
          for one in times),
        ("model_mb", megabytes, tables.number("In memory, MB", 110, tables.amount_format(megabytes), on_disk)),
        ("training_mb", training, tables.number("Training, MB", 96, "%d", GROWN)),
        ("tags", lines["tags"], tables.text("Tags", 100)),
        ("note", lines["note"], tables.text("Note", 140)),
        ("archived", lines["archived"].map({True: "archived", False: ""}), tables.text("Archived", 80)),
        ("problem", lines["problem"], tables.text("Cannot be read", 160)),
        ("created", [format.moment(value) for value in lines["created"]], tables.moments("Trained")),
    ]  # fmt: skip
    says = {"dataset": lines["fingerprint"].nunique() > 1, "spread": several, "n": several, "decision": named.any()}
    says |= {"training_mb": training.notna().any()}
    says |= {name: lines[name].astype(bool).any() for name in ("tags", "note", "archived", "problem")}
    shown = [(name, values, column) for name, values, column in every if says.get(name, True)]
    return pd.DataFrame({name: values for name, values, _ in shown}), {name: column for name, _, column in shown}


def _meaning(measure: str) -> str:
    name, _, _ = measure.rpartition("@")
    return f"In percent. {metrics.MEASURES[name + '@k'].explained}."


def _parameters(lines, choice) -> list[tuple]:
    known = {p.name: p for info in experiment.MODELS.values() for p in info.parameters}
    found, titles = [], set()
    every, seed = listed.EVERY in choice.more, choice.lines == "result"
    for name, values in experiment.parameters(lines, every, seed=seed).items():
        label = known[name].label if name in known else name
        title = label.split(",")[0]
        title = f"{title} ({name})" if title in titles or title in listed.SHOWN else title
        titles.add(title)
        present = [value for value in values if value is not None]
        if present and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in present):
            values, column = pd.to_numeric(values), tables.number
        else:
            texts = ["" if value is None else settings.value_text(value, known.get(name)) for value in values]
            values, column = texts, tables.text
        about = {"width": max(70, min(160, 9 * len(title))), "help": f"{format.plain(label)} ({format.plain(name)})"}
        found.append((f"param.{name}", values, column(title, **about)))
    return found


def buttons(records: list, lines, frame, choice) -> None:
    ticked = [record["key"] for record in records]
    mixture = mixture_of(records)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if records:
            st.caption(f"{format.count(len(records), 'result')} ticked:", width="content")
            if len({(r["fingerprint"], r["model"]) for r in records}) == 1:
                run_changes.name_button(records, "compare")
            run_changes.tags_button(records, "compare")
            run_changes.archive_button(records, "compare")
            run_changes.delete_button(records, "compare")
            if mixture is not None:
                look = {"type": "tertiary", "icon": ":material/join:", "help": HOW}
                actions.button("Mix", key="compare.mix", on_click=_mix, args=(mixture, ticked), **look)
            st.button("Untick all", key="compare.untick", type="tertiary", on_click=tick, args=([],))
        charts.csv_button("All results, CSV", lambda: everything(frame), "results", "Filters do not count")
        keys = ticked or [key for keys in lines["keys"] for key in keys]
        names = dict(zip(frame["key"], frame["setting_title"])) | dict(zip(frame["fingerprint"], frame["dataset"]))
        if keys:
            charts.file_button(
                "Report, HTML",
                lambda: experiment.report(keys, measure=choice.measure, names=names),
                "report.html",
                "One file with tables, figures, tests, settings and versions that needs no network: of the ticked "
                "results, or else of all in the table. It says which cannot be read, and why",
            )
    _below(mixture, chosen_keys(), frame[frame["key"].isin(ticked)])


def mixture_of(records: list):
    """Return the task that mixes results; None unless they are several models on one data set that can be mixed."""
    if len(records) < 2 or len({r["fingerprint"] for r in records}) > 1:
        return None
    if any(map(results.is_given, records)):
        return None
    members = sorted(({name: r[name] for name in ("model", "params", "k")} for r in records), key=str)
    return tasks.train_task(records[0]["fingerprint"], "Mixture", {"members": members}, results.K)


def seconds_of(frame, n_train: int) -> float:
    """Return about how long mixing results takes: training, predicting the other rows, and finding the weights."""
    others = (1 - TWINS) * n_train
    search = len(frame) * (OF_MANY if others >= MANY else SEARCH)
    return float(TWINS * frame["fit_s"].sum() + others * frame["predict_ms_per_row"].sum() / 1000 + search)


def _mix(task, ticked) -> None:
    tasks.start(task)
    tick([*ticked, task.key])


def _below(task, ticked: list, frame) -> None:
    """Say how long mixing takes, by the lines of the ticked results, and show mixtures that are being made."""
    if task is not None and not task.exists():
        seconds = seconds_of(frame, task.sizes["n_train"])
        share = f"{100 * TWINS:.0f} % of the training rows"
        st.caption(f"Mix finds weights with models trained on {share}: {tasks.takes(seconds)}.")
    for key in ticked:
        jobs.follow("train", key=key)


def everything(frame) -> pd.DataFrame:
    own = ["key", "run", "dataset", "fingerprint", "model", "tags", "note", "archived"]
    rest = [name for name in listed.taken(frame, frame.columns) if name not in (*own, *listed.INTERNAL)]
    frame = frame.assign(seed=frame["seed"].astype("Int64"))  # models without a seed would make all of them floats
    return pd.concat([frame[own], frame[rest], experiment.parameters(frame, every=True).add_prefix("param.")], axis=1)


def published(choice) -> None:
    """Show published rankings measured on the rows of the data set in use, if there are any."""
    used = door.in_use()
    if used.data is None or (frame := papers.published(used.data)).empty:
        return
    measures = [name for name in dict.fromkeys((choice.measure, *frame.columns)) if name in listed.MEASURED]
    shown = [name for name in measures if name in frame]
    first = shown[0]
    frame = frame.sort_values(first, ascending=False, kind="stable")
    columns = {
        first: tables.bar(first, 130, form="%.2f"),
        "method": tables.text("Method", 240),
        **{name: tables.number(name, 68, "%.2f") for name in shown[1:]},
        "source": tables.text("Source", 200),
    }
    with st.expander(f"Published: {format.count(len(frame), 'method')}, not run here", icon=":material/menu_book:"):
        st.caption(f"Printed for the rows and the split of {format.bold(used.name)}, by their sizes; in percent.")
        tables.show(frame, "compare.published", columns, first=tuple(columns), most=320)
