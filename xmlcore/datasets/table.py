"""Reader of tables (CSV, TSV): a dense row per line, with columns of features and columns of labels."""

import difflib
import io
import os
import re
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from xmlcore.datasets.errors import DatasetFormatError, warn
from xmlcore.datasets.table_lists import listed
from xmlcore.datasets.table_records import Block, blocks, cells, first_records
from xmlcore.datasets.xmlc import Rows
from xmlcore.validation import check_features

_SEPARATORS = {b"\t": "tabs", b";": "semicolons", b",": "commas"}  # in the order in which they are preferred
_BINARY = (b"0", b"1", b"true", b"false")
_FEW_ROWS = 10  # up to which a column may count the rows by chance
_MISSING = ["", "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "-nan", "<NA>"]  # cells without a value
_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(nan|inf(inity)?)", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(rb"[+-]?[0-9]+,[0-9]+")
_SPARSE_ROW = re.compile(rb"[ \t]*([0-9]+([ \t]*,[ \t]*[0-9]+)*)?([ \t]+[0-9]+:[^ \t]*)*[ \t]*")  # of svmlight
_TELL = (
    "Say which columns are labels: labels=-3 for the last three, labels=3 for the first three, or a list of their "
    "names. If one column lists the labels of a row, give its name."
)


@dataclass(frozen=True)
class Form:
    """How a table is written.

    Attributes
    ----------
    separator : bytes
        Between the cells of a row.
    names : list of str or None
        The names of the columns; None if the first line is a row of numbers.
    n_columns : int
    decimal : str
        The mark before the decimals of a number: a point, or a comma.
    sample : list of list of bytes
        Some of the first rows.
    """

    separator: bytes
    names: list[str] | None
    n_columns: int
    decimal: str
    sample: list[list[bytes]]


def looks_like(text) -> bool:
    """Return whether the first lines of a text are those of a table."""
    lines = first_records(text, 10)
    if len(lines) < 2 or lines[0].lstrip()[:1] in (b"@", b"%", b"{", b"[", b"<", b"#"):
        return False
    separator = _separator(lines)
    if lines[0].count(separator) == 0 or lines[1].count(separator) == 0:
        return False
    if not _SPARSE_ROW.fullmatch(lines[0]):
        return not any(_SPARSE_ROW.fullmatch(line) and b":" in line for line in lines[1:])
    return not any(b":" in line for line in lines) and len({line.count(separator) for line in lines}) == 1


def may_be(text) -> bool:
    """Return whether the first line of a text may be that of a table, if it is known that one is expected."""
    lines = first_records(text, 1)
    return bool(lines) and b":" not in lines[0] and lines[0].count(_separator(lines)) > 0


def is_one_label(text) -> bool:
    """Return whether the first lines of a text are a name and then 0 or 1: a table of one label."""
    lines = [line.strip().strip(b'"').lower() for line in first_records(text, 10)]
    return len(lines) > 1 and not lines[0][:1].isdigit() and all(line in _BINARY for line in lines[1:])


def form_of(text, source) -> Form:
    """Return how a table is written, from its first lines; raise DatasetFormatError if the names are not UTF-8."""
    lines = first_records(text, 20)
    if not lines:
        raise DatasetFormatError(source, "it holds no rows, only blank lines", "Give one row per line.")
    separator = _separator(lines)
    records = [cells(line, separator) for line in lines]
    first = [cell.strip() for cell in records[0]]
    sample = records[1:]
    decimal = "."
    if separator != b"," and any(_DECIMAL_COMMA.fullmatch(cell.strip()) for record in records for cell in record):
        decimal = ","
    if all(_is_number(cell, decimal) for cell in first) and not _counts_columns(first):
        return Form(separator, None, len(first), decimal, records)
    try:
        names = [cell.decode("utf-8") for cell in first]
        names[0] = names[0].removeprefix("# ")  # as numpy.savetxt writes them
    except UnicodeDecodeError:
        place = next(i for i, cell in enumerate(first) if not _is_utf8(cell))
        found = f"the name of column {place + 1}, {first[place][:40]!r}, is not UTF-8"
        raise DatasetFormatError(source, found, "Save the file as UTF-8.", 1) from None
    return Form(separator, names, len(first), decimal, sample)


def parse(text, source, labels=None) -> Rows:
    """Parse a table.

    Parameters
    ----------
    text : ndarray of uint8
    source : str
        Name of the file in messages.
    labels : int, str, list of str, path, bytes, or binary file object
        Which columns are labels: the first n, the last n for -n, those of these names, or the one of this name, whose
        cells list the labels of a row. A file has the labels; a string is its path unless a column has this name.

    Returns
    -------
    Rows
        ``Y`` is None if a file has the labels.

    Raises
    ------
    DatasetFormatError
    """
    form = form_of(text, source)
    index = has_index(form)
    if index:
        warn(f"{source}: the first column has no name, as the row numbers that pandas writes: it is left out")
    chosen, listing = _label_columns(form, labels, source, index)
    kept = [column for column in range(int(index), form.n_columns) if column not in set(chosen)]
    if not kept:
        raise DatasetFormatError(source, f"all {form.n_columns:,} columns are labels", "Leave some as features.")
    form = _with_decimal(form, kept + ([] if listing else chosen))
    try:
        X, Y, lists = _read(text, source, form, kept, chosen, listing)
    except _DecimalComma:  # the first one comes after the sample
        X, Y, lists = _read(text, source, replace(form, decimal=","), kept, chosen, listing)
    _warn_of_row_numbers(X, form, kept[0], source)
    rows = Rows(source, "csv", X, Y, 1)
    if form.names is not None:
        rows.feature_names = [form.names[column] for column in kept]
        rows.label_names = [form.names[column] for column in chosen]
    if listing:
        rows.Y, rows.label_names = listed(*lists, source, _column_name(form, chosen[0]), set(_MISSING))
        rows.has_label_width = False
    elif not chosen:
        rows.Y = rows.label_names = None
    return rows


def parse_labels(text, source) -> tuple[sp.csr_array, list[str] | None]:
    """Parse a table in which every column is a label.

    Returns
    -------
    Y : csr_array of bool
    names : list of str, or None
    """
    form = form_of(text, source)
    index = int(has_index(form))
    columns = [*range(index, form.n_columns)]
    _, Y, _ = _read(text, source, replace(form, decimal="."), [], columns, listing=False)
    return Y, None if form.names is None else form.names[index:]


def _separator(lines):
    """Return the separator of cells: the most frequent one in the first line."""
    return max(_SEPARATORS, key=lambda separator: len(cells(lines[0], separator)))


class _DecimalComma(Exception):
    """A number has a decimal comma, where the mark was taken to be a point."""


def _with_decimal(form, columns):
    """Return a form with the decimal mark of the numbers in some columns: others may have commas for other reasons."""
    some = (row[column].strip() for row in form.sample for column in columns if column < len(row))
    comma = form.separator != b"," and any(_DECIMAL_COMMA.fullmatch(cell) for cell in some)
    return replace(form, decimal="," if comma else ".")


def _is_number(cell, decimal):
    """Return whether a cell is a number, or is missing."""
    return cell.decode("latin-1") in _MISSING or bool(_NUMBER.fullmatch(cell.replace(decimal.encode(), b".")))


def _counts_columns(first):
    """Return whether the cells are 0, 1, 2, ...: the names that pandas gives to columns without names.

    Before them there may be the empty name of the column of row numbers.
    """
    names = first[1:] if first[0] == b"" else first
    return len(names) > (2 if len(names) == len(first) else 1) and names == [b"%d" % i for i in range(len(names))]


def _is_utf8(cell):
    try:
        cell.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def has_index(form) -> bool:
    """Return whether the first column is the row numbers that pandas writes, without a name."""
    return form.names is not None and form.n_columns > 1 and form.names[0] in ("", "Unnamed: 0")


def _warn_of_row_numbers(X, form, column, source):
    """Warn if the first feature counts the rows; ``column``: its number in the file."""
    if X.shape[0] < _FEW_ROWS:
        return
    values = X[:, [0]].toarray()[:, 0]
    if (np.diff(values) == 1).all():
        warn(f"{source}: column {_column_name(form, column)} counts the rows, and is read as a feature")


def _label_columns(form, labels, source, index):
    """Return the columns that are labels, and whether it is one whose cells list labels; none if a file has them.

    ``index``: whether the first column is not used.
    """
    first = int(index)
    n_columns = form.n_columns - first
    if labels is None:
        raise DatasetFormatError(
            source,
            f"it is a table of {n_columns:,} columns between {_SEPARATORS[form.separator]}{_some(form.names, first)}, "
            f"and nothing says which of them are labels{_likely(form, first)}",
            _TELL,
            1,
        )
    if isinstance(labels, (int, np.integer)) and not isinstance(labels, bool):
        if not 0 < abs(labels) < n_columns:
            found = f"labels={labels}, but there are {n_columns:,} columns" + (", without the first" if index else "")
            raise DatasetFormatError(source, found, "Some columns must be labels, and some features.", 1)
        return [
            *(range(first, first + labels) if labels > 0 else range(form.n_columns + labels, form.n_columns))
        ], False
    if isinstance(labels, str):
        if form.names is not None and labels in form.names:
            return [_column(form, labels, source)], True
        if os.path.exists(labels):
            return [], False
        return [_column(form, labels, source)], True
    if isinstance(labels, (list, tuple)) and all(isinstance(name, str) for name in labels):
        if not labels:
            raise ValueError("labels is an empty list: name the columns that are labels")
        columns = [_column(form, name, source) for name in labels]
        if len(set(columns)) < len(columns):
            raise ValueError("labels names a column twice")
        return columns, False
    return [], False


def _column(form, name, source):
    """Return the number of the column with a name; raise DatasetFormatError if there is none, or more than one."""
    if form.names is None:
        found = f"labels names {name!r}, but the first line has no names: it is a row of numbers"
        raise DatasetFormatError(source, found, "Give the number of labels, such as labels=-3 for the last three.", 1)
    count = form.names.count(name)
    if count == 1:
        return form.names.index(name)
    if count:
        raise DatasetFormatError(source, f"{count} columns have the name {name!r}", "Rename them.", 1)
    near = difflib.get_close_matches(name, form.names[:10_000], 3)
    like = f"; similar names: {', '.join(near)}" if near else f"{_some(form.names, 0)}"
    raise DatasetFormatError(source, f"no column has the name {name!r}{like}", "Name columns of the first line.", 1)


def _some(names, first):
    """Return some names of columns in brackets."""
    if names is None:
        return " without names"
    shown = ", ".join(name[:30] for name in names[first : first + 4])
    return f" ({shown}{', …' if len(names) - first > 4 else ''})"


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
    """Return which columns may be labels, as the end of a sentence: those at an end with nothing but 0 and 1."""
    ahead, last = binary_ends(form, first)
    said = [
        f"the {which} {n:,} hold{'s' if n == 1 else ''} nothing but 0 and 1 (labels={sign * n})"
        for which, n, sign in (("last", last, -1), ("first", ahead, 1))
        if n
    ]
    if not said:
        named = likely_listing(form)
        return f'; is it labels="{named}"?' if named else ""
    return "; in the first lines, " + ", and ".join(said)


def _read(text, source, form, features, labels, listing):
    """Read the rows of a table, block by block.

    Returns the features, the labels (None if there are none, or cells list them), and the cells that list labels with
    their lines.
    """
    parts, label_parts, lists, lines = [], [], [], []
    n_missing, first_missing = 0, None
    for block in blocks(text, form.separator, has_header=form.names is not None):
        _check_lengths(block, form, source)
        values = _numbers(block, form, source, features + ([] if listing else labels))
        X, Y = values[:, : len(features)], values[:, len(features) :]
        missing = np.isnan(X)
        if (count := int(np.count_nonzero(missing))) > 0:
            if first_missing is None:
                row, column = (int(i) for i in np.argwhere(missing)[0])
                first_missing = f"in line {block.line(row):,}, column {_column_name(form, features[column])}"
            n_missing += count
            X = np.where(missing, 0, X)
        _check_finite(X, block, form, source, features)
        parts.append(sp.csr_array(X.astype(np.float32)))
        if listing:
            lists += _texts(block, form, source, labels[0])
            lines.append(block.lines)
        else:
            _check_binary(Y, block, form, source, labels)
            label_parts.append(sp.csr_array(Y.astype(bool)))
    if not parts:
        raise DatasetFormatError(source, "it has names of columns, but no rows", "Give one row per line.")
    if n_missing:
        cells_are = "1 cell is" if n_missing == 1 else f"{n_missing:,} cells are"
        warn(f"{source}: {cells_are} missing, first {first_missing}: read as 0")
    X = check_features(sp.vstack(parts, format="csr")) if features else None
    Y = sp.csr_array(sp.vstack(label_parts, format="csr")) if label_parts and labels else None
    return X, Y, (lists, np.concatenate(lines)) if listing else None


def _check_lengths(block: Block, form, source):
    """Raise DatasetFormatError if a row has more or fewer cells than there are columns."""
    wrong = np.flatnonzero(block.n_cells != form.n_columns)
    if wrong.size:
        row = int(wrong[0])
        count = int(block.n_cells[row])
        raise DatasetFormatError(
            source,
            f"{count:,} cell{'s' * (count != 1)}, but the first line has {form.n_columns:,}",
            f"Every line needs the same number of cells, with {_SEPARATORS[form.separator]} between them.",
            block.line(row),
        )


def _numbers(block, form, source, columns):
    """Return the numbers of some columns of a block as float64; missing cells are NaN."""
    if not columns:
        return np.empty((block.n_rows, 0))
    frame = _frame(block, form, columns, np.float64)
    if frame is None:
        return _numbers_from_texts(block, form, source, columns)
    if len(frame) != block.n_rows:
        raise _unreadable(block, source)
    values = frame.to_numpy(copy=True) if list(frame.columns) == columns else frame[columns].to_numpy()
    hard = np.flatnonzero(_is_hard_to_round(values))
    if hard.size:
        values[:, hard] = _numbers_from_texts(block, form, source, [columns[at] for at in hard])
    return values


def _is_hard_to_round(values):
    """Return whether a column has a value so near to the middle of two float32 that an error of some bits moves it.

    Older versions of pandas read numbers to within a few bits of float64, which does not matter for all others.
    """
    from_middle = (values.view(np.int64) & ((1 << 29) - 1)) - (1 << 28)  # float64 has 29 bits more than float32
    magnitude = np.abs(values)
    hard = (np.abs(from_middle) <= 16) | ((magnitude < 2e-38) & (magnitude > 0)) | (magnitude > 3.4e38)
    return hard.any(axis=0)


def _frame(block, form, columns, kind):
    """Return columns of a block as a DataFrame, in the order of the file; None if a cell is no number."""
    import pandas as pd

    try:
        return pd.read_csv(
            io.BytesIO(block.content),
            sep=form.separator.decode(),
            header=None,
            names=range(form.n_columns),
            usecols=columns,
            dtype=kind,
            index_col=False,
            na_values=_MISSING if kind is np.float64 else None,
            keep_default_na=False,
            na_filter=kind is np.float64,
            skip_blank_lines=False,
            skipinitialspace=True,
            decimal=form.decimal,
            encoding="latin-1",  # takes all bytes; cells that are used as text are decoded as UTF-8
        )
    except (ValueError, OverflowError):  # pandas.errors.ParserError is a ValueError
        return None


def _unreadable(block, source):
    return DatasetFormatError(
        source,
        "its rows cannot be told apart",
        'Are quotes (") closed, and do all lines end the same way?',
        block.line(0),
    )


def _numbers_from_texts(block, form, source, columns):
    """Return the numbers of some columns of a block that holds words too: true and false are numbers, others errors."""
    words = {"true": 1.0, "false": 0.0, **dict.fromkeys(map(str.lower, _MISSING), np.nan)}
    values = np.empty((block.n_rows, len(columns)))
    for at, column in enumerate(columns):
        for row, cell in enumerate(_texts(block, form, source, column)):
            plain = cell.strip()
            value = words.get(plain.lower())
            if value is None:
                if form.decimal == "." and form.separator != b"," and _DECIMAL_COMMA.fullmatch(plain.encode()):
                    raise _DecimalComma
                number = plain.replace(form.decimal, ".")
                if not _NUMBER.fullmatch(number.encode()) or (form.decimal == "," and "." in plain):
                    raise _no_number(block, form, source, row, column, plain)
                value = float(number)
            values[row, at] = value
    return values


def _no_number(block, form, source, row, column, cell):
    """Return the error of a cell that is no number."""
    place = block.line(row), block.column(row, column, form.separator)
    if form.decimal == "," and "." in cell and _NUMBER.fullmatch(cell.replace(".", "").replace(",", ".").encode()):
        found = f"{cell[:40]!r} in column {_column_name(form, column)} has a point, but other numbers a decimal comma"
        remedy = "Write all decimals in the same way, and no points or commas between thousands."
        return DatasetFormatError(source, found, remedy, *place)
    return DatasetFormatError(
        source,
        f"{cell[:40]!r} in column {_column_name(form, column)} is not a number",
        "Columns are numbers, true or false: leave columns of text out of the file, or make a column of 0 and 1 for "
        "each value. If the column lists labels, name it: labels=...",
        *place,
    )


def _texts(block, form, source, column):
    """Return the cells of a column as text."""
    frame = _frame(block, form, [column], str)
    if frame is None or len(frame) != block.n_rows:
        raise _unreadable(block, source)
    texts = []
    for row, cell in enumerate(frame[column].tolist()):
        if not isinstance(cell, str):
            raise _unreadable(block, source)
        try:
            texts.append(cell.encode("latin-1").decode("utf-8"))
        except UnicodeDecodeError:
            place = block.line(row), block.column(row, column, form.separator)
            found = f"a cell in column {_column_name(form, column)} is not UTF-8"
            raise DatasetFormatError(source, found, "Save the file as UTF-8.", *place) from None
    return texts


def _check_finite(X, block, form, source, columns):
    """Raise DatasetFormatError if a value is infinite, or too large for float32."""
    with np.errstate(over="ignore"):
        wrong = np.isinf(X.astype(np.float32))
    if wrong.any():
        row, at = (int(i) for i in np.argwhere(wrong)[0])
        raise DatasetFormatError(
            source,
            f"the value in column {_column_name(form, columns[at])} is infinite, or too large for float32 (3.4e38)",
            "Scale the feature, or replace the value.",
            block.line(row),
            block.column(row, columns[at], form.separator),
        )


def _check_binary(Y, block, form, source, columns):
    """Raise DatasetFormatError if a label is not 0 or 1."""
    wrong = (Y != 0) & (Y != 1)
    if wrong.any():
        row, at = (int(i) for i in np.argwhere(wrong)[0])
        value = Y[row, at]
        unnamed = None
        if form.names is not None and columns[at] == form.n_columns - 1 and form.names[-1] == "":
            unnamed = f"The last column has no name: remove the {form.separator.decode()!r} at the ends of lines."
        raise DatasetFormatError(
            source,
            f"the label {_column_name(form, columns[at])} is "
            + ("missing" if np.isnan(value) else f"{value:g}, not 0 or 1"),
            "Columns of labels hold 0 and 1, or true and false. "
            + ("Are other columns the labels?" if unnamed is None else unnamed),
            block.line(row),
            block.column(row, columns[at], form.separator),
        )


def _column_name(form, column):
    """Return the name of a column in quotes, or its number."""
    return repr(form.names[column][:40]) if form.names is not None else f"{column + 1:,}"
