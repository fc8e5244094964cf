"""What a page about results shows while there is no data set, or no result yet."""

import streamlit as st

from pages.shared import format, tasks
from xmlcore import experiment


def no_data(ready: str, without: str) -> None:
    """There is no data set in use.

    Parameters
    ----------
    ready, without : str
        What can be done once it is there, after "The data set is being made ready."; and why the page is empty, after
        "There is no data set in use,".
    """
    running = tasks.active("prepare")
    if running:
        st.markdown(f"The data set is being made ready. {ready}")
        tasks.watch(running)
    else:
        st.markdown(f"There is no data set in use, {without}")
        st.page_link("pages/data/page.py", label="Choose or upload one on the Data page", icon=":material/table_rows:")


def no_run(said, data, fingerprint: str, name: str, page: str, train: str, k: int, others: str, **about) -> None:
    """No model that the page is about has been trained: say what the page shows, and offer to train one.

    Parameters
    ----------
    said : str
        Markdown.
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
        Trainings that are shown here, such as ``model="LdSM"``; all of this data set when not given.
    """
    training = tasks.active("train", fingerprint=fingerprint, **about)
    st.markdown(said)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            f"Train {train} with its default settings",
            type="primary",
            key=f"{page}.train",
            on_click=lambda: tasks.train(fingerprint, name, train, experiment.full_params(train), k),
            disabled=data.Y_train.nnz == 0 or bool(training),
        )
        st.page_link("pages/train/page.py", label=others, icon=":material/tune:")
    if data.Y_train.nnz == 0:
        st.warning("No training row has a label, so there is nothing to learn. Choose another data set.")
    watch_training(fingerprint, **about)


def watch_training(fingerprint: str, **about) -> None:
    """Trainings on a data set that are under way, or failed."""
    tasks.watch(tasks.active("train", fingerprint=fingerprint, **about)[::-1])
    tasks.show_failures(tasks.failed("train", fingerprint=fingerprint, **about))


def not_trained(name: str, what: str = "No model has") -> str:
    """The sentence that nothing was trained on a data set."""
    return f"{what} been trained on **{format.plain(name)}** in this workspace yet."
