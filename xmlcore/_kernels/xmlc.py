"""Rows of ``l1,l2 f:v f:v`` text to flat CSR arrays.

Two passes over the bytes: :func:`count_tokens` bounds how much can be in there, :func:`parse_rows` fills arrays of that
size. Nothing is ever allocated because a header promises it.
"""

import numpy as np

from xmlcore._kernels._jit import kernel

# What parse_rows returns. Python turns everything but OK into an error that names line, column and remedy.
OK = 0
BAD_LABEL = 1  # no label id where one is expected
LABEL_RANGE = 2
BAD_FEATURE = 3  # no "id:" where one is expected
FEATURE_RANGE = 4
BAD_VALUE = 5  # not a finite number, or too large for float32
TOO_MANY_ROWS = 6
TOO_FEW_ROWS = 7
SUM_OVERFLOW = 8  # the values of a repeated feature are too large together

# Where parse_rows reports, in ``out``.
ROWS, N_FEATURES, N_LABELS, LINE, POSITION, LINE_START, N_HARD = 0, 1, 2, 3, 4, 5, 6
MIN_FEATURE, MAX_FEATURE, MIN_LABEL, MAX_LABEL = 7, 8, 9, 10
REPEATED_FEATURE_ROWS, REPEATED_FEATURE_LINE, REPEATED_LABEL_ROWS, REPEATED_LABEL_LINE = 11, 12, 13, 14
OUT_SIZE = 15

_TAB, _NEWLINE, _RETURN, _SPACE, _HASH = 9, 10, 13, 32, 35
_PLUS, _COMMA, _MINUS, _POINT, _ZERO, _NINE, _COLON, _UPPER_E, _LOWER_E = 43, 44, 45, 46, 48, 57, 58, 69, 101
_ID_CAP = 1 << 40  # ids stop growing here: far past what is allowed, far from overflow
_EXACT_MANTISSA = np.uint64(1 << 53)
_EXACT_POWER = 22  # 10**22 is the last power of ten that float64 holds exactly
_POWERS = np.array([float(f"1e{power}") for power in range(80)])
_SLACK = 2.0**-50  # more than the relative error of mantissa, table and product together


@kernel
def count_tokens(text):
    """Upper bounds: lines, ``:`` and ``,`` in ``text`` (uint8)."""
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
def _is_blank(byte):
    return byte == _SPACE or byte == _TAB or byte == _RETURN


@kernel
def _skip_blanks(text, at):
    while at < text.size and _is_blank(text[at]):
        at += 1
    return at


@kernel
def _is_end(text, at):
    """A token ends here: end of text, a blank, a newline or a comment."""
    if at >= text.size:
        return True
    byte = text[at]
    return _is_blank(byte) or byte == _NEWLINE or byte == _HASH


@kernel
def _read_id(text, at):
    """Digits from ``at`` on: (value, where they end)."""
    value = np.int64(0)
    while at < text.size and _ZERO <= text[at] <= _NINE:
        if value < _ID_CAP:
            value = value * 10 + (np.int64(text[at]) - _ZERO)
        at += 1
    return value, at


@kernel
def _read_number(text, at):
    """A decimal number from ``at`` on: (good, value, hard, where it ends).

    Digits go into a 64-bit mantissa. Up to 2**53 and 10**22 one float64 operation rounds once, as ``float()`` does.
    Beyond, the product may be off by some units in the last place of float64, which nearly never changes the float32;
    where it could, the number is ``hard`` and Python decides.
    """
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
    if not _is_end(text, at):
        return False, np.float32(0.0), False, at
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
def _heap_sort(keys):
    """Sort int64 ``keys`` in place; np.sort would cost two more seconds to compile."""
    n = keys.size
    heap_end = n
    root_to_place = n // 2
    while heap_end > 1:
        if root_to_place > 0:
            root_to_place -= 1
            hole = root_to_place
        else:
            heap_end -= 1
            keys[0], keys[heap_end] = keys[heap_end], keys[0]
            hole = 0
        key = keys[hole]
        while True:
            child = 2 * hole + 1
            if child >= heap_end:
                break
            if child + 1 < heap_end and keys[child + 1] > keys[child]:
                child += 1
            if keys[child] <= key:
                break
            keys[hole] = keys[child]
            hole = child
        keys[hole] = key


@kernel
def _merge_labels(indices, first, last):
    """Sort ``indices[first:last]`` and drop repeats: (new end, were there any)."""
    keys = indices[first:last].astype(np.int64)
    _heap_sort(keys)
    write = first
    for i in range(keys.size):
        if i == 0 or keys[i] != keys[i - 1]:
            indices[write] = keys[i]
            write += 1
    return write, write < last


@kernel
def _merge_features(indices, data, first, last):
    """Sort the row by id and sum repeats in the order they came: (new end, were there any, is every sum finite)."""
    n = last - first
    keys = np.empty(n, np.int64)
    for i in range(n):
        keys[i] = (np.int64(indices[first + i]) << 32) | i
    _heap_sort(keys)
    values = data[first:last].copy()
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
    return write, write < last, finite


@kernel
def _drop_zeros(indices, data, first, last):
    write = first
    for read in range(first, last):
        if data[read] != 0.0:
            indices[write] = indices[read]
            data[write] = data[read]
            write += 1
    return write


@kernel
def parse_rows(
    text,
    start,
    first_line,
    n_rows,
    n_features,
    n_labels,
    first_index,
    skip_blank,
    x_indptr,
    x_indices,
    x_data,
    y_indptr,
    y_indices,
    hard_spans,
    resolved,
    out,
):
    """Parse ``text[start:]`` into preallocated arrays.

    Parameters
    ----------
    text : uint8 (B,)
    start : int
        Where the first row starts; that is line ``first_line`` of the file.
    n_rows : int
        How many rows there must be, or -1: as many as there are.
    n_features, n_labels : int
        Ids are smaller than these.
    first_index : int
        Subtracted from every id.
    skip_blank : bool
        A blank line is no row; otherwise it is a row with no labels and no features. A line with nothing but a comment
        never is a row.
    x_indptr, y_indptr : int64 (lines + 1,)
    x_indices, x_data : int32, float32 (colons,)
    y_indices : int32 (commas + lines,)
    hard_spans : int64 (capacity, 2)
        Start and end of every number that needs :func:`float`, in the order of the text; ``out[N_HARD]`` counts them,
        also those past the capacity.
    resolved : float32 (m,)
        The values of the first m of them; the rest get a value that may be one float32 off.
    out : int64 (OUT_SIZE,)
        Counts, and where an error is.

    Returns
    -------
    int
        OK or what is wrong. Rows come out sorted, without repeated ids and without zeros.
    """
    size = text.size
    x_end = 0
    y_end = 0
    row = 0
    n_hard = 0
    at = start
    line = first_line
    x_indptr[0] = 0
    y_indptr[0] = 0
    out[:] = 0
    min_feature = np.int64(_ID_CAP)
    max_feature = np.int64(-1)
    min_label = np.int64(_ID_CAP)
    max_label = np.int64(-1)
    status = OK
    line_start = at
    while at < size:
        line_start = at
        at = _skip_blanks(text, at)
        if at < size and text[at] == _HASH:  # nothing but a comment
            while at < size and text[at] != _NEWLINE:
                at += 1
            at += 1
            line += 1
            continue
        if at >= size or text[at] == _NEWLINE:
            if not skip_blank and row != n_rows:
                row += 1
                x_indptr[row] = x_end
                y_indptr[row] = y_end
            at += 1
            line += 1
            continue
        if row == n_rows:
            status = TOO_MANY_ROWS
            break
        x_first = x_end
        y_first = y_end
        previous = np.int64(-1)
        ordered = True
        if at == line_start:
            while True:
                token = at
                label, at = _read_id(text, at)
                if at == token:
                    status = BAD_LABEL
                    break
                if at < size and text[at] == _COLON and y_end == y_first:
                    at = token  # the row starts with a feature: it has no labels
                    break
                if not (_is_end(text, at) or text[at] == _COMMA):
                    at = token
                    status = BAD_LABEL
                    break
                label -= first_index
                if label < 0 or label >= n_labels:
                    at = token
                    status = LABEL_RANGE
                    break
                y_indices[y_end] = label
                y_end += 1
                min_label = min(min_label, label)
                max_label = max(max_label, label)
                ordered &= label > previous
                previous = label
                at = _skip_blanks(text, at)
                if at < size and text[at] == _COMMA:
                    at = _skip_blanks(text, at + 1)
                else:
                    break
            if status != OK:
                break
            if not ordered:
                y_end, repeated = _merge_labels(y_indices, y_first, y_end)
                if repeated:
                    if out[REPEATED_LABEL_ROWS] == 0:
                        out[REPEATED_LABEL_LINE] = line
                    out[REPEATED_LABEL_ROWS] += 1
        previous = np.int64(-1)
        ordered = True
        zeros = False
        while True:
            at = _skip_blanks(text, at)
            if at >= size or text[at] == _NEWLINE:
                break
            if text[at] == _HASH:
                while at < size and text[at] != _NEWLINE:
                    at += 1
                break
            token = at
            feature, at = _read_id(text, at)
            if at == token or at >= size or text[at] != _COLON:
                at = token
                status = BAD_FEATURE
                break
            feature -= first_index
            if feature < 0 or feature >= n_features:
                at = token
                status = FEATURE_RANGE
                break
            token = at + 1
            good, value, hard, at = _read_number(text, token)
            if not good:
                at = token
                status = BAD_VALUE
                break
            if hard:
                if n_hard < hard_spans.shape[0]:
                    hard_spans[n_hard, 0] = token
                    hard_spans[n_hard, 1] = at
                if n_hard < resolved.size:
                    value = resolved[n_hard]
                    if not np.isfinite(value):
                        at = token
                        status = BAD_VALUE
                        break
                elif not np.isfinite(value):
                    value = np.float32(1.0)  # to be decided with `resolved`
                n_hard += 1
            x_indices[x_end] = feature
            x_data[x_end] = value
            x_end += 1
            zeros |= value == 0.0
            min_feature = min(min_feature, feature)
            max_feature = max(max_feature, feature)
            ordered &= feature > previous
            previous = feature
        if status != OK:
            break
        if not ordered:
            x_end, repeated, finite = _merge_features(x_indices, x_data, x_first, x_end)
            zeros |= repeated
            if repeated:
                if out[REPEATED_FEATURE_ROWS] == 0:
                    out[REPEATED_FEATURE_LINE] = line
                out[REPEATED_FEATURE_ROWS] += 1
            if not finite:
                at = line_start
                status = SUM_OVERFLOW
                break
        if zeros:
            x_end = _drop_zeros(x_indices, x_data, x_first, x_end)
        row += 1
        x_indptr[row] = x_end
        y_indptr[row] = y_end
        at += 1
        line += 1
    if status == OK and row < n_rows:
        status = TOO_FEW_ROWS
    out[ROWS] = row
    out[N_FEATURES] = x_end
    out[N_LABELS] = y_end
    out[LINE] = line
    out[POSITION] = at
    out[LINE_START] = line_start
    out[N_HARD] = n_hard
    out[MIN_FEATURE] = min_feature
    out[MAX_FEATURE] = max_feature
    out[MIN_LABEL] = min_label
    out[MAX_LABEL] = max_label
    return status
