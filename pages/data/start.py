"""The panel for a first visit: what this is, what the data that comes with it predicts, and three steps."""

import streamlit as st

from pages.shared import addresses, workspace

CLOSED = "data.start.closed"
TEXT = """**New here?** In extreme multi-label classification, each row of data has several labels out of very many.
This dashboard trains models on such data, measures them, and shows why they predict what they predict.

**The data that comes with it**, api-docs: each row is the documentation of a Python function, and its labels are the
names of the function’s parameters. A model learns to tell from the words which parameters a function has.

1. **Data**: look at rows and labels on this page, or upload your own file.
2. **Train**: keep the settings and press Train. The first result comes within seconds; on a machine that has never run
   this, within a minute.
3. **Look into the model**: Explain shows which features speak for a label, Robustness what noise does to its
   predictions."""


def show() -> None:
    """Show the panel, until it is closed; the workspace remembers that."""
    if workspace.get("widgets").get(CLOSED) is True:
        return
    with st.container(border=True):
        st.markdown(TEXT)
        with st.container(horizontal=True, vertical_alignment="center"):
            addresses.link("Train", "Go to Train", addresses.ICONS["Train"])
            st.button(
                "Close for good", icon=":material/close:", type="tertiary", key="data.start.close", on_click=_close
            )


def _close():
    """Remember that the panel is closed."""
    workspace.update(lambda data: data["widgets"].__setitem__(CLOSED, True))
