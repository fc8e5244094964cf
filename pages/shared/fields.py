"""First values of input fields, checks of remembered values, and what stands in for values that cannot be read."""

import streamlit as st


def rows_within(seconds, n_rows: int, most_seconds: float, samples) -> int:
    """Return the first value of a field for a number of rows: all if that is quick, else the largest quick sample."""
    if seconds(n_rows) <= most_seconds:
        return n_rows
    return next((n for n in samples if n < n_rows and seconds(n) <= most_seconds), min(n_rows, samples[-1]))


def whole_number(low: int, high: int):
    """Return a function that says whether a remembered value is a whole number from ``low`` to ``high``."""
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def read_or_last(widget: str, values, first, write):
    """Return the values that were typed into a field; if they cannot be read, those read last, with a remark."""
    kept = f"{widget} read last"
    if values:
        st.session_state[kept] = values
        return values
    last = st.session_state.get(kept, first)
    st.caption(f"Until this is put right, the page is about {write(last)}.")
    return last
