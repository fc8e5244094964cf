"""Sections of a page in tabs, of which only the open one is computed and drawn: so a page answers quickly."""

import streamlit as st

from pages.shared import server, workspace


def show(scope: str, sections: dict) -> None:
    """Show the titles of sections as tabs, and draw the section that is open.

    Parameters
    ----------
    scope : str
        The page, and what on it; the workspace remembers under this name which section is open.
    sections : dict
        By its title, a function without arguments that draws the section. The first is open at first.
    """
    server.fragment(_draw)(f"{scope}.section", sections)


def _draw(key, sections):
    """Draw the tabs, and the section that is open."""
    titles = list(sections)
    kept = workspace.keep(key, titles[0], options=titles)
    tabs = st.tabs(titles, default=titles[kept.pop("index")], **kept)
    for tab, draw in zip(tabs, sections.values()):
        if is_open(tab):
            with tab:
                draw()


def is_open(tab) -> bool:
    """Return whether a tab is the open one."""
    return tab.open
