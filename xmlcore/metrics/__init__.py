"""Measures of rankings, of sets, of scores and of probabilities, their intervals, and tests of differences.

docs/measures.md lists them. The conventions are those of napkinXC 0.7.2, with which the tests compare.
"""

from xmlcore.documented import document
from xmlcore.hierarchy import Hierarchy
from xmlcore.metrics._inputs import as_ranking
from xmlcore.metrics._row_counts import RESAMPLES
from xmlcore.metrics.at_k import (
    PrecisionRecallF1,
    abandonment_at_k,
    coverage_at_k,
    hamming_loss_at_k,
    precision_recall_f1_at_k,
    subset_accuracy_at_k,
)
from xmlcore.metrics.bipartition import average_precision, hamming_loss, micro_auc, one_error, ranking_loss
from xmlcore.metrics.bootstrap import intervals, intervals_of_several, per_row
from xmlcore.metrics.buckets import first_class_by_bucket
from xmlcore.metrics.calibration import CalibrationError, brier_score_at_k, calibration_error, reliability
from xmlcore.metrics.confusions import Confusions, confused_rows, confusions
from xmlcore.metrics.labels import by_label, f1_at_k, f1_of_labels, labels_by_bucket
from xmlcore.metrics.measures import MEASURES, MORE_MEASURES, SCORE_MEASURES, USUAL_MEASURES, Measure, is_smaller_better
from xmlcore.metrics.multiclass import accuracy, macro_f1
from xmlcore.metrics.ranking import (
    hits,
    inverse_log_frequency,
    inverse_propensity,
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
from xmlcore.metrics.scoring import scorer, value
from xmlcore.metrics.sets import at_threshold, precision_recall_f1, subset_accuracy
from xmlcore.metrics.significance import (
    SURE,
    Difference,
    Friedman,
    compare_rankings,
    friedman,
    holm,
    paired_bootstrap,
    paired_permutation,
    wilcoxon,
)

__all__ = [
    "MEASURES", "MORE_MEASURES", "RESAMPLES", "SCORE_MEASURES", "SURE", "USUAL_MEASURES", "CalibrationError",
    "Confusions", "Difference", "Friedman", "Hierarchy", "Measure", "PrecisionRecallF1", "abandonment_at_k", "accuracy",
    "as_ranking", "at_threshold", "average_precision", "brier_score_at_k", "by_label", "calibration_error",
    "compare_rankings", "confused_rows", "confusions", "coverage_at_k", "f1_at_k", "f1_of_labels",
    "first_class_by_bucket", "friedman", "hamming_loss", "hamming_loss_at_k", "hits", "holm", "inverse_log_frequency",
    "intervals", "intervals_of_several", "inverse_propensity", "is_smaller_better", "labels_by_bucket", "macro_f1",
    "measures", "micro_auc", "ndcg_at_k", "one_error", "paired_bootstrap", "paired_permutation", "per_row",
    "precision_at_k", "precision_recall_f1", "precision_recall_f1_at_k", "psdcg_at_k", "psndcg_at_k",
    "psprecision_at_k", "psrecall_at_k", "ranking_loss", "recall_at_k", "reliability", "scorer", "subset_accuracy",
    "subset_accuracy_at_k", "value", "warm_up", "wilcoxon",
]  # fmt: skip

document(__all__, vars())
