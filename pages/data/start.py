"""The panel for a first visit: what this is, what the data in use predicts, and three steps."""

import streamlit as st

from pages.shared import addresses, format
from pages.shared.workspaces import dataset_list, workspace
from pages.shared.workspaces.records import DEFAULT_DATASET

CLOSED = "data.start.closed"
INTRODUCTION = """**New here?** In extreme multi-label classification, each row of data has several labels out of very
many. This dashboard trains models on such data, measures them, and shows why they predict what they predict."""
API_DOCS = """**The data that comes with it**, api-docs: each row is the documentation of a Python function, and its
labels are the names of the function’s parameters. A model learns to tell from the words which parameters a function
has. (Some texts begin with the call of the function, which gives them away.)"""
OTHER = """**The data in use**, {}: a model learns to tell from the features of a row which labels it has."""
STEPS = """1. **Data**: look at rows and labels on this page, or upload your own file at *Add a data set*.
2. **Train**: keep the settings and press Train. {}
3. **Look into the model**: Explain shows which features speak for a label, Robustness what noise does to its
   predictions. When you have trained a second model, Compare says which one is better.

Predict labels rows of your own. Trees, Features and Sampling each show one method from the inside."""

SOON = "The first result comes within seconds; on a machine that has never run this, within a minute."
LATER = "Beside the button stands how long it takes."


def show(used: dict | None) -> None:
    """Show the panel, until it is closed; ``used`` is the workspace's record of the data set in use, or None."""
    if is_closed():
        return
    with st.container(border=True):
        st.markdown(INTRODUCTION)
        st.markdown(about(used))
        st.markdown(STEPS.format(SOON if about(used) == API_DOCS else LATER))
        with st.container(horizontal=True, vertical_alignment="center"):
            addresses.link("Train", "Go to Train", addresses.ICONS["Train"])
            close = {"key": "data.start.close", "on_click": workspace.remember, "args": (CLOSED, True)}
            st.button("Close for good", icon=":material/close:", type="tertiary", **close)


def is_closed() -> bool:
    return workspace.get("widgets").get(CLOSED) is True or workspace.only_looks()


def about(used: dict | None) -> str:
    """Return what the data set in use predicts; without one, what the one predicts that comes with the program."""
    if used is None or used["source"] == "catalog" and dataset_list.catalog_name(used) == DEFAULT_DATASET:
        return API_DOCS
    return OTHER.format(format.plain(used["name"]))
