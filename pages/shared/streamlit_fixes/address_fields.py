"""Hidden fields that keep in the address what it says when the user goes to another page.

Streamlit drops what an address says beside the page when a link of ``st.navigation`` is followed, unless it is the
value of a field that the app itself, not the page, binds to the address. If the script wrote it anew, each page would
be two steps of the browser's history, and the first press of Back would stay on the page. Seen with Streamlit 1.67.0.
"""

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx


def keep(name: str, value: str) -> None:
    """Have the address say a value under a name on every page; called within a hidden container."""
    st.session_state[name] = value
    st.text_input(name, key=name, bind="query-params")


def switch(page) -> None:
    """Open another page with what these fields say; ``st.switch_page`` refuses to write what a field is bound to."""
    with get_script_run_ctx().session_state.query_params() as params:
        fields = {name: params[name] for name in params if params.is_bound(name)}
        for name in fields:
            params.unbind_widget(params.get_binding_for_param(name).widget_id)
    st.switch_page(page, query_params=fields)
