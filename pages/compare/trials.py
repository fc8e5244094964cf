"""The trials of a sweep: which settings matter, the measure against each, and through all of them."""

import pandas as pd
import streamlit as st

from pages.compare import coordinates
from pages.shared import sweeping
from pages.shared.results import trials
from xmlcore.experiment import side_by_side


def section(fingerprint: str, file_name: str) -> None:
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
    if (
        len(found.varied) > 1
        and done["rung"].nunique() == 1
        and model in (settings := side_by_side.settings_of_models(lines, measure))
    ):  # of trainings on as many rows
        title = f"{measure} of {model} by settings, on the rows held out"
        coordinates.draw(settings[model], title, f"{name}-settings", "compare.trials.coordinates")
