"""Parser of rows of ``l1,l2 f:v f:v`` text into flat CSR arrays.

There are two passes over the bytes: :func:`count_tokens` bounds the number of rows, labels and features, and
:func:`parse_rows` fills arrays of that size. Memory thus depends on the text itself, never on what a header promises.
"""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.sorting import sort_in_place

# What parse_rows returns. Python turns each but OK into an error message with line, column and remedy.
OK = 0
BAD_LABEL = 1  # no label id where one is expected
LABEL_RANGE = 2
BAD_FEATURE = 3  # no "id:" where one is expected
FEATURE_RANGE = 4
BAD_VALUE = 5  # not a finite number, or too large for float32
TOO_MANY_ROWS = 6
TOO_FEW_ROWS = 7
SUM_OVERFLOW = 8  # the values of a repeated feature are too large together

# Places in ``out``, where parse_rows writes counts and the place of an error.
ROWS, N_FEATURES, N_LABELS, LINE, POSITION, LINE_START, N_HARD = 0, 1, 2, 3, 4, 5, 6
MIN_FEATURE, MAX_FEATURE, MIN_LABEL, MAX_LABEL = 7, 8, 9, 10
REPEATED_FEATURE_ROWS, REPEATED_FEATURE_LINE, REPEATED_LABEL_ROWS, REPEATED_LABEL_LINE = 11, 12, 13, 14
OUT_SIZE = 15

_TAB, _NEWLINE, _RETURN, _SPACE, _HASH = 9, 10, 13, 32, 35
_PLUS, _COMMA, _MINUS, _POINT, _ZERO, _NINE, _COLON, _UPPER_E, _LOWER_E = 43, 44, 45, 46, 48, 57, 58, 69, 101
_ID_CAP = 1 << 40  # ids are not read beyond this: far above the largest valid id, and far from overflow
_EXACT_MANTISSA = np.uint64(1 << 53)
_EXACT_POWER = 22  # 10**22 is the last power of ten that float64 holds exactly
_POWERS = np.array([float(f"1e{power}") for power in range(80)])
_SLACK = 2.0**-50  # more than the relative error of mantissa, table and product together


class TextForm(NamedTuple):
    """The form of a text: where its rows are, and which ids are valid."""

    start: int  # place of the first row in the text
    first_line: int  # number of that line in the file
    n_rows: int  # required number of rows; -1 for any
    n_features: int  # ids are smaller than these two
    n_labels: int
    first_index: int  # subtracted from every id
    skip_blank: bool  # a blank line is no row; otherwise it is a row without labels and features


@kernel
def count_tokens(text):
    """Return the number of lines, ``:`` and ``,`` in ``text`` (uint8): upper bounds on rows, features and labels."""
    lines = 0
    colons = 0
    commas = 0
    for i in range(text.size):
        lines += text[i] == _NEWLINE
        colons += text[i] == _COLON
        commas += text[i] == _COMMA
    if text.size > 0 and text[text.size - 1] != _NEWLINE:
        lines += 1
    return lines, colons, commas


@kernel
def is_blank(byte):
    return byte == _SPACE or byte == _TAB or byte == _RETURN


@kernel
def skip_blanks(text, at):
    while at < text.size and is_blank(text[at]):
        at += 1
    return at


@kernel
def _is_end(text, at):
    """Return whether a token ends at this place: end of text, a blank, a newline or a comment."""
    if at >= text.size:
        return True
    byte = text[at]
    return is_blank(byte) or byte == _NEWLINE or byte == _HASH


@kernel
def read_id(text, at):
    """Read digits from ``at`` on; return their value and where they end."""
    value = np.int64(0)
    while at < text.size and _ZERO <= text[at] <= _NINE:
        if value < _ID_CAP:
            value = value * 10 + (np.int64(text[at]) - _ZERO)
        at += 1
    return value, at


@kernel
def read_decimal(text, at):
    """Read a decimal number from ``at`` on; return (is it valid, value, is it hard, where it ends)."""
    # Up to 2**53 and 10**22 the number is one float64 operation, rounded once as by ``float()``. Beyond that, the
    # result may have an error of some units in the last place of float64. Where that could change the float32 value,
    # the number is ``hard``: Python reads it again. The caller checks that a token ends where the number does.
    size = text.size
    negative = False
    if at < size and (text[at] == _MINUS or text[at] == _PLUS):
        negative = text[at] == _MINUS
        at += 1
    mantissa = np.uint64(0)
    digits = 0  # of the mantissa, without leading zeros
    power = 0
    seen = 0
    cut = False
    while at < size and _ZERO <= text[at] <= _NINE:
        digit = np.int64(text[at]) - _ZERO
        if digits < 19:
            mantissa = mantissa * np.uint64(10) + np.uint64(digit)
            if mantissa > np.uint64(0):
                digits += 1
        else:
            power += 1
            cut |= digit != 0
        seen += 1
        at += 1
    if at < size and text[at] == _POINT:
        at += 1
        while at < size and _ZERO <= text[at] <= _NINE:
            digit = np.int64(text[at]) - _ZERO
            if digits < 19:
                mantissa = mantissa * np.uint64(10) + np.uint64(digit)
                power -= 1
                if mantissa > np.uint64(0):
                    digits += 1
            else:
                cut |= digit != 0
            seen += 1
            at += 1
    if seen == 0:
        return False, np.float32(0.0), False, at
    if at < size and (text[at] == _LOWER_E or text[at] == _UPPER_E):
        at += 1
        down = False
        if at < size and (text[at] == _MINUS or text[at] == _PLUS):
            down = text[at] == _MINUS
            at += 1
        first = at
        exponent = np.int64(0)
        while at < size and _ZERO <= text[at] <= _NINE:
            if exponent < _ID_CAP:
                exponent = exponent * 10 + (np.int64(text[at]) - _ZERO)
            at += 1
        if at == first:
            return False, np.float32(0.0), False, at
        power += -exponent if down else exponent
    if mantissa == np.uint64(0) or power + digits < -46:  # below half of float32's smallest number
        return True, np.float32(0.0), False, at
    if power + digits > 40:  # at least 1e40
        return False, np.float32(0.0), False, at
    value = np.float64(mantissa)
    if power < 0:
        value = value / _POWERS[-power]
    else:
        value = value * _POWERS[power]
    hard = False
    if cut or mantissa > _EXACT_MANTISSA or power > _EXACT_POWER or power < -_EXACT_POWER:
        hard = np.float32(value * (1.0 - _SLACK)) != np.float32(value * (1.0 + _SLACK))
    if negative:
        value = -value
    single = np.float32(value)
    if not hard and not np.isfinite(single):
        return False, single, False, at
    return True, single, hard, at


@kernel
def _merge_labels(indices, first, stop):
    """Sort ``indices[first:stop]`` and drop repeats; return the new end and whether there were repeats."""
    keys = indices[first:stop].astype(np.int64)
    sort_in_place(keys)
    write = first
    for i in range(keys.size):
        if i == 0 or keys[i] != keys[i - 1]:
            indices[write] = keys[i]
            write += 1
    return write, write < stop


@kernel
def _merge_features(indices, data, first, stop):
    """Sort a row by id and sum repeats in their order; return the new end, whether there were any, and are finite."""
    n = stop - first
    keys = np.empty(n, np.int64)
    for i in range(n):
        keys[i] = (np.int64(indices[first + i]) << 32) | i
    sort_in_place(keys)
    values = data[first:stop].copy()
    write = first
    finite = True
    i = 0
    while i < n:
        feature = keys[i] >> 32
        total = 0.0
        while i < n and keys[i] >> 32 == feature:
            total += np.float64(values[keys[i] & 0xFFFFFFFF])
            i += 1
        indices[write] = feature
        data[write] = np.float32(total)
        finite &= np.isfinite(data[write])
        write += 1
    return write, write < stop, finite


@kernel
def _drop_zeros(indices, data, first, stop):
    """Drop zeros from a row; return its new end."""
    write = first
    for read in range(first, stop):
        if data[read] != 0.0:
            indices[write] = indices[read]
            data[write] = data[read]
            write += 1
    return write


@inlined
def skip_line(text, at):
    """Return the place of the next newline, or the end of the text."""
    while at < text.size and text[at] != _NEWLINE:
        at += 1
    return at


@inlined
def _read_labels(text, at, form, y_indices, y_end):
    y_first = y_end
    previous = np.int64(-1)
    ordered = True
    while True:
        token = at
        label, at = read_id(text, at)
        if at == token:
            return BAD_LABEL, at, y_end, ordered
        if at < text.size and text[at] == _COLON and y_end == y_first:
            return OK, token, y_end, ordered  # the row starts with a feature: it has no labels
        if not (_is_end(text, at) or text[at] == _COMMA):
            return BAD_LABEL, token, y_end, ordered
        label -= form.first_index
        if label < 0 or label >= form.n_labels:
            return LABEL_RANGE, token, y_end, ordered
        y_indices[y_end] = label
        y_end += 1
        ordered &= label > previous
        previous = label
        at = skip_blanks(text, at)
        if at < text.size and text[at] == _COMMA:
            at = skip_blanks(text, at + 1)
        else:
            return OK, at, y_end, ordered


@inlined
def read_hard(value, first, stop, hard_spans, resolved, out):
    """Return the value of a number that ``float()`` must read, as far as it is known, and note where it stands."""
    n_hard = out[N_HARD]
    if n_hard < hard_spans.shape[0]:
        hard_spans[n_hard, 0] = first
        hard_spans[n_hard, 1] = stop
    if n_hard < resolved.size:
        value = resolved[n_hard]
    elif not np.isfinite(value):
        value = np.float32(2.0)  # the next run has the number in ``resolved``
    out[N_HARD] += 1
    return value


@inlined
def _read_features(text, at, form, arrays, x_end, hard_spans, resolved, out):
    """Read the features of a row up to its newline, past a comment."""
    previous = np.int64(-1)
    ordered = True
    zeros = False
    while True:
        at = skip_blanks(text, at)
        if at >= text.size or text[at] == _NEWLINE:
            return OK, at, x_end, ordered, zeros
        if text[at] == _HASH:
            return OK, skip_line(text, at), x_end, ordered, zeros
        token = at
        feature, at = read_id(text, at)
        if at == token or at >= text.size or text[at] != _COLON:
            return BAD_FEATURE, token, x_end, ordered, zeros
        feature -= form.first_index
        if feature < 0 or feature >= form.n_features:
            return FEATURE_RANGE, token, x_end, ordered, zeros
        token = at + 1
        good, value, hard, at = read_decimal(text, token)
        if not (good and _is_end(text, at)):
            return BAD_VALUE, token, x_end, ordered, zeros
        if hard:
            value = read_hard(value, token, at, hard_spans, resolved, out)
            if not np.isfinite(value):
                return BAD_VALUE, token, x_end, ordered, zeros
        arrays.x_indices[x_end] = feature
        arrays.x_data[x_end] = value
        x_end += 1
        zeros |= value == 0.0
        ordered &= feature > previous
        previous = feature


@inlined
def count_line(out, count, first_line, line):
    """Count something, and keep the line of the first one."""
    if out[count] == 0:
        out[first_line] = line
    out[count] += 1


@inlined
def _widen(out, least, most, indices, first, stop):
    """Extend the range of ids by those of a sorted row."""
    if stop > first:
        out[least] = min(out[least], np.int64(indices[first]))
        out[most] = max(out[most], np.int64(indices[stop - 1]))


# More than 80 lines with its docstring: the parts of a row are functions above, and the loop keeps their state.
@kernel
def parse_rows(text, form, arrays, hard_spans, resolved, out):
    """Parse the rows of a text into preallocated arrays: sorted, without repeated ids and zeros."""
    size = text.size
    x_end = np.int64(0)
    y_end = np.int64(0)
    row = 0
    at = form.start
    line = form.first_line
    arrays.x_indptr[0] = 0
    arrays.y_indptr[0] = 0
    out[:] = 0
    out[MIN_FEATURE] = _ID_CAP
    out[MAX_FEATURE] = -1
    out[MIN_LABEL] = _ID_CAP
    out[MAX_LABEL] = -1
    status = OK
    line_start = at
    while at < size:
        line_start = at
        at = skip_blanks(text, at)
        if at < size and text[at] == _HASH:  # nothing but a comment
            at = skip_line(text, at) + 1
            line += 1
            continue
        if at >= size or text[at] == _NEWLINE:
            if not form.skip_blank and row != form.n_rows:
                row += 1
                arrays.x_indptr[row] = x_end
                arrays.y_indptr[row] = y_end
            at += 1
            line += 1
            continue
        if row == form.n_rows:
            status = TOO_MANY_ROWS
            break
        x_first = x_end
        y_first = y_end
        if at == line_start:  # a row that starts with a blank has no labels
            status, at, y_end, ordered = _read_labels(text, at, form, arrays.y_indices, y_end)
            if status != OK:
                break
            if not ordered:
                y_end, repeated = _merge_labels(arrays.y_indices, y_first, y_end)
                if repeated:
                    count_line(out, REPEATED_LABEL_ROWS, REPEATED_LABEL_LINE, line)
            _widen(out, MIN_LABEL, MAX_LABEL, arrays.y_indices, y_first, y_end)
        status, at, x_end, ordered, zeros = _read_features(text, at, form, arrays, x_end, hard_spans, resolved, out)
        if status != OK:
            break
        if not ordered:
            x_end, repeated, finite = _merge_features(arrays.x_indices, arrays.x_data, x_first, x_end)
            zeros |= repeated
            if repeated:
                count_line(out, REPEATED_FEATURE_ROWS, REPEATED_FEATURE_LINE, line)
            if not finite:
                at = line_start
                status = SUM_OVERFLOW
                break
        _widen(out, MIN_FEATURE, MAX_FEATURE, arrays.x_indices, x_first, x_end)
        if zeros:
            x_end = _drop_zeros(arrays.x_indices, arrays.x_data, x_first, x_end)
        row += 1
        arrays.x_indptr[row] = x_end
        arrays.y_indptr[row] = y_end
        at += 1
        line += 1
    if status == OK and row < form.n_rows:
        status = TOO_FEW_ROWS
    out[ROWS] = row
    out[N_FEATURES] = x_end
    out[N_LABELS] = y_end
    out[LINE] = line
    out[POSITION] = at
    out[LINE_START] = line_start
    return status
