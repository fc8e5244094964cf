"""Tables of what noise does: measures lost, and feature values changed."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xmlcore.first_use import pd
from xmlcore.typing import DataFrame, Matrix
from xmlcore.validation import check_count, check_features, check_frame, check_is, check_list, check_names, check_number

_NEEDED = ("run", "sigma", "k", "bucket", "measure", "mean", "low", "high", "drop_mean")


def loss_table(
    summary: "DataFrame", level: float, measures: Sequence[str], ks: Sequence[int], n_rows: dict[str, Any]
) -> "DataFrame":
    """Return each measure without noise, with noise, and what is lost, as in Tables 4 and 5 of Date and Mehar, 2025."""
    check_frame(summary, _NEEDED, "summarise, of frames with a column run,", "summary")
    check_is(n_rows, Mapping, "n_rows", "a dict of the number of rows of each run")
    level, measures = check_number(level, "level"), check_names(measures, "measures")
    ks = [check_count(k, "every place in ks") for k in check_list(ks, "ks")]
    rows = summary[summary["bucket"] == "all"]
    lines = []
    for run in dict.fromkeys(rows["run"]):
        if run not in n_rows:
            raise ValueError(f"n_rows has no number of rows for the run {run!r:.200}")
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


def values_under_noise(X: Matrix, noisy: Matrix, n: int, new: int = 2) -> "DataFrame":
    """Return n features of each row, of largest values, with their values without and with noise.

    At least ``new`` of them are features that only the noise gave the row, if there are so many.
    """
    X, noisy = _checked(X, noisy)
    n, new, parts = check_count(n, "n", 0), check_count(new, "new", 0), []
    for row in range(X.shape[0]):
        values = {}
        for name, of in (("clean", X), ("noisy", noisy)):
            span = slice(of.indptr[row], of.indptr[row + 1])
            values[name] = pd.Series(of.data[span], of.indices[span].astype(np.int64))
        both, largest_first = pd.DataFrame(values).sort_index(), {"key": np.abs, "ascending": False, "kind": "stable"}
        added = both[both["clean"].isna()].sort_values("noisy", **largest_first)
        kept = both[both["clean"].notna()].sort_values("clean", **largest_first)
        kept = kept.head(max(n - min(new, len(added)), 0))
        found = pd.concat([kept, added.head(n - len(kept))]).fillna(0.0).rename_axis("feature").reset_index()
        found.insert(0, "row", row)
        parts.append(found)
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["row", "feature", "clean", "noisy"])


def lengths(X: Matrix, noisy: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """Return the Euclidean lengths of rows, and of the changes that noise has made to them: float64, shape (n,)."""
    X, noisy = _checked(X, noisy)
    return _lengths(X), _lengths(noisy - X)


def _checked(X, noisy):
    """Return rows without and with noise as CSR matrices of float64: the square of a large float32 is infinite."""
    X, noisy = check_features(X, dtype=np.float64), check_features(noisy, name="noisy", dtype=np.float64)
    if X.shape != noisy.shape:
        raise ValueError(f"noisy has the shape {noisy.shape}, but X has {X.shape}: the same rows are needed, changed")
    return X, noisy


def _lengths(X):
    return np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
