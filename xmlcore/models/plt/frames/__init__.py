"""Label trees of PLT as tables, for notebooks and the dashboard: nodes, their labels, features, quality and paths."""

from xmlcore.models.plt.frames.features import features_of_node, margin_parts
from xmlcore.models.plt.frames.layout import layout_frame
from xmlcore.models.plt.frames.nodes import children_of, labels_below, labels_of_node, nodes_frame, path_to
from xmlcore.models.plt.frames.paths import hardest_steps, paths_frame
from xmlcore.models.plt.frames.quality import MEASURES, quality_frame, quality_work

__all__ = [
    "MEASURES", "children_of", "features_of_node", "hardest_steps", "labels_below", "labels_of_node",
    "layout_frame", "margin_parts", "nodes_frame", "path_to", "paths_frame", "quality_frame", "quality_work",
]  # fmt: skip
