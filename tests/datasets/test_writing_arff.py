"""Writing of ARFF: what is written is read back, with names of every kind."""

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from xmlcore.datasets import DatasetWarning, read_matrix, write_arff

ODD = ["a b", 'say "x"', "", " ", "x\ny", *r"it's 50% {a,b} \ \' \u0041 ? é TAG_m\'usica @data".split()]
NAMES = st.text(max_size=12).filter(lambda name: "\x00" not in name) | st.sampled_from(ODD)
IN_XML = NAMES.filter(lambda name: not any(ord(c) < 32 and c not in "\t\n\r" or c in "\ufffe\uffff" for c in name))


def same(path, X, Y, feature_names, label_names, labels=None):
    with warnings.catch_warnings(action="ignore", category=DatasetWarning):
        X_back, Y_back, features, names = read_matrix(path, labels=labels)
    assert (X_back.shape, Y_back.shape) == (X.shape, Y.shape)
    assert (X_back != X).nnz == 0 and (Y_back != Y).nnz == 0
    assert (features, names) == (feature_names, label_names)


@settings(max_examples=150, deadline=None)
@given(st.data(), st.booleans())
def test_names_of_every_kind_are_read_back(data, with_xml):
    names = data.draw(st.lists(IN_XML if with_xml else NAMES, min_size=2, max_size=8, unique=True))
    n_labels = data.draw(st.integers(1, len(names) - 1))
    features, labels = names[n_labels:], names[:n_labels]
    X, Y = np.eye(len(names), len(features), dtype=np.float32), np.eye(len(names), n_labels, dtype=bool)
    relation = data.draw(NAMES.filter(lambda name: "-C" not in name and "-c" not in name))
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
