"""Single predictions on the Train page: a test row, its predicted labels and its features."""

import streamlit as st

from pages.shared import addresses, format, selectors, tables
from pages.shared.figures import charts
from pages.shared.results import predictions, results
from pages.shared.rows import row_text


def show(data, run, key, name) -> None:
    row = selectors.choose_test_row(data, run, "train.row")
    left, right = st.columns([3, 2], gap="large")
    with left:
        row_text.show(data, "test", row)
        predictions.show(data, run, row, results.K, key="train.predicted")
        if predictions.meaning(run):
            st.caption(predictions.meaning(run))
        if run.has_model:
            addresses.link("Explain", "Explain this row", addresses.ICONS["Explain"])
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
        f"The predicted labels of {format.count(data.n_test, 'test row')} with scores, and true ones that are missed",
    )
