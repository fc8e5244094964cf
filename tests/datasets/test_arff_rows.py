"""The reader of ARFF rows against one that is written in another way."""

import naive
import numpy as np

from xmlcore.datasets import DatasetFormatError
from xmlcore.datasets.readers.arff import _columns
from xmlcore.datasets.readers.arff_header import NOMINAL, NUMERIC, Header, Type
from xmlcore.datasets.readers.arff_rows import RowReader
from xmlcore.datasets.readers.sources import NamedSource

TYPES = [
    Type(NUMERIC),
    Type(NOMINAL, ("0", "1"), ("0", "1")),
    Type(NOMINAL, ("1", "0"), ("1", "0")),
    Type(NOMINAL, ("red", "green", "dark blue"), ("red", "green", "dark blue")),
    Type("string"),
    Type(NUMERIC),
    Type(NOMINAL, ("yes", "no"), ("yes", "no")),
]
HEADER = Header(names=list("abcdefg"), lines=[1] * 7, types=TYPES, type_of=np.arange(7), data_line=4, start=0)
LABELS = [1, 5, 6]
ATTRIBUTES = [
    ("numeric", False, 0),
    ({b"0": -1, b"1": 0}, True, 0),
    ({b"0": -1, b"1": 0}, False, 1),
    ({b"red": 0, b"green": 1, b"dark blue": 2}, False, 2),
    ("left out", False, 5),
    ("numeric", True, 1),
    ({b"yes": 0, b"no": -1}, True, 2),
]
DEFAULTS = {2: 1, 3: 2, 6: 2}


def compare(content):
    """Check that both readers agree on these rows; return what is wrong, or "ok"."""
    reader = RowReader(HEADER, _columns(HEADER, LABELS), NamedSource(b"", "rows"), "", {})
    expected = naive.arff.parse_rows(content, 5, ATTRIBUTES, DEFAULTS)
    try:
        X, Y = reader.read(np.frombuffer(content, dtype=np.uint8))
    except DatasetFormatError as error:
        assert (error.line, error.column) == expected[1:], (str(error), expected, content)
        return expected[0]
    assert expected[0] == "ok", (expected, content)
    _, rows, missing, weighted = expected
    nouns = ("missing value", "missing label", "row weight")
    assert [reader.remarks.get(noun, [0])[0] for noun in nouns] == [*missing, weighted], content
    assert X.shape[0] == len(rows)
    for i, (labels, features) in enumerate(rows):
        assert Y[[i]].indices.tolist() == labels, content
        assert X[[i]].indices.tolist() == list(features), content
        assert X[[i]].data.tolist() == list(features.values()), content
    return "ok"


def test_random_rows_are_read_as_by_the_twin():
    rng = np.random.default_rng(11)
    pieces = b"0|1|?|red|'dark blue'|\"green\"|yes|no|-2.5|1e-50|123456789012345678|7|16777217|0.1".split(b"|")
    pieces += [b"'", b"{", b"}", b",", b" ", b"\t", b"%", b"\n"]
    seen = set()
    for _ in range(1500):
        if rng.random() < 0.5:  # nearly valid: one piece may be wrong
            values = [b"1.5", b"1", b"0", b"red", b"text", b"1", b"no"]
            if rng.random() < 0.5:
                values = [b"%d %s" % pair for pair in enumerate(values) if rng.random() < 0.6]
                row = b"{" + b",".join(values) + b"}"
            else:
                row = b",".join(values)
            at = rng.integers(0, len(row) + 1)
            content = row + b"\n" + row[:at] + pieces[rng.integers(len(pieces))] + row[at + rng.integers(0, 3) :]
        else:
            content = b"".join(pieces[i] for i in rng.integers(0, len(pieces), rng.integers(1, 20)))
        seen.add(compare(content))
    assert "ok" in seen and len(seen) > 10


def test_numbers_that_need_python_are_exact():
    hard = b"1.00000005960464477539062500000000001"  # just above the middle between two float32
    content = b"".join(b"%s,0,0,red,a,%s,no\n" % (number, label) for number in (hard, b"-" + hard) * 300
                       for label in (b"0", b"1.0", b"0.99999999999999999999"))  # fmt: skip
    assert compare(content) == "ok"
    assert compare(content + b"1,0,0,red,a,1.00000011920928955078125000001,no") == "bad label"
