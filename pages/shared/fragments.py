"""Parts of a page that are drawn alone, and live elements while jobs go on."""

import functools

import streamlit as st

from pages.shared import view
from pages.shared.process import turns
from pages.shared.workspaces import workspace

_LIVE, _OVER = "fragments.live", "fragments.over"  # keys of st.session_state: lists of functions, of this drawing


def begin() -> None:
    """Forget the live elements of the previous drawing; called before a page is drawn."""
    st.session_state[_LIVE], st.session_state[_OVER] = [], []


def live(draw) -> None:
    """Have ``draw(place)`` show one element, which can be no widget, at the end of the page, and while jobs go on."""
    st.session_state[_LIVE].append(functools.partial(draw, st.empty()))


def redraw_once(over) -> None:
    """Have the whole page drawn anew as soon as ``over()`` is true."""
    st.session_state[_OVER].append(over)


def followed() -> tuple[list, list]:
    """Return the functions that update the live elements of this drawing, and those that tell its end."""
    return st.session_state[_LIVE], st.session_state[_OVER]


def alone(draw):
    """Return a part of a page that is run alone, as by ``st.fragment``, unless it has live elements."""
    n_shown = None  # functions that the part has added to those of the page

    @functools.wraps(draw)
    def drawn(*args, **named):
        nonlocal n_shown
        by_itself = n_shown is not None
        try:
            if _of_page() != drawn_for or n_shown:
                st.rerun()
            before = sum(map(len, followed()))
            draw(*args, **named)
            n_shown = sum(map(len, followed())) - before
            if by_itself and n_shown:  # frame.py follows what the drawing of a whole page has
                st.rerun()
        finally:
            turns.tidy_later()

    drawn_for = _of_page()
    return st.fragment(drawn)


def _of_page() -> tuple:
    """Return the state on which the whole page depends: a part that changes it is not drawn alone."""
    jobs = [record["id"] for record in workspace.get("jobs")]
    sweeps = [(record["key"], record["asked"], record.get("stopped")) for record in workspace.get("sweeps")]
    in_use = workspace.get("dataset"), workspace.get("shown")
    return view.now(), in_use, jobs, sweeps, workspace.NOTICE in st.session_state
