"""Single predictions on the Train page: a test row, its predicted labels and its features."""

import streamlit as st

from pages.shared import format, selectors, tables
from pages.shared.figures import charts
from pages.shared.results import predictions, results
from pages.shared.rows import row_text
from pages.shared.workspaces import workspace


def show(data, run, key, name, drawn_row: int) -> None:
    """Show what the run predicts for a test row, and offer all predictions as a CSV.

    ``drawn_row`` is the test row that was shown when the page was drawn.
    """
    if workspace.chosen_row(f"run {key}") != drawn_row:
        st.rerun()  # another row was chosen: the address of the page has it
    st.header("Single predictions")
    row = selectors.choose_test_row(data, run, f"run {key}", "train.row")
    left, right = st.columns([3, 2], gap="large")
    with left:
        row_text.show(data, "test", row)
        predictions.show(data, run, row, results.K, key="train.predicted")
        if predictions.meaning(run.model):
            st.caption(predictions.meaning(run.model))
    with right:
        frame = tables.features(data, data.X_test, row)
        if frame.empty:
            st.caption("This row has no features: every such row gets the same prediction.")
        else:
            tables.show_features(frame, key="train.features", most=260)
    charts.csv_button(
        "All predictions, CSV",
        lambda: predictions.all_rows(data, run.ranking, results.K),
        f"{name}-{run.model}-{key[:6]}-predictions",
        f"Row, rank, label, name, score and whether it is right, of {format.count(data.n_test, 'test row')}",
    )
