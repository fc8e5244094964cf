"""The answer of the Data page: how large the data set is, and how rare its labels are."""

import numpy as np
import streamlit as st

from pages.data import start
from pages.data.forms import uploads
from pages.shared import addresses, format, tables
from pages.shared.workspaces import workspace
from xmlcore.datasets.statistics.description import RARE

# Least number of labels, and of training rows of the most frequent label, for which a long tail is mentioned.
TAIL_LABELS, TAIL_HEAD = 50, 50


def show(data, known) -> None:
    """Say what is in the data set, with cards of its sizes and notes on how it was read."""
    counts = np.bincount(data.Y_train.indices, minlength=data.n_labels)
    st.markdown(
        f"**{format.plain(known['name'])}**: {format.count(data.n_train + data.n_test, 'row')}, "
        f"{format.count(data.n_features, 'feature')}, {format.count(data.n_labels, 'label')}{_tail(data, counts)}."
    )
    if not data.Y_train.nnz:
        st.warning(
            "No training row has a label, so no model can be trained on this data set.", icon=":material/warning:"
        )
    rows = data.n_train + data.n_test
    per_row = (data.Y_train.nnz + data.Y_test.nnz) / rows
    nonzeros = (data.X_train.nnz + data.X_test.nnz) / rows
    cells = rows * data.n_features
    without = int(np.count_nonzero(counts == 0))
    cards = [
        ("Training rows", f"{data.n_train:,}", None),
        ("Test rows", f"{data.n_test:,}", None),
        ("Features", f"{data.n_features:,}", "Columns of the data; most are zero in any one row."),
        (
            "Labels",
            f"{data.n_labels:,}",
            f"{format.count(without, 'label')} without a training row." if without else "Each has a training row.",
        ),
        ("Labels per row", f"{per_row:.2f}", "Mean over training and test rows; also called label cardinality."),
        (
            "Features per row",
            f"{nonzeros:,.1f}",
            f"Mean number of features that are not zero: {format.probability(rows * nonzeros / cells)} of all cells.",
        ),
    ]
    tables.cards(cards)
    # Another session may have uploaded the same content from other files: so take this workspace's notes.
    notes = data.notes if known["source"] == "catalog" else known["notes"]
    if notes:
        st.caption(" ".join(format.plain(uploads.sentence(note)) for note in dict.fromkeys(notes)))
    # The panel has the link, too, and who only looks can train nothing.
    if data.Y_train.nnz and start.is_closed() and not workspace.only_looks():
        addresses.link("Train", "Train a model on this data set", "arrow_forward")


def has_long_tail(counts) -> bool:
    """Return whether few labels are frequent and many are rare; ``counts`` has the training rows of each label."""
    rare = np.mean(counts <= RARE)
    return counts.size >= TAIL_LABELS and counts.max() >= TAIL_HEAD and rare >= 0.3


def _tail(data, counts):
    """Return the end of a sentence that says how rare labels are; empty when there are too few rows to tell."""
    if not counts.any() or data.n_train < TAIL_HEAD:
        return ""
    share = float(np.mean(counts <= RARE))
    if share == 0:
        return f", each with more than {RARE} training rows" if counts.size > 1 else ""
    rare = f"{100 * share:.{0 if share >= 0.1 else 1}f}\u00a0% of the labels have at most {RARE} training rows"
    return f" with a long tail: {rare}" if has_long_tail(counts) else f"; {rare}"
