"""What a sweep has found: how far it is, the best so far, all settings, and what can be done with the best."""

import streamlit as st

from pages.shared import actions, format, fragments, presets, server, settings, sweeping, tables, tasks
from pages.shared.results import results, trials
from pages.shared.workspaces import workspace
from pages.train import listed, next_model, trying
from xmlcore import experiment, store
from xmlcore.experiment.engine.sweep_trials import VALIDATION
from xmlcore.experiment.engine.sweeps import final_tasks, test_measures
from xmlcore.wording import hundredths

WHAT = (
    f"Each setting is trained on {100 * (1 - VALIDATION.default):g}\u00a0% of the training rows and measured on "
    "the others; test rows are not used."
)
STATES = {"done": "done", "failed": "cannot be trained", "waiting": "not done yet"}


def show(fingerprint: str, file_name: str) -> None:
    records = sweeping.kept(fingerprint)
    if not workspace.only_looks() and server.dataset(fingerprint).Y_train.nnz:
        form, found = st.columns([1, 2], gap="large")
        with form:
            trying.show(fingerprint, st.session_state[next_model.KEY])
    else:
        found = st.container()
    with found:
        if records:
            _show(records, fingerprint, file_name)
        else:
            st.caption(WHAT)


def _show(records, fingerprint, file_name):
    record = trials.choose(fingerprint, records, "tried")
    before = _seen(record)
    if before:
        fragments.redraw_once(lambda: _seen(record) != before)
    fragments.alone(_section)(record, file_name)


def _seen(record):
    """Return what decides what is shown of a sweep that goes on; None of one that has ended."""
    state = sweeping.state(record)
    if state not in ("running", "stopping"):
        return None
    return state, sweeping.plan(record).done, sweeping.waits(record)


def _section(record, file_name):
    state, found = sweeping.state(record), trials.read(record)
    if found is None:
        return
    task, result = found.task, found.result
    if result is not None:
        _say_best(result)
    else:
        _say_progress(record, task, found.plan, state)
    _buttons(record, task, result, state)
    if result is not None:
        _say_test(result)
    _show_tables(found, file_name, record["key"])


def _say_progress(record, task, plan, state):
    model, n = task.params["model"], format.count(len(task.settings), "setting")
    done = f"{plan.done:,} of {plan.total:,} trainings done"
    text = {
        "running": f"Trying {n} of {model}: {done}{sweeping.time_left(record, plan)}.",
        "stopping": f"Stopping: {done}.",
        "stopped": f"Stopped: {done}. Resume goes on where it was.",
        "interrupted": f"Interrupted, as the app ended: {done}. Resume goes on where it was.",
        "failed": f"Failed: {done}.",
    }[state]
    driver = sweeping.driver_of(record)
    st.progress(plan.done / max(plan.total, 1), text=format.plain(text))
    if state == "failed":
        st.error(format.plain(driver.error))
    waits = sweeping.waits(record) if state == "running" else ""
    if waits:
        st.caption(f"No training runs now. {format.plain(waits)}: see the Jobs page.")
    best = task.best_so_far(plan)
    if best is not None:
        st.markdown(
            f"Best so far: **{format.plain(_words(task, best[0]))}** with {task.params['measure']} = "
            f"**{hundredths(best[1])}\u00a0%** on the training rows that are held out."
        )


def _say_best(result):
    if result.best is None:
        st.warning("None of these settings can be trained. The table says why.")
        return
    line = result.table[result.table["setting"] == result.best_setting].iloc[0]
    if line["n_seeds"] > 1:
        shown = f"{hundredths(line['low'])} to {hundredths(line['high'])}"
        sure = f", mean of {line['n_seeds']} seeds (95\u00a0% interval {shown})"
    elif "random_state" in experiment.full_params(result.model):
        sure = ", with one seed: what another one would change is not known"
    else:
        sure = ""  # training has no chance in it
    ties = [result.best_setting, *result.table.loc[result.table["mean"] == line["mean"], "setting"]]
    best = _called_best(result, [result.settings[setting] for setting in dict.fromkeys(ties)])
    st.markdown(
        f"{best} of "
        f"{format.count(len(result.settings), 'setting')} of {format.plain(result.model)}: {result.measure} = "
        f"**{hundredths(result.value)}\u00a0%** on {result.n_held_out:,} training rows that were held out{sure}."
        f"{_usual_there(result)}"
    )
    failed = int((result.table["state"] == "failed").sum())
    if failed:
        st.caption(f"{failed:,} of {len(result.table):,} settings cannot be trained: see the table.")


def _usual(result) -> dict | None:
    """Return the setting with which the model comes, if it was tried and another one was chosen."""
    usual = {p.name: p.default for p in experiment.MODELS[result.model].parameters if p.name in result.grid}
    return usual if usual in result.settings and usual != result.settings[result.best_setting] else None


def _behind(result) -> float | None:
    """Return by how much the default setting is behind the best on the same rows; None if it was not tried on them."""
    usual, of = _usual(result), result.table.set_index("setting")
    if usual is None:
        return None
    line, best = of.loc[result.settings.index(usual)], of.loc[result.best_setting]
    if (line["rung"], line["n_seeds"]) != (best["rung"], best["n_seeds"]):
        return None
    return best["mean"] - line["mean"]


def _may_be_chance(result) -> bool:
    """Return whether other rows held out might move the best by its lead over the default setting."""
    behind, margin = _behind(result), trials.margin(result)
    return behind is not None and margin is not None and behind <= margin


def _usual_there(result) -> str:
    """Return what the default setting gave on the same rows held out, and how many rows that is less; or nothing."""
    behind = _behind(result)
    if not behind:
        return ""
    few = result.measure == "P@1" and len(result.seeds) == 1
    less = f", {format.count(round(behind * result.n_held_out), 'row')} less" if few else ""
    chance = ", which may be chance" if _may_be_chance(result) else ""
    return f" The default gives **{hundredths(result.value - behind)}\u00a0%**{less}{chance}."


def _called_best(result, ties: list[dict]) -> str:
    """Return which settings are the best, in few words where some parameters make no difference to that."""
    model, free = result.model, []
    for name in ties[0]:
        rest_of_ties, rest = ([repr(one | {name: None}) for one in many] for many in (ties, result.settings))
        if sum(one in rest_of_ties for one in rest) == len(ties) > len({*rest_of_ties}):  # with all its values tried
            free.append(name)
    labels = [format.plain(p.label) for p in experiment.MODELS[model].parameters if p.name in free]
    texts = [settings.words(model, {name: one[name] for name in one if name not in free}) for one in ties]
    first = [f"**{format.plain(text)}**" for text in dict.fromkeys(texts) if text]
    if len(first) > 4:
        first = [*first[:3], f"{len(first) - 3:,} more"]
    whatever = f", with any {format.listed(labels)}," if labels else ""
    if len(first) > 1:
        return f"{format.listed(first)} are equal{whatever or ','} and the best"
    return f"{first[0] if first else 'Each'} is{whatever} the best"


def _say_test(result):
    test, usual = _measured(result.final_tasks()), _usual(result)
    if test is None:
        return
    seeds = f", means of {test['n_seeds'].iloc[0]} seeds" if test["n_seeds"].iloc[0] > 1 else ""
    text = f"On the **test rows**, after training on all training rows: {_in_words(test)}{seeds}."
    if usual is not None:
        of = final_tasks(result.fingerprint, result.model, result.best | usual, result.seeds, result.measure)
        if (beside := _measured(of)) is not None:
            text += f" The default: {_in_words(beside)}."
    st.markdown(text)


def _in_words(measured) -> str:
    values = {(line.measure, line.k): line for line in measured.itertuples()}
    wanted = [("P@k", 1), ("P@k", 5), ("nDCG@k", 5), ("PSP@k", 5)]
    means = {f"{name[:-1]}{k}": values[name, k].mean for name, k in wanted if (name, k) in values}
    return ", ".join(f"{name} = {hundredths(mean)}\u00a0%" for name, mean in means.items())


def _measured(trainings):
    """Return the measures on the test rows of a setting that is trained on all training rows; None before that."""
    try:
        return test_measures(trainings)
    except store.StoreError:
        return None


def _buttons(record, task, result, state):
    key = record["key"]
    with st.container(horizontal=True, gap="small"):
        if state in ("running", "stopping"):
            sweeping.buttons(record, "tried")
        elif state != "done":
            actions.button("Resume", key=f"resume-sweep-{key}", type="primary", on_click=sweeping.start, args=(task,))
        elif result.best is not None:
            finals = result.final_tasks()
            own = {one["key"] for one in workspace.get("runs")}  # another workspace may have the same result
            if not all(one.key in own and one.exists() for one in finals):
                many = f" with {len(finals)} seeds" if len(finals) > 1 else ""
                actions.button(
                    f"Train it on all training rows{many}",
                    key=f"train-best-{key}",
                    type="secondary" if _may_be_chance(result) else "primary",
                    on_click=_train,
                    args=(finals,),
                    help="The result is measured on the test rows and listed above.",
                )
            if result.lost:
                actions.button(
                    f"Try {format.count(result.lost, 'lost training')} again",
                    key=f"resume-sweep-{key}",
                    on_click=sweeping.start,
                    args=(task,),
                )
            actions.button("Put it into the form", key=f"use-best-{key}", on_click=_use, args=(record, result))


def _train(finals):
    for task in finals:
        tasks.start(task)


def _use(record, result):
    presets.fill(result.model, {name: value for name, value in result.best.items() if name in result.grid})
    fingerprint = record["fingerprint"]
    next_model.take(fingerprint, listed.to_show(fingerprint, results.kept("runs", fingerprint)), result.model)
    chosen = settings.words(result.model, result.settings[result.best_setting])
    workspace.notify(f"The form has the chosen settings: {chosen}.")


def _words(task, setting) -> str:
    return settings.words(task.params["model"], task.settings[setting])


def _show_tables(found, file_name, key):
    task, table, varied = found.task, found.table, found.varied
    if table.empty:
        return
    model, measure, name = task.params["model"], task.params["measure"], f"{file_name}-settings-{key[:6]}"
    trials.draw(found, name, "train.tried")
    of_lines = [found.settings[setting] for setting in table["setting"]]  # a column of numbers has no None
    in_words = {
        name: [settings.words(model, {name: one[name]}).split(" = ", 1)[-1] for one in of_lines] for name in varied
    }
    shown = table.assign(**in_words, chosen=found.chosen)
    percent = {column: 100 * table[column].astype(float) for column in ("mean", "low", "high")}
    trained = {column: table[column].where(table["seconds"] > 0) for column in ("n_seeds", "seconds")}
    shown = shown.assign(**percent, **trained, state=table["state"].map(STATES))
    shown = shown.sort_values(["rung", "mean"], ascending=[False, False], kind="stable")
    one_seed = ["low", "high"] if len(task.params["seeds"]) == 1 else []
    empty = [column for column in ("error", "chosen") if not shown[column].any()]
    tables.show(
        shown.drop(columns=one_seed + empty),
        f"train.tried.{key[:8]}",
        {
            **{name: tables.text(label, 130) for name, label in varied.items()},
            "mean": tables.number(f"{measure}, %", 80, "%.2f", "Mean over seeds, on the rows held out."),
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
