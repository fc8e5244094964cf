"""Candidates: accuracy with other numbers of candidates, without any training."""

import streamlit as st

from pages.sampling import values
from pages.sampling.measured import if_kept, measured
from pages.shared.figures import charts, examples
from xmlcore import experiment, figures


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
    numbers = values.with_own(typed, view.q)
    most = max(numbers)
    needed = experiment.candidate_bytes(view.data.n_test, most)
    remedy = f"Choose fewer than {most:,} candidates, or free memory."
    if most == view.q:
        remedy = "Free memory, or train with fewer candidates, q: the result’s own number is always measured."
    with place:
        task = view.task(candidates=numbers)
        study = measured(task, needed, remedy, "Measure other numbers of candidates", "candidates")
        if study is None:
            examples.show(examples.candidates())
            return study_of_own_q
        table = study.candidates
        charts.show_figure(
            figures.candidate_curves(table, view.q),
            table,
            f"{view.files}-candidates",
            "The gap between candidate recall and accuracy is what f gets wrong. Choose q on held-out rows, not here.",
            key="sampling.candidates",
        )
    return study_of_own_q or study
