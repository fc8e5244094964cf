"""Two explanations of one row, side by side."""

import numpy as np

from xmlcore.typing import DataFrame


def side_by_side(first: "DataFrame", second: "DataFrame", top: int | None = None) -> "DataFrame":
    """Return two explanations (with names) beside each other: ``feature``, ``name``, ``first``, ``second``.

    The features are those among the first ``top`` of at least one of the two, by default all, sorted by the larger of
    the two |contributions|, equal ones by feature id. A feature that is not in an explanation has the contribution 0.
    """
    import pandas as pd

    a, b = (frame.set_index("feature") for frame in (first, second))
    ids = pd.Index(a.index if top is None else a.index[:top])
    ids = ids.union(b.index if top is None else b.index[:top], sort=False)
    both = pd.DataFrame(
        {
            "feature": ids,
            "name": a["name"].reindex(ids).fillna(b["name"].reindex(ids)).to_numpy(),
            "first": a["contribution"].reindex(ids).fillna(0.0).to_numpy(),
            "second": b["contribution"].reindex(ids).fillna(0.0).to_numpy(),
        }
    )
    size = both[["first", "second"]].abs().max(axis=1)
    return both.iloc[np.lexsort((both["feature"], -size))].reset_index(drop=True)
