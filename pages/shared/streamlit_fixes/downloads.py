"""Waiting for the browser to fetch a file that was made for a download.

When a download button is pressed, Streamlit makes the file and tells the browser its address. No session owns the
file: when any run of a script or fragment ends, in any session, the file is marked for deletion, and when the next one
ends, it is deleted. The browser has enough time only while every run is started by the user. But what shows how far
jobs are is drawn by a timer, all the time and in all tabs, so the browser would often be too late. Such runs wait here
before they end. Seen with Streamlit 1.67.0.
"""

import time

import streamlit as st

MOMENT = 2.0  # seconds that a browser has to fetch a file; it needs some hundredths, tenths on a busy machine

_until = 0.0  # on the monotonic clock; one for all sessions of this process, as their runs delete each other's files


def made() -> None:
    """Note that a file was made just now, which the browser is about to fetch."""
    global _until
    _until = time.monotonic() + MOMENT


def wait() -> None:
    """Wait until the browser should have fetched the latest file; called at the end of runs that a timer starts."""
    end = time.monotonic() + MOMENT
    while time.monotonic() < min(_until, end):
        st.session_state.get("any")  # lets Streamlit stop this run when the user has started another
        time.sleep(0.05)
