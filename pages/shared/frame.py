"""The frame of every page: the sidebar, messages, and why nothing can be kept."""

import streamlit as st
from streamlit.errors import StreamlitInvalidLayoutContextError

from pages.shared import addresses, first_results, format, fragments, jobs, sidebar, tasks, view
from pages.shared.operator import accounts, guard
from pages.shared.process import reading, turns
from pages.shared.workspaces import removed, stored, workspace
from xmlcore import store
from xmlcore.state import StateError
from xmlcore.system import UnsafeCacheError, secure_cache

_READY = "frame.ready"  # key of st.session_state: whether the hidden figure was drawn
SHOWN = "keeping.said"  # key of st.session_state: whether the trouble was shown in this session and is not over
DAMAGE = "keeping.damage"  # likewise: the name of the damaged database of which this session was told enough
STAYS = "The page stays in memory and is saved once that is possible, unless the server stops first."


def opened() -> bool:
    """Open the workspace, and return whether that was possible; if not, the page says why. Called by app.py."""
    try:
        secure_cache()
        if not accounts.admitted():
            return False
        workspace.open_workspace()
    except UnsafeCacheError as error:  # others could have written to the folder for results
        st.error(f"**The dashboard does not start.** {format.plain(error)}")
        return False
    except StateError as error:  # the database is that of a later version, or cannot be read
        st.error(f"Workspaces cannot be read: {format.plain(error.strerror)}")
        return False
    return True


def around(page) -> None:
    """Show the sidebar and messages, and run the page; called by app.py."""
    try:
        with turns.turn():
            _draw(page)
    finally:  # also when the page fails, or is drawn once more
        turns.tidy_later()


def _draw(page):
    guard.let_in(workspace.token())
    fragments.begin()
    view.follow()  # before what is new is listed, so that an address does not take a data set out of use that just came
    tasks.collect()
    first_results.go_on()
    with st.container(key="in-address"):  # hidden by the style
        addresses.keep(workspace.QUERY, workspace.address())
        view.keep()
    place_for_jobs = sidebar.show(page)
    show_trouble()
    for message in workspace.take_notices():
        st.toast(format.plain(message), duration="long")
    with st.container(key="undo-bar"):  # always: else the browser draws the page anew when there is nothing to undo
        removed.offer()
    run_page(page)
    sidebar.show_jobs(place_for_jobs)
    _follow_jobs()
    _ready_for_figures()
    _read_ahead()


def _follow_jobs():
    """Update elements with progress, and draw the whole page once something has begun or ended."""
    live, over = fragments.followed()
    polls = []

    def poll():
        polls.append(None)
        by_itself = len(polls) > 1  # the first time is a part of the page's own run
        if by_itself and any(is_over() for is_over in over):
            st.rerun()
        try:
            for draw in live:
                draw()
        except StreamlitInvalidLayoutContextError:  # a click has begun another run, whose elements these are not
            st.rerun()

    if live or over:
        st.fragment(poll, run_every=jobs.poll_seconds())()


def _ready_for_figures():
    """Draw a hidden figure once: so the browser prepares the library for figures while the user reads the page."""
    if turns.serving.is_set() and not st.session_state.get(_READY):
        st.session_state[_READY] = True
        with st.container(key="in-advance"):  # hidden: see STYLE
            st.plotly_chart({"data": [{"type": "scatter"}]})


def _read_ahead():
    used, runs = workspace.get("dataset"), workspace.get("runs")
    shown = workspace.get("shown").get(used)
    key = shown or (runs[-1]["key"] if runs and shown is None else None)
    if key:
        reading.read_ahead(key)


def show_trouble() -> None:
    """Say that nothing can be kept now, and why; else write changes that had to wait."""
    damaged = stored.damage()
    if damaged is not None and st.session_state.get(DAMAGE) != damaged:
        what = f"was damaged**: what could be read was taken over, and the file is now called `{damaged}`."
        kept = "Data sets and results are kept: where one is not listed, the same settings show it again at once."
        st.warning(f"**The list of workspaces {what} {kept}")
        st.button("Close", key="keeping.close", on_click=st.session_state.__setitem__, args=(DAMAGE, damaged))
    saved, why = stored.save_waiting(), store.trouble()
    if why is not None:
        st.session_state[SHOWN] = True
        st.warning(f"**Nothing new can be kept.** {format.plain(why)}" + ("" if saved else f" {STAYS}"))
    elif st.session_state.pop(SHOWN, False):
        workspace.notify("There is space again: results are kept from now on.")


def run_page(page) -> None:
    try:
        page.run()
    except OSError as error:
        why = store.trouble()
        if why is None and not isinstance(error, store.CannotKeepError):
            raise
        st.error(f"This page could not be shown as a whole. {format.plain(why or error)}")
