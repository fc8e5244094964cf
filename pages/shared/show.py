"""Pieces that look the same on every page."""

import streamlit as st

from pages.shared import state, tables, text

_UNITS = ((1, "s"), (1e3, "ms"), (1e6, "µs"))


def notice() -> None:
    """Say what happened since the last run of the script, once."""
    for message in state.take_notices():
        st.toast(text.plain(message), duration="long")


def features(frame, key: str, height: int) -> None:
    """A row's features: a table made by :func:`pages.shared.tables.features`."""
    st.dataframe(
        frame,
        hide_index=True,
        height=tables.height(len(frame), height),
        key=key,
        column_config={
            "feature": st.column_config.TextColumn("Feature"),
            "id": st.column_config.NumberColumn("Id", format="%d", width="small"),
            "value": st.column_config.NumberColumn("Value", format=tables.value_format(frame["value"]), width="small"),
        },
    )
    st.caption(tables.about_features(frame))


def duration(seconds: float) -> str:
    """A measured time with the two digits that mean something: ``7.1 µs``, ``0.14 s``, ``12 s``, ``2 min 05 s``."""
    if not seconds > 0:
        return "0 s"
    if seconds >= 59.5:
        return text.seconds(seconds)
    factor, unit = next((scale for scale in _UNITS if seconds * scale[0] >= 0.0995), _UNITS[-1])
    return f"{_two_digits(seconds * factor)} {unit}"


def in_seconds(seconds: float) -> float:
    """The same digits as :func:`duration`, as a number for a column."""
    return float(_two_digits(seconds)) if seconds >= 0.0995 else float(f"{seconds:.2g}")


def _two_digits(value):
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"


def cards(values: list) -> None:
    """Metric cards in a row that wraps: ``(label, value, help)`` each."""
    with st.container(horizontal=True, gap="small"):
        for label, value, help in values:
            st.metric(label, value, help=help, border=True, width="stretch")
