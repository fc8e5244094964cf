"""Pieces that look the same on every page."""

import streamlit as st

from pages.shared import state, text


def notice() -> None:
    """Say what happened since the last run of the script, once."""
    message = state.take_notice()
    if message:
        st.toast(text.plain(message))


def features(frame, key: str, height: int) -> None:
    """A row's features: a table made by :func:`pages.shared.tables.features`."""
    largest = float(frame["value"].abs().max())
    digits = 4 if largest < 10 else 2 if largest < 1000 else 0
    st.dataframe(
        frame,
        hide_index=True,
        height=min(height, 35 * len(frame) + 38),  # no empty lines under a few features
        key=key,
        column_config={
            "feature": st.column_config.TextColumn("Feature"),
            "id": st.column_config.NumberColumn("Id", format="%d", width="small"),
            "value": st.column_config.NumberColumn("Value", format=f"%.{digits}f", width="small"),
        },
    )
    st.caption(f"{text.count(len(frame), 'feature')} of this row, largest value first.")


def cards(values: list) -> None:
    """Metric cards in a row that wraps: ``(label, value, help)`` each."""
    with st.container(horizontal=True, gap="small"):
        for label, value, help in values:
            st.metric(label, value, help=help, border=True, width="stretch")
