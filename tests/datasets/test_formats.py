"""The table of formats, and names that files bring with them."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore.datasets import DatasetFormatError, read_dataset, read_matrix
from xmlcore.datasets.readers import formats
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
