"""The answer of the Data page: how large the data set is, and how rare its labels are."""

import numpy as np
import streamlit as st

from pages.data import start
from pages.data.forms import uploads
from pages.shared import addresses, format, tables
from pages.shared.workspaces import workspace
from xmlcore.datasets.statistics.description import RARE
from xmlcore.metrics.buckets import label_buckets

LEAST = 50  # training rows of which the first sentence says how rare labels are
LIMITS = (1, 5, 10)  # training rows, with which labels are counted


def sentence(data, known) -> None:
    counts = np.bincount(data.Y_train.indices, minlength=data.n_labels)
    st.markdown(
        f"**{format.plain(known['name'])}**: {format.count(data.n_train + data.n_test, 'row')}, "
        f"{format.count(data.n_features, 'feature')}, {format.count(data.n_labels, 'label')}{_tail(data, counts)}."
    )
    if not data.Y_train.nnz:
        st.warning(
            "No training row has a label, so no model can be trained on this data set.", icon=":material/warning:"
        )


def cards(data) -> None:
    rows = data.n_train + data.n_test
    per_row = (data.Y_train.nnz + data.Y_test.nnz) / rows
    nonzeros = (data.X_train.nnz + data.X_test.nnz) / rows
    counts = np.bincount(data.Y_train.indices, minlength=data.n_labels)
    without = int(np.count_nonzero(counts == 0))
    labels = f"{format.count(without, 'label')} without a training row." if without else "Each has a training row."
    for most in LIMITS:
        rare = int(np.count_nonzero(counts <= most))
        labels += f"  \n{format.count(rare, 'label')} with at most {format.count(most, 'training row')}."
    share = format.probability(nonzeros / data.n_features)
    tables.cards(
        [
            ("Training rows", f"{data.n_train:,}", None),
            ("Features", f"{data.n_features:,}", "Columns of the data; most are zero in any one row."),
            ("Labels", f"{data.n_labels:,}", labels),
            ("Test rows", f"{data.n_test:,}", None),
            ("Features per row", f"{nonzeros:,.1f}", f"Mean number of those that are not zero: {share} of all cells."),
            ("Labels per row", f"{per_row:.2f}", "Mean over training and test rows; also called label cardinality."),
        ]
    )


def notes(data, known) -> None:
    """Say how the data set was read; of one of the catalog, in a menu."""
    # Another session may have uploaded the same content from other files: so take this workspace's notes.
    listed = data.notes if known["source"] == "catalog" else known["notes"]
    text = " ".join(format.plain(uploads.sentence(note)) for note in dict.fromkeys(listed))
    if text and known["source"] == "catalog":
        with st.popover("Where it comes from", type="tertiary", icon=":material/help:"):
            st.markdown(text)
    elif text:
        st.caption(text)
    if data.Y_train.nnz and start.is_closed() and not workspace.get("runs") and not workspace.only_looks():
        addresses.link("Train", "Train a model on this data set", "arrow_forward")


def _tail(data, counts):
    """Return the end of a sentence that says how rare labels are; empty when there are too few rows to tell."""
    if not counts.any() or data.n_train < LEAST:
        return ""
    tail = counts[label_buckets(counts) == "tail"]
    if not tail.size or tail.min() > RARE:
        return f", each with {int(counts.min()):,} training rows or more" if counts.size > 1 else ""
    none, most = int(np.count_nonzero(tail == 0)), int(tail.max())
    share, of = format.percent(tail.size / counts.size), " without a training row"
    if not none:
        of = f" with at most {format.count(most, 'training row')} each"
    elif none < tail.size:
        of = f": {none:,}{of}, the others with at most {most:,} each"
    return f" with a tail of {format.count(tail.size, 'label')} ({share}){of}"
