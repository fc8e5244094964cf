"""What more data would buy: a learning curve of the model shown, with a forecast for twice the rows."""

import pandas as pd
import streamlit as st

from pages.shared import fields, format, tasks
from pages.shared.figures import charts
from xmlcore import experiment, figures
from xmlcore.metrics.buckets import BUCKETS, MEANING

BY_BUCKET = "Recall@5 by label frequency"
VIEWS = ("P@1", "P@3", "P@5", BY_BUCKET)
FORECAST = (
    " The dotted curve follows their means; the open mark is its forecast for twice the rows, with a 95\u00a0% "
    "interval, supposing that new rows would be like these."
)


def show(run, file_name: str) -> None:
    params = {name: value for name, value in run.params.items() if name != "random_state"}
    try:
        task = experiment.task("learning_curve", {"dataset": run.fingerprint}, {"model": run.model, "params": params})
    except (ValueError, TypeError) as error:  # a result of an earlier version, with settings that no longer exist
        st.caption(f"This cannot be measured: {format.plain(error)}")
        return
    tasks.shown(
        task,
        lambda curve: _draw(curve, file_name, task.key),
        automatic_below=0,  # some twenty trainings: few readers of a result want them
        button="See whether more data would help",
    )


def _draw(curve, file_name, key):
    view = fields.radio(
        "Measure on the test rows",
        VIEWS,
        "train.more_data.view",
        help=f"Recall@5: the share of the true labels that are among the first five of their rows. {MEANING}",
    )
    measure, buckets = (view, ("all",)) if view != BY_BUCKET else ("Recall@5", BUCKETS)
    for bucket in buckets:
        st.markdown(format.plain(curve.sentence(measure, bucket)))
    figure = figures.learning_curve(curve.frame, curve.forecasts, measure, buckets)
    forecast = any(trace.line.dash == "dot" for trace in figure.data)
    charts.show_figure(
        figure,
        curve.frame,
        f"{file_name}-learning-curve-{key[:6]}",
        f"Each point is a training on a random sample of the training rows ({format.count(len(curve.seeds), 'seed')}), "
        f"measured on all test rows.{FORECAST if forecast else ''}",
        key="train.more_data",
    )
    for note in curve.notes:
        st.caption(f"Not trained: {format.plain(note)}")
    charts.csv_button(
        "All forecasts, CSV",
        lambda: pd.DataFrame(curve.forecasts),
        f"{file_name}-forecasts-{key[:6]}",
        "Forecasts of all measures for twice the rows, with the fitted curves",
    )
