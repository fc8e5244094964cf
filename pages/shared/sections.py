"""Sections of a page in tabs, of which only the open one is computed and drawn: so a page answers quickly.

When another section is opened, the address names it: ``section=Rows``. So a copied address opens the same section, and
Back and Forward walk through those that were open.
"""

import streamlit as st

from pages.shared import fragments
from pages.shared.workspaces import workspace

FIELD = "section"  # the name in the address
_ADDRESS = "section.address"  # key of the session's state: of which page the address is, the section that it names, and
# the one that was open while it named none
_FIRST = "section.first"  # key of the session's state: of each page, the one that was open while the address named none
_SHOWN = "section.shown"  # key of the session's state: whether this run of the page has sections


def show(scope: str, sections: dict) -> None:
    """Show the titles of sections as tabs, and draw the section that is open."""
    key = f"{scope}.section"
    st.session_state[_SHOWN] = True
    _follow(scope, key, list(sections))
    fragments.alone(_draw)(key, sections)


def _follow(scope, key, titles):
    """Open the section that the address names, if the address was opened or if the user has changed it.

    An address that names none, as that of a first visit, stands for the section that was open when the page was.
    """
    asked = st.query_params.get(FIELD, "")
    asked = asked if asked in titles else ""
    page, said, first = st.session_state.get(_ADDRESS, ("", "", ""))
    if page != key:  # another page was open
        page, said, first = "", "", st.session_state.get(_FIRST, {}).get(key, "") if asked else ""
    if first not in ("", *titles):
        page, said, first = "", "", ""
    if said and not asked:  # Back to an entry of the browser's history that is older than this session, or this visit
        first = first or titles[0]
    first = "" if first == asked else first
    if (page, said) != (key, asked) and (asked or first):
        turn_to(scope, asked or first)
    st.session_state[_ADDRESS] = key, asked, first


def forget_address() -> None:
    """Forget what the address named if the page, drawn to its end, has no sections; called after each page.

    The address then names none, although the user has not changed it: when there are sections again, the one that was
    open opens once more.
    """
    if not st.session_state.pop(_SHOWN, False):
        st.session_state.pop(_ADDRESS, None)


def turn_to(scope: str, title: str) -> None:
    """Open a section when the page is drawn next; for callbacks of buttons whose result is shown there."""
    key = f"{scope}.section"
    st.session_state[key] = title
    workspace.update(lambda data: data["widgets"].__setitem__(key, title))


def _draw(key, sections):
    """Draw the tabs, and the section that is open."""
    titles = list(sections)
    kept = workspace.keep(key, titles[0], options=titles)
    tabs = st.tabs(titles, default=titles[kept.pop("index")], **kept)
    _keep_in_address(key, next(title for title, tab in zip(titles, tabs) if tab.open))
    for tab, draw in zip(tabs, sections.values()):
        if is_open(tab):
            with tab:
                draw()


def _keep_in_address(key, title):
    """Have the address name the open section, unless it was open when the page was.

    A field that is bound to the address, as in pages.shared.views, would not do here: Streamlit takes fields of a page
    out of the address before it opens another page, which is one more step in the browser's history.
    """
    _, said, first = st.session_state[_ADDRESS]
    first = first or ("" if said else title)
    said = "" if title == first else title
    st.session_state[_ADDRESS] = key, said, first
    st.session_state.setdefault(_FIRST, {})[key] = first
    if said and st.query_params.get(FIELD) != said:
        st.query_params[FIELD] = said
    elif not said:
        st.query_params.pop(FIELD, None)


def opened(page_name: str) -> str:
    """Return the title of the section that is open on a page, as its address has it; empty on a page without any."""
    key, said, first = st.session_state.get(_ADDRESS, ("", "", ""))
    return (said or first) if key.split(".")[0] == page_name.lower() else ""


def is_open(tab) -> bool:
    """Return whether a tab is the open one."""
    return tab.open
