"""All runs of this workspace on the data set: choose, compare, name and delete them; what their precision costs."""

import pandas as pd
import streamlit as st

from pages.shared import addresses, charts, format, results, run_changes, run_names, settings, tables, workspace
from pages.train import answer
from xmlcore import figures

COSTS = {"training s": "Training, seconds"}
MEASURES = ("P@1", "PSP@5")
MEASURE, BEST = "\u200bmeasure", "\u200bbest"  # with a space that has no width, which names do not keep


def choose(runs, shown) -> list:
    """Show the runs as a table, and buttons that name and delete them; return the records of those that are ticked.

    Nothing is shown when there is only one run. ``shown`` is the record of the run that the page shows.
    """
    if len(runs) < 2:
        return []
    by_key = {r["key"]: r for r in runs}
    st.session_state[workspace.SHOWN_RUN] = shown["key"]
    st.selectbox(
        "Result shown",
        list(by_key),
        format_func=lambda key: _title(by_key[key]),
        key=workspace.SHOWN_RUN,
        on_change=_reopen,
        args=(shown["fingerprint"],),
        help="All results of this workspace on this data set.",
    )
    frame = table(runs, shown)
    key = f"train.past.{hash(tuple(frame['key'])) & 0xFFFFFF:x}"  # ticks belong to the lines of one table
    ticked = tables.show(
        frame,
        key,
        {
            "shown": st.column_config.TextColumn("Shown", width=60),
            "run": st.column_config.TextColumn("Result", width=130),
            "settings": st.column_config.TextColumn(
                "Settings", help="Settings that differ from the defaults.", width=160
            ),
            "training s": st.column_config.NumberColumn("Training, s", format="%g", width=85),
            "trained": st.column_config.TextColumn("Trained", width=90),
            **{c: st.column_config.NumberColumn(c, format="%.2f", width=65) for c in frame.columns if "@" in c},
        },
        height=tables.height(len(frame), 178),
        on_select="rerun",
        selection_mode="multi-row",
        column_order=_in_order(frame),
    )
    lines = [line for line in ticked.selection.rows if line < len(frame)]
    chosen = [by_key[frame["key"].iloc[line]] for line in lines] or [shown]
    hint = f"{len(lines)} ticked." if lines else "Tick one to name or delete it, several to compare them."
    st.caption(f"{len(frame)} results, measures in percent. {hint}")
    with st.container(horizontal=True, gap="small"):
        if len(chosen) == 1:
            run_changes.name_button(chosen, "train")
        run_changes.delete_button(chosen, "train")
        addresses.link("Compare", "Compare all results", addresses.ICONS["Compare"])
    return [by_key[frame["key"].iloc[line]] for line in lines]


def _in_order(frame) -> list[str]:
    """Return the columns of the table as they are shown: first what is needed to choose a result."""
    first = ["run", "shown", "P@1", "P@5", "PSP@5", "training s", "settings"]
    return [*first, *(c for c in frame.columns if c not in (*first, "key", "model"))]


def table(runs, shown) -> pd.DataFrame:
    """Return a line for each run that can be read: whether it is shown, its name, measures, times and settings."""
    lines = []
    for record in runs:
        found = results.measures(record)
        if found is None:
            continue
        measures, times = found
        line = {"key": record["key"], "shown": "shown" if record["key"] == shown["key"] else ""}
        line |= {"model": record["model"], "run": record.get("name") or record["model"]}
        line |= {f"{m[:-1]}{k}": 100 * answer.value(measures, m, k) for m in answer.SHOWN_MEASURES for k in results.KS}
        line["training s"] = format.in_seconds(times["fit_s"])
        line["settings"] = answer.settings_text(record["model"], record["params"])
        line["trained"] = format.when(record["created"])
        lines.append(line)
    return pd.DataFrame(lines)


def side_by_side(chosen, file_name: str) -> None:
    """Compare the runs that are ticked: their measures, and the settings in which they differ."""
    if len(chosen) < 2:
        return
    st.subheader(f"{len(chosen)} results side by side")
    names = run_names.names(chosen)
    columns = {}
    for record in chosen:
        found = results.measures(record)
        if found is None:
            continue
        measures, times = found
        column = {f"{m[:-1]}{k}": 100 * answer.value(measures, m, k) for m in answer.SHOWN_MEASURES for k in results.KS}
        columns[names[record["key"]]] = column | {"Training, s": format.in_seconds(times["fit_s"])}
    shown = _with_best(pd.DataFrame(columns))
    number = st.column_config.NumberColumn
    tables.show(
        shown,
        "train.side_by_side",
        {
            MEASURE: st.column_config.TextColumn("Measure, %", width=90),
            BEST: st.column_config.TextColumn("Best", width=170),
            **{name: number(name, format="%.2f", width=110) for name in columns},
        },
    )
    differing = _differing_settings(chosen, names)
    st.caption(differing or "They have the same settings.")
    charts.csv_button("Comparison, CSV", lambda: tables.csv_safe(shown), f"{file_name}-side-by-side", "This table")


def _with_best(values) -> pd.DataFrame:
    """Return a table of measures by run with the measures as its first column, and the best run as its last."""
    lower = values.index.str.startswith("Training")
    best = values.idxmax(axis=1).where(~lower, values.idxmin(axis=1))
    shown = values.copy()
    shown.insert(0, MEASURE, values.index)
    return shown.assign(**{BEST: best.to_numpy()})


def _differing_settings(chosen, names) -> str:
    """Return sentences that say in which settings runs of one model differ; empty when in none."""
    if len({r["model"] for r in chosen}) > 1:
        return " ".join(
            f"{format.plain(names[r['key']])}: {format.plain(answer.settings_text(r['model'], r['params']))}."
            for r in chosen
        )
    first = chosen[0]["params"]
    differing = [p for p in first if any(r["params"].get(p) != first[p] for r in chosen)]
    return " ".join(
        f"{format.plain(names[r['key']])}: "
        f"{format.plain(settings.words(r['model'], {p: r['params'].get(p) for p in differing}))}."
        for r in chosen
        if differing
    )


def _reopen(fingerprint):
    """Remember the run chosen in the select box."""
    key = st.session_state[workspace.SHOWN_RUN]
    workspace.update(lambda data: data["shown"].__setitem__(fingerprint, key))


def _title(record) -> str:
    """Return the text that the select box shows for a run."""
    text = answer.settings_text(record["model"], record["params"])
    name = f"{record['name']}: {record['model']}" if record.get("name") else record["model"]
    return f"{name}, {text} ({format.when(record['created'])})"


def cost(runs, shown, file_name: str) -> None:
    """Draw what the precision of the runs costs; nothing when there is only one."""
    if len(runs) >= 2:
        st.header("What precision costs")
        st.fragment(_frontier)(table(runs, shown), file_name, [run["key"] for run in runs])


def _frontier(frame, file_name, keys) -> None:
    """Draw the training time of the runs against a measure that the user chooses."""
    numbers = frame.groupby("run").cumcount(ascending=False) + 1
    again = frame["run"].duplicated(keep=False)
    frame = frame.assign(run=frame["run"] + (" " + numbers.astype(str)).where(again, ""))
    measure = st.radio(
        "Measure", MEASURES, horizontal=True, **workspace.keep("train.frontier.measure", MEASURES[0], options=MEASURES)
    )
    charts.show_figure(
        figures.frontier(frame, COSTS, [measure], f"{measure} against training time"),
        frame,
        f"{file_name}-frontier",
        "Further left is faster, further up is better. On the dotted line are the results that no other one beats in "
        "both. Results of one model are numbered in the order of their training.",
        key="train.frontier",
        of=keys,
    )
