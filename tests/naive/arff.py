"""The rows of an ARFF file, read by other rules than those of arff_rows."""

import re

import numpy as np

_WORD = re.compile(rb"[^ \t\r,}\n]*")
_QUOTED = re.compile(rb"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_DECIMAL = re.compile(rb"[+-]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]+)?")


class Wrong(Exception):
    """What is wrong, and where in the line, from 0."""


class Row:
    """A row that is being read; ``attributes`` are those of :func:`parse_rows`."""

    def __init__(self, line, attributes):
        self.line, self.at, self.attributes = line, 0, attributes
        self.features, self.labels, self.missing, self.weight = [], [], [0, 0], 1.0

    def blanks(self):
        self.at += len(self.line[self.at :]) - len(self.line[self.at :].lstrip(b" \t\r"))

    def comma(self):
        self.blanks()
        if self.line[self.at : self.at + 1] == b",":
            self.at += 1
            self.blanks()
            return True
        return False

    def ends(self):
        return self.line[self.at : self.at + 1] in (b"", b"%")

    def stops(self, at):
        return self.line[at : at + 1] in (b"", b" ", b"\t", b"\r", b",", b"}")

    def value(self, number):
        kind, is_label, column = self.attributes[number]
        if self.ends() or self.line[self.at : self.at + 1] in (b",", b"}"):
            raise Wrong("no value", self.at)
        if self.line[self.at : self.at + 1] == b"?" and self.stops(self.at + 1):
            self.at += 1
            self.missing[is_label] += kind != "left out" or is_label
            return
        quoted = _QUOTED.match(self.line, self.at)
        word = next(g for g in quoted.groups() if g is not None) if quoted else _WORD.match(self.line, self.at).group()
        end = quoted.end() if quoted else self.at + len(word)
        if kind == "numeric":
            with np.errstate(over="ignore"):
                good = _DECIMAL.fullmatch(word) and np.isfinite(np.float32(float(word))) and self.stops(end)
            if not good:
                raise Wrong("bad number", self.at)
            value = np.float32(float(word))
            if is_label and value not in (0, 1):
                raise Wrong("bad label", self.at)
        else:
            if self.line[self.at : self.at + 1] in (b"'", b'"') and not (quoted and self.stops(end)):
                raise Wrong("bad token", self.at)
            if kind != "left out" and word not in kind:
                raise Wrong("bad nominal", self.at)
            offset = -1 if kind == "left out" else kind[word]
            value, column = np.float32(offset >= 0), column + offset
        self.at = end
        if value != 0:
            self.add(is_label, column, value)

    def add(self, is_label, column, value):
        if is_label:
            self.labels.append(column)
        else:
            self.features.append((column, value))

    def dense(self):
        for number in range(len(self.attributes)):
            if self.ends() and number:
                raise Wrong("too few", self.at)
            self.value(number)
            self.comma()
        if not self.ends() and self.line[self.at : self.at + 1] != b"{":
            raise Wrong("too many", self.at)

    def sparse(self, defaults):
        self.at += 1
        self.blanks()
        given = []
        while self.line[self.at : self.at + 1] != b"}":
            if self.ends():
                raise Wrong("not closed", self.at)
            digits = re.match(rb"[0-9]*", self.line[self.at :]).group()
            if not digits or not self.stops(self.at + len(digits)):
                raise Wrong("bad index", self.at)
            number = int(digits)
            if number >= len(self.attributes):
                raise Wrong("index range", self.at)
            if given and number <= given[-1]:
                raise Wrong("index order", self.at)
            given.append(number)
            self.at += len(digits)
            self.blanks()
            self.value(number)
            if not self.comma() and not self.ends() and self.line[self.at : self.at + 1] != b"}":
                raise Wrong("bad token", self.at)
        self.at += 1
        self.comma()
        for number, column in defaults.items():
            if number not in given:
                self.add(self.attributes[number][1], column, np.float32(1))
        # in the order of the attributes, whose columns ascend
        self.features.sort(key=lambda pair: pair[0])

    def read_weight(self):
        if self.line[self.at : self.at + 1] == b"{":
            first, self.at = self.at, self.at + 1
            self.blanks()
            match = _DECIMAL.match(self.line, self.at)
            if not match or not np.isfinite(np.float32(float(match.group()))):
                raise Wrong("bad weight", first)
            self.at, self.weight = match.end(), np.float32(float(match.group()))
            self.blanks()
            if self.line[self.at : self.at + 1] != b"}":
                raise Wrong("not closed", first)
            self.at += 1
            self.blanks()
        if not self.ends():
            raise Wrong("after row", self.at)


def parse_rows(text, first_line, attributes, defaults):
    """Parse rows of bytes.

    ``attributes`` is a list of (kind, is_label, column), where kind is "numeric", "left out" or a dict that has the
    offset of the column for each value, or -1; ``defaults`` has the column of each attribute whose first value is not
    0. Returns ("ok", rows, missing, weighted) with rows a list of (labels, {feature: value}), missing the numbers of
    missing features and labels, and weighted the number of rows with a weight; or (what is wrong, line, column), both
    from 1.
    """
    rows, missing, weighted = [], np.zeros(2, int), 0
    for number, line in enumerate(text.split(b"\n"), first_line):
        row = Row(line, attributes)
        row.blanks()
        if row.ends():
            continue
        try:
            if line[row.at : row.at + 1] == b"{":
                row.sparse(defaults)
            else:
                row.dense()
            row.read_weight()
        except Wrong as wrong:
            return wrong.args[0], number, wrong.args[1] + 1
        rows.append((sorted(row.labels), dict(row.features)))
        missing += row.missing
        weighted += row.weight != 1
    return "ok", rows, missing.tolist(), weighted
