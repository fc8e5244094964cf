"""The panel for a first visit: what this is, and what the data in use predicts."""

import streamlit as st

from pages.data import choose
from pages.shared import addresses, format, jobs
from pages.shared.workspaces import dataset_list, workspace

CLOSED = "data.start.closed"
CLOSE = "data.start.close"  # key of a button: in the session's state while the panel is on the open page
INTRODUCTION = "**New here?** Models learn which labels, out of very many, a row of data has."
API_DOCS = "In **api-docs**, a row documents a Python function; its labels are the function’s documented parameters."
OTHER = "The data in use: **{}**."
ADDRESS = "Keep the address of this page: it leads back to your work."


def show(used: dict | None) -> None:
    """Show the panel until it is closed, or a model is trained; ``used`` is the record of the data set in use."""
    # While the page is open, a training that ends takes nothing away above what is being read.
    stays = CLOSE in st.session_state and not (_is_closed_for_good() or workspace.only_looks())
    if is_closed() and not stays:
        return
    with st.container(border=True):
        st.markdown(f"{INTRODUCTION} {about(used)} {ADDRESS}")
        with st.container(horizontal=True, vertical_alignment="center"):
            addresses.link("Train", "Go to Train", addresses.ICONS["Train"])
            add = {"on_click": st.session_state.update, "args": ({choose.ADDING: True},)}
            st.button("Add a data set", key="data.start.add", icon=":material/add:", type="tertiary", **add)
            close = {"key": CLOSE, "on_click": workspace.remember, "args": (CLOSED, True)}
            st.button("Close", icon=":material/close:", type="tertiary", **close)


def is_closed() -> bool:
    trained = not all(map(jobs.is_unasked, workspace.get("runs")))
    return _is_closed_for_good() or trained or workspace.only_looks()


def _is_closed_for_good() -> bool:
    return workspace.get("widgets").get(CLOSED) is True


def about(used: dict | None) -> str:
    """Return what the data set in use predicts; without one, what the one predicts that comes with the program."""
    if used is None or dataset_list.is_default(used):
        return API_DOCS
    return OTHER.format(format.plain(used["name"]))
