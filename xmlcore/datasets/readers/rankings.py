"""Reader of predictions that another program has made: the ranked labels of each row."""

import csv
import io
from collections import Counter
from itertools import islice
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from xmlcore.datasets.errors import DatasetFormatError
from xmlcore.datasets.readers import npz
from xmlcore.datasets.readers.sources import read_text, source_name
from xmlcore.metrics import as_ranking
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.ranking import Ranking
from xmlcore.typing import Source

FORMS = (
    "Give a line for each row with its labels, best first; or a table with the columns row, label and perhaps score; "
    "or an npz file with the scores as a sparse matrix (rows, labels)."
)
EVERY = 100_000  # lines between two reports of progress


def read_ranking(
    source: Source,
    n_rows: int,
    n_labels: int,
    label_names: list[str] | None = None,
    k: int = 5,
    *,
    max_bytes: int | None = None,
    name: str | None = None,
    progress: ProgressLike = silent,
) -> Ranking:
    """Read the labels that another program predicts for rows.

    A text has a line for each row, in their order: its labels, best first, each perhaps with a colon and its score. Or
    it is a table with a heading: columns ``row`` (from 0) and ``label``, and perhaps ``score`` or ``rank``; without
    both, the labels of a row are in the order of the lines. Cells are separated by commas, semicolons or tabs. A label
    is a name, or an id from 0 where no label has this name. An npz file holds scores, as ``scipy.sparse.save_npz``
    writes a matrix of shape (rows, labels), or the arrays ``labels`` and ``scores`` of a Ranking.

    Parameters
    ----------
    source : path, bytes, or binary file object
        May be compressed.
    n_rows, n_labels : int
        Of the data set.
    label_names : list of str, optional
    k : int
        How many labels to keep of each row.
    max_bytes : int, optional
        Most bytes of decompressed text, see :func:`xmlcore.datasets.read_matrix`.
    name : str, optional
        Name of the source in errors; by default its file name.
    progress : :class:`xmlcore.progress.Progress` or "bar", optional

    Returns
    -------
    Ranking
        Of shape (n_rows, k), with the largest scores first; a place without a label has -1.

    Raises
    ------
    DatasetFormatError
        Another number of rows, an unknown label, a label twice in a row, or a score that is no finite number; the
        message names the line and the column.
    """
    progress = to_progress(progress)
    text = read_text(source, max_bytes=max_bytes, name=name, npz=True, progress=progress)
    source = source_name(source, name)
    if npz.looks_like(text):
        return _of_arrays(text, source, n_rows, n_labels, k, max_bytes)
    known = _Labels(source, n_labels, label_names)
    lines = _lines(text, source, progress)
    first = [cell.casefold() for cell in lines[0][1]] if lines else []
    found = _table(lines, first, source, known, n_rows) if "label" in first else _listed(lines, source, known, n_rows)
    return _ranked(found, source, n_rows, k, known)


class _Entry(NamedTuple):
    """A label of a row."""

    line: int  # of the file, from 1
    row: int
    label: int
    by: float | None  # by which the labels of a row are ordered, largest first; None: by the file
    is_score: bool  # whether it is a score


class _Labels:
    """The ids of labels, by their names or by their ids as texts."""

    def __init__(self, source, n_labels, names):
        self.source, self.n_labels, self.names = source, n_labels, names
        often = Counter(names or ())
        self.of_name = {name.strip(): (j if often[name] == 1 else -1) for j, name in enumerate(names or ())}

    def get(self, text) -> int | None:
        """Return the id of a label, -1 for a name that several labels have, None for an unknown one."""
        label = self.of_name.get(text)
        if label is None and text.isascii() and text.isdecimal() and int(text) < self.n_labels:
            return int(text)
        return label

    def known(self, text, line, column) -> int:
        label = self.get(text)
        if label is None:
            ids = f"an id from 0 to {self.n_labels - 1:,}"
            remedy = f"A label is a name of the data set, or {ids}." if self.names else f"A label is {ids}."
            raise _error(self.source, line, column, f"{text[:60]!r} is no label of the data set", remedy)
        if label < 0:
            found = f"{text[:60]!r} is the name of several labels"
            raise _error(self.source, line, column, found, "Write the id of the one that is meant.")
        return label

    def called(self, label) -> str:
        return str(label) if self.names is None else self.names[label]


def _error(source, line, column, found, remedy):
    return DatasetFormatError(source, f"cell {column} of the line: {found}", remedy, line=line)


def _lines(text, source, progress) -> list[tuple[int, list[str]]]:
    """Return the number and the cells of each line of a text."""
    try:
        text = text.tobytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DatasetFormatError(source, f"its byte {error.start:,} is not UTF-8", "Save the file as UTF-8.") from None
    head = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count))
    lines = []
    try:
        while block := [(reader.line_num, [cell.strip() for cell in row]) for row in islice(reader, EVERY)]:
            lines += block
            progress("Reading the predictions", 0.0, f"{len(lines):,} lines")
    except csv.Error as error:
        raise DatasetFormatError(source, f"it is no CSV file ({error})", FORMS, line=reader.line_num) from None
    return lines


def _score(text, source, line, column) -> float:
    try:
        score = float(text)
    except ValueError:
        score = np.nan
    if not np.isfinite(score):
        raise _error(source, line, column, f"{text[:60]!r} is no finite number", "Every score has to be one.")
    return score


def _table(lines, heading, source, known, n_rows) -> list[_Entry]:
    at = {name: heading.index(name) for name in ("row", "label", "score", "rank") if name in heading}
    if "row" not in at:
        raise DatasetFormatError(source, "the column row is missing in its heading", FORMS, line=lines[0][0])
    entries, by = [], next((name for name in ("score", "rank") if name in at), None)
    for line, cells in lines[1:]:
        if not any(cells):
            continue
        if len(cells) <= max(at.values()):
            found = f"it has {len(cells)} cells, but {max(at.values()) + 1} are needed"
            raise DatasetFormatError(source, found, "Write a cell for each column of the heading.", line=line)
        row, places = cells[at["row"]], {name: column + 1 for name, column in at.items()}
        if not (row.isascii() and row.isdecimal() and int(row) < n_rows):
            remedy = f"There are {n_rows:,} test rows, numbered from 0."
            raise _error(source, line, places["row"], f"{row[:60]!r} is no test row", remedy)
        label = known.known(cells[at["label"]], line, places["label"])
        score = None if by is None else _score(cells[at[by]], source, line, places[by])
        entries.append(_Entry(line, int(row), label, -score if by == "rank" else score, by == "score"))
    return entries


def _listed(lines, source, known, n_rows) -> list[_Entry]:
    """Return the entries of a text with a line for each row; a heading is left out."""

    def parts(cell):
        name, colon, score = cell.rpartition(":")
        return (name.strip(), score) if colon and known.get(cell) is None else (cell, None)

    if len(lines) > n_rows and any(lines[0][1]) and all(known.get(parts(cell)[0]) is None for cell in lines[0][1]):
        lines = lines[1:]
    while len(lines) > n_rows and not any(lines[-1][1]):
        lines.pop()
    if len(lines) != n_rows:
        found = f"it has {len(lines):,} lines with labels, but there are {n_rows:,} test rows"
        raise DatasetFormatError(source, found, FORMS)
    entries = []
    for row, (line, cells) in enumerate(lines):
        for column, cell in enumerate(cells, 1):
            if cell:
                name, score = parts(cell)
                label = known.known(name, line, column)
                score = None if score is None else _score(score, source, line, column)
                entries.append(_Entry(line, row, label, score, score is not None))
    return entries


def _ranked(entries, source, n_rows, k, known) -> Ranking:
    line, row, label, by, is_score = (np.array(part) for part in zip(*entries)) if entries else [np.empty(0, int)] * 5
    without = np.array([value is None for value in by], bool)
    if without.any() and not without.all():
        found = f"row {row[without][0]:,} has a label without a score, and others have one"
        raise DatasetFormatError(source, found, "Write a score for each label, or none.", line=int(line[without][0]))
    pairs = row * known.n_labels + label
    first = np.unique(pairs, return_index=True)[1]
    if first.size < pairs.size:
        at = np.setdiff1d(np.arange(pairs.size), first)[0]
        found = f"row {row[at]:,} has the label {known.called(label[at])[:60]!r} twice"
        raise DatasetFormatError(source, found, "A label has one place in a row.", line=int(line[at]))
    scores = np.zeros(row.size) if without.any() else by.astype(np.float64)
    order = np.lexsort((np.arange(row.size), -scores, row))
    row, label, scores = row[order], label[order], np.where(is_score, scores, 0.0)[order]
    place = np.arange(row.size) - np.searchsorted(row, row)
    kept = place < k
    ranking = Ranking(np.full((n_rows, k), -1, np.int32), np.zeros((n_rows, k), np.float32))
    ranking.labels[row[kept], place[kept]] = label[kept]
    ranking.scores[row[kept], place[kept]] = scores[kept]
    return ranking


def _of_arrays(text, source, n_rows, n_labels, k, max_bytes) -> Ranking:
    """Return the ranking of an npz archive, which holds scores of all labels, or labels and their scores."""
    arrays = npz.arrays_of(text, source, max_bytes)
    if "labels" in arrays and arrays["labels"].ndim == 2:
        labels, values = arrays["labels"], arrays.get("scores", np.zeros(arrays["labels"].shape))
        given, shape = Ranking(labels, values), (labels.shape[0], n_labels)
    else:
        given = npz.scores_of(arrays, source).astype(np.float64)
        values, shape = given, given.shape
    if shape != (n_rows, n_labels):
        found = f"it has {shape[0]:,} rows and {shape[1]:,} labels, but there are {n_rows:,} and {n_labels:,}"
        raise DatasetFormatError(source, found, "Give the scores of all test rows and labels, in their order.")
    places = sp.coo_array(values)
    bad = np.flatnonzero(~np.isfinite(places.data))
    if bad.size:
        found = f"row {places.row[bad[0]]:,}, column {places.col[bad[0]]:,} is {places.data[bad[0]]}, no finite number"
        raise DatasetFormatError(source, found, "Every score has to be one.")
    try:
        ranking = as_ranking(given, k)
    except (ValueError, TypeError) as error:
        raise DatasetFormatError(source, str(error), FORMS) from None
    if ranking.labels.max(initial=-1) >= n_labels:
        found = f"the label id {ranking.labels.max():,} is none of those from 0 to {n_labels - 1:,}"
        raise DatasetFormatError(source, found, "Labels have the ids of the data set.")
    return ranking
