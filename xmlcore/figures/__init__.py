"""Figures: functions from a DataFrame to a plotly Figure, for pages and notebooks.

Every figure has the :func:`template`, a title, and axes with units. ``figure.layout.meta`` is a dictionary with
``shown`` and ``total``, the number of points that are drawn and the number of all points, for the caption.
"""

from xmlcore.documented import document
from xmlcore.figures._comparisons import (
    buckets_compared,
    differences,
    frontier,
    labels_by_bucket,
    measures_at_k,
    measures_compared,
    pareto,
)
from xmlcore.figures._curves import (
    abstention_curve,
    buckets_under_noise,
    deletion_curves,
    learning_curve,
    precision_recall,
    prediction_times,
    reliability_curve,
    robustness_curves,
    stability_curves,
)
from xmlcore.figures._data import label_frequency, marks_of, per_row, point_map, treemap
from xmlcore.figures._feature_bars import (
    contribution_bars,
    contributions_compared,
    feature_bars,
    feature_weights,
    importance_bars,
    magnitude_bars,
    node_bars,
    noisy_features,
)
from xmlcore.figures._growth import (
    OBJECTIVE_COLORS,
    depths_over_labels,
    leaf_depths,
    lemma_bounds,
    measures_of_prefixes,
    objective_at_depths,
    objective_by_depth,
    objective_in_training,
    path_products,
    path_shares,
)
from xmlcore.figures._heats import candidate_features, confusions, cooccurrence_heat, overlap_heat, selection_heat
from xmlcore.figures._methods import (
    critical_difference,
    networks_compared,
    patterns_compared,
    positive_gradients,
    score_against_share,
    selections_agree,
    significance_diagram,
    stability_boxes,
)
from xmlcore.figures._names import cut_apart, short
from xmlcore.figures._runs import run_marks
from xmlcore.figures._sampling import candidate_curves, sampled_classes, sampling_sweep
from xmlcore.figures._settings import parameters_compared, sweep_values, trials
from xmlcore.figures._style import BUCKET_COLORS, MEASURE_COLORS, PALETTE, PART_COLORS, template
from xmlcore.figures._trees import label_tree, tree

__all__ = [
    "BUCKET_COLORS", "MEASURE_COLORS", "OBJECTIVE_COLORS", "PALETTE", "PART_COLORS", "abstention_curve",
    "buckets_compared", "buckets_under_noise", "candidate_curves", "candidate_features", "confusions",
    "contribution_bars", "contributions_compared", "cooccurrence_heat", "critical_difference", "cut_apart",
    "deletion_curves", "depths_over_labels", "differences", "feature_bars", "feature_weights", "frontier",
    "importance_bars", "label_frequency", "label_tree", "labels_by_bucket", "leaf_depths", "learning_curve",
    "lemma_bounds", "magnitude_bars", "marks_of",
    "measures_at_k", "measures_compared", "measures_of_prefixes", "networks_compared", "node_bars", "noisy_features",
    "objective_at_depths", "objective_by_depth", "objective_in_training", "overlap_heat", "parameters_compared",
    "pareto", "path_products", "path_shares", "patterns_compared", "per_row", "point_map", "positive_gradients",
    "precision_recall", "prediction_times", "reliability_curve", "robustness_curves", "run_marks", "sampled_classes",
    "sampling_sweep", "score_against_share", "selection_heat", "selections_agree", "short", "significance_diagram",
    "stability_boxes", "stability_curves", "sweep_values", "template", "tree", "treemap", "trials",
]  # fmt: skip

document(__all__, vars())
