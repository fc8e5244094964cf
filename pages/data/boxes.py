"""A folded box of forms in tabs, which opens by itself on the form that is in use."""

import streamlit as st

from pages.shared import sections


def show(title: str, forms: dict, opened: bool = False, key: str | None = None) -> None:
    """Show the box, and scroll to it if a button has ``opened`` it; under another ``key`` the tabs are new."""
    used = [name for name, (in_use, _) in forms.items() if in_use]
    with st.expander(title, expanded=opened or bool(used)):
        tabs = st.tabs(list(forms), default=used[0] if used else None, key=key)
        for tab, (_, draw) in zip(tabs, forms.values()):
            with tab:
                draw()
        if opened:  # below the window, perhaps
            sections.scroll_to(".stExpander")
