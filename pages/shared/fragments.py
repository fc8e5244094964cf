"""Parts of a page that are run alone."""

import functools

import streamlit as st

from pages.shared import view
from pages.shared.process import garbage
from pages.shared.streamlit_fixes import downloads
from pages.shared.workspaces import workspace


def polled(draw, every: float, over) -> None:
    """Draw a part of a page, again and again while jobs go on; once ``over()``, draw the whole page instead."""
    looks = []

    @functools.wraps(draw)
    def look():
        looks.append(None)
        polling = len(looks) > 1  # the first time is a part of the page's own run, which must not be cut short
        if polling and over():
            downloads.wait()
            st.rerun()
        draw()
        if polling:
            downloads.wait()  # the end of this run may delete a file that was made for a download

    st.fragment(look, run_every=every)()


def alone(draw):
    """Return a part of a page that is run alone, as by ``st.fragment``."""

    @functools.wraps(draw)
    def drawn(*args, **named):
        try:
            if _of_page() != drawn_for:
                st.rerun()
            draw(*args, **named)
        finally:
            garbage.tidy_later()

    drawn_for = _of_page()
    return st.fragment(drawn)


def _of_page() -> tuple:
    """Return what decides what the whole page shows: a part that changes it does not show it alone."""
    jobs = [record["id"] for record in workspace.get("jobs")]
    sweeps = [(record["key"], record["asked"], record.get("stopped")) for record in workspace.get("sweeps")]
    return view.now(), workspace.get("dataset"), workspace.get("shown"), jobs, sweeps, workspace.has_notice()
