"""How a page begins: with the data set in use, or with what is missing."""

from typing import NamedTuple

import streamlit as st

from pages.shared import actions, addresses, format, jobs, server, tasks
from pages.shared.figures import examples
from pages.shared.results import results
from pages.shared.workspaces import workspace
from xmlcore import datasets

NOTHING_TO_LEARN = "No training row has a label, so there is nothing to learn. Choose another data set."


class InUse(NamedTuple):
    """The data set in use, its fingerprint (a hash of its content), and its name on pages."""

    data: datasets.Dataset
    fingerprint: str
    name: str


def page(title: str, draw, *, ready: str, without: str) -> None:
    """Draw a page about the data set in use, with ``draw(used)``; without one, show why there is nothing."""
    st.title(title)
    used = dataset(ready, without)
    if used is not None:
        draw(used)


def dataset(ready: str, without: str) -> InUse | None:
    """Return the data set in use; without one, return None and show why, or the progress of one that is prepared."""
    fingerprint = workspace.get("dataset")
    if fingerprint is not None:
        data = server.dataset(fingerprint)
        return InUse(data, fingerprint, tasks.dataset_name(fingerprint) or data.name)
    running = jobs.active("prepare")
    if running:
        st.markdown(f"The data set is being made ready. {ready} in a moment.")
        jobs.watch(running)
    else:
        st.markdown(f"There is no data set in use, so {without}.")
        addresses.link("Data", "Choose or upload one on the Data page", "table_rows")
    return None


def no_run(
    used: InUse,
    page: str,
    text: str,
    *,
    train: str = "PLT",
    others: str = "Other models on the Train page",
    subject: str = "No model has",
    problem: str = "",
    example=None,
    **about,
) -> None:
    """Say what the page shows when a model has been trained, with an example, and offer to train one."""
    data, fingerprint, name = used
    training = jobs.active("train", fingerprint=fingerprint, **about)
    st.markdown(f"{text} {subject} been trained on **{format.plain(name)}** in this workspace yet.")
    with st.container(horizontal=True, vertical_alignment="center"):
        task = tasks.train_task(fingerprint, train, params=None, k=results.K)
        time = tasks.time_in_brackets(task, unknown=data.Y_train.nnz == 0)
        actions.button(
            f"Train {train} with its default settings{time}",
            type="primary",
            key=f"{page}.train",
            on_click=tasks.start,
            args=(task,),
            disabled=bool(problem) or data.Y_train.nnz == 0 or bool(training),
        )
        addresses.link("Train", others, "tune")
    if data.Y_train.nnz == 0:
        st.warning(NOTHING_TO_LEARN)
    elif problem:
        st.warning(problem)
    watch_training(fingerprint, **about)
    if example is not None:
        examples.show(example)


def watch_training(fingerprint: str, **about) -> None:
    """Show the progress and the failures of trainings on a data set; ``about`` as for :func:`no_run`."""
    jobs.watch(jobs.active("train", fingerprint=fingerprint, **about)[::-1])
    jobs.show_failures(jobs.failed("train", fingerprint=fingerprint, **about))
