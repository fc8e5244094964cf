"""Rows to predict, from files of all formats."""

import io

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore.datasets import DatasetFormatError, DatasetWarning, read_new_rows, write_arff, write_matrix

NAMES = ["width", "weight", "sugar"]
LABELS = ["apple", "red"]
X = sp.csr_array(np.array([[2.5, 0, 1], [0, 3, 0], [0, 0, 0], [1, 1, 1]], np.float32))
Y = sp.csr_array(np.array([[1, 0], [0, 1], [1, 1], [0, 0]], bool))


def read(text, n=3, **options):
    return read_new_rows(text.encode() if isinstance(text, str) else text, n, **options)


@pytest.mark.parametrize("format", ["xmlc", "svmlight", "npz", "arff"])
def test_rows_with_labels_are_read_in_each_format_and_the_labels_are_not_used(tmp_path, format):
    path = tmp_path / "rows"
    if format == "arff":
        write_arff(path, X, Y, NAMES, LABELS)
    else:
        write_matrix(path, X, Y, format)
    found = read_new_rows(path, 3, NAMES, LABELS)
    assert (found.X.toarray() == X.toarray()).all() and found.X.dtype == np.float32
    assert found.notes(NAMES) == ["The labels in the file are not used."] and not found.unknown


@pytest.mark.parametrize(
    "text",
    [
        "4 3\n0:2.5 2:1\n1:3\n\n0:1 1:1 2:1\n",  # features alone, with a header
        "4 3 2\n 0:2.5 2:1\n 1:3\n\n 0:1 1:1 2:1\n",  # XMLC without labels
        "width,weight,sugar\n2.5,0,1\n0,3,0\n0,0,0\n1,1,1\n",
        "2.5;0;1\n0;3;0\n0;0;0\n1;1;1\n",
        "@relation x\n@attribute width numeric\n@attribute weight numeric\n@attribute sugar numeric\n"
        "@data\n2.5,0,1\n0,3,0\n0,0,0\n1,1,1\n",
        "@relation x\n@attribute width numeric\n@attribute weight numeric\n@attribute sugar {0,1}\n"
        "@data\n2.5,0,1\n0,3,0\n0,0,0\n1,1,1\n",
    ],
)
def test_rows_without_labels_are_read(text):
    found = read(text, feature_names=NAMES, label_names=LABELS)
    assert (found.X.toarray() == X.toarray()).all() and found.notes(NAMES) == []


def test_rows_of_svmlight_may_have_no_labels_and_fewer_features():
    assert (read("0:2.5 1:1\n1:3\n", n=5).X.toarray() == [[2.5, 1, 0, 0, 0], [0, 3, 0, 0, 0]]).all()


def test_an_archive_of_scipy_is_read():
    file = io.BytesIO()
    sp.save_npz(file, sp.csr_matrix(X))
    assert (read(file.getvalue()).X.toarray() == X.toarray()).all()


def test_columns_are_matched_by_name_and_missing_and_unknown_ones_are_said():
    text = "colour,sugar,apple,width,red\n7,1,0,2.5,1\n8,0,1,0,0\n"
    found = read(text, feature_names=NAMES, label_names=LABELS)
    assert (found.X.toarray() == [[2.5, 0, 1], [0, 0, 0]]).all()
    assert found.missing.tolist() == [1] and found.unknown == ["colour"]
    assert found.notes(NAMES) == [
        "The file lacks 1 of the model’s 3 features, which counts as 0: weight.",
        "The file has 1 column that is no feature of the model, and not used: colour.",
        "The labels in the file are not used.",
    ]
    assert found.X.has_sorted_indices


def test_many_missing_and_unknown_columns_are_counted_and_the_first_are_named():
    names = [f"f{j}" for j in range(10)]
    found = read(
        "f9," + ",".join(f"x{j}" for j in range(7)) + "\n" + "1,2,3,4,5,6,7,8\n" * 2, n=10, feature_names=names
    )
    assert found.notes(names) == [
        "The file lacks 9 of the model’s 10 features, which count as 0: f0, f1, f2, f3, f4 and 4 more.",
        "The file has 7 columns that are no features of the model, and not used: x0, x1, x2, x3, x4 and 2 more.",
    ]


def test_columns_of_text_are_left_out_with_a_warning():
    with pytest.warns(DatasetWarning, match="1 column of text left out: 'name'"):
        found = read("name,sugar\nA,1\nB,2\n", feature_names=NAMES)
    assert found.X.toarray()[:, 2].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("text", "names", "said"),
    [
        ("2 4 1\n 0:1\n 3:1\n", None, "the header promises 4 features, but the model has 3 features.* same order"),
        ("2 4\n0:1\n3:1\n", None, "the header promises 4 features, but the model has 3 features"),
        ("1:1\n3:1\n", None, "makes 4 features, but the model has 3. If ids start at 1"),
        ("0:1\n4:1\n", None, "makes 5 features, but the model has 3. Rows to predict need the features"),
        ("a,b\n1,2\n3,4\n", None, "it has 2 columns of numbers, but the model has 3 features"),
        ("a,b\n1,2\n3,4\n", NAMES, "none of its 2 columns is named like a feature of the model: a, b.*width, weight"),
        ("sugar,sugar\n1,2\n3,4\n", NAMES, "two columns have the name 'sugar'"),
        ('{"a": 1}\n', NAMES, "it is a JSON file"),
        ("0:1\n0:x\n", None, "line 2"),
    ],
)
def test_what_does_not_fit_the_model_is_an_error_that_says_what_was_found(text, names, said):
    with pytest.raises(DatasetFormatError, match=said):
        read(text, feature_names=names)


def test_ids_may_start_at_one():
    assert (read("1:1\n3:1\n", first_index=1).X.toarray() == [[1, 0, 0], [0, 0, 1]]).all()


def test_names_must_be_as_many_as_features():
    with pytest.raises(ValueError, match="feature_names has 2 names, but there are 3 features"):
        read("0:1\n", feature_names=["a", "b"])
