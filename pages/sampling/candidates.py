"""Candidates: accuracy with other numbers of candidates, without any training."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.sampling import values
from pages.sampling.answer import most_accurate
from pages.sampling.view import if_kept, one_class
from pages.shared import tasks
from pages.shared.figures import charts
from xmlcore import figures


def candidates(view):
    """Show accuracy and candidate recall with other q; return the measurements of this result, or None."""
    place = st.container()
    typed = values.field(
        f"Other q, candidates, up to {view.n_present:,}",
        f"sampling.candidates {view.key[:8]}",
        view.first_candidates,
        "Numbers with commas between them; the result’s own number is always measured. Nothing is trained for this.",
        whole=True,
        least=1,
        most=view.n_present,
    )
    study_of_own_q = if_kept(view.task(candidates=view.first_candidates))
    task, button = view.task(candidates=values.with_own(typed, view.q)), "Measure other numbers of candidates"
    study = tasks.ready(task, button=button, key="sampling.measure.candidates")
    table = _as_trained(view) if study is None else study.candidates
    table = table.assign(attainable=table["recall"].clip(upper=most_accurate(view.data)))
    with place:
        charts.show_figure(
            figures.candidate_curves(table, view.q),
            table,
            f"{view.files}-candidates",
            "What micro R@1 lacks of the attainable is the most that f gets wrong. Attainable is candidate recall, or "
            "less where rows have several labels, as one is predicted for each. Choose q on held-out rows, not here. "
            "Time is the mean over the test rows, by the clock, once.",
            key="sampling.candidates",
        )
    return study_of_own_q or study


def _as_trained(view):
    """Return what the result itself has told of its own q: all but the share of labels among the candidates."""
    accuracy, macro = one_class(view.key)
    own = {"n_candidates": view.q, "recall": np.nan, "accuracy": accuracy, "macro_f1": macro}
    return pd.DataFrame([own | {"predict_ms_per_row": view.run.times["predict_ms_per_row"]}])
