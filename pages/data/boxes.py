"""A folded box of forms in tabs, which opens by itself on the form that is in use."""

import streamlit as st


def show(title: str, forms: dict, opened: bool = False) -> None:
    used = [name for name, (in_use, _) in forms.items() if in_use]
    with st.expander(title, expanded=opened or bool(used)):
        for tab, (_, draw) in zip(st.tabs(list(forms), default=used[0] if used else None), forms.values()):
            with tab:
                draw()
