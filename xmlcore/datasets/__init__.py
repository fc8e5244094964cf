"""Data sets: their class, readers, writers, a catalog, synthetic data and statistics."""

from xmlcore.datasets.dataset import (
    Dataset,
)
from xmlcore.datasets.entries import (
    CatalogEntry,
)
from xmlcore.datasets.errors import (
    DatasetFormatError,
    DatasetWarning,
)
from xmlcore.datasets.examination import (
    Examination,
    examine,
)
from xmlcore.datasets.fetch import (
    DownloadError,
)
from xmlcore.datasets.formats import (
    warm_up,
)
from xmlcore.datasets.reading import (
    read_dataset,
    read_matrix,
    split_rows,
)
from xmlcore.datasets.registry import (
    catalog,
    load,
    prepare,
)
from xmlcore.datasets.saved import (
    in_use_or_saved,
    load_saved,
    save_dataset,
)
from xmlcore.datasets.splits import (
    folds,
    read_row_numbers,
    resplit,
    rows_of_file,
    split_again,
    stratified_parts,
    stratified_split,
    warm_up,
)
from xmlcore.datasets.statistics import (
    Description,
    describe,
)
from xmlcore.datasets.synthetic import (
    SYNTHETIC_SHAPES,
    make_synthetic,
    synthetic_sizes,
)
from xmlcore.datasets.writing import (
    write_matrix,
)
from xmlcore.datasets.writing_arff import (
    write_arff,
)

__all__ = [
    "SYNTHETIC_SHAPES",
    "CatalogEntry",
    "Dataset",
    "DatasetFormatError",
    "DatasetWarning",
    "Description",
    "DownloadError",
    "Examination",
    "catalog",
    "describe",
    "examine",
    "folds",
    "in_use_or_saved",
    "load",
    "load_saved",
    "make_synthetic",
    "prepare",
    "read_dataset",
    "read_matrix",
    "read_row_numbers",
    "resplit",
    "rows_of_file",
    "save_dataset",
    "split_again",
    "split_rows",
    "stratified_parts",
    "stratified_split",
    "synthetic_sizes",
    "warm_up",
    "write_arff",
    "write_matrix",
]
