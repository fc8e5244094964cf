"""Data sets: their class, readers, writers, a catalog, synthetic data and statistics."""

from xmlcore.datasets.dataset import Dataset
from xmlcore.datasets.errors import DatasetFormatError, DatasetWarning
from xmlcore.datasets.readers.new_rows import NewRows, read_new_rows
from xmlcore.datasets.readers.rankings import read_ranking
from xmlcore.datasets.readers.reading import read_dataset, read_matrix, warm_up, with_label_table
from xmlcore.datasets.registry.catalog import catalog, load, prepare
from xmlcore.datasets.registry.entries import CatalogEntry
from xmlcore.datasets.registry.fetch import DownloadError
from xmlcore.datasets.registry.synthetic import SYNTHETIC_SHAPES, make_synthetic, synthetic_sizes
from xmlcore.datasets.saved import in_use_or_saved, load_saved, save_dataset
from xmlcore.datasets.splits import (
    folds,
    read_row_numbers,
    resplit,
    rows_of_file,
    split_again,
    split_rows,
    stratified_parts,
    stratified_split,
    without_leaks,
)
from xmlcore.datasets.statistics.description import Description, Examination, all_labels, describe, examine
from xmlcore.datasets.statistics.drift import facts_of_rows, unlike_test_rows
from xmlcore.datasets.statistics.maps import map_of
from xmlcore.datasets.statistics.pairs import LabelPairs, label_pairs, together
from xmlcore.datasets.statistics.rows import label_sets, rows_of_label_set
from xmlcore.datasets.texts import Guess, TextVectorizer, guess_columns, read_texts, read_vocabulary
from xmlcore.datasets.texts.text_datasets import read_text_dataset, with_words
from xmlcore.datasets.writers import write_arff, write_fasttext, write_matrix

__all__ = [
    "SYNTHETIC_SHAPES", "CatalogEntry", "Dataset", "DatasetFormatError", "DatasetWarning", "Description",
    "DownloadError", "Examination", "Guess", "LabelPairs", "NewRows", "TextVectorizer",
    "all_labels", "catalog", "describe", "examine", "facts_of_rows", "folds",
    "guess_columns", "in_use_or_saved", "label_pairs", "label_sets", "load", "load_saved",
    "make_synthetic", "map_of", "prepare", "read_dataset", "read_matrix", "read_new_rows", "read_ranking",
    "read_row_numbers", "read_text_dataset", "read_texts", "read_vocabulary", "resplit", "rows_of_file",
    "rows_of_label_set", "save_dataset", "split_again", "split_rows", "stratified_parts", "stratified_split",
    "synthetic_sizes", "together", "unlike_test_rows", "warm_up", "with_label_table", "with_words", "without_leaks",
    "write_arff", "write_fasttext", "write_matrix",
]  # fmt: skip
