"""A folded box of forms in tabs, which opens by itself on the form that is in use, and is drawn once it is opened."""

import streamlit as st

from pages.shared import sections

_SEEN = "data.boxes"  # key of st.session_state: of each box whether a form was in use, and whether it has been drawn


def show(name: str, title: str, forms: dict, opened: bool = False, key: str | None = None) -> None:
    """Show the box, and scroll to it if a button has ``opened`` it; under another ``key`` the tabs are new."""
    used = [form for form, (in_use, _) in forms.items() if in_use]
    box, opens, seen = f"data.box.{name}", opened or bool(used), st.session_state.setdefault(_SEEN, {})
    if box not in st.session_state:  # Streamlit forgets it, and what is filled in there, with the page
        seen.pop(name, None)
    opened_last, drawn = seen.get(name, (False, False))
    if opened or opens != opened_last:
        st.session_state[box] = opens
    expander = st.expander(title, key=box, on_change="rerun")
    seen[name] = opens, drawn or expander.open
    if not (drawn or expander.open):
        return
    with expander:
        tabs = st.tabs(list(forms), default=used[0] if used else None, key=key)
        for tab, (_, draw) in zip(tabs, forms.values()):
            with tab:
                draw()
        if opened:  # below the window, perhaps
            sections.scroll_to(".stExpander")
