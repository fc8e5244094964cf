"""Time for the browser to fetch a file that was made for a download.

Streamlit makes such a file when the button is pressed, tells the browser its address and counts it as nobody's: the
end of any run of a script, of a fragment too and in any session, marks it for deletion, and the end of the next one
deletes it. Where nothing runs by itself that is never too early. Panels of jobs do run by themselves, two to a page
and all the time, so that the browser would often come too late: they wait here before they end.
"""

import time

import streamlit as st

MOMENT = 2.0  # seconds a browser has at least; on one machine it takes a few hundredths, and tenths when that is busy

_until = 0.0  # of this process's clock: files are there for all its sessions, and the runs of all of them end


def made() -> None:
    """Say that a file was made just now, and that the browser will come for it."""
    global _until
    _until = time.monotonic() + MOMENT


def wait() -> None:
    """Wait until the latest file made can be expected to be fetched: at the end of runs that nobody asked for.

    Never longer than a moment, so that somebody who downloads all the time holds up nothing. That is enough: it takes
    two runs of a session to delete a file, and one that begins after the file was made waits its whole moment.
    """
    end = time.monotonic() + MOMENT
    while time.monotonic() < min(_until, end):
        st.session_state.get("any")  # Streamlit looks here whether the user asks for a new run, and stops this one
        time.sleep(0.05)
