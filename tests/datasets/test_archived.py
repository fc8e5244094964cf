"""Several files of one data set in a zip archive."""

import io

import numpy as np
import pytest
from datasets.reads import zipped

from xmlcore.datasets import DatasetFormatError, archived, read_dataset, read_matrix, write_matrix
from xmlcore.datasets.looks import look

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
    said = look(path)
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


@pytest.mark.parametrize(
    "names",
    [
        ["a.txt"],
        ["a.txt", "b.txt"],
        ["train-1.arff", "train-2.arff", "test-1.arff"],
        ["a.arff", "a.xml", "b.xml"],
        ["bibtex_data.txt", "bibtex_trSplit.txt", "bibtex_tstSplit.txt"],
        ["trn_X_Xf.txt", "trn_X_Y.txt", "tst_X_Xf.txt", "tst_X_Y.txt"],
        ["X.npy", "Y.npy"],
    ],
)
def test_files_whose_names_do_not_tell_what_they_are_are_not_guessed(names):
    assert archived.roles(names) == {}


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
