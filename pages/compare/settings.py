"""Which settings matter, by results and trials of sweeps, and which models are better over several data sets."""

import pandas as pd
import streamlit as st

from pages.shared import fields, format, sweeping, tables, tasks
from pages.shared.figures import charts
from pages.shared.results import trials
from xmlcore import experiment, figures, metrics
from xmlcore.experiment import side_by_side


def show(picked, measure: str, used: str | None, file_name: str) -> None:
    """Show the trials of a sweep on the data set compared, or else on the one in use, and the lines compared."""
    fingerprint, lines = picked.fingerprint, picked.of
    of_sweeps = next((data for data in (fingerprint, used) if sweeping.kept(data)), None)
    if of_sweeps is not None:
        if fingerprint not in (None, of_sweeps):
            st.caption(f"On {format.plain(tasks.dataset_name(of_sweeps) or 'the data set')}, which is in use.")
        of_sweep(of_sweeps, file_name if of_sweeps == fingerprint else "sweep")
    of_models = {} if fingerprint is None else side_by_side.settings_of_models(lines, measure)
    if not of_models:
        if of_sweeps is None:
            st.caption("Three lines of one model with different settings are compared here.")
        return
    model = next(iter(of_models))
    if len(of_models) > 1:
        model = fields.radio("Settings of", list(of_models), "compare.coordinates")
    title = f"{measure} of {model} by settings, on test rows of {figures.short(lines['dataset'].iloc[0], 30)}"
    keys = list(lines.loc[of_models[model][0].index, "key"])
    _coordinates(of_models[model], title, f"{file_name}-settings", "compare.coordinates.figure", keys)


def of_sweep(fingerprint: str, file_name: str) -> None:
    """Show the trials of a sweep: which settings matter, the measure against each, and through all of them."""
    record = trials.choose(fingerprint, sweeping.kept(fingerprint), "compare.trials")
    found = trials.read(record)
    if found is None:
        return
    if found.plan is not None:
        st.caption(f"{found.plan.done:,} of {found.plan.total:,} trainings are done.")
    if found.trials.empty or not found.trials["value"].notna().any():
        st.caption("No training of this sweep has a result yet.")
        return
    name = f"{file_name}-trials-{record['key'][:6]}"
    trials.draw(found, name, "compare.trials.figure")
    model, measure = found.task.params["model"], found.task.params["measure"]
    done = found.table[found.table["mean"].notna()]
    own = [found.settings[setting] for setting in done["setting"]]
    lines = pd.DataFrame({"model": model, "params": own, measure: done["mean"].to_numpy(float)})
    settings = side_by_side.settings_of_models(lines, measure)
    if len(found.varied) > 1 and done["rung"].nunique() == 1 and model in settings:  # of trainings on as many rows
        title = f"{measure} of {model} by settings, on the rows held out"
        _coordinates(settings[model], title, f"{name}-settings", "compare.trials.coordinates")


def _coordinates(settings: tuple, title: str, file_name: str, key: str, of: list | None = None) -> None:
    """Draw a line for each setting, through its values and its measure."""
    frame, labels = settings
    measure = frame.columns[-1]
    figure = figures.parameters_compared(frame, labels, measure, title)
    cut = [label for label, axis in zip(labels.values(), figure.data[0].dimensions) if "…" in axis.label]
    charts.show_figure(
        figure,
        frame,
        file_name,
        f"Each line is one setting: orange lines are the best in {measure}, blue ones the worst. Draw along an axis to "
        "keep only the lines through that part; a click on the axis brings all back."
        + (f" In full, names above the axes are: {format.listed(cut)}." if cut else ""),
        key=f"wide.{key}",
        of=of,
    )


FEW = "With fewer than six data sets, the test finds only what nearly all of them share."
HEAD = 16  # letters of a name above a column


def across(lines, measure: str) -> None:
    frame = experiment.best_of_models(lines, measure)
    if frame.shape[0] < 2 or frame.shape[1] < 2:
        st.caption("Train two models on the same two data sets or more: they are then compared here.")
        return
    st.markdown(_sentence(frame, measure), help=FEW)
    shown = (100 * frame).round(2).reset_index(names="dataset")
    heads = figures.cut_apart(frame.columns, HEAD)
    tables.show(
        shown,
        "compare.across",
        {"dataset": tables.text("Data set", 130)}
        | {name: tables.number(head, 130, "%.2f", format.plain(name)) for name, head in heads.items()},
    )
    left_out = lines["fingerprint"].nunique() - len(frame)
    st.caption(
        f"{measure} in percent; of each model the best settings on each data set."
        + (f" Left out: {format.count(left_out, 'data set')} without a result of every model." if left_out else "")
    )
    charts.csv_button("Data sets, CSV", lambda: frame.reset_index(names="dataset"), "data-sets-compared", "This table")
    if frame.shape[1] > 2:
        ranking = metrics.friedman(frame)
        charts.show_figure(
            figures.critical_difference(ranking.ranks, ranking.critical_difference, f"Mean rank in {measure}"),
            ranking.ranks,
            "critical-difference",
            "Rank 1 is the best model of a data set. A bar joins models whose mean ranks differ by less than the "
            "critical difference: Nemenyi's test does not tell them apart.",
            key="compare.ranks",
            of=list(lines.drop_duplicates(["fingerprint", "model"])["key"]),
        )


def _sentence(frame, measure) -> str:
    """Say which model has the best mean rank; ``frame`` has a line for each data set and a column for each model."""
    means = frame.rank(axis=1, ascending=False).mean().sort_values(kind="stable")
    if frame.shape[1] == 2:
        test, p = "Wilcoxon", float(metrics.wilcoxon(frame).iloc[0, 1])
    else:
        test, p = "Friedman", metrics.friedman(frame).p_value
    significant = "significant" if p < metrics.SURE else "not significant"
    return (
        f"**{format.plain(means.index[0])}** has the best mean rank in {measure} over {len(frame)} data sets, "
        f"{means.iloc[0]:.2f}: {significant} ({test}'s test, {format.p_value(p)})."
    )
