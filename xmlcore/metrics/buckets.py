"""Measures of a model's first predictions for groups of classes, such as head, torso and tail."""

import numpy as np

from xmlcore.first_use import pd
from xmlcore.metrics.multiclass import accuracy, macro_f1
from xmlcore.typing import ArrayLike, DataFrame, Labels
from xmlcore.validation import as_array, check_labels

BUCKETS = ("head", "torso", "tail")  # of labels, by their number of training rows
UNSEEN = "unseen"  # stands in the place of a bucket where a label has no training row
HEAD_SHARE = 0.5  # share of all label occurrences that belong to head labels, as nearly as whole counts allow
TORSO_SHARE = 0.8  # likewise, to head or torso labels
MEANING = (
    f"Head labels are the most frequent ones that together make up about {100 * HEAD_SHARE:.0f}\u00a0% of the labels "
    f"given to training rows, torso labels about the next {100 * (TORSO_SHARE - HEAD_SHARE):.0f}\u00a0%, tail labels "
    "the rest. Labels with equally many training rows go together; those without any are unseen, in no bucket."
)


def first_class_by_bucket(Y_true: Labels, first: ArrayLike, buckets: ArrayLike) -> "DataFrame":
    """Measure first predictions separately for each bucket of classes."""
    lines, Y_true = [], check_labels(Y_true, name="Y_true")
    buckets = buckets_of_labels(buckets, Y_true.shape[1])
    for name in BUCKETS:
        in_bucket = buckets == name
        classes_of_pairs = Y_true.indices[in_bucket[Y_true.indices]]
        values = (measure(Y_true, first, classes=in_bucket) for measure in (accuracy, macro_f1))
        lines.append((name, np.unique(classes_of_pairs).size, classes_of_pairs.size, *values))
    return pd.DataFrame(lines, columns=["bucket", "n_classes", "n_rows", "accuracy", "macro_f1"])


def buckets_of_labels(buckets: ArrayLike, n_labels: int) -> np.ndarray:
    """Return buckets as an array; raise ValueError unless there is one for each label."""
    wanted = f"the name of a bucket for each of the {n_labels:,} labels is needed"
    found = as_array(buckets, "buckets", wanted)
    if found.shape != (n_labels,):
        raise ValueError(f"buckets has the shape {found.shape}: {wanted}")
    return found


def label_buckets(train_rows_of_label: np.ndarray) -> np.ndarray:
    """Return the bucket of each label: head, torso or tail, by its frequency in training; or ``unseen``."""
    # Equal counts share a bucket: a boundary is moved to the nearer end of the counts that it would cut apart.
    counts, place, n_labels = np.unique(-train_rows_of_label, return_inverse=True, return_counts=True)
    occurrences = -counts * n_labels
    middle = np.cumsum(occurrences) - occurrences / 2
    in_head, in_torso = middle <= HEAD_SHARE * occurrences.sum(), middle <= TORSO_SHARE * occurrences.sum()
    in_torso &= counts != max(counts[counts < 0], default=0)  # the rarest labels are tail, unless all are head
    shares = (counts == 0, in_head, in_torso)
    return np.select(shares, (UNSEEN, *BUCKETS[:2]), BUCKETS[2]).astype(object)[place]


def most_frequent_first(train_rows_of_label):
    """Return label ids sorted by the number of training rows, largest first; equal numbers by id."""
    return np.lexsort((np.arange(train_rows_of_label.size), -train_rows_of_label))
