"""Draw what surrounds every page: the sidebar and messages."""

import streamlit as st

from pages.shared import format, sidebar, tasks, workspace


def around(page) -> None:
    """Open the workspace, show the sidebar and messages, and run the page; called by app.py."""
    workspace.open_workspace()
    tasks.collect()
    place_for_jobs = sidebar.show()
    notice()
    page.run()
    sidebar.show_jobs(place_for_jobs)


def notice() -> None:
    """Show messages of :func:`pages.shared.workspace.notify`, once."""
    for message in workspace.take_notices():
        st.toast(format.plain(message), duration="long")
