"""Attributes of an ARFF file: twin of xmlcore/_kernels/arff_header.py."""

import re

_ATTRIBUTE = re.compile(
    rb"[ \t\r]*@attribute[ \t\r]+(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|([^ \t\r'\"{},%][^ \t\r{]*))"
    rb"[ \t\r]*(.*)",
    re.IGNORECASE | re.DOTALL,
)


def scan_attributes(text):
    """Return (line, name, whether it is quoted, type) of each attribute, and the numbers of all other lines."""
    attributes, others = [], []
    lines = text.split(b"\n")
    for number, line in enumerate(lines if lines[-1] else lines[:-1], 1):
        match = _ATTRIBUTE.fullmatch(line)
        if not match:
            others.append(number)
            continue
        single, double, plain, written = match.groups()
        attributes.append((number, next(x for x in (single, double, plain) if x is not None), plain is None, written))
    return attributes, others
