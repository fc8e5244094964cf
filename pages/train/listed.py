"""The results on the data set: which one is shown, which model is trained next, and what all of them cost."""

from functools import partial

import pandas as pd
import streamlit as st

from pages.shared import fields, jobs
from pages.shared.figures import charts, examples
from pages.shared.results import results, run_names
from pages.shared.workspaces import workspace
from pages.train import answer
from xmlcore import experiment, figures
from xmlcore.metrics.calibration import wilson

COST, WORK = "training s", "training processor s"
NEXT = "train.model"  # in the workspace's "widgets": the model chosen last


def to_show(fingerprint: str, runs: list) -> dict | None:
    """Return the record of the run to show, as the other pages do; None without any."""
    key = results.chosen("train.run", fingerprint, runs) if runs else None
    return next((r for r in runs if r["key"] == key), None)


def show_figures(ready) -> None:
    """Draw the figures of the run shown, or an example of one."""
    if ready.run is None:
        if jobs.active("train"):
            st.caption("The result appears here when the training is done. You can look at other pages meanwhile.")
        else:
            examples.show(examples.buckets)
        return
    if not ready.labelled:
        return
    left, right = st.columns(2, gap="medium")
    with left:
        answer.buckets(ready.key, ready.files)
    with right:
        if sum(not results.is_given(r) for r in ready.records) > 1:
            frontier(ready.records, ready.data.n_test, ready.files)
        else:
            answer.measures(ready.run, ready.files, "train.measures")


def choose(runs, shown) -> None:
    """Show a choice of the run shown; the model to train next becomes its model."""
    if len(runs) < 2:
        return
    models = {r["key"]: r["model"] for r in runs}

    def reopen(key):
        results.take(shown["fingerprint"], key)
        workspace.remember(NEXT, models[key])

    titles = run_names.names(runs)
    help = "All results of this workspace on this data set. The Compare page lists them with their measures. "
    help += run_names.footnote(titles.values())
    titles = fields.cut(titles, fields.QUARTER)
    fields.pick("Result shown", titles, "train.shown", shown["key"], reopen, help=help)


def choose_model(shown: dict | None) -> str:
    """Show the choice of the model to train next, at first that of the result shown, and return it."""
    models = experiment.MODELS
    help = "  \n".join(f"**{name}**: {info.cls.ABOUT.title}" for name, info in models.items())
    wanted = [workspace.get("widgets").get(NEXT), shown and shown["model"], *models]
    value = next(model for model in wanted if isinstance(model, str) and model in models)
    take = partial(workspace.remember, NEXT)
    return fields.pick("Model to train", dict(zip(models, models)), NEXT, value, take, help=help)


def frontier(runs, n_test, name) -> None:
    """Draw P@1 of all runs against the time of their training."""
    frame = table(runs)
    low, high = wilson(frame["P@1"] / 100, n_test)
    frame = frame.assign(**{"P@1 low": 100 * low, "P@1 high": 100 * high})
    known = frame[WORK].notna().all()  # older results have none
    cost = {WORK: "Training, processor seconds"} if known else {COST: "Training, seconds"}
    title = f"P@1 against {'processor' if known else 'training'} time"
    charts.show_figure(
        figures.frontier(frame, cost, ["P@1"], title).update_layout(height=answer.HEIGHT),
        frame,
        f"{name}-frontier",
        "Each point is a result of this workspace on this data set. Thin lines are 95\u00a0% intervals: where other "
        "test rows would put P@1. The Compare page has more.",
        key="train.frontier",
    )


def table(runs) -> pd.DataFrame:
    """Return a line per run that can be read and was trained: its name, model, P@1 in percent, times of training."""
    titles, lines = run_names.names(runs), []
    for record in runs:
        listed = results.measures(record)
        if listed is not None:
            (measures, times), key = listed, record["key"]
            line = {"key": key, "run": titles[key], COST: times.get("fit_s"), WORK: times.get("fit_cpu_s")}
            lines.append(line | {"P@1": 100 * answer.value(measures, "P@k", 1)})
    frame = pd.DataFrame(lines).join(run_names.looks(runs, titles), on="run")
    return frame.dropna(subset=[COST], ignore_index=True)
