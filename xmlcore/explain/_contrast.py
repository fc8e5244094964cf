"""Why one label and not another: what each feature of a row adds to the difference of two labels' scores."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from xmlcore.explain._attribution import attributions, kind_of, unwrapped
from xmlcore.explain._names import names_of, with_names
from xmlcore.first_use import pd
from xmlcore.typing import DataFrame, Dataset, Matrix, Ranker
from xmlcore.validation import check_count, check_features, check_row


def contrast(
    model: Ranker,
    x: Matrix,
    label: int,
    other: int,
    *,
    dataset: "Dataset | None" = None,
    feature_names: Sequence[str] | None = None,
) -> "DataFrame":
    """Return what each feature of a row adds to the score of one label minus the score of another.

    Parameters
    ----------
    {model, x}
    label, other : int
        Positive contributions speak for ``label``, negative ones for ``other``.
    {dataset_names}

    Returns
    -------
    DataFrame
        A row per feature that x has, largest |contribution| first, equal ones by id, with the columns ``feature``,
        ``name`` (if names are known), ``value`` and ``contribution``. ``attrs`` has ``kind`` (as in
        :func:`xmlcore.explain.contributions`), ``baseline`` and ``total`` (the difference of the scores without
        features, and for x). The baseline and the contributions add up to the total.

    {explained_raises}
    ValueError
        x is not one row or does not fit the model or the names; or there is no such label.

    Notes
    -----
    A contribution is the feature's contribution to ``label`` minus that to ``other``
    (:func:`xmlcore.explain.attributions`), so they add up: to log P(label) - log P(other) for label trees, where nodes
    that both paths share cancel out; to the difference of the margins, or of P for LdSM; and to the difference of f,
    with the difference of the two pairs' features as ``value``.
    """
    kind = kind_of(model)
    model = unwrapped(model)
    x = check_features(check_row(x), model.n_features_in_)
    most = model.n_labels_ - 1
    labels = np.array([check_count(j, name, least=0, most=most) for j, name in ((label, "label"), (other, "other"))])
    names = names_of("feature", dataset, feature_names, model.n_features_in_)
    both = attributions(model, sp.vstack([x, x], format="csr"), labels)
    names = names if both.names is None else both.names
    values, parts = both.values, both.contributions
    n = parts.indptr[1]  # both rows have the same features
    features = parts.indices[:n]
    values = values.data[:n] - values.data[n:] if kind == "score" else values.data[:n]
    parts = parts.data[:n] - parts.data[n:]
    with np.errstate(invalid="ignore"):  # two labels that are impossible have no difference
        baseline, total = both.baseline[0] - both.baseline[1], both.total[0] - both.total[1]
    order = np.lexsort((features, -np.abs(parts)))
    frame = pd.DataFrame(
        {"feature": features[order].astype(np.int64), "value": values[order], "contribution": parts[order]}
    )
    frame = with_names(frame, names)
    frame.attrs = {"kind": kind, "baseline": float(baseline), "total": float(total)}
    return frame
