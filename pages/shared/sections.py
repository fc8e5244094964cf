"""Sections of a page in tabs. Only the open one is computed and drawn, so a page answers quickly.

The address names the open section, if it is not the first: ``section=Rows``. So a copied address opens the same
section, and Back and Forward walk through those that were open.
"""

import time

import streamlit as st

from pages.shared import fragments, view

FIELD = "section"  # the name in the address
_LAST = "section.last"  # key of the session's state: of each page, the section that was opened last
LINKED = "section.linked"  # likewise: the section that links have which are shown beside the page, if any are
_TURNED = "section.turned"  # key of the session's state: whether a button has opened a section, until it is drawn
# Scrolls to what holds this once that is seen, which it is not yet when the script runs. The time makes each script
# another one: the browser does not run one again that is there.
_SCROLL = """<script>new ResizeObserver(([{{target}}], observer) => {{
  if (target.offsetWidth) {{ target.closest("{}").scrollIntoView(); observer.disconnect(); }}
}}).observe(document.currentScript.parentElement); // {}</script>"""


def show(scope: str, sections: dict) -> None:
    key, titles, walked = f"{scope}.section", list(sections), view.walked()
    if walked or st.session_state.get(key) not in titles:  # the page was opened
        asked = st.query_params.get(FIELD, "" if walked else st.session_state.get(_LAST, {}).get(key))
        st.session_state[key] = asked if asked in titles else titles[0]
    fragments.alone(_draw)(key, sections)


def go_to(scope: str, title: str) -> None:
    """Open a section when the page is drawn next, and scroll to it; for callbacks of buttons that it answers."""
    key, st.session_state[_TURNED] = f"{scope}.section", True
    st.session_state.setdefault(_LAST, {})[key] = title
    if st.session_state.get(key) != title:  # a browser that is told of the tab that is open keeps what it shows there
        st.session_state[key] = title


def is_asked(scope: str, title: str) -> bool:
    return title in (st.session_state.get(f"{scope}.section"), _asked())


def scroll_to(element: str) -> None:
    st.html(_SCROLL.format(element, time.monotonic()), unsafe_allow_javascript=True)


def _draw(key, sections):
    titles = list(sections)
    tabs = st.tabs(titles, key=key, on_change="rerun")
    _keep_in_address(key, next(title for title, tab in zip(titles, tabs) if tab.open), titles[0])
    if st.session_state.get(LINKED, _asked()) != _asked():
        st.rerun()  # the whole page, with its links
    for tab, draw in zip(tabs, sections.values()):
        if is_open(tab):
            with tab:
                draw()
                if st.session_state.pop(_TURNED, False):
                    scroll_to(".stTabs")


def _keep_in_address(key, title, first):
    # A field that is bound to the address, as in pages.shared.view, would not do here: Streamlit takes fields of a page
    # out of the address before it opens another page, which is one more step in the browser's history.
    st.session_state.setdefault(_LAST, {})[key] = title
    if title != first and _asked() != title:
        st.query_params[FIELD] = title
    elif title == first:
        st.query_params.pop(FIELD, None)


def opened(page_name: str) -> str:
    """Return the title of the section of a page that its address names; empty if there is no such section."""
    titles = [title for key, title in st.session_state.get(_LAST, {}).items() if key.split(".")[0] == page_name.lower()]
    return _asked() if _asked() in titles else ""


def _asked() -> str:
    return st.query_params.get(FIELD, "")


def is_open(tab) -> bool:
    return tab.open
