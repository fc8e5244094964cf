"""Figures: functions from a DataFrame to a plotly Figure, for pages and notebooks.

Every figure has the :func:`template`, a title, and axes with units. ``figure.layout.meta`` is a dictionary with
``shown`` and ``total``, the number of points that are drawn and the number of all points, for the caption.
"""

from xmlcore.documented import document
from xmlcore.figures import _needs  # noqa: F401  # isort: split
from xmlcore.figures._comparisons import buckets_compared, differences, measures_compared, parameters_compared
from xmlcore.figures._confusions import confusions
from xmlcore.figures._contributions import contribution_bars, contributions_compared, importance_bars, magnitude_bars
from xmlcore.figures._critical_difference import critical_difference
from xmlcore.figures._data import features_per_row, imbalance_ratios, label_frequency, labels_per_row
from xmlcore.figures._decisions import abstention_curve, precision_recall
from xmlcore.figures._explanations import deletion_curves, stability_curves
from xmlcore.figures._frontier import frontier, pareto
from xmlcore.figures._growth import (
    OBJECTIVE_COLORS,
    leaf_depths,
    measures_of_prefixes,
    objective_by_depth,
    objective_in_training,
)
from xmlcore.figures._label_tree import feature_bars_of_node, node_bars
from xmlcore.figures._label_tree_drawing import label_tree
from xmlcore.figures._learning_curves import learning_curve
from xmlcore.figures._marks import run_marks
from xmlcore.figures._methods import patterns_compared, score_against_share, significance_diagram, stability_boxes
from xmlcore.figures._noisy_features import noisy_features
from xmlcore.figures._pairs import candidate_features, feature_weights
from xmlcore.figures._paths import path_products, path_shares
from xmlcore.figures._reliability import reliability_curve
from xmlcore.figures._results import labels_by_bucket, measures_at_k, trials
from xmlcore.figures._robustness import buckets_under_noise, prediction_times, robustness_curves
from xmlcore.figures._sampling import bucket_bars, candidate_curves, sampled_classes, sampling_sweep
from xmlcore.figures._selections import feature_bars, group_heat, overlap_heat, selection_heat
from xmlcore.figures._style import (
    BUCKET_COLORS,
    MEASURE_COLORS,
    PALETTE,
    PART_COLORS,
    cut_apart,
    short,
    template,
)
from xmlcore.figures._sweeps import sweep_values
from xmlcore.figures._timeline import timeline
from xmlcore.figures._together import cooccurrence_heat, label_network
from xmlcore.figures._tree import tree
from xmlcore.figures._treemap import treemap

__all__ = [
    "BUCKET_COLORS", "MEASURE_COLORS", "OBJECTIVE_COLORS", "PALETTE", "PART_COLORS", "abstention_curve", "bucket_bars",
    "buckets_compared", "buckets_under_noise", "candidate_curves", "candidate_features", "confusions",
    "contribution_bars", "contributions_compared", "cooccurrence_heat", "critical_difference", "differences",
    "cut_apart", "deletion_curves", "feature_bars", "feature_bars_of_node", "feature_weights", "features_per_row",
    "frontier", "group_heat", "imbalance_ratios", "importance_bars", "label_frequency", "label_network", "label_tree",
    "labels_by_bucket", "labels_per_row", "leaf_depths", "learning_curve", "magnitude_bars", "measures_at_k",
    "measures_compared", "measures_of_prefixes", "node_bars", "noisy_features", "objective_by_depth",
    "objective_in_training", "overlap_heat", "parameters_compared", "pareto", "path_products", "path_shares",
    "patterns_compared", "precision_recall", "prediction_times", "reliability_curve", "robustness_curves", "run_marks",
    "sampled_classes", "sampling_sweep", "score_against_share", "selection_heat", "short", "significance_diagram",
    "stability_boxes", "stability_curves", "sweep_values", "template", "tree", "trials", "timeline", "treemap",
]  # fmt: skip

document(__all__, vars())
