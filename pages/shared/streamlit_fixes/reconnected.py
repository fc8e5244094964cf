"""Tabs whose session is lost, as after a restart of the server: the files that were chosen in them are lost, too.

The browser connects anew by itself and shows the page as before. Streamlit forgets a session when the server ends, and
some time after a tab was cut off. A field for files would go on showing what became of the file then, such as
"Network Error", and the server does not know a file that the field shows. Seen with Streamlit 1.67.0.
"""

import time

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

FOLLOWS = "reconnected.follows"  # key of st.session_state: whether to say that chosen files are lost
LOST = (
    "The server was restarted, or this tab was without a connection to it for some time. Files that were chosen or on "
    "their way then are lost: choose them again."
)


def follows_another() -> bool:
    """Return whether the browser's tab had a session that the server does not know any more, and no file since."""
    if FOLLOWS not in st.session_state:
        # The names of protocols: that of Streamlit, a token, and the session before, if there was one.
        before = st.context.headers.get("Sec-WebSocket-Protocol", "").split(",")[2:]
        st.session_state[FOLLOWS] = bool(before and before[0].strip() not in ("", session()))
    return st.session_state[FOLLOWS]


def session() -> str:
    return get_script_run_ctx().session_id


def number(key: str) -> int:
    """Return the number that the keys of fields for files have now, kept in ``st.session_state[key]``."""
    # :func:`empty` raises it. In a session that follows a lost one it begins with another number, so
    # that fields are new and empty in the browser, too.
    return st.session_state.setdefault(key, int(time.time()) if follows_another() else 0)


def empty(key: str, ids) -> None:
    """Have fields for files made anew, and the server forget the files with these ids, which were read."""
    st.session_state[key] += 1
    for file in filter(None, ids if runtime.exists() else ()):
        runtime.get_instance().uploaded_file_mgr.remove_file(session(), file)


def say(chosen: bool) -> None:
    """Say below a field for files that files are lost, until one is chosen; ``chosen``: whether one is."""
    if chosen:
        st.session_state[FOLLOWS] = False
    elif follows_another():
        st.info(LOST)
