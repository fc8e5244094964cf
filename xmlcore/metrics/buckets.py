"""Measures of a model's first predictions for groups of classes, such as head, torso and tail."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from xmlcore.first_use import pd
from xmlcore.metrics.multiclass import accuracy, macro_f1
from xmlcore.typing import DataFrame, Matrix

BUCKETS = ("head", "torso", "tail")  # of labels, by their number of training rows


def first_class_by_bucket(
    Y_true: Matrix, first: npt.ArrayLike, buckets: npt.ArrayLike, names: Sequence[str] = BUCKETS
) -> "DataFrame":
    """Measure first predictions separately for each bucket of classes."""
    lines = []
    for name in names:
        in_bucket = buckets == name
        classes_of_pairs = Y_true.indices[in_bucket[Y_true.indices]]
        values = (measure(Y_true, first, classes=in_bucket) for measure in (accuracy, macro_f1))
        lines.append((name, np.unique(classes_of_pairs).size, classes_of_pairs.size, *values))
    return pd.DataFrame(lines, columns=["bucket", "n_classes", "n_rows", "accuracy", "macro_f1"])
