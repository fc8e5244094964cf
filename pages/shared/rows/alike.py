"""The training rows that are most like a row, and their labels."""

import numpy as np
import streamlit as st

from pages.shared import cached, format, tables

NEAREST = 5


def show(fingerprint: str, x, key: str, label: int | None = None, row: int = -1) -> None:
    """Show the rows of largest cosine with a row, which may be a training row, and whether they have a label."""
    data, (like, cosine) = cached.dataset(fingerprint), _like(fingerprint, x, row)
    if not like.size:
        st.caption("No training row has a feature in common with this one.")
        return
    frame = tables.rows(data, "training", like).assign(cosine=cosine)
    said = "**Rows like this one**, of the training rows, by the cosine."
    if label is not None:
        has = [label in tables.ids(data.Y_train, other) for other in like]
        frame["has"] = ["yes" if one else "no" for one in has]
        said = f"**Rows like this one**: {sum(has)} of {len(has)} have {format.bold(data.label_name(label))}."
    st.markdown(said)
    columns = tables.OF_ROWS | {"cosine": tables.number("Cosine", 70, "%.2f"), "has": tables.text("Has it", 70)}
    tables.show(frame, key, columns, first=("row", "cosine", "has", "name", "labels", "text"))


def _like(fingerprint, x, row):
    X, lengths = cached.dataset(fingerprint).X_train, _lengths(fingerprint)
    dense = np.zeros(X.shape[1], X.dtype)
    dense[x.indices] = x.data
    cosine = X @ dense / np.maximum(lengths * np.linalg.norm(x.data), 1e-12)
    if row >= 0:
        cosine[row] = -1
    first = np.argpartition(-cosine, min(NEAREST, cosine.size - 1))[:NEAREST]
    first = first[np.argsort(-cosine[first], kind="stable")]
    first = first[cosine[first] > 0]
    return first, cosine[first]


@cached.shared(most=4)
def _lengths(fingerprint):
    X = cached.dataset(fingerprint).X_train
    return np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
