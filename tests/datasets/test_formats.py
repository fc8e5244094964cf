"""The table of formats, names that files bring with them, and what the beginning of a file says."""

import gzip
import io
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from tests.archiving import npz
from xmlcore.datasets import DatasetFormatError, read_dataset, read_matrix
from xmlcore.datasets.readers import formats
from xmlcore.datasets.readers.formats import FileHead, read_head
from xmlcore.datasets.readers.rows import Rows


@pytest.fixture
def named(monkeypatch):
    """A format of one line: the names of the features, which are also the labels, of a unit matrix."""

    def parse(text, source, options):
        names = text.tobytes().decode().removeprefix("names ").split()
        X = sp.csr_array(np.eye(len(names), dtype=np.float32))
        return Rows(source, "named", X, X.astype(bool), 0, feature_names=names, label_names=[*map(str.upper, names)])

    module = SimpleNamespace(parse=parse, looks_like=lambda text: bytes(text[:6]) == b"names ")
    monkeypatch.setitem(formats.READERS, "named", module)


def test_a_format_is_recognised_and_its_names_arrive(named):
    X, _, feature_names, label_names = read_matrix(b"names a b c")
    assert (X.shape, feature_names, label_names) == ((3, 3), ["a", "b", "c"], ["A", "B", "C"])
    assert read_matrix(b"a b", format="named")[2] == ["a", "b"]
    dataset = read_dataset(b"names a b", b"names a b")
    assert (dataset.feature_names, dataset.label_names) == (["a", "b"], ["A", "B"])
    assert read_dataset(b"names a b", b"names a b", label_names=["x", "y"]).label_names == ["x", "y"]


def test_an_option_that_a_format_does_not_take_is_an_error(named):
    with pytest.raises(ValueError, match="it has no columns, but .* is to be a column"):
        read_matrix(b"names a b c", labels=["a"])
    with pytest.raises(ValueError, match="it has the labels of its rows, but labels are given beside it"):
        read_matrix(b"names a b c", labels=b"1 1\n0\n")


def test_files_with_other_names_say_which_differs_first(named):
    with pytest.raises(DatasetFormatError) as caught:
        read_dataset(b"names a b c", b"names a x c")
    assert "its feature 2 is 'x', but that of data (training) is 'b'" in str(caught.value)
    with pytest.raises(DatasetFormatError, match="its feature 3 is nothing, but that of .* is 'c'"):
        read_dataset(b"names a b c", b"names a b")


ARFF = "@relation 'r%s'\n@attribute a numeric\n@attribute b {0,1}\n@attribute c {0,1}\n@data\n1,0,1\n"


@pytest.mark.parametrize(("content", "expected"), [
    (b"3 4 5\n0 1:1\n", FileHead("xmlc", (3, 4, 5))),
    (b"3 4\n1:1\n", FileHead("xmlc", (3, 4))),
    (b"0 1:1\n", FileHead("svmlight")),
    (npz(X=np.eye(2), Y=np.eye(2)), FileHead("npz")),
    (b"a,b,c\n5,1,0\n", FileHead("csv", columns=["a", "b", "c"], n_likely=-2)),
    (b"b,c,a\n1,0,5\n", FileHead("csv", columns=["b", "c", "a"], n_likely=2)),
    (b"5,1,0\n3,0,0\n", FileHead("csv", columns=["1", "2", "3"], n_likely=-2)),
    (b"a,Tags\n5,x;y\n", FileHead("csv", columns=["a", "Tags"], listing="Tags")),
    ((ARFF % "").encode(), FileHead("arff", columns=["a", "b", "c"], n_likely=-2, relation="r")),
    ((ARFF % ": -C -1").encode(), FileHead("arff", columns=["a", "b", "c"], n_likely=-2, n_declared=-1, relation="r")),
])  # fmt: skip
def test_the_beginning_of_a_file_says_its_format_and_its_labels(content, expected):
    for source in (content, gzip.compress(content), io.BytesIO(content)):
        assert read_head(source) == expected


def test_looking_at_a_long_file_reads_its_beginning_only(monkeypatch):
    monkeypatch.setattr("xmlcore.datasets.readers.formats._HEAD", 1000)
    monkeypatch.setattr("xmlcore.datasets.readers.sources._CHUNK", 100)
    rows = "".join(f"0 1:{value}\n" for value in np.random.default_rng(0).random(20_000))
    packed = gzip.compress(b"9 9 9\n" + rows.encode())[:-20]  # the end is missing
    assert read_head(packed).sizes == (9, 9, 9)


def test_a_file_object_can_be_read_after_a_look():
    stream = io.BytesIO(b"3 4 5\n0 1:1\n")
    read_head(stream)
    assert stream.read(5) == b"3 4 5"


def test_a_file_that_cannot_be_read_says_so_at_the_first_look():
    with pytest.raises(DatasetFormatError, match="mine: it is a PDF document"):
        read_head(b"%PDF-1.7\n", "mine")
