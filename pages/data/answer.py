"""The answer of the Data page: how large the data set is and how rare its labels are; and the panel that goes on."""

import time

import numpy as np
import streamlit as st

from pages.data import choose, sizes
from pages.shared import actions, addresses, door, format, jobs, tables, tasks
from pages.shared.results import results
from pages.shared.workspaces import dataset_list, workspace
from xmlcore.datasets.statistics.description import RARE
from xmlcore.metrics.buckets import label_buckets

LEAST = 50  # training rows of which the answer says how rare labels are
LIMITS = (0, 1, 5, 10)  # training rows, with which labels are counted
CLOSED = "data.start.closed"
CLOSE = "data.start.close"  # key of a button: in the session's state while the panel is on the open page
FOUR = ("PLT", "LdSM", "OneVsRest", "DoubleSampling")  # that are trained at one press
INTRODUCTION = "**New here?** Models learn which labels, out of very many, a row of data has."
API_DOCS = (
    "In **api-docs**, a row describes a Python function; its labels are related ones, and itself if those name it."
)
OTHER = "**{}** is in use. Train a model on it, with default settings, or compare models."
ADDRESS = "Keep the address of this page: it leads back to your work."


def sentence(data, name: str) -> str:
    """Say how large a data set is and, if there are rows enough to tell, how rare its labels are."""
    sizes = {"row": data.n_train + data.n_test, "feature": data.n_features, "label": data.n_labels}
    said = f"{format.bold(name)}: {', '.join(format.count(number, noun) for noun, number in sizes.items())}"
    counts = _training_rows(data)
    if not counts.any() or data.n_train < LEAST:
        return f"{said}."
    tail, unseen = counts[label_buckets(counts) == "tail"], np.count_nonzero(counts == 0)
    if tail.size and tail.min() <= RARE:
        labels = f"{format.count(tail.size, 'label')} ({format.percent(tail.size / data.n_labels)})"
        said += f" with a tail of {labels} with at most {format.count(tail.max(), 'training row')} each"
    return said + (f"; never seen in training: {format.count(unseen, 'label')}." if unseen else ".")


def _training_rows(data) -> np.ndarray:
    return np.bincount(data.Y_train.indices, minlength=data.n_labels)


def show(data, fingerprint, used: dict | None) -> tuple:
    """Show the answer; return the description of the data set, if it is known, and places for a curve and problems."""
    if data is None:
        choose.nothing_yet()
        return None, None, None
    st.markdown(sentence(data, used["name"]))
    left, right = st.columns(2, gap="medium")
    with left:
        described = sizes.description(fingerprint)
    with right:
        _cards(data)
        wrong = st.container()
        _notes(data, used)
    choose.preparing()
    return described, left, wrong


def _cards(data) -> None:
    rows, counts = data.n_train + data.n_test, _training_rows(data)
    nonzeros = (data.X_train.nnz + data.X_test.nnz) / rows
    rare = [f"{np.count_nonzero(counts <= most):,} at most {most}" for most in LIMITS]
    share = format.probability(nonzeros / data.n_features)
    tables.cards(
        ("Training rows", f"{data.n_train:,}", None),
        ("Features", f"{data.n_features:,}", "Columns of the data; most are zero in any one row."),
        ("Labels", f"{data.n_labels:,}", f"Labels by their training rows: {', '.join(rare)}."),
        ("Test rows", f"{data.n_test:,}", None),
        ("Features per row", f"{nonzeros:,.1f}", f"Mean number of nonzero values: {share} of all cells."),
        (
            "Labels per row",
            f"{(data.Y_train.nnz + data.Y_test.nnz) / rows:.2f}",
            "Mean over all rows; cardinality.",
        ),
    )
    if not data.Y_train.nnz:
        st.warning("No training row has a label, so no model can be trained on this data set.")


def _notes(data, known) -> None:
    """Say how the data set was read; of one of the catalog, in a menu."""
    # Another session may have uploaded the same content from other files: so take this workspace's notes.
    is_listed = known["source"] == "catalog"
    listed = data.notes if is_listed else known["notes"]
    if text := " ".join(format.plain(format.sentence(note)) for note in dict.fromkeys(listed)):
        place = st.popover("Where it comes from", type="tertiary", icon=":material/help:") if is_listed else st
        (place.markdown if is_listed else place.caption)(text)


def next_step(ready, used: dict | None) -> None:
    """Show a panel that goes on from the data set in use, until it is closed or each model has a result on it."""
    # While the page is open, a training that ends takes nothing away above what is being read.
    closed, is_default = f"{CLOSED} {ready.fingerprint}", used is None or dataset_list.is_default(used)
    if workspace.read_only() or workspace.get("widgets").get(closed) is True:
        return
    refusals = {} if ready.data is None else {model: door.refuses(model, ready) for model in FOUR}
    takes = [model for model, why in refusals.items() if not why]
    trained = {record["model"] for record in ready.every if not jobs.is_unasked(record)}
    left = [model for model in takes if model not in trained]
    if not (left or (is_default and ready.data is None) or (takes and CLOSE in st.session_state)):
        return
    with st.container(border=True):
        about = f"{INTRODUCTION} {API_DOCS} {ADDRESS}" if is_default else OTHER.format(format.plain(used["name"]))
        st.markdown(about)
        with st.container(horizontal=True, vertical_alignment="center"):
            if left and left[0] == takes[0]:
                _train(ready.fingerprint, "Train", left[:1], "Train", type="primary")
            if left and len(takes) > 1:
                every = "all four" if len(left) == len(FOUR) else format.listed(left)
                _train(ready.fingerprint, f"Train {every}", left, "Compare")
            close = {"key": CLOSE, "on_click": workspace.remember, "args": (closed, True)}
            st.button("Close", icon=":material/close:", type="tertiary", **close)
        for why in filter(None, refusals.values() if takes else ()):
            st.caption(format.plain(why))


def _train(fingerprint, label, models, page, **look):
    """Show a button that trains models with their default settings, and opens the page that shows the results."""
    if actions.button(label, key=f"data.start.{page}", **look):
        now = time.time()
        for rank, model in enumerate(models):  # the first one stays shown when others are done later
            tasks.start(tasks.train_task(fingerprint, model, None, results.K), asked=now - rank / 1000)
        addresses.switch(page)
