"""Two explanations: their agreement, also under noise, and both side by side."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from xmlcore.explain._attribution import Explainer, one_row
from xmlcore.first_use import pd
from xmlcore.metrics.statistics import rank_correlation
from xmlcore.noise import check_perturbation
from xmlcore.typing import DataFrame, Matrix, Perturbation, Ranker
from xmlcore.validation import check_count, check_frame


def agreement(a: "DataFrame", b: "DataFrame", n: int = 10) -> dict[str, Any]:
    """Return how much two explanations agree.

    Parameters
    ----------
    a, b : DataFrame
        From :func:`contributions`.
    n : int
        Number of top features to compare.

    Returns
    -------
    dict
        "spearman": Spearman's rank correlation of |contribution| over the features of both. A feature that one of them
        does not have contributes 0 to it, and equal contributions share their mean rank. It is nan where it is not
        defined: for fewer than two features, or if all contributions of one explanation are equal.
        "overlap": Jaccard index of the n features with the largest |contribution|, without those that contribute 0. It
        is nan if the two have no more than n features: all are among the first n, whatever they contribute.
    """
    n = check_count(n, "n")
    for name, frame in (("a", a), ("b", b)):
        check_frame(frame, ("feature", "contribution"), "contributions", name)
    a, b = (frame.set_index("feature")["contribution"].abs() for frame in (a, b))
    union = a.index.union(b.index)
    sizes = [side.reindex(union, fill_value=0.0).to_numpy(np.float64) for side in (a, b)]
    top_a, top_b = ({j for j in np.argsort(-side, kind="stable")[:n].tolist() if side[j] > 0} for side in sizes)
    overlap = np.nan if union.size <= n else len(top_a & top_b) / len(top_a | top_b) if top_a | top_b else 1.0
    return {"spearman": rank_correlation(*sizes), "overlap": float(overlap)}


def stability(
    model: Ranker,
    x: Matrix,
    label: int,
    perturbation: Perturbation,
    n_repeats: int = 10,
    n: int = 10,
    seed: int = 0,
    row: int = 0,
) -> "DataFrame":
    """Return how much an explanation agrees with the explanations of the perturbed row.

    Parameters
    ----------
    {model, x}
    label : int
    perturbation : object
        Has ``apply(X, rows, seed, model=..., Y=...)``, such as :class:`xmlcore.robustness.GaussianNoise`. It is called
        once with ``n_repeats`` copies of the row, whose ids are ``row * n_repeats`` and the following. An attack that
        is not random gives the same row for each copy.
    n_repeats : int
    n : int
        Number of top features to compare.
    seed : int
    row : int, at least 0
        The row's number among rows that are explained with the same seed, so that each gets different noise.

    Returns
    -------
    DataFrame
        A row per repeat, with the columns ``repeat``, ``spearman`` and ``overlap`` (see :func:`agreement`, with the
        explanation of the unchanged row) and ``total`` (the label's score in the perturbed row). ``attrs`` has
        ``total`` (the score in the unchanged row) and ``kind``.
    """
    explainer = Explainer(model)
    x = one_row(model, x)
    label = check_count(label, "label", least=0, most=model.n_labels_ - 1)
    n_repeats, n, row = check_count(n_repeats, "n_repeats"), check_count(n, "n"), check_count(row, "row", least=0)
    check_perturbation(perturbation)
    repeats = np.arange(n_repeats, dtype=np.int64)
    X = sp.csr_array(sp.vstack([x] * n_repeats, format="csr"))
    Y = sp.csr_array(
        (np.ones(n_repeats, bool), np.full(n_repeats, label), np.arange(n_repeats + 1)),
        shape=(n_repeats, model.n_labels_),
    )
    perturbed = perturbation.apply(X, rows=row * n_repeats + repeats, seed=seed, model=model, Y=Y)
    explained = explainer.rows(sp.vstack([x, perturbed], format="csr"), np.full(n_repeats + 1, label))
    parts = explained.contributions
    first, *others = (
        pd.DataFrame({"feature": parts.indices[start:end], "contribution": parts.data[start:end]})
        for start, end in zip(parts.indptr, parts.indptr[1:])
    )
    frame = pd.DataFrame([agreement(first, other, n) for other in others])
    frame.insert(0, "repeat", repeats)
    frame["total"] = explained.total[1:]
    frame.attrs = {"total": float(explained.total[0]), "kind": explained.kind}
    return frame


def side_by_side(first: "DataFrame", second: "DataFrame", top: int | None = None) -> "DataFrame":
    """Return two explanations (with names) beside each other: ``feature``, ``name``, ``first``, ``second``.

    The features are those among the first ``top`` of at least one of the two, by default all, sorted by the larger of
    the two |contributions|, equal ones by feature id. A feature that is not in an explanation has the contribution 0.
    """
    top = None if top is None else check_count(top, "top", 0)
    for name, frame in (("first", first), ("second", second)):
        check_frame(frame, ("feature", "name", "contribution"), "contributions, with names,", name)
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
