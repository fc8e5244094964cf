"""How good a ranking of labels is: measures at 1..k, and the label weights the propensity-scored ones need.

These follow the conventions of napkinXC 0.7.2, and agree with it in the tests. ``accuracy`` and ``macro_f1`` measure
one class per row.
"""

from xmlcore.metrics._inputs import as_ranking
from xmlcore.metrics.multiclass import accuracy, macro_f1
from xmlcore.metrics.propensity import inverse_log_frequency, inverse_propensity
from xmlcore.metrics.ranking import (
    hits,
    measures,
    ndcg_at_k,
    precision_at_k,
    psdcg_at_k,
    psndcg_at_k,
    psprecision_at_k,
    psrecall_at_k,
    recall_at_k,
    warm_up,
)

__all__ = [
    "accuracy",
    "as_ranking",
    "hits",
    "inverse_log_frequency",
    "inverse_propensity",
    "macro_f1",
    "measures",
    "ndcg_at_k",
    "precision_at_k",
    "psdcg_at_k",
    "psndcg_at_k",
    "psprecision_at_k",
    "psrecall_at_k",
    "recall_at_k",
    "warm_up",
]
