"""What the beginning of a file says before it is read."""

import gzip
import io

import numpy as np
import pytest

from tests.archiving import npz
from xmlcore.datasets import DatasetFormatError
from xmlcore.datasets.readers.formats import Look, look

ARFF = "@relation 'r%s'\n@attribute a numeric\n@attribute b {0,1}\n@attribute c {0,1}\n@data\n1,0,1\n"


@pytest.mark.parametrize(("content", "expected"), [
    (b"3 4 5\n0 1:1\n", Look("xmlc", (3, 4, 5))),
    (b"3 4\n1:1\n", Look("xmlc", (3, 4))),
    (b"0 1:1\n", Look("svmlight")),
    (npz(X=np.eye(2), Y=np.eye(2)), Look("npz")),
    (b"a,b,c\n5,1,0\n", Look("csv", columns=["a", "b", "c"], n_likely=-2)),
    (b"b,c,a\n1,0,5\n", Look("csv", columns=["b", "c", "a"], n_likely=2)),
    (b"5,1,0\n3,0,0\n", Look("csv", columns=["1", "2", "3"], n_likely=-2)),
    (b"a,Tags\n5,x;y\n", Look("csv", columns=["a", "Tags"], listing="Tags")),
    ((ARFF % "").encode(), Look("arff", columns=["a", "b", "c"], n_likely=-2, relation="r")),
    ((ARFF % ": -C -1").encode(), Look("arff", columns=["a", "b", "c"], n_likely=-2, n_said=-1, relation="r")),
])  # fmt: skip
def test_the_beginning_of_a_file_says_its_format_and_its_labels(content, expected):
    for source in (content, gzip.compress(content), io.BytesIO(content)):
        assert look(source) == expected


def test_looking_at_a_long_file_reads_its_beginning_only(monkeypatch):
    monkeypatch.setattr("xmlcore.datasets.readers.formats._HEAD", 1000)
    monkeypatch.setattr("xmlcore.datasets.readers.sources._CHUNK", 100)
    rows = "".join(f"0 1:{value}\n" for value in np.random.default_rng(0).random(20_000))
    packed = gzip.compress(b"9 9 9\n" + rows.encode())[:-20]  # the end is missing
    assert look(packed).sizes == (9, 9, 9)


def test_a_file_object_can_be_read_after_a_look():
    stream = io.BytesIO(b"3 4 5\n0 1:1\n")
    look(stream)
    assert stream.read(5) == b"3 4 5"


def test_a_file_that_cannot_be_read_says_so_at_the_first_look():
    with pytest.raises(DatasetFormatError, match="mine: it is a PDF document"):
        look(b"%PDF-1.7\n", "mine")
