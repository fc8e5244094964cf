"""How a page begins: with the data set in use, or with what is missing."""

from typing import NamedTuple

import streamlit as st

from pages.shared import format, jobs, server, tasks, workspace
from xmlcore import datasets


class InUse(NamedTuple):
    """The data set in use: itself, its fingerprint, and what the user calls it."""

    data: datasets.Dataset
    fingerprint: str
    name: str


def dataset(ready: str, without: str) -> InUse | None:
    """Return the data set in use; None without one, and the page says so. Arguments as for :func:`no_data`."""
    fingerprint = workspace.get("dataset")
    if fingerprint is None:
        no_data(ready, without)
        return None
    data = server.dataset(fingerprint)
    return InUse(data, fingerprint, tasks.dataset_name(fingerprint) or data.name)


def no_data(ready: str, without: str) -> None:
    """Say that there is no data set in use, or show how far the one is that is being made ready.

    Parameters
    ----------
    ready, without : str
        What can be done once it is there, after "The data set is being made ready."; and why the page is empty, after
        "There is no data set in use,".
    """
    running = jobs.active("prepare")
    if running:
        st.markdown(f"The data set is being made ready. {ready}")
        jobs.watch(running)
    else:
        st.markdown(f"There is no data set in use, {without}")
        st.page_link("pages/data/page.py", label="Choose or upload one on the Data page", icon=":material/table_rows:")


def no_run(said, data, fingerprint: str, name: str, page: str, train: str, k: int, others: str, **about) -> None:
    """Say what the page shows when a model has been trained, and offer to train one.

    Parameters
    ----------
    said : str
        What the page shows, in Markdown.
    data : Dataset
    fingerprint, name : str
        Of the data set; its name as it is shown.
    page : str
        For the button's key.
    train : str
        The model that the button trains.
    k : int
    others : str
        Label of the link to the Train page.
    **about
        Which trainings are shown while they run, such as ``model="LdSM"``; by default all of this data set.
    """
    training = jobs.active("train", fingerprint=fingerprint, **about)
    st.markdown(said)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            f"Train {train} with its default settings",
            type="primary",
            key=f"{page}.train",
            on_click=lambda: tasks.start(tasks.train_task(fingerprint, train, None, k)),
            disabled=data.Y_train.nnz == 0 or bool(training),
        )
        st.page_link("pages/train/page.py", label=others, icon=":material/tune:")
    if data.Y_train.nnz == 0:
        st.warning("No training row has a label, so there is nothing to learn. Choose another data set.")
    watch_training(fingerprint, **about)


def watch_training(fingerprint: str, **about) -> None:
    """Show trainings on a data set that run or have failed; ``about`` as for :func:`no_run`."""
    jobs.watch(jobs.active("train", fingerprint=fingerprint, **about)[::-1])
    jobs.show_failures(jobs.failed("train", fingerprint=fingerprint, **about))


def not_trained(name: str, what: str = "No model has") -> str:
    """Return the sentence that nothing was trained on a data set."""
    return f"{what} been trained on **{format.plain(name)}** in this workspace yet."
