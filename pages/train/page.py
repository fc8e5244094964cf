"""The Train page: how well does a model predict this data set's labels?

answer.py has the measures of the run shown, controls.py the form that trains a model, rows.py single predictions,
past.py the table of all runs.
"""

import streamlit as st

from pages.shared import begin, format, jobs, results, workspace
from pages.train import answer, controls, past, rows


def main() -> None:
    """Draw the Train page."""
    st.title("Train")
    used = begin.dataset("Training can begin in a moment.", "so there is nothing to train on.")
    if used is None:
        return
    data, fingerprint, name = used
    runs = results.kept("runs", fingerprint)
    shown = _shown(fingerprint, runs)
    run = results.run(shown) if shown else None
    if run is not None or shown is None:
        answer.sentence(data, name, run)
    left, right = st.columns([2, 1], gap="large")
    with left:
        if run is None:
            _how_to_begin()
        else:
            answer.show(run, shown, runs)
            answer.figure(run, f"{format.file_name(name)}-{run.model}-{shown['key'][:6]}")
    with right:
        # A fragment, so that typing does not draw the results again.
        st.fragment(controls.show)(data, fingerprint, shown["key"] if shown else None, controls.drawn_from())
        # Here, not above the results: progress is then next to the button on a narrow page too, and nothing jumps.
        begin.watch_training(fingerprint)
    if run is not None:
        st.fragment(rows.show)(data, run, shown["key"], format.file_name(name))
        past.show(runs, shown)


def _shown(fingerprint, runs):
    """Return the record of the run to show: the one chosen last, else the newest; None when there is none."""
    key = workspace.get("shown").get(fingerprint)
    return next((r for r in runs if r["key"] == key), runs[0] if runs else None)


def _how_to_begin():
    """Say what to do while there is no result."""
    if jobs.active("train"):
        st.caption("The result appears here when the training is done. You can look at other pages meanwhile.")
        return
    st.info("Keep the settings as they are for a first result, and press Train. It takes seconds to minutes.")


main()
