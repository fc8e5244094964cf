"""The contributions of a row's features to a label's score, or to one minus another, and the row's largest values."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import largest_values
from xmlcore.explain._attribution import attributions, kind_of, one_row
from xmlcore.first_use import pd
from xmlcore.models.rules import innermost
from xmlcore.typing import DataFrame, Dataset, Matrix, Ranker, SomeLabels
from xmlcore.validation import check_count


def magnitude(x: Matrix, n: int = 5) -> list[tuple[int, float]]:
    """Return the features of a row that have the largest absolute values: the explanation of the extended PLT's paper.

    It does not depend on the model, and is the same for every label; :func:`contributions` depends on both. Pairs of a
    feature and its value are in the order of |value|, largest first, equal ones by id, without those of value 0.

    Parameters
    ----------
    x : sparse or dense, shape (D,) or (1, D)
        One row.
    n : int
        Largest number of features to return.
    """
    return largest_values(x, n)


def contributions(
    model: Ranker,
    x: Matrix,
    label: int,
    *,
    dataset: "Dataset | None" = None,
    feature_names: Sequence[str] | None = None,
    allowed: SomeLabels | None = None,
) -> "DataFrame":
    """Return what each feature of a row contributes to a label's score.

    Parameters
    ----------
    model : fitted estimator
        PLT, OneVsRest, LdSM, DoubleSampling, NearestRows, Mixture, or a model with the same methods: see
        :func:`attributions`, which defines the contributions.
    {x}
    label : int
    {dataset_names}
    allowed : list of labels, or bool array of shape (L,), optional
        The labels that may be ranked, as ``predict_topk`` is given them: members of a Mixture propose these.

    Returns
    -------
    DataFrame
        A row per feature that x has, largest |contribution| first, equal ones by id, with the columns ``feature``,
        ``name`` (if names are known), ``value`` (as in x) and ``contribution``. ``attrs`` has ``baseline`` (the score
        without features), ``total`` (the score: the baseline plus the sum of contributions) and ``kind``: "log_proba",
        "margin", "share", "score", "part" or "votes"; with the squared hinge, whose scores are no probabilities,
        "log_score" or "margin_score". For DoubleSampling the features are those of the pair of row and class, which
        have names; for NearestRows the training rows that vote, and for Mixture the members.
    """
    kind_of(model)
    x = one_row(innermost(model), x, allowed)
    label = check_count(label, "label", least=0, most=model.n_labels_ - 1)
    names = names_of("feature", dataset, feature_names, model.n_features_in_)
    found = attributions(model, x, np.array([label]))
    parts = found.contributions
    about = {"baseline": float(found.baseline[0]), "total": float(found.total[0]), "kind": found.kind}
    return _frame(parts.indices, found.values.data, parts.data, names if found.names is None else found.names, about)


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
        ``name`` (if names are known), ``value`` (of DoubleSampling the difference of the two pairs') and
        ``contribution``, that to ``label`` minus that to ``other``. ``attrs`` has ``kind`` (as in
        :func:`xmlcore.explain.contributions`), ``baseline`` and ``total`` (the difference of the scores without
        features, and for x). The baseline and the contributions add up to the total.
    """
    kind = kind_of(model)
    model = innermost(model)
    x = one_row(model, x)
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
    about = {"kind": kind, "baseline": float(baseline), "total": float(total)}
    return _frame(features, values, parts, names, about)


def _frame(features, values, parts, names, about):
    """Return the table of an explanation, largest contribution first, with its facts in ``attrs``."""
    order = np.lexsort((features, -np.abs(parts)))
    columns = {"feature": features.astype(np.int64), "value": values, "contribution": parts}
    frame = with_names(pd.DataFrame({name: values[order] for name, values in columns.items()}), names)
    frame.attrs = about
    return frame


def names_of(kind, dataset, names, count):
    """Return the given names of features or labels, or else those of the data set; None if there are none."""
    if names is None and dataset is not None:
        names = getattr(dataset, f"{kind}_names")
    if names is not None and len(names) != count:
        raise ValueError(f"{kind}_names has {len(names)} names, but there are {count} {kind}s")
    return names


def with_names(frame, names, ids="feature", column="name"):
    """Insert a column of names after the column of ids; the id -1 has an empty name."""
    if names is not None:
        frame.insert(frame.columns.get_loc(ids) + 1, column, [names[i] if i >= 0 else "" for i in frame[ids].tolist()])
    return frame
