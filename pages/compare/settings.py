"""Which settings matter: parallel coordinates of results, and the trials of sweeps."""

import pandas as pd
import streamlit as st

from pages.shared import fields, format, sweeping, tasks
from pages.shared.figures import charts
from pages.shared.results import trials
from xmlcore import figures
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
