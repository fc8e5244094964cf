"""Candidates: what other numbers of them bring, without any training."""

import streamlit as st

from pages.sampling import values, words
from pages.sampling.measured import if_kept, measured
from pages.shared import charts, format
from xmlcore import experiment, figures


def candidates(view):
    """Show accuracy and candidate recall with other q; return what was measured of the result, None without it."""
    st.header("Candidates")
    place = st.container()
    typed = values.field(
        f"Numbers of candidates, q, up to {view.n_present:,}",
        f"sampling.candidates {view.key[:8]}",
        view.first_candidates,
        "With commas between them; the result’s own is always measured. Nothing is trained for it.",
        whole=True,
        least=1,
        most=view.n_present,
    )
    own = if_kept(view.task(candidates=view.first_candidates))
    if typed is None:
        return own
    numbers = values.with_own(typed, view.q)
    most = max(numbers)
    needed = experiment.candidate_bytes(view.data.n_test, most)
    remedy = f"Choose fewer than {most:,} candidates, or free memory."
    if most == view.q:
        remedy = "Free memory, or train with fewer candidates, q: the result’s own are always measured."
    with place:
        task = view.task(candidates=numbers)
        found = measured(task, needed, remedy, "Measure other numbers of candidates", "candidates")
        if found is None:
            st.caption(
                "How often the own class is among the q candidates, for other q: predictions only, no training, and "
                f"about {format.size(needed)} of memory."
            )
            return own
        table = found.candidates
        charts.show_figure(
            figures.candidate_curves(table, view.q),
            table,
            f"{view.files}-candidates",
            f"{words.candidates_sentence(table, view.q)} The gap between candidate recall and accuracy is what f gets "
            "wrong. Times are of this machine, with whatever else it did.",
            key="sampling.candidates",
        )
    return own or found
