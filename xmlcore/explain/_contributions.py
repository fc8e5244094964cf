"""The contributions of a row's features to a label's score, and the row's largest values."""

from collections.abc import Sequence

import numpy as np

from xmlcore.arrays import largest_values
from xmlcore.explain._attribution import attributions, kind_of
from xmlcore.explain._names import names_of, with_names
from xmlcore.first_use import pd
from xmlcore.typing import DataFrame, Dataset, Matrix, Ranker
from xmlcore.validation import check_count, check_row


def magnitude(x: Matrix, n: int = 5) -> list[tuple[int, float]]:
    """Return the features of a row that have the largest absolute values: the explanation of the extended PLT's paper.

    It does not depend on the model, and is the same for every label; :func:`contributions` depends on both.

    Parameters
    ----------
    x : sparse or dense, shape (D,) or (1, D)
        One row.
    n : int
        Largest number of features to return.

    Returns
    -------
    list of (feature, value)
        Largest |value| first; equal ones by feature id. Features with value 0 are left out.
    """
    return largest_values(x, n)


def contributions(
    model: Ranker,
    x: Matrix,
    label: int,
    *,
    dataset: "Dataset | None" = None,
    feature_names: Sequence[str] | None = None,
) -> "DataFrame":
    """Return what each feature of a row contributes to a label's score.

    Parameters
    ----------
    model : fitted estimator
        PLT, OneVsRest, LdSM, DoubleSampling, or a model with the same methods: see :func:`attributions`, which defines
        the contributions.
    {x}
    label : int
    {dataset_names}

    Returns
    -------
    DataFrame
        A row per feature that x has, largest |contribution| first, equal ones by id, with the columns ``feature``,
        ``name`` (if names are known), ``value`` (as in x) and ``contribution``. ``attrs`` has ``baseline`` (the score
        without features), ``total`` (the score: the baseline plus the sum of contributions) and ``kind``: "log_proba",
        "margin", "share" or "score"; with the squared hinge, whose scores are no probabilities, "log_score" or
        "margin_score". For DoubleSampling the features are those of the pair of row and class,
        which have names.

    {explained_raises}
    ValueError
        x is not one row, has another number of features than the model, or than there are names; or there is no such
        label.
    """
    kind_of(model)
    x = check_row(x)
    label = check_count(label, "label", least=0, most=model.n_labels_ - 1)
    names = names_of("feature", dataset, feature_names, model.n_features_in_)
    attributed = attributions(model, x, np.array([label]))
    parts = attributed.contributions
    order = np.lexsort((parts.indices, -np.abs(parts.data)))
    frame = pd.DataFrame(
        {
            "feature": parts.indices[order].astype(np.int64),
            "value": attributed.values.data[order],
            "contribution": parts.data[order],
        }
    )
    frame = with_names(frame, names if attributed.names is None else attributed.names)
    frame.attrs = {
        "baseline": float(attributed.baseline[0]),
        "total": float(attributed.total[0]),
        "kind": attributed.kind,
    }
    return frame
