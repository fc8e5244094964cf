"""How much memory the training of linear classifiers takes; rows that would not fit are put into files."""

import warnings
from typing import NamedTuple

from xmlcore.mapped import MappedRows
from xmlcore.system import cache_root, free_bytes
from xmlcore.wording import size

FOLDER = "rows"  # of the cache, for rows that memory has no room for
# Rounded from trainings of 14 data sets with up to 670,000 labels: benchmarks/results/memory.md. A pair is a value of a
# row and one of its labels.
BYTES_OF_PAIR, BYTES_OF_VALUE, BYTES_OF_LABEL = 15, 8, 4
BYTES_OF_WEIGHT = {"tree": 6, "labels": 16}  # if none is dropped
LANES = 16  # labels that take as much memory as fewer
CLASSIFIERS = 1.2  # bytes at the peak for each byte of the model: those of its parts, of which it is joined
COPIES = 3.0  # of the data: in columns, by node, and of the labels that are clustered
BESIDE = 8 << 20  # bytes that small trainings take


class TrainingMemory(NamedTuple):
    """Bytes of memory of a training, about: within a factor of two for most data."""

    data: int  # of the rows and labels, as sparse matrices
    model: int  # of the fitted model
    peak: int  # at most while it is trained, beside the data


def training_memory(
    n_values: float, n_assigned: float, n_rows: int, n_features: int, n_labels: int, kind: str = "tree", n_trees=1
) -> TrainingMemory:
    """Return the memory of a training on rows with so many values and labels in all."""
    most = BYTES_OF_WEIGHT[kind] * n_features * max(LANES, n_labels)
    model = n_trees * min(BYTES_OF_PAIR * n_values * n_assigned / max(1, n_rows), most)
    data = BYTES_OF_VALUE * n_values + BYTES_OF_LABEL * (n_assigned + 2 * n_rows)
    return TrainingMemory(round(data), round(model), round(COPIES * data + CLASSIFIERS * model) + BESIDE)


def with_room(X, expected: TrainingMemory):
    """Return training rows, or copies in files if memory has no room for them and what is made of them."""
    free = free_bytes()
    if free is None or expected.peak <= free or getattr(X, "folder", None) is not None:
        return X
    folder = cache_root() / FOLDER
    told = f"training is expected to take {size(expected.peak)} of memory, and {size(free)} are free"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        X = MappedRows.of(X.indptr, X.indices, X.data, X.shape[1], folder).copy()
        told += f": rows and finished classifiers are kept in files of {folder} meanwhile"
    except OSError as error:  # the estimate can be too high: it may fit all the same
        told += f", but {folder} cannot hold the rows ({error.strerror}): memory may not suffice"
    warnings.warn(told, stacklevel=6)
    return X
