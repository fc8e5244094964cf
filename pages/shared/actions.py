"""Controls that start, change or delete something: in a read-only session they are disabled or not there.

Streamlit calls no callback of a disabled control, whatever a browser sends: so callbacks need not ask.
"""

import streamlit as st

from pages.shared import fragments
from pages.shared.workspaces import workspace


def button(label: str, **settings) -> bool:
    """Show a button that starts, changes or deletes something, and return whether it was pressed."""
    return st.button(label, **settings | refusal())


def refused() -> bool:
    """Return whether this session is read-only; if so, a sentence says why a form is not shown."""
    if workspace.read_only():
        st.caption(workspace.READ_ONLY)
    return workspace.read_only()


def form(draw, *args) -> None:
    """Draw a form with ``draw(*args)``, alone, as typing does not draw the page again; not in a read-only session."""
    if not refused():
        fragments.alone(draw)(*args)


def refusal() -> dict:
    """Return arguments that disable a widget and say why in a read-only session; none in other sessions."""
    return {"disabled": True, "help": workspace.READ_ONLY} if workspace.read_only() else {}
