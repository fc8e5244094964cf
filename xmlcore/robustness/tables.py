"""Tables of what noise does: measures lost, and feature values changed."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def loss_table(summary: "pd.DataFrame", level: float, measures, ks, n_rows: dict) -> "pd.DataFrame":
    """Return each measure without noise, with noise, and what is lost, as in Tables 4 and 5 of Date and Mehar, 2025.

    Parameters
    ----------
    summary : DataFrame
        Of :func:`xmlcore.robustness.summarise`, with a column ``run`` beside the others.
    level : float
        Level of noise.
    measures : sequence of str
        Those that ``summary`` does not have are left out.
    ks : sequence of int
    n_rows : dict
        Rows that were predicted, by run.

    Returns
    -------
    DataFrame
        A line per run and k: ``run``, ``k``; for each measure M ``M clean``, ``M`` (both in [0, 1]), ``M low`` and
        ``M high`` (its interval) and ``M drop`` (share of the clean value that is lost); ``ms per row clean`` and
        ``ms per row`` (time to predict a row, in milliseconds).
    """
    import pandas as pd

    rows = summary[summary["bucket"] == "all"]
    lines = []
    for run in dict.fromkeys(rows["run"]):
        mine = rows[rows["run"] == run]
        times = mine[mine["measure"] == "predict_s"].set_index("sigma")["mean"]
        for k in ks:
            line = {"run": run, "k": k}
            for measure in measures:
                at = mine[(mine["measure"] == measure) & (mine["k"] == k)].set_index("sigma")
                if at.empty:
                    continue
                line |= {
                    f"{measure} clean": at["mean"].get(0.0, np.nan),
                    measure: at["mean"].get(level, np.nan),
                    f"{measure} low": at["low"].get(level, np.nan),
                    f"{measure} high": at["high"].get(level, np.nan),
                    f"{measure} drop": at["drop_mean"].get(level, np.nan),
                }
            line["ms per row clean"] = 1000 * times.get(0.0, np.nan) / n_rows[run]
            line["ms per row"] = 1000 * times.get(level, np.nan) / n_rows[run]
            lines.append(line)
    return pd.DataFrame(lines)


def changed_values(X, noisy, n: int, new: int = 2) -> "pd.DataFrame":
    """Return feature values of rows without and with noise.

    Parameters
    ----------
    X, noisy : csr_array, shape (rows, D)
        The same rows without and with noise.
    n : int
        Features of each row.
    new : int
        How many of these may be features that the row has only with noise.

    Returns
    -------
    DataFrame
        ``row`` (0 is the first of ``X``), ``feature``, ``clean``, ``noisy``: of each row the features of largest
        absolute value without noise, then features that the row has only with noise, largest first.
    """
    import pandas as pd

    lines = []
    for row in range(X.shape[0]):
        clean, changed = _values(X, row), _values(noisy, row)
        features_before = sorted(clean, key=lambda j: (-abs(clean[j]), j))
        new_features = sorted(changed.keys() - clean.keys(), key=lambda j: (-abs(changed[j]), j))
        features_before = features_before[: max(n - min(new, len(new_features)), 0)]
        for j in [*features_before, *new_features[: n - len(features_before)]]:
            lines.append((row, j, clean.get(j, 0.0), changed.get(j, 0.0)))
    return pd.DataFrame(lines, columns=["row", "feature", "clean", "noisy"])


def _values(matrix, row) -> dict:
    """Return the values of a row of a CSR matrix by column."""
    span = slice(matrix.indptr[row], matrix.indptr[row + 1])
    return dict(zip(matrix.indices[span].tolist(), matrix.data[span].astype(np.float64).tolist()))


def lengths(X, noisy) -> tuple[np.ndarray, np.ndarray]:
    """Return the Euclidean lengths of rows, and the lengths of the changes that noise has made to them.

    Parameters
    ----------
    X : csr_array, shape (n, D)
        Clean rows.
    noisy : csr_array, shape (n, D)
        The same rows with noise.

    Returns
    -------
    of_rows : ndarray of float64, shape (n,)
    of_changes : ndarray of float64, shape (n,)
    """
    return _lengths(X), _lengths(noisy - X)


def _lengths(X):
    """Return the Euclidean lengths of the rows of a sparse matrix: float64 (rows,)."""
    return np.sqrt(np.asarray(X.multiply(X).sum(axis=1), np.float64).ravel())
