"""Reader of tables (CSV, TSV): a dense row per line, with columns of features and columns of labels."""

import difflib
import os
import re
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from xmlcore import wording
from xmlcore.datasets.readers.label_cells import listed
from xmlcore.datasets.readers.rows import ReadOptions, Rows
from xmlcore.datasets.readers.sources import NamedSource
from xmlcore.datasets.readers.table_cells import (
    DECIMAL_COMMA,
    ID_NAMES,
    LABEL_RULE,
    NO,
    YES,
    CellForm,
    DecimalComma,
    TextColumns,
    blocks,
    cells,
    first_records,
    is_number,
    numbers,
    texts,
)
from xmlcore.validation import check_features

_BAR = b"|"
_SEPARATORS = {b"\t": "tabs", b";": "semicolons", b",": "commas", _BAR: "vertical bars"}  # the first are preferred
_BINARY = (b"0", b"1", *(word.encode() for word in YES + NO))
_FEW_ROWS = 10  # up to which a column may count the rows by chance
_SPARSE_ROW = re.compile(  # of svmlight
    rb"(?:[ \t]*+[0-9]++(?:[ \t]*+,[ \t]*+[0-9]++)*+(?![^ \t]))?+(?:[ \t]++[0-9]++:[^ \t]*+)*+[ \t]*+"
)
_TELL = "Say which columns are labels: the last or the first few, or their names, or one column that lists them."


def looks_like(text) -> bool:
    """Return whether the first lines of a text are those of a table."""
    lines = first_records(text, 10)
    if len(lines) < 2 or lines[0].lstrip()[:1] in (b"@", b"%", b"{", b"[", b"<", b"#"):
        return False
    separator = _separator(lines)
    if lines[0].count(separator) == 0 or lines[1].count(separator) == 0:
        return False
    if separator == _BAR and b":" in lines[0] + lines[1]:  # rows of Vowpal Wabbit
        return False
    if not _SPARSE_ROW.fullmatch(lines[0]):
        return not any(_SPARSE_ROW.fullmatch(line) and b":" in line for line in lines[1:])
    return not any(b":" in line for line in lines) and len({line.count(separator) for line in lines}) == 1


def may_be(text) -> bool:
    """Return whether the first line of a text may be that of a table, if it is known that one is expected."""
    lines = first_records(text, 10)
    return bool(lines) and b":" not in lines[0] and lines[0].count(_separator(lines)) > 0


def is_one_label(text) -> bool:
    """Return whether the first lines of a text are a name and then 0 or 1: a table of one label."""
    lines = [line.strip().strip(b'"').lower() for line in first_records(text, 10)]
    return len(lines) > 1 and not lines[0][:1].isdigit() and all(line in _BINARY for line in lines[1:])


def form_of(text, source) -> CellForm:
    lines = first_records(text, 20)
    if not lines:
        raise source.error("it holds no rows, only blank lines", "Give one row per line.")
    separator = _separator(lines)
    records = [cells(line, separator) for line in lines]
    first = [cell.strip() for cell in records[0]]
    decimal = _decimal(separator, [cell.strip() for record in records for cell in record])
    if all(is_number(cell, decimal) for cell in first) and not _counts_columns(first):
        return CellForm(separator, None, len(first), decimal, records, source)
    names = []
    for place, cell in enumerate(first, 1):
        try:
            names.append(cell.decode("utf-8"))
        except UnicodeDecodeError:
            found = f"the name of column {place}, {cell[:40]!r}, is not UTF-8"
            raise source.error(found, "Save the file as UTF-8.", 1) from None
    names[0] = names[0].removeprefix("# ")  # as numpy.savetxt writes them
    return CellForm(separator, names, len(first), decimal, records[1:], source)


def parse(text, source: NamedSource, options: ReadOptions) -> Rows:
    """Return the rows of a table; of new rows for a model, also their ids."""
    form, known = form_of(text, source), options.known
    index, ids = has_index(form), None if known is None else _id_column(form, known)
    chosen, listing = ([], False) if known is not None else _label_columns(form, options.labels, source, index)
    kept = [column for column in range(int(index), form.n_columns) if column not in {*chosen, ids}]
    if not kept:
        raise source.error(f"all {form.n_columns:,} columns are labels", "Leave some as features.", argument="labels")
    form = _with_decimal(form, kept + ([] if listing else chosen))
    X, Y, lists, names, kept = _read_kept(text, form, kept, chosen, listing, options.leave_out, ids)
    if index and (names is None or ids):
        source.warn("the first column has no name, as the row numbers that pandas writes: it is left out")
    if X.shape[0] >= _FEW_ROWS and (np.diff(X[:, [0]].toarray()[:, 0]) == 1).all():
        source.warn(f"column {form.called(kept[0])} counts the rows, and is read as a feature")
    rows = Rows(source, "csv", X, Y, 1, ids=names)
    if form.names is not None:
        rows.feature_names = [form.names[column] for column in kept]
        rows.label_names = [form.names[column] for column in chosen]
    if listing:
        rows.Y, rows.label_names, rows.lists = listed(*lists, source, form.called(chosen[0]), options.lists)
        rows.has_label_width = False
    elif not chosen:
        rows.Y = rows.label_names = None
    return rows


def _id_column(form, known):
    """Return the column that names the rows: one called id that is no feature, or else the first if it has texts."""

    def has_texts(column):
        return not all(is_number(cell, form.decimal) or cell.lower() in _BINARY for cell in form.some_cells([column]))

    for column, name in enumerate(form.names or ()):
        if name.lower() in ID_NAMES and (known and name not in known or has_texts(column)):
            return column
    return 0 if form.names and form.names[0] not in {*known, likely_listing(form)} and has_texts(0) else None


def _read_kept(text, form, kept, chosen, listing=False, leave_out=False, ids=None):
    """Read the rows of a table; return what :func:`_read` does, and the columns of features that were not left out."""
    every = kept
    while True:
        try:
            *found, names = _read(text, form, kept, chosen, listing, leave_out, ids)
            break
        except DecimalComma:  # the first one comes after the sample
            form = replace(form, decimal=",")
        except TextColumns as error:
            kept = [column for column in kept if column not in error.args[0]]
            if not kept:
                remedy = "Features are numbers: turn the texts into numbers."
                raise form.source.error("all columns of features are text", remedy) from None
    gone = [column for column in every if column not in kept]
    if ids is not None and form.names[ids].lower() not in ID_NAMES and len(set(names)) < len(names):
        names, gone = None, gone if has_index(form) else [ids, *gone]
    if gone:
        columns = "1 column" if len(gone) == 1 else f"{len(gone):,} columns"
        form.source.warn(f"{columns} of text left out: {wording.listed(map(form.called, gone))}")
    return *found, names, kept


def parse_labels(text, source) -> tuple[sp.csr_array, list[str] | None]:
    form = form_of(text, source)
    index = int(has_index(form))
    columns = [*range(index, form.n_columns)]
    _, Y, *_ = _read_kept(text, _with_decimal(form, columns), [], columns)
    return Y, None if form.names is None else form.names[index:]


def _separator(lines):
    """Return the separator of cells: the most frequent one in the first line, of those as frequent in all lines."""
    # A vertical bar, which may also stand between the labels of one cell, only if no other can be the separator, or if
    # there are nothing but numbers between the bars, which then have decimal commas, as there are no lists without
    # names.
    counts = {separator: [len(cells(line, separator)) for line in lines] for separator in _SEPARATORS}
    divides = [separator for separator, found in counts.items() if found[0] > 1]
    even = [separator for separator in divides if len(set(counts[separator])) == 1]
    if _BAR in even and all(is_number(cell.strip(), ",") for line in lines for cell in cells(line, _BAR)):
        return _BAR
    choices = [[s for s in group if s != _BAR] or group for group in (even, divides, list(_SEPARATORS))]
    return max(next(filter(None, choices)), key=lambda separator: counts[separator][0])


def _decimal(separator, some):
    return "," if separator != b"," and any(map(DECIMAL_COMMA.fullmatch, some)) else "."


def _with_decimal(form, columns):
    """Return a form with the decimal mark of the numbers in some columns: others may have commas for other reasons."""
    return replace(form, decimal=_decimal(form.separator, form.some_cells(columns)))


def _counts_columns(first):
    """Return whether the cells are 0, 1, 2, ...: the names that pandas gives to columns without names."""
    names = first[1:] if first[0] == b"" else first
    return len(names) > (2 if len(names) == len(first) else 1) and names == [b"%d" % i for i in range(len(names))]


def has_index(form) -> bool:
    """Return whether the first column is the row numbers that pandas writes, without a name."""
    return form.names is not None and form.n_columns > 1 and form.names[0] in ("", "Unnamed: 0")


def _label_columns(form, labels, source, index):
    """Return the columns that are labels, and whether it is one whose cells list labels; none if a file has them."""
    first = int(index)
    n_columns = form.n_columns - first
    if labels is None:
        called = f" ({wording.listed(form.names[first:])})" if form.names else " without names"
        between = f"{n_columns:,} columns between {_SEPARATORS[form.separator]}{called}"
        likely, value = _likely(form, first)
        found = f"it is a table of {between}, and nothing says which of them are labels{likely}"
        raise source.error(found, _TELL, 1, argument="labels", value=value)
    if isinstance(labels, (int, np.integer)) and not isinstance(labels, bool):
        if not 0 < abs(labels) < n_columns:
            found = f"the {_end(labels)} are to be labels, but there are {n_columns:,} columns"
            raise source.error(found, "Some columns must be labels, and some features.", 1, argument="labels")
        every = [*range(first, form.n_columns)]
        return every[:labels] if labels > 0 else every[labels:], False
    if isinstance(labels, str):
        is_file = os.path.exists(labels) and labels not in (form.names or ())
        return ([], False) if is_file else ([_column(form, labels, source)], True)
    if isinstance(labels, (list, tuple)) and all(isinstance(name, str) for name in labels):
        columns = [_column(form, name, source) for name in labels]
        if not columns or len(set(columns)) < len(columns):
            raise ValueError(f"labels {'is an empty list' if not columns else 'names a column twice'}")
        return columns, False
    return [], False


def _end(n) -> str:
    return f"{'last' if n < 0 else 'first'} {abs(n):,}"


def _column(form, name, source):
    if form.names is None:
        found = f"the labels are to be in {name!r:.200}, but the first line has no names: it is a row of numbers"
        raise source.error(found, "Give the number of labels, -3 for the last three.", 1, argument="labels")
    count = form.names.count(name)
    if count == 1:
        return form.names.index(name)
    if count:
        raise source.error(f"{count} columns have the name {name!r:.200}", "Rename them.", 1)
    near = difflib.get_close_matches(name, form.names[:10_000], 3)
    like = f"; similar names: {', '.join(name[:40] for name in near)}" if near else f" ({wording.listed(form.names)})"
    raise source.error(f"no column has the name {name!r:.200}{like}", "Name columns of the first line.", 1)


def binary_ends(form, first) -> tuple[int, int]:
    """Return how many columns at the beginning, and at the end, have nothing but 0 and 1 in the first rows."""
    binary = [
        all(len(row) > column and row[column].strip().lower() in _BINARY for row in form.sample)
        for column in range(first, form.n_columns)
    ]
    if False not in binary:
        return 0, 0
    return binary.index(False), binary[::-1].index(False)


def likely_listing(form) -> str | None:
    """Return the name of a column that seems to list the labels of each row; None if there is none."""
    named = ("labels", "label", "tags", "tag", "classes", "class", "categories", "category", "y")
    return next((name for name in form.names or () if name.lower() in named), None)


def _likely(form, first):
    """Return which columns may be labels, as the end of a sentence, and as the argument ``labels``."""
    ahead, last = binary_ends(form, first)
    likely = [n for n in (-last, ahead) if n]
    if likely:
        hold = [f"the {_end(n)} hold{'s' if abs(n) == 1 else ''} nothing but 0 and 1" for n in likely]
        return f"; in the first lines, {', and '.join(hold)}", likely[0]
    named = likely_listing(form)
    return f'; perhaps the column "{named}"' if named else "", named


def _read(text, form, features, labels, listing, leave_out, ids):
    parts, label_parts, lists, lines, names = [], [], [], [], []
    n_missing, first_missing = 0, None
    for block in blocks(text, form):
        _check_lengths(block)
        values = numbers(block, features, [] if listing else labels, leave_out)
        X, Y = values[:, : len(features)], values[:, len(features) :]
        missing = np.argwhere(np.isnan(X))
        if len(missing) and first_missing is None:
            row, column = missing[0].tolist()
            first_missing = f"in line {block.lines[row]:,}, column {form.called(features[column])}"
        n_missing += len(missing)
        X[tuple(missing.T)] = 0
        _check_finite(X, block, features)
        parts.append(sp.csr_array(X.astype(np.float32)))
        if ids is not None:
            names += [cell.strip() for cell in next(texts(block, [ids]))]
        if listing:
            lists += next(texts(block, labels))
            lines.append(block.lines)
        else:
            _check_binary(Y, block, labels)
            label_parts.append(sp.csr_array(Y.astype(bool)))
    if not parts:
        raise form.source.error("it has names of columns, but no rows", "Give one row per line.")
    if n_missing:
        cells_are = "1 cell is" if n_missing == 1 else f"{n_missing:,} cells are"
        form.source.warn(f"{cells_are} missing, first {first_missing}: read as 0")
    X = check_features(sp.vstack(parts, format="csr")) if features else None
    Y = sp.csr_array(sp.vstack(label_parts, format="csr")) if label_parts and labels else None
    return X, Y, (lists, np.concatenate(lines)) if listing else None, None if ids is None else names


def _check_lengths(block):
    wrong, form = np.flatnonzero(block.n_cells != block.form.n_columns), block.form
    if wrong.size:
        count = int(block.n_cells[wrong[0]])
        found = f"{count:,} cell{'s' * (count != 1)}, but the first line has {form.n_columns:,}"
        remedy = f"Every line needs the same number of cells, with {_SEPARATORS[form.separator]} between them."
        raise block.error(found, remedy, wrong[0])


def _check_finite(X, block, columns):
    with np.errstate(over="ignore"):
        wrong = np.isinf(X.astype(np.float32))
    for row, at in np.argwhere(wrong)[:1].tolist():
        name = block.form.called(columns[at])
        found = f"the value in column {name} is infinite, or too large for float32 (3.4e38)"
        raise block.error(found, "Scale the feature, or replace the value.", row, columns[at])


def _check_binary(Y, block, columns):
    form = block.form
    for row, at in np.argwhere((Y != 0) & (Y != 1))[:1].tolist():
        value = "missing" if np.isnan(Y[row, at]) else f"{Y[row, at]:g}, not 0 or 1"
        more = "Are other columns the labels?"
        if form.names is not None and columns[at] == form.n_columns - 1 and form.names[-1] == "":
            more = f"The last column has no name: remove the {form.separator.decode()!r:.200} at the ends of lines."
        found = f"the label {form.called(columns[at])} is {value}"
        raise block.error(found, f"{LABEL_RULE} {more}", row, columns[at])
