"""Predictions of a run beside the truth, as tables."""

import numpy as np
import pandas as pd

from pages.shared import tables

RIGHT, WRONG = "✓ right", "✗ wrong"


def correct(ranking, Y) -> np.ndarray:
    """Whether each predicted label is right, shape (n, k); padding is not."""
    labels = ranking.labels
    n, k = labels.shape
    width = np.int64(Y.shape[1])
    truth = np.repeat(np.arange(n, dtype=np.int64), np.diff(Y.indptr)) * width + Y.indices  # sorted
    asked = np.arange(n, dtype=np.int64)[:, None] * width + labels
    found = np.isin(asked.ravel(), truth).reshape(n, k)
    return found & (labels >= 0)


def all_rows(data, ranking, k: int) -> pd.DataFrame:
    """A line per predicted label of every test row: ``row, rank, label, name, score, correct``.

    After ``row`` comes ``row_name`` where rows have names. Names are as :func:`tables.csv_safe` makes them.
    """
    labels = ranking.labels[:, :k]
    row, place = np.nonzero(labels >= 0)
    label = labels[row, place]
    frame = pd.DataFrame(
        {
            "row": row,
            "rank": place + 1,
            "label": label,
            "name": tables.label_names(data, label),
            "score": ranking.scores[:, :k][row, place],
            "correct": correct(ranking, data.Y_test)[:, :k][row, place],
        }
    )
    names = tables.part(data, "test")[2]
    if names is not None:
        frame.insert(1, "row_name", [names[i] for i in row])
    return tables.csv_safe(frame)


def one_row(data, ranking, row: int, k: int) -> pd.DataFrame:
    """The labels predicted for a row, best first: ``rank, name, correct, score, label``."""
    labels = ranking.labels[row, :k]
    labels = labels[labels >= 0]
    truth = set(tables.ids(data.Y_test, row).tolist())
    return pd.DataFrame(
        {
            "rank": np.arange(1, labels.size + 1),
            "name": tables.label_names(data, labels),
            "correct": [RIGHT if int(j) in truth else WRONG for j in labels],
            "score": ranking.scores[row, : labels.size].astype(np.float64),
            "label": labels,
        }
    )


def missed(data, ranking, row: int, k: int) -> list[str]:
    """Names of the true labels that are not among the k predicted ones."""
    truth = tables.ids(data.Y_test, row)
    return tables.label_names(data, truth[~np.isin(truth, ranking.labels[row, :k])])


def worst_mistakes(ranking, Y, at_most: int = 100) -> np.ndarray:
    """Rows with labels whose first prediction is wrong, the highest score first."""
    first = correct(ranking, Y)[:, 0]
    wrong = np.flatnonzero(~first & (ranking.labels[:, 0] >= 0) & (np.diff(Y.indptr) > 0))
    order = np.argsort(-ranking.scores[wrong, 0], kind="stable")
    return wrong[order[:at_most]]
