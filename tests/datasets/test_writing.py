"""Writing of matrices, and of ARFF: what is written is read back, with names of every kind."""

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from datasets.reads import random_matrices
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from xmlcore.datasets import DatasetWarning, read_matrix, write_arff, write_matrix
from xmlcore.datasets.writers import WRITTEN

VALUES = st.floats(width=32, allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, 1.0, 1e-45, 3.4028235e38])
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=9)


@st.composite
def data_sets(draw):
    """X, Y and names of features and labels, of any shape."""
    n, d, k = draw(st.integers(1, 6)), draw(st.integers(1, 7)), draw(st.integers(1, 5))
    X = draw(arrays.arrays(np.float32, (n, d), elements=VALUES, fill=st.just(0.0)))
    Y = draw(arrays.arrays(bool, (n, k)))
    names = [draw(st.lists(NAMES, min_size=count, max_size=count)) for count in (d, k)]
    return sp.csr_array(X), sp.csr_array(Y), *names


def equal(matrix, other):
    return matrix.shape == other.shape and (matrix != other).nnz == 0


@pytest.mark.filterwarnings("ignore::xmlcore.datasets.DatasetWarning")
@pytest.mark.parametrize("format", WRITTEN)
def test_whatever_is_written_is_read_back(format, tmp_path_factory):
    path = tmp_path_factory.mktemp("written") / "data.gz"

    @settings(max_examples=40, deadline=None, derandomize=True, database=None)
    @given(data_sets())
    def check(data):
        X, Y, feature_names, label_names = data
        if format == "arff":  # in which all names are different
            feature_names = [f"{i} {name}" for i, name in enumerate(feature_names)]
            label_names = [f"label {i} {name}" for i, name in enumerate(label_names)]
        if format in ("npz", "arff"):
            write_matrix(path, X, Y, format, feature_names=feature_names, label_names=label_names)
            assert read_matrix(path)[2:] == (feature_names, label_names)
        else:
            write_matrix(path, X, Y, format)
        if format == "svmlight":  # the largest ids say the widths
            if Y.nnz == 0:
                return
            X = X[:, : max(1, 1 + max(X.tocoo().col, default=0))]
            Y = Y[:, : 1 + max(Y.tocoo().col)]
            if X.nnz == 0 and not (np.diff(Y.indptr) == 0).any():
                return  # no row has a feature
        X_back, Y_back, *_ = read_matrix(path, format)
        assert equal(X_back, X) and equal(Y_back, Y)

    check()


def test_what_a_format_cannot_hold_is_not_written(tmp_path):
    path = tmp_path / "d"
    with pytest.raises(ValueError, match="xmlc has no place for names"):
        write_matrix(path, np.eye(2), [[0], [1]], label_names=["a", "b"])
    with pytest.raises(ValueError, match="label_names has 1 names, but there are 2 labels"):
        write_matrix(path, np.eye(2), [[0], [1]], "npz", label_names=["a"])
    with pytest.raises(ValueError, match="use one of 'xmlc', 'svmlight', 'arff', 'npz'"):
        write_matrix(path, np.eye(2), [[0], [1]], "excel")
    with pytest.raises(ValueError, match="format='arff'"):
        write_matrix(path, np.eye(2), [[0], [1]], xml=tmp_path / "labels.xml")
    assert not path.exists()


@pytest.mark.parametrize("name", ["data.txt", "data.txt.gz", "data.bz2", "data.txt.XZ"])
def test_what_is_written_is_read_back_exactly(name, tmp_path, monkeypatch):
    monkeypatch.setattr("xmlcore.datasets.writers._CHUNK", 100)
    X, Y = random_matrices(np.random.default_rng(7))
    write_matrix(tmp_path / name, X, Y)
    X_back, Y_back, _, _ = read_matrix(tmp_path / name)
    assert X_back.shape == X.shape
    assert (X_back != X).nnz == 0
    assert (Y_back != Y).nnz == 0
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [name]
    packed = (tmp_path / name).read_bytes()
    assert (packed[:1] in (b"2",)) == (name == "data.txt")


def test_numbers_are_written_short_and_empty_rows_as_blank_lines(tmp_path):
    write_matrix(tmp_path / "d.txt", np.array([[0.1, 2, 0], [0, 0, 1e-7], [0, 0, 0], [0, 0, 0]]), [[1], [], [0, 1], []])
    assert (tmp_path / "d.txt").read_bytes() == b"4 3 2\n1 0:0.1 1:2\n 2:1e-07\n0,1\n\n"
    X, Y, _, _ = read_matrix(tmp_path / "d.txt")
    assert X.shape == (4, 3)
    assert Y.nnz == 3


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "d.txt"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr("xmlcore.datasets.writers._rows", fail)
    with pytest.raises(OSError, match="disk full"):
        write_matrix(path, np.eye(2), [[0], [1]])
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["d.txt"]


def test_matrices_that_do_not_fit_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="rows"):
        write_matrix(tmp_path / "d.txt", np.eye(2), [[0]])
    with pytest.raises(ValueError, match="zip"):
        write_matrix(tmp_path / "d.zip", np.eye(2), [[0], [1]])


ODD = ["a b", 'say "x"', "", " ", "x\ny", *r"it's 50% {a,b} \ \' \u0041 ? é TAG_m\'usica @data".split()]
ATTRIBUTES = st.text(max_size=12).filter(lambda name: "\x00" not in name) | st.sampled_from(ODD)
IN_XML = ATTRIBUTES.filter(lambda name: not any(ord(c) < 32 and c not in "\t\n\r" or c in "\ufffe\uffff" for c in name))


def same(path, X, Y, feature_names, label_names, labels=None):
    with warnings.catch_warnings(action="ignore", category=DatasetWarning):
        X_back, Y_back, features, names = read_matrix(path, labels=labels)
    assert (X_back.shape, Y_back.shape) == (X.shape, Y.shape)
    assert (X_back != X).nnz == 0 and (Y_back != Y).nnz == 0
    assert (features, names) == (feature_names, label_names)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.booleans())
def test_names_of_every_kind_are_read_back(data, with_xml):
    names = data.draw(st.lists(IN_XML if with_xml else ATTRIBUTES, min_size=2, max_size=8, unique=True))
    n_labels = data.draw(st.integers(1, len(names) - 1))
    features, labels = names[n_labels:], names[:n_labels]
    X, Y = np.eye(len(names), len(features), dtype=np.float32), np.eye(len(names), n_labels, dtype=bool)
    relation = data.draw(ATTRIBUTES.filter(lambda name: "-C" not in name and "-c" not in name))
    with tempfile.TemporaryDirectory() as folder:
        xml = Path(folder, "a.xml") if with_xml else None
        write_arff(Path(folder, "a.arff"), X, Y, features, labels, relation=relation, xml=xml)
        same(Path(folder, "a.arff"), sp.csr_array(X), sp.csr_array(Y), features, labels, labels=xml)


def test_what_is_written_is_what_mulan_and_meka_read(tmp_path):
    X, Y = np.array([[0.1, 2], [0, 0], [0, 1e-7]]), [[1], [], [0, 1]]
    write_arff(tmp_path / "d.arff", X, Y, ["an x", "y"], ["it's", "ü"])
    head = "@attribute 'an x' numeric\n@attribute y numeric\n@attribute 'it\\'s' {0,1}\n@attribute 'ü' {0,1}\n\n@data\n"
    rows = "{0 0.1,1 2,3 1}\n{}\n{1 1e-07,2 1,3 1}\n"
    assert (tmp_path / "d.arff").read_text() == f"@relation 'd: -C -2'\n\n{head}{rows}"
    write_arff(tmp_path / "d.arff", X, Y, ["an x", "y"], ["it's", "ü & \n"], relation="r", xml=tmp_path / "d.xml")
    assert (tmp_path / "d.arff").read_text().startswith("@relation 'r'\n\n@attribute")
    assert '<label name="ü &amp; &#10;"></label>' in (tmp_path / "d.xml").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"feature_names": ["a", "b"], "label_names": ["b", "c"]}, "but 'b' names a feature and a label: rename"),
        ({"feature_names": ["a", "a"], "label_names": ["b", "b"]}, "'a' is given twice .2 names occur twice"),
        ({"feature_names": ["a"]}, "feature_names has 1 names, but there are 2 features"),
        ({"label_names": ["\ud800", "b"]}, "not valid Unicode"),
        ({"label_names": ["a\x01", "b"], "xml": "a.xml"}, "XML cannot hold the label name 'a.x01'"),
        ({"relation": "r: -C 3"}, "says by -C what the labels are"),
    ],
)  # fmt: skip
def test_names_that_cannot_be_written_leave_no_file(options, message, tmp_path):
    if "xml" in options:
        options = options | {"xml": tmp_path / options["xml"]}
    with pytest.raises(ValueError, match=message):
        write_arff(tmp_path / "d.arff", np.eye(2), [[0], [1]], **options)
    with pytest.raises(TypeError, match="names are strings"):
        write_arff(tmp_path / "d.arff", np.eye(2), [[0], [1]], label_names=[1, 2])
    with pytest.raises(ValueError, match="no columns"):
        write_arff(tmp_path / "d.arff", np.eye(2), np.zeros((2, 0)))
    assert not list(tmp_path.glob("*.arff")) and not list(tmp_path.glob("*.xml"))
