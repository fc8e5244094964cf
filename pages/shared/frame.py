"""What surrounds every page."""

import runpy
from pathlib import Path

import streamlit as st

from pages.shared import jobs_panel, show, sidebar, state

APP = Path(__file__).resolve().parents[2] / "app.py"


def around(page) -> None:
    """Open the workspace, show the sidebar, and run the page; for app.py."""
    state.open_workspace()
    jobs_panel.collect()
    sidebar.show()
    show.notice()
    st.session_state[state.FRAMED] = True
    try:
        page.run()
    finally:
        st.session_state[state.FRAMED] = False


def inside(main) -> None:
    """Run a page's ``main`` inside the frame; the last line of every page.

    Until app.py has called st.navigation once, Streamlit takes a folder named ``pages`` for its older layout, where
    each file stands alone. So after a restart of the server, a reload of a page would run without its frame.
    """
    if st.session_state.get(state.FRAMED):
        main()
    else:
        runpy.run_path(str(APP), run_name="__main__")
