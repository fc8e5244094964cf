"""Files on their way to and from the browser.

Files that were made for a download stay until the browser has fetched them. When a download button is pressed,
Streamlit makes the file and tells the browser its address. No session owns the file: when any run of a script or
fragment ends, in any session, the file is marked for deletion, and when the next one ends, it is deleted. What shows
how far jobs are is drawn by a timer, all the time and in all tabs, so the browser would often be too late. So nothing
is deleted for a moment.

Files that were chosen in a tab whose session is lost, as after a restart of the server, are lost, too. The browser
connects anew by itself and shows the page as before. Streamlit forgets a session when the server ends, and some time
after a tab was cut off. A field for files would go on showing what became of the file then, such as "Network Error",
and the server does not know a file that the field shows. Seen with Streamlit 1.67.0.
"""

import time

import streamlit as st
from streamlit import runtime
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

FOLLOWS = "reconnected.follows"  # key of st.session_state: whether to say that chosen files are lost
LOST = (
    "The server was restarted, or this tab was without a connection to it for some time. Files that were chosen or on "
    "their way then are lost: choose them again."
)
MOMENT = 2.0  # seconds that a browser has to fetch a file; it needs some hundredths, tenths on a busy machine
LONGEST = 20.0  # seconds for which nothing is deleted, also if files are made all the time

_until = 0.0  # on the monotonic clock; one for all sessions of this process, as their runs delete each other's files
_removed = 0.0  # likewise: when files were deleted last
_remove = MediaFileManager.remove_orphaned_files


def made() -> None:
    """Note that a file was made just now, which the browser is about to fetch."""
    global _until
    _until = time.monotonic() + MOMENT


def keep() -> None:
    """Have Streamlit delete no file until the browser should have fetched the latest one."""

    def remove(manager):
        global _removed
        if time.monotonic() >= min(_until, _removed + LONGEST):
            _removed = time.monotonic()
            _remove(manager)

    MediaFileManager.remove_orphaned_files = remove


def follows_another() -> bool:
    """Return whether the browser's tab had a session that the server does not know any more, and no file since."""
    if FOLLOWS not in st.session_state:
        # The names of protocols: that of Streamlit, a token, and the session before, if there was one.
        before = st.context.headers.get("Sec-WebSocket-Protocol", "").split(",")[2:]
        st.session_state[FOLLOWS] = bool(before and before[0].strip() not in ("", get_script_run_ctx().session_id))
    return st.session_state[FOLLOWS]


def number(key: str) -> int:
    """Return the number that the keys of fields for files have now, kept in ``st.session_state[key]``."""
    # :func:`empty` raises it. In a session that follows a lost one it begins with another number, so
    # that fields are new and empty in the browser, too.
    return st.session_state.setdefault(key, int(time.time()) if follows_another() else 0)


def empty(key: str, ids) -> None:
    """Have fields for files made anew, and the server forget the files with these ids, which were read."""
    st.session_state[key] += 1
    for file in filter(None, ids if runtime.exists() else ()):
        runtime.get_instance().uploaded_file_mgr.remove_file(get_script_run_ctx().session_id, file)


def say(chosen: bool) -> None:
    """Say below a field for files that files are lost, until one is chosen; ``chosen``: whether one is."""
    if chosen:
        st.session_state[FOLLOWS] = False
    elif follows_another():
        st.info(LOST)
