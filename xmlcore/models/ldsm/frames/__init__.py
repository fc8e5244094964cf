"""Trees of LdSM as tables, for notebooks and the dashboard.

Everything is computed from the arrays of :class:`xmlcore.models.ldsm.LdSMTree`, for all nodes at once or for a few
given nodes, so that a tree of 100,000 nodes is no slower to look at than one of a hundred.
"""

from xmlcore.models.ldsm.frames.drawing import (
    drawing_frame,
    layout,
)
from xmlcore.models.ldsm.frames.features import features_of_node
from xmlcore.models.ldsm.frames.labels import (
    leaves_of_label,
    nodes_of_label,
    rows_with_label,
    together_until,
)
from xmlcore.models.ldsm.frames.nodes import (
    below,
    levels_that_fit,
    nodes_below,
    path_to,
    visited,
    with_siblings,
)
from xmlcore.models.ldsm.frames.objective import (
    OBJECTIVE,
    PARTS,
    contributions,
    depth_frame,
    objective_by_depth,
    training_trace,
)
from xmlcore.models.ldsm.frames.steps import regressors, row_in_columns, steps_frame
from xmlcore.models.ldsm.frames.tables import (
    INNER,
    LEAF,
    labels_of_node,
    leaves_frame,
    nodes_frame,
    told_apart_by,
    top_labels,
    with_names,
)

__all__ = [
    "INNER", "LEAF", "OBJECTIVE", "PARTS", "below", "contributions", "depth_frame", "drawing_frame",
    "features_of_node", "labels_of_node", "layout", "leaves_frame", "leaves_of_label", "levels_that_fit",
    "nodes_below", "nodes_frame", "nodes_of_label", "objective_by_depth", "path_to", "regressors", "row_in_columns",
    "rows_with_label", "steps_frame", "together_until", "told_apart_by", "top_labels", "training_trace", "visited",
    "with_names", "with_siblings",
]  # fmt: skip
