"""Decisions of a reviewer, and the labels that they make."""

import numpy as np
import scipy.sparse as sp

from xmlcore.first_use import pd
from xmlcore.label_names import read_training_labels
from xmlcore.typing import DataFrame, Labels

KEEP, REMOVE, ADD = DECISIONS = ("keep", "remove", "add")
COLUMNS = ["row", "label", "decision"]


def corrected(Y: Labels, decisions: DataFrame | list) -> sp.csr_array:
    """Return labels with the corrections of a reviewer.

    Parameters
    ----------
    Y : as :func:`~xmlcore.review.doubts` takes it, shape (n, L)
    decisions : DataFrame, or list of lists
        ``row``, ``label`` and ``decision``: "remove" or "add" the label, or "keep" the row as it is. Of several lines
        about a row and a label the last holds.

    Returns
    -------
    csr_array of bool, shape (n, L)

    Raises
    ------
    ValueError
        A column is missing, a decision is none of these, or a row or label does not exist; it says which line.
    """
    Y, _, _ = read_training_labels(Y)
    if isinstance(decisions, list):
        decisions = pd.DataFrame(decisions, columns=COLUMNS)
    if missing := [name for name in COLUMNS if name not in decisions]:
        raise ValueError(f"decisions lack the column {missing[0]}: they need {', '.join(COLUMNS)}")
    for name, known in zip(COLUMNS, (range(Y.shape[0]), range(Y.shape[1]), DECISIONS)):
        strange = np.flatnonzero(~decisions[name].isin(known))
        if strange.size:
            value = decisions[name].tolist()[strange[0]]
            expected = f"one of {', '.join(known)}" if name == "decision" else f"0 to {len(known) - 1:,}"
            raise ValueError(f"decision {strange[0]:,}: {name} is {value!r:.60}, but must be {expected}")
    last = decisions.drop_duplicates(["row", "label"], keep="last")
    rows, labels = (last[name].to_numpy(np.int64) for name in ("row", "label"))
    keys = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr)) * Y.shape[1] + Y.indices
    changed = {what: (rows * Y.shape[1] + labels)[last["decision"] == what] for what in (REMOVE, ADD)}
    keys = np.union1d(np.setdiff1d(keys, changed[REMOVE]), changed[ADD])
    made = sp.csr_array((np.ones(keys.size, bool), (keys // Y.shape[1], keys % Y.shape[1])), shape=Y.shape)
    made.sort_indices()
    return made
