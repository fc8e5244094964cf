"""Where the attributes of an ARFF file are, in its header."""

import numpy as np

from xmlcore._kernels._jit import inlined, kernel
from xmlcore._kernels.arff import read_token
from xmlcore._kernels.xmlc import is_blank, skip_blanks, skip_line

# Columns of the places that scan_attributes writes.
LINE_NUMBER, LINE_FIRST, NAME_FIRST, NAME_STOP, QUOTED, TYPE_FIRST, TYPE_STOP = 0, 1, 2, 3, 4, 5, 6
SAME_TYPE = 7  # not a place: 1 if the type is written as that of the attribute before, else 0
SPAN_SIZE = 8

_NEWLINE, _DOUBLE, _PERCENT, _SINGLE, _COMMA, _OPEN, _CLOSE = 10, 34, 37, 39, 44, 123, 125
_WORD = tuple(b"@attribute")


@inlined
def _skip_word(text, at):
    """Return the place behind ``@attribute`` and a blank, in small or large letters; -1 if that is not at ``at``."""
    for letter in _WORD:
        if at >= text.size or (text[at] != letter and np.int64(text[at]) + 32 != letter):
            return np.int64(-1)
        at += 1
    return at if at < text.size and is_blank(text[at]) else np.int64(-1)


@inlined
def _scan_name(text, at, spans, n):
    """Find the name of attribute ``n``, write it to ``spans``, and return the place behind it; -1 if there is none."""
    if at >= text.size or text[at] == _NEWLINE:
        return np.int64(-1)
    quote = text[at]
    if quote == _SINGLE or quote == _DOUBLE:
        first, stop, at = read_token(text, at)
        spans[n, NAME_FIRST], spans[n, NAME_STOP], spans[n, QUOTED] = first, stop, 1
        return at
    if quote == _OPEN or quote == _CLOSE or quote == _COMMA or quote == _PERCENT:
        return np.int64(-1)
    spans[n, NAME_FIRST], spans[n, QUOTED] = at, 0
    while at < text.size and text[at] != _NEWLINE and text[at] != _OPEN and not is_blank(text[at]):
        at += 1
    spans[n, NAME_STOP] = at
    return at


@inlined
def _same_type(text, spans, n):
    """Return whether the types of attributes ``n - 1`` and ``n`` are written with the same bytes."""
    if n == 0:
        return False
    i, j = spans[n - 1, TYPE_FIRST], spans[n, TYPE_FIRST]
    stop = spans[n, TYPE_STOP]
    if spans[n - 1, TYPE_STOP] - i != stop - j:
        return False
    while j < stop and text[i] == text[j]:
        i += 1
        j += 1
    return j == stop


@kernel
def scan_attributes(text, spans, others):
    n_attributes, n_others = 0, 0
    at = np.int64(0)
    line = 1
    while at < text.size:
        start = at
        at = _skip_word(text, skip_blanks(text, at))
        if at >= 0:
            at = _scan_name(text, skip_blanks(text, at), spans, n_attributes)
        if at >= 0:
            at = skip_blanks(text, at)
            spans[n_attributes, LINE_NUMBER], spans[n_attributes, LINE_FIRST] = line, start
            spans[n_attributes, TYPE_FIRST] = at
            at = skip_line(text, at)
            spans[n_attributes, TYPE_STOP] = at
            spans[n_attributes, SAME_TYPE] = _same_type(text, spans, n_attributes)
            n_attributes += 1
        else:
            others[n_others, 0], others[n_others, 1] = line, start
            at = skip_line(text, start)
            n_others += 1
        at += 1
        line += 1
    return n_attributes, n_others
