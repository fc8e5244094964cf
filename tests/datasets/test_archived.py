"""Several files of one data set in a zip archive."""

import io

import numpy as np
import pytest

from tests.archiving import zipped
from xmlcore.datasets import DatasetFormatError, read_dataset, read_matrix, write_matrix
from xmlcore.datasets.readers import archived
from xmlcore.datasets.readers.formats import read_head

HEADER = "@relation fruit\n@attribute width numeric\n@attribute apple {0,1}\n@attribute red {0,1}\n@data\n"
XML = '<labels><label name="red"></label><label name="apple"></label></labels>'
TRAIN, TEST = HEADER + "1,0,1\n2,1,0\n", HEADER + "3,1,1\n"
MULAN = {"fruit/fruit.arff": TRAIN, "fruit/fruit-train.arff": TRAIN, "fruit/fruit-test.arff": TEST, "fruit/f.xml": XML}


def test_a_data_set_of_mulan_is_read_from_its_archive(tmp_path):
    path = tmp_path / "fruit.zip"
    path.write_bytes(zipped(MULAN))
    with open(path, "rb") as stream:
        for source in (path, path.read_bytes(), io.BytesIO(path.read_bytes()), stream):
            data = read_dataset(source)
            assert (data.n_train, data.n_test, data.label_names, data.notes) == (2, 1, ["red", "apple"], ())
            assert data.Y_train.toarray().tolist() == [[1, 0], [0, 1]]
    assert read_dataset(path).name == "fruit"
    said = read_head(path)
    assert (said.format, said.columns) == ("arff", ["width", "apple", "red"])
    assert said.inside == {"train": "fruit-train.arff", "test": "fruit-test.arff", "labels": "f.xml"}


def test_what_is_given_comes_before_what_is_in_the_archive():
    data = read_dataset(zipped(MULAN), labels=["apple"], label_names=["pear"])
    assert (data.n_features, data.label_names) == (2, ["pear"])


def test_an_arff_file_and_its_xml_are_one_file():
    X, Y, features, labels = read_matrix(zipped({"fruit.arff": TRAIN, "fruit.xml": XML}))
    assert (features, labels, Y.toarray().tolist()) == (["width"], ["red", "apple"], [[1, 0], [0, 1]])
    data = read_dataset(zipped({"fruit.arff": TRAIN, "fruit.xml": XML}), TEST.encode())
    assert (data.n_train, data.n_test) == (2, 1)


def test_what_the_dashboard_writes_is_read_again(tmp_path):
    Y = np.array([[1, 0], [0, 1], [1, 1]])
    members = {}
    for part in ("train", "test"):
        write_matrix(tmp_path / "file", [[1, 0], [0, 2], [3, 0]], Y)
        members[f"{part}.txt"] = (tmp_path / "file").read_bytes()
    data = read_dataset(zipped(members | {"labels.txt": "a\nb\n", "features.txt": "c\nd\n"}))
    assert (data.n_train, data.n_test, data.label_names, data.feature_names) == (3, 3, ["a", "b"], ["c", "d"])


@pytest.mark.parametrize("names", [
    ["a.txt", "b.txt"],
    ["train-1.arff", "train-2.arff", "test-1.arff"],
    ["a.arff", "a.xml", "b.xml"],
    ["bibtex_data.txt", "bibtex_trSplit.txt"],
    ["a_data.txt", "b_data.txt", "trSplit.txt", "tstSplit.txt"],
    ["trn_X_Xf.txt", "trn_X_Y.txt", "tst_X_Xf.txt"],
    ["X.npy", "Y.npy"],
])  # fmt: skip
def test_files_whose_names_tell_nothing_are_not_guessed(names):
    assert archived.roles(names) == {}


def test_files_of_splits_leave_features_and_labels_their_roles():
    halves = {"trn_X_Xf.txt": "train", "trn_X_Y.txt": "labels", "tst_X_Xf.txt": "test", "tst_X_Y.txt": "test_labels"}
    found = archived.roles([*halves, "d_trSplit.txt", "d_tstSplit.txt"])
    assert found == {role: name for name, role in halves.items()}


DATA = b"4 3 2\n0 0:1\n1 1:1\n0,1 2:1\n1 0:2\n"
SPLITS = {"Bibtex/bibtex_trSplit.txt": b"4 1\n1 2\n", "Bibtex/bibtex_tstSplit.txt": b"2 3\n1 4\n"}


def test_all_rows_and_files_of_a_split_are_one_data_set():
    archive = zipped({"Bibtex/Bibtex_data.txt": DATA} | SPLITS)
    data = read_dataset(archive)
    assert data.Y_train.toarray().tolist() == [[0, 1], [1, 0]] and data.X_train.toarray()[0].tolist() == [2, 0, 0]
    assert data.Y_test.toarray().tolist() == [[0, 1]]
    assert data.notes == (
        "Training and test rows are the first of the published splits.",
        "Left out: 1 test row, which the split has among the training rows too.",
    )
    assert read_head(archive).inside == {
        "train": "Bibtex_data.txt", "train_rows": "bibtex_trSplit.txt", "test_rows": "bibtex_tstSplit.txt"
    }  # fmt: skip
    with pytest.raises(ValueError, match="says which rows are the test rows"):
        read_dataset(archive, DATA)
    for numbers, said in ((b"9\n", "trSplit.txt, line 1: '9' is not the number"), (b"1\n", "all of its rows are")):
        with pytest.raises(DatasetFormatError, match=said):
            read_dataset(zipped({"data.txt": DATA, "bibtex_trSplit.txt": numbers, "bibtex_tstSplit.txt": b"1\n"}))


def test_files_of_parts_come_before_files_of_a_split():
    data = read_dataset(zipped({"a/a_train.txt": DATA, "a/a_test.txt": b"1 3 2\n0 0:1\n"} | SPLITS))
    assert (data.n_train, data.n_test, data.notes) == (4, 1, ())


def test_features_and_labels_of_both_parts_are_four_files():
    members = {"trn_X_Xf.txt": b"2 3\n0:1\n1:1\n", "trn_X_Y.txt": b"2 2\n0:1\n1:1\n"}
    members |= {"tst_X_Xf.txt": b"1 3\n2:1\n", "tst_X_Y.txt": b"1 2\n0:1 1:1\n", "Yf.txt": b"a\nb\n"}
    data = read_dataset(zipped(members))
    assert data.Y_train.toarray().tolist() == [[1, 0], [0, 1]] and data.X_test.toarray().tolist() == [[0, 0, 1]]
    assert data.Y_test.toarray().tolist() == [[1, 1]]


def test_an_archive_that_is_not_understood_says_what_to_do():
    with pytest.raises(DatasetFormatError, match="holds 2 files .a.arff, b.arff.") as caught:
        read_dataset(zipped({"a.arff": TRAIN, "b.arff": TEST}))
    assert "one by one" in caught.value.remedy and "train and test" in caught.value.remedy
    with pytest.raises(DatasetFormatError, match="more than 100 bytes of text"):
        read_dataset(zipped(MULAN), max_bytes=100)
    damaged = bytearray(zipped(MULAN))
    damaged[damaged.index(b"fruit-train.arff") + 20] ^= 255
    with pytest.raises(DatasetFormatError):
        read_dataset(bytes(damaged))
