"""Parser of the rows of an ARFF file, dense or sparse, into flat CSR arrays.

There are two passes over the rows, as in xmlc.py: :func:`count_entries` bounds what :func:`parse_rows` can find, so
that memory depends on the text itself.
"""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.digits import EIGHT, read_digits
from xmlcore._kernels.xmlc import N_HARD, count_line, is_blank, read_decimal, read_hard, read_id, skip_blanks, skip_line

# Kinds of attributes. A label has the kind of such a feature plus LABEL.
NUMERIC, NOMINAL, LEFT_OUT, LABEL = 0, 1, 2, 3

# What parse_rows returns. Python turns each but OK into an error message with line, column and remedy.
OK = 0
BAD_NUMBER = 1  # not a finite number, or too large for float32
BAD_NOMINAL = 2  # not one of the attribute's values
BAD_LABEL = 3  # the number of a numeric label is neither 0 nor 1
NO_VALUE = 4
BAD_TOKEN = 5  # a quotation mark without its partner, or something right after a value
TOO_FEW = 6  # values of a dense row
TOO_MANY = 7
BAD_INDEX = 8  # no whole number where a sparse row needs an attribute's number
INDEX_RANGE = 9
INDEX_ORDER = 10  # smaller than the index before, or the same
NOT_CLOSED = 11  # a sparse row or a weight without its brace
BAD_WEIGHT = 12
AFTER_ROW = 13  # something behind the end of a row

# Places in ``out``, where parse_rows writes counts and the place of an error.
ROWS, N_FEATURES, N_LABELS, LINE, POSITION, LINE_START = 0, 1, 2, 3, 4, 5  # and N_HARD
ATTRIBUTE, PREVIOUS = 7, 8  # the attribute of an error; the index before it in a sparse row
MISSING_FEATURES, MISSING_FEATURE_LINE, MISSING_LABELS, MISSING_LABEL_LINE = 9, 10, 11, 12
WEIGHTED_ROWS, WEIGHT_LINE = 13, 14
OUT_SIZE = 15

_TAB, _NEWLINE, _RETURN, _SPACE, _DOUBLE, _PERCENT, _SINGLE, _COMMA = 9, 10, 13, 32, 34, 37, 39, 44
_QUESTION, _BACKSLASH, _OPEN, _CLOSE = 63, 92, 123, 125
_MINUS, _POINT, _ZERO, _ONE, _NINE = 45, 46, 48, 49, 57
_LONGEST_PAIR = 40  # bytes; more than a plain pair of a sparse row has: 8 digits, a blank, 26 for a number, a comma
_POWERS = np.array([float(f"1e{power}") for power in range(16)])
_TENS = np.array([10**power for power in range(EIGHT)], np.int64)


class Attributes(NamedTuple):
    """The columns of the file; the values of nominal attribute a are first[a] to stop[a] - 1, sorted by their bytes."""

    kind: np.ndarray  # int8 (A,)
    column: np.ndarray  # int32 (A,): the attribute's first column in X or Y
    first: np.ndarray  # int64 (A,)
    stop: np.ndarray  # int64 (A,)
    ends: np.ndarray  # int64 (V + 1,): value v is letters[ends[v]:ends[v + 1]]
    letters: np.ndarray  # uint8
    offset: np.ndarray  # int32 (V,): the column that is 1 for this value, counted from column[a]; -1 for none
    one: np.ndarray  # int32 (A,): the same for the value ``1`` of a number or nominal attribute; -1 also if it has none
    zero: np.ndarray  # bool (A,): whether the value ``0`` is one of the attribute's, and makes no column 1
    default: np.ndarray  # int32 (n,): attributes, ascending, that are not 0 in a sparse row that leaves them out
    default_column: np.ndarray  # int32 (n,)


@kernel
def count_entries(text):
    """Return the numbers of lines, of opening braces, and of commas and blanks: bounds of what rows there are."""
    lines = 1
    braces = 0
    separators = 0
    for i in range(text.size):
        byte = text[i]
        lines += byte == _NEWLINE
        braces += byte == _OPEN
        separators += (byte == _COMMA) | (byte == _SPACE) | (byte == _TAB) | (byte == _RETURN)
    return lines, braces, separators


@inlined
def _is_end(text, at):
    """Return whether a value ends at this place: end of text, a blank, a comma, a closing brace or a newline."""
    if at >= text.size:
        return True
    byte = text[at]
    return byte == _COMMA or is_blank(byte) or byte == _NEWLINE or byte == _CLOSE


@inlined
def _is_end_of_row(text, at):
    """Return whether nothing but a comment follows in this line."""
    return at >= text.size or text[at] == _NEWLINE or text[at] == _PERCENT


@inlined
def read_token(text, at):
    """Read a word or a quoted text; return (first byte, end, where reading goes on), with -1 for an open quote."""
    quote = text[at]
    if quote != _SINGLE and quote != _DOUBLE:
        first = at
        while not _is_end(text, at):
            at += 1
        return first, at, at
    at += 1
    first = at
    while at < text.size and text[at] != _NEWLINE and text[at] != quote:
        at += 2 if text[at] == _BACKSLASH and at + 1 < text.size and text[at + 1] != _NEWLINE else 1
    if at >= text.size or text[at] == _NEWLINE:
        return first, at, np.int64(-1)
    return first, at, at + 1


@inlined
def _find_value(text, first, stop, attributes, a):
    """Return the number of the value ``text[first:stop]`` of a nominal attribute, or -1."""
    low, high = attributes.first[a], attributes.stop[a]
    while low < high:
        middle = (low + high) // 2
        i, j, end = first, attributes.ends[middle], attributes.ends[middle + 1]
        while i < stop and j < end and text[i] == attributes.letters[j]:
            i += 1
            j += 1
        if i == stop and j == end:
            return middle
        if j == end or (i < stop and text[i] > attributes.letters[j]):
            low = middle + 1
        else:
            high = middle
    return np.int64(-1)


@inlined
def _read_short(text, at):
    """Read a plain number of at most 15 digits; return (is it one, value, where it ends); it is rounded once."""
    negative = at < text.size and text[at] == _MINUS
    at += negative
    first = at
    limit = min(text.size, at + 17)  # a longer number is none of these; the mantissa has at most 17 digits
    mantissa = np.int64(0)
    while at < limit and _ZERO <= text[at] <= _NINE:
        mantissa = mantissa * 10 + (np.int64(text[at]) - _ZERO)
        at += 1
    digits = at - first
    power = np.int64(0)
    if at < limit and text[at] == _POINT:
        at += 1
        point = at
        while at < limit and _ZERO <= text[at] <= _NINE:
            mantissa = mantissa * 10 + (np.int64(text[at]) - _ZERO)
            at += 1
        power = at - point
        digits += power
    if digits == 0 or digits > 15 or not _is_end(text, at):
        return False, np.float32(0.0), at
    value = np.float64(mantissa) / _POWERS[power]
    return True, np.float32(-value if negative else value), at


@inlined
def _read_quick(text, at):
    """Read a number as ``_read_short`` does, quickly if it is short; at least 26 bytes must follow."""
    negative = text[at] == _MINUS
    before, mantissa = read_digits(text, at + negative)
    place = at + negative + before
    after = part = np.int64(0)
    if text[place] == _POINT:
        after, part = read_digits(text, place + 1)
        place += 1 + after
    if before == EIGHT or after == EIGHT or before + after == 0:
        return _read_short(text, at)
    value = np.float64(mantissa)
    if after > 0:
        value = np.float64(mantissa * _TENS[after] + part) / _POWERS[after]
    return True, np.float32(-value if negative else value), place


@inlined
def _read_number(text, at, hard_spans, resolved, out):
    """Read a number, with quotation marks around it or not; return (is it valid, value, where it ends)."""
    good, value, end = _read_short(text, at)
    if good:
        return True, value, end
    quote = text[at]
    quoted = quote == _SINGLE or quote == _DOUBLE
    first = at + 1 if quoted else at
    good, value, hard, at = read_decimal(text, first)
    if good and hard:
        value = read_hard(value, first, at, hard_spans, resolved, out)
        good = np.isfinite(value)
    if quoted:
        good &= at < text.size and text[at] == quote
        at += 1
    return good and _is_end(text, at), value, at


@inlined
def _read_value(text, at, a, attributes, arrays, ends, hard_spans, resolved, out):
    """Read the value of attribute ``a`` at ``at``, and append it unless it is 0; return (status, where it ends)."""
    if _is_end_of_row(text, at) or text[at] == _COMMA or text[at] == _CLOSE:
        return NO_VALUE, at
    kind = np.int64(attributes.kind[a])
    is_label = kind >= LABEL
    if text[at] == _QUESTION and _is_end(text, at + 1):
        if is_label:
            count_line(out, MISSING_LABELS, MISSING_LABEL_LINE, out[LINE])
        elif kind != LEFT_OUT:
            count_line(out, MISSING_FEATURES, MISSING_FEATURE_LINE, out[LINE])
        return OK, at + 1
    value = np.float32(1.0)
    offset = np.int32(0)
    token = at
    if kind == NUMERIC or kind == NUMERIC + LABEL:
        good, value, at = _read_number(text, at, hard_spans, resolved, out)
        if not good:
            return BAD_NUMBER, token
        if value == 0.0:
            return OK, at
        if is_label and value != 1.0 and out[N_HARD] <= resolved.size:
            return BAD_LABEL, token
    else:
        first, stop, at = read_token(text, at)
        if at < 0 or not _is_end(text, at):
            return BAD_TOKEN, token
        if kind == LEFT_OUT:
            return OK, at
        found = _find_value(text, first, stop, attributes, a)
        if found < 0:
            return BAD_NOMINAL, token
        offset = attributes.offset[found]
        if offset < 0:
            return OK, at
    column = attributes.column[a] + offset
    if is_label:
        arrays.y_indices[ends[1]] = column
        ends[1] += 1
    else:
        arrays.x_indices[ends[0]] = column
        arrays.x_data[ends[0]] = value
        ends[0] += 1
    return OK, at


@inlined
def _read_plain_values(text, at, a, attributes, arrays, ends):
    """Read numbers of at most 15 digits, each with a comma behind it; the caller reads the first other one."""
    n_x, n_y = ends[0], ends[1]
    while at + _LONGEST_PAIR < text.size and a < attributes.kind.size - 1:
        kind = attributes.kind[a]
        column = attributes.column[a]
        value = np.float32(1.0)
        if text[at + 1] == _COMMA and text[at] == _ZERO:
            if not attributes.zero[a]:
                break
            value = np.float32(0.0)
            at += 2
        elif text[at + 1] == _COMMA and text[at] == _ONE:
            offset = attributes.one[a]
            if offset < 0:
                break
            column += offset
            at += 2
        else:
            if kind != NUMERIC:
                break
            good, value, place = _read_quick(text, at)
            if not good or text[place] != _COMMA:
                break
            at = place + 1
        if value != 0.0:
            if kind >= LABEL:
                arrays.y_indices[n_y] = column
                n_y += 1
            else:
                arrays.x_indices[n_x] = column
                arrays.x_data[n_x] = value
                n_x += 1
        a += 1
        at += text[at] == _SPACE
    ends[0], ends[1] = n_x, n_y
    return at, a


@inlined
def _read_dense(text, at, attributes, arrays, ends, hard_spans, resolved, out):
    """Read the values of a dense row; return (OK or what is wrong, where they end)."""
    n = attributes.kind.size
    a = 0
    while True:
        at, a = _read_plain_values(text, at, a, attributes, arrays, ends)
        at = skip_blanks(text, at)
        out[ATTRIBUTE] = a
        if _is_end_of_row(text, at):
            return TOO_FEW, at
        if a == n:
            return (OK if text[at] == _OPEN else TOO_MANY), at
        status, at = _read_value(text, at, a, attributes, arrays, ends, hard_spans, resolved, out)
        if status != OK:
            return status, at
        a += 1
        at = skip_blanks(text, at)
        if at < text.size and text[at] == _COMMA:
            at = skip_blanks(text, at + 1)
        if _is_end_of_row(text, at):
            out[ATTRIBUTE] = a
            return (OK if a == n else TOO_FEW), at


@inlined
def _append_defaults(attributes, at, before, arrays, ends):
    """Append the values of attributes below ``before`` that a sparse row leaves out; return the next default."""
    while at < attributes.default.size and attributes.default[at] < before:
        if attributes.kind[attributes.default[at]] >= LABEL:
            arrays.y_indices[ends[1]] = attributes.default_column[at]
            ends[1] += 1
        else:
            arrays.x_indices[ends[0]] = attributes.default_column[at]
            arrays.x_data[ends[0]] = 1.0
            ends[0] += 1
        at += 1
    return at


@inlined
def _read_plain_pairs(text, at, previous, before, attributes, arrays, ends):
    """Read pairs such as ``12 0.25,``; the caller reads the first that is not plain, or not below ``before``."""
    n_x, n_y = ends[0], ends[1]
    while at + _LONGEST_PAIR < text.size:
        count, index = read_digits(text, at)
        place = at + count
        if count == 0 or text[place] != _SPACE or index <= previous or index >= before:
            break
        place += 1
        kind = attributes.kind[index]
        column = attributes.column[index]
        value = np.float32(1.0)
        if text[place] == _ONE and text[place + 1] == _COMMA:
            offset = attributes.one[index]
            if offset < 0:
                break
            column += offset
            place += 1
        else:
            if kind != NUMERIC:
                break
            good, value, place = _read_quick(text, place)
            if not good or text[place] != _COMMA:
                break
        if kind >= LABEL:
            arrays.y_indices[n_y] = column
            n_y += 1
        elif value != 0.0:
            arrays.x_indices[n_x] = column
            arrays.x_data[n_x] = value
            n_x += 1
        previous = index
        at = place + 1
        at += text[at] == _SPACE
    ends[0], ends[1] = n_x, n_y
    return at, previous


@inlined
def _read_sparse(text, at, attributes, arrays, ends, hard_spans, resolved, out):
    """Read the rest of a sparse row after its opening brace; return (OK or what is wrong, where it ends)."""
    default = 0
    previous = np.int64(-1)
    at = skip_blanks(text, at)
    while at >= text.size or text[at] != _CLOSE:
        before = attributes.default[default] if default < attributes.default.size else attributes.kind.size
        at, previous = _read_plain_pairs(text, at, previous, before, attributes, arrays, ends)
        at = skip_blanks(text, at)
        if at < text.size and text[at] == _CLOSE:  # behind a comma
            break
        if _is_end_of_row(text, at):
            return NOT_CLOSED, at
        token = at
        index, at = read_id(text, at)
        out[PREVIOUS] = previous
        if at == token or not _is_end(text, at):
            return BAD_INDEX, token
        if index >= attributes.kind.size:
            return INDEX_RANGE, token
        out[ATTRIBUTE] = index
        if index <= previous:
            return INDEX_ORDER, token
        default = _append_defaults(attributes, default, index, arrays, ends)
        if default < attributes.default.size and attributes.default[default] == index:
            default += 1
        previous = index
        status, at = _read_value(
            text, skip_blanks(text, at), index, attributes, arrays, ends, hard_spans, resolved, out
        )
        if status != OK:
            return status, at
        at = skip_blanks(text, at)
        if at < text.size and text[at] == _COMMA:
            at = skip_blanks(text, at + 1)
        elif not _is_end_of_row(text, at) and text[at] != _CLOSE:
            return BAD_TOKEN, at
    _append_defaults(attributes, default, attributes.kind.size, arrays, ends)
    at = skip_blanks(text, at + 1)
    if at < text.size and text[at] == _COMMA:
        at = skip_blanks(text, at + 1)
    return OK, at


@inlined
def _read_weight(text, at, out):
    """Read a weight in braces, if there is one, and what may follow a row; return (OK or what is wrong, the place)."""
    if not _is_end_of_row(text, at) and text[at] == _OPEN:
        token = at
        at = skip_blanks(text, at + 1)
        good, weight, _, at = read_decimal(text, at)
        if not good:
            return BAD_WEIGHT, token
        at = skip_blanks(text, at)
        if at >= text.size or text[at] != _CLOSE:
            return NOT_CLOSED, token
        if weight != 1.0:
            count_line(out, WEIGHTED_ROWS, WEIGHT_LINE, out[LINE])
        at = skip_blanks(text, at + 1)
    return (OK if _is_end_of_row(text, at) else AFTER_ROW), at


@kernel
def parse_rows(text, start, first_line, attributes, arrays, hard_spans, resolved, out):
    """Parse the rows of a text into preallocated arrays, in the order of the attributes, without zeros."""
    ends = np.zeros(2, np.int64)
    at = np.int64(start)
    out[:] = 0
    out[LINE] = first_line
    row = 0
    arrays.x_indptr[0] = 0
    arrays.y_indptr[0] = 0
    status = OK
    while at < text.size:
        out[LINE_START] = at
        at = skip_blanks(text, at)
        if _is_end_of_row(text, at):
            at = skip_line(text, at) + 1
            out[LINE] += 1
            continue
        if text[at] == _OPEN:
            status, at = _read_sparse(text, at + 1, attributes, arrays, ends, hard_spans, resolved, out)
        else:
            status, at = _read_dense(text, at, attributes, arrays, ends, hard_spans, resolved, out)
        if status == OK:
            status, at = _read_weight(text, at, out)
        if status != OK:
            break
        row += 1
        arrays.x_indptr[row] = ends[0]
        arrays.y_indptr[row] = ends[1]
        at = skip_line(text, at) + 1
        out[LINE] += 1
    out[ROWS] = row
    out[N_FEATURES] = ends[0]
    out[N_LABELS] = ends[1]
    out[POSITION] = at
    return status
