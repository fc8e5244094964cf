"""Reader of predictions that another program has made: the ranked labels of each row."""

import csv
import io
import math
from collections import Counter
from itertools import chain, islice

import numpy as np
import scipy.sparse as sp

from xmlcore.datasets.readers import npz
from xmlcore.datasets.readers.sources import NamedSource
from xmlcore.metrics import as_ranking
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.ranking import Ranking
from xmlcore.typing import Source
from xmlcore.validation import check_count

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
    """Read the labels that another program predicts for rows: a Ranking of shape (n_rows, k), largest scores first.

    docs/pages/compare.md has the forms of such files. DatasetFormatError names the line and the column of a fault.
    """
    progress, k = to_progress(progress), check_count(k, "k")
    n_rows, n_labels = check_count(n_rows, "n_rows", 0), check_count(n_labels, "n_labels", 0)
    source = NamedSource(source, name, max_bytes)
    text = source.text(npz=True, progress=progress)
    if npz.looks_like(text):
        return _of_arrays(text, source, n_rows, n_labels, k)
    known = _Labels(source, n_labels, label_names)
    lines = _lines(text, source, progress)
    first = list(islice(lines, 1))
    cells = [cell for _, cells in first for cell in cells]
    heading = [cell.casefold() for cell in cells]
    if "label" in heading and ("row" in heading or known.get(cells[heading.index("label")]) is None):
        entries = _table(lines, heading, source, known, n_rows)
    else:
        entries = _listed(chain(first, lines), source, known, n_rows)
    return _ranked(np.fromiter(entries, _ENTRY), source, n_rows, k, known)


ALL_OR_NONE = "Write a score for each label, or none."
HEAD = 1 << 16  # bytes that show by what cells are separated


# Labels of rows, as a text has them: by which number those of a row are ordered, the largest first, and their scores.
_ENTRY = [("line", np.int64), ("row", np.int64), ("label", np.int64), ("by", np.float64), ("score", np.float64)]


class _Labels:
    """The ids of labels, by their names or by their ids as texts."""

    def __init__(self, source, n_labels, names):
        self.source, self.n_labels, self.names = source, n_labels, names
        cells = [name.strip() for name in names or ()]
        often = Counter(cells)
        self.of_name = {name: (j if often[name] == 1 else -1) for j, name in enumerate(cells)}

    def get(self, text) -> int | None:
        """Return the id of a label, -1 for a name that several labels have, None for an unknown one."""
        label = self.of_name.get(text)
        return _id(text, self.n_labels) if label is None else label

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
    return source.error(f"cell {column} of the line: {found}", remedy, line=line)


def _id(text, count) -> int | None:
    """Return the label id that a text spells, if it is in range."""
    is_id = text.isascii() and text.isdecimal() and len(text) < 12 and int(text) < count
    return int(text) if is_id else None


def _lines(text, source, progress):
    """Yield the number and the cells of each line of a text."""
    content = text.tobytes()
    head = content[:HEAD]
    delimiter = max(",;\t", key=lambda sign: head.count(sign.encode()))
    reader = csv.reader(io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", newline=""), delimiter=delimiter)
    try:
        for cells in reader:
            yield reader.line_num, [cell.strip() for cell in cells]
            if reader.line_num % EVERY == 0:
                progress("Reading the predictions", 0.0, f"{reader.line_num:,} lines")
    except UnicodeDecodeError:
        raise source.error("it is not UTF-8", "Save it as UTF-8.", line=reader.line_num + 1) from None
    except csv.Error as error:
        raise source.error(f"it is no CSV file ({error})", FORMS, line=reader.line_num) from None


def _score(text, source, line, column) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise _error(source, line, column, f"{text[:60]!r} is no finite number", "Every score has to be one.")
    return score


def _table(lines, heading, source, known, n_rows):
    """Yield the entries of a table, below its heading."""
    at = {name: heading.index(name) for name in ("row", "label", "score", "rank") if name in heading}
    if "row" not in at:
        raise source.error("the column row is missing in its heading", FORMS, line=1)
    scored, needed = set(), max(at.values()) + 1
    of_row, of_label, by_score, by_rank = (at.get(name) for name in ("row", "label", "score", "rank"))
    for line, cells in lines:
        if not any(cells):
            continue
        if len(cells) < needed:
            found = f"it has {len(cells)} cells, but {needed} are needed"
            raise source.error(found, "Write a cell for each column of the heading.", line=line)
        row = _id(cells[of_row], n_rows)
        if row is None:
            remedy = f"There are {n_rows:,} test rows, numbered from 0."
            raise _error(source, line, of_row + 1, f"{cells[of_row][:60]!r} is no test row", remedy)
        by, score = math.nan, 0.0
        scored.add(by_score is not None and cells[by_score] != "")
        if len(scored) > 1:
            raise _error(source, line, by_score + 1, "some labels have a score, others have none", ALL_OR_NONE)
        if True in scored:
            by = score = _score(cells[by_score], source, line, by_score + 1)
        elif by_rank is not None:
            by = -_score(cells[by_rank], source, line, by_rank + 1)
        yield line, row, known.known(cells[of_label], line, of_label + 1), by, score


def _listed(lines, source, known, n_rows):
    """Yield the entries of a text with a line for each row, perhaps after a heading."""

    def parts(cell):
        if known.get(cell) is None:
            name, colon, score = cell.rpartition(":")
            if colon:
                return name.strip(), score
        return cell, None

    n_lines, n_used, heading = 0, 0, None
    for line, cells in lines:
        if n_lines == 0 and heading is None and any(cells) and all(known.get(parts(cell)[0]) is None for cell in cells):
            heading = line, cells
            continue
        n_lines += 1
        n_used = n_lines if any(cells) else n_used
        for column, cell in enumerate(cells if n_lines <= n_rows else (), 1):
            if cell:
                name, score = parts(cell)
                by = math.nan if score is None else _score(score, source, line, column)
                yield line, n_lines - 1, known.known(name, line, column), by, by
    if heading and n_lines < n_rows:  # it is a row
        column = next(column for column, cell in enumerate(heading[1], 1) if cell)
        known.known(parts(heading[1][column - 1])[0], heading[0], column)
    if n_lines < n_rows or n_used > n_rows:
        found = f"it has {max(n_used, min(n_lines, n_rows)):,} lines with labels, but there are {n_rows:,} test rows"
        raise source.error(found, FORMS)


def _ranked(entries, source, n_rows, k, known) -> Ranking:
    without = np.isnan(entries["by"])
    if without.any() and not without.all():
        line, row, *_ = entries[without][0]
        raise source.error(f"row {row:,} has a label without a score, and others have one", ALL_OR_NONE, int(line))
    pairs = entries["row"] * known.n_labels + entries["label"]
    first = np.unique(pairs, return_index=True)[1]
    if first.size < pairs.size:
        line, row, label, *_ = entries[np.setdiff1d(np.arange(pairs.size), first)[0]]
        found = f"row {row:,} has the label {known.called(label)[:60]!r} twice"
        raise source.error(found, "A label has one place in a row.", int(line))
    entries = entries[np.lexsort((-np.nan_to_num(entries["by"]), entries["row"]))]
    row = entries["row"]
    place = np.arange(row.size) - np.searchsorted(row, row)
    kept = place < k
    ranking = Ranking(np.full((n_rows, k), -1, np.int32), np.zeros((n_rows, k), np.float32))
    ranking.labels[row[kept], place[kept]] = entries["label"][kept]
    ranking.scores[row[kept], place[kept]] = np.nan_to_num(entries["score"][kept])
    return ranking


def _of_arrays(text, source, n_rows, n_labels, k) -> Ranking:
    """Return the ranking of an npz archive, which holds scores of all labels, or labels and their scores."""
    arrays = npz.arrays_of(text, source)
    if "labels" in arrays and arrays["labels"].ndim == 2:
        labels, values = arrays["labels"], arrays.get("scores", np.zeros(arrays["labels"].shape))
        given, shape = Ranking(labels, values), (labels.shape[0], n_labels)
    else:
        given = npz.scores_of(arrays, source).astype(np.float64)
        values, shape = given, given.shape
    if shape != (n_rows, n_labels):
        found = f"it has {shape[0]:,} rows and {shape[1]:,} labels, but there are {n_rows:,} and {n_labels:,}"
        raise source.error(found, "Give the scores of all test rows and labels, in their order.")
    if values.dtype.kind not in "biuf":
        raise source.error(f"its scores are of type {values.dtype}", "Every score has to be a number.")
    places = sp.coo_array(values)
    bad = np.flatnonzero(~np.isfinite(places.data))
    if bad.size:
        found = f"row {places.row[bad[0]]:,}, column {places.col[bad[0]]:,} is {places.data[bad[0]]}, no finite number"
        raise source.error(found, "Every score has to be one.")
    try:
        ranking = as_ranking(given, k)
    except (ValueError, TypeError) as error:
        raise source.error(str(error), FORMS) from None
    if isinstance(given, Ranking):
        _check_best_first(*given, source)
    if ranking.labels.max(initial=-1) >= n_labels:
        found = f"the label id {ranking.labels.max():,} is not between 0 and {n_labels - 1:,}"
        raise source.error(found, "Labels have the ids of the data set.")
    return ranking


def _check_best_first(labels, scores, source) -> None:
    there = labels >= 0
    hole, rise = there[:, 1:] & ~there[:, :-1], there[:, 1:] & (scores[:, 1:] > scores[:, :-1])
    for bad, found, remedy in (
        (hole, "a label after a place without one", "Fill the places of a row from the first on, then -1."),
        (rise, "a larger score than the place before", "Order the labels of a row by their scores, largest first."),
    ):
        for row, column in np.argwhere(bad)[:1]:
            raise source.error(f"row {row:,}, place {column + 2} has {found}", remedy)
