"""The findings of a sweep: how far it is, the best setting so far, all settings, and buttons for the best."""

from typing import NamedTuple

import streamlit as st

from pages.shared import actions, format, forms, fragments, settings, sweeping, tables, tasks
from pages.shared.workspaces import workspace
from pages.train import controls, trials, trying
from xmlcore import experiment
from xmlcore.experiment.engine.sweep_trials import VALIDATION
from xmlcore.wording import hundredths

ABOUT = (
    f"Settings are trained on {100 * (1 - VALIDATION.default):g}\u00a0% of the training rows, measured on the others."
)
STATES = {"done": "done", "failed": "cannot be trained", "waiting": "not done yet"}


class Best(NamedTuple):
    """The best setting of a sweep by the rows held out, and the default setting beside it."""

    setting: dict  # of the parameters that were varied
    n_equal: int  # other settings with the same value
    value: float
    low: float  # of the 95 % interval over seeds; NaN with one seed
    high: float
    default: float | None  # value of the default setting; None if it is the best, or was not tried on the same rows
    by_chance: bool  # whether other rows held out might move the best by its lead over the default


def show(ready) -> None:
    form, found = st.columns([1, 2], gap="large")
    with form:
        if ready.data.Y_train.nnz:
            actions.form(trying.show, ready.fingerprint, controls.next_model(ready.record))
    with found:
        if records := sweeping.kept(ready.fingerprint):
            record = trials.choose(ready.fingerprint, records)
            if before := _progress(record):
                fragments.redraw_once(lambda: _progress(record) != before)
            fragments.alone(_section)(record, format.file_name(ready.name))
        else:
            st.caption(ABOUT)


def _progress(record):
    """Return the state of a sweep that goes on, how many trainings are done, and what it waits for; else None."""
    state = sweeping.state(record)
    if state not in ("running", "stopping"):
        return None
    return state, sweeping.plan(record).done, sweeping.waits(record)


def _section(record, file_name):
    state, found = sweeping.state(record), trials.read(record)
    if found is None:
        return
    chosen = None if found.result is None or found.result.best is None else best(found.result)
    if found.result is None:
        _say_progress(record, found.task, found.plan, state)
    elif chosen is None:
        st.warning("None of these settings can be trained. The table says why.")
    else:
        st.markdown(sentence(found.result, chosen))
    _buttons(record, found, chosen, state)
    _show_tables(found, file_name, record["key"])


def _say_progress(record, task, plan, state):
    done, model = f"{plan.done:,} of {plan.total:,} trainings", format.plain(task.params["model"])
    left = sweeping.time_left(record, plan) if state == "running" else ""
    st.progress(plan.done / max(plan.total, 1), text=f"{model}, {state}: {done}{format.plain(left)}")
    if state == "failed":
        st.error(format.plain(sweeping.driver_of(record).error))
    if state == "running" and (waits := sweeping.waits(record)):
        st.caption(f"No training runs now. {format.plain(waits)}: see the Jobs page.")
    if so_far := task.best_so_far(plan):
        words, value = settings.words(task.params["model"], task.settings[so_far[0]]), hundredths(so_far[1])
        st.markdown(f"Best so far: {format.bold(words)} with {task.params['measure']} = **{value}\u00a0%**.")


def best(result) -> Best:
    """Return the best setting of a sweep of which at least one setting could be trained."""
    table, setting = result.table.set_index("setting"), result.settings[result.best_setting]
    line, default = table.loc[result.best_setting], None
    usual = {p.name: p.default for p in experiment.MODELS[result.model].parameters if p.name in result.grid}
    if usual in result.settings and usual != setting:  # the setting with which the model comes was tried
        of = table.loc[result.settings.index(usual)]
        default = of["mean"] if (of["rung"], of["n_seeds"]) == (line["rung"], line["n_seeds"]) else None
    margin = trials.margin(result)
    by_chance = default is not None and margin is not None and line["mean"] - default <= margin
    n_equal = int((table["mean"] == line["mean"]).sum()) - 1
    return Best(setting, n_equal, result.value, line["low"], line["high"], default, by_chance)


def sentence(result, best: Best) -> str:
    equal = f" (with {format.count(best.n_equal, 'equal one')})" if best.n_equal else ""
    beside = "" if best.default is None else f"; the default has {hundredths(best.default)}\u00a0%"
    return (
        f"{format.bold(settings.words(result.model, best.setting))}{equal} is the best of "
        f"{format.count(len(result.settings), 'setting')} of {format.plain(result.model)}: {result.measure} = "
        f"**{hundredths(best.value)}\u00a0%** on {format.count(result.n_held_out, 'held-out training row')}{beside}"
        f"{' (not significant)' if best.by_chance else ''}."
    )


def _buttons(record, trials, chosen, state):
    key, result, again = record["key"], trials.result, f"resume-sweep-{record['key']}"
    with st.container(horizontal=True, gap="small"):
        if state in ("running", "stopping"):
            sweeping.buttons(record, "tried")
        elif state != "done":
            actions.button("Resume", key=again, type="primary", on_click=sweeping.start, args=(trials.task,))
        elif chosen is not None:
            finals = result.final_tasks()
            own = {one["key"] for one in workspace.get("runs")}  # another workspace may have the same result
            if not all(one.key in own and one.exists() for one in finals):
                actions.button(
                    f"Train it on all training rows{f' with {len(finals)} seeds' if len(finals) > 1 else ''}",
                    key=f"train-best-{key}",
                    type="secondary" if chosen.by_chance else "primary",
                    on_click=lambda: [tasks.start(task) for task in finals],
                    help="The result is measured on the test rows and listed above.",
                )
            if result.lost:
                lost = f"Try {format.count(result.lost, 'lost training')} again"
                actions.button(lost, key=again, on_click=sweeping.start, args=(trials.task,))
            actions.button("Put it into the form", key=f"use-best-{key}", on_click=_use, args=(result,))


def _use(result):
    forms.fill(result.model, {name: value for name, value in result.best.items() if name in result.grid})
    workspace.remember(controls.NEXT, result.model)
    workspace.notify("The form has the chosen settings.")


def _show_tables(found, file_name, key):
    table, varied, params = found.table, found.varied, found.task.params
    if table.empty:
        return
    trials.draw(found, f"{file_name}-settings-{key[:6]}")
    of_lines = [found.settings[setting] for setting in table["setting"]]  # a column of numbers has no None
    values = {
        name: [settings.words(params["model"], {name: one[name]}).split(" = ", 1)[-1] for one in of_lines]
        for name in varied
    }
    values |= {column: 100 * table[column].astype(float) for column in ("mean", "low", "high")}
    values |= {column: table[column].where(table["seconds"] > 0) for column in ("n_seeds", "seconds")}
    shown = table.assign(**values, chosen=found.chosen, state=table["state"].map(STATES))
    empty = [column for column in ("error", "chosen") if not shown[column].any()]
    empty += ["low", "high"] if len(params["seeds"]) == 1 else []
    tables.show(
        shown.sort_values(["rung", "mean"], ascending=[False, False], kind="stable").drop(columns=empty),
        f"train.tried.{key[:8]}",
        {
            **{name: tables.text(label, 130) for name, label in varied.items()},
            "mean": tables.number(f"{params['measure']}, %", 80, "%.2f", "Mean over seeds, on the rows held out."),
            "low": tables.number("from", 65, "%.2f", "95\u00a0% interval over seeds, by Student’s t."),
            "high": tables.number("to", 65, "%.2f"),
            "chosen": tables.text("Chosen by the model", 260, "For what is on automatic; with several seeds, for one."),
            "n_seeds": tables.number("Seeds", 65),
            "rows": tables.number("Rows", 75, "localized", "Training rows of its last round."),
            "seconds": tables.number("Seconds", 80, "%.1f", "Of all its trainings."),
            "state": tables.text("State", 140),
            "error": tables.text("Why not", 300),
        },
        first=(*varied, "mean", "low", "high", "chosen", "state", "error"),
        most=320,
    )
