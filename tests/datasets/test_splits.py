"""Stratified splits, folds, files of row numbers, and data sets that are split anew."""

import io
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from datasets.reads import TEXT, random_matrices

from xmlcore.datasets import (
    Dataset,
    DatasetFormatError,
    folds,
    make_synthetic,
    read_dataset,
    read_row_numbers,
    resplit,
    rows_of_file,
    split_again,
    split_rows,
    splits,
    stratified_parts,
    stratified_split,
    without_leaks,
    write_matrix,
)


def labels(n=600, n_labels=40, seed=0):
    rng = np.random.default_rng(seed)
    Y = rng.random((n, n_labels)) < np.geomspace(0.4, 0.005, n_labels)
    return sp.csr_array(Y)


def distance(Y, part, k):
    """The measure of Sechidis et al. (2011): mean difference of the odds of labels in a part from those in all."""
    Y = Y.toarray()
    odds = Y.sum(axis=0) / np.maximum((~Y).sum(axis=0), 1)
    of_parts = [Y[part == i].sum(axis=0) / np.maximum((~Y[part == i]).sum(axis=0), 1) for i in range(k)]
    return np.mean([np.abs(odds - mine) for mine in of_parts])


def test_a_stratified_split_shares_every_label():
    Y = labels()
    train, test = stratified_split(Y, 0.25, 3)
    assert sorted([*train, *test]) == list(range(600)) and test.size == 150
    share = Y[test].sum(axis=0) - 0.25 * Y.sum(axis=0)
    assert np.abs(share).max() <= 2.5
    random = Y[split_rows(600, 0.25, 3)[1]].sum(axis=0) - 0.25 * Y.sum(axis=0)
    assert np.abs(share).mean() < np.abs(random).mean() / 3


def test_a_label_with_two_rows_has_one_in_each_half():
    Y = np.zeros((40, 10), bool)
    for j in range(10):
        Y[4 * j : 4 * j + 2, j] = True
    part = stratified_parts(Y, (0.5, 0.5))
    assert [sorted(part[4 * j : 4 * j + 2]) for j in range(10)] == [[0, 1]] * 10
    assert np.bincount(part).tolist() == [20, 20], "rows without labels go where rows are lacking"


def many_labels(n=600, n_labels=900):
    """Three labels a row, most of which have two or three rows: with these, stratification alone misses the sizes."""
    rng = np.random.default_rng(0)
    share = 1 / np.arange(1, n_labels + 1)
    rows, columns = np.repeat(np.arange(n), 3), rng.choice(n_labels, 3 * n, p=share / share.sum())
    return sp.csr_array((np.ones(3 * n), (rows, columns)), shape=(n, n_labels)) > 0


@pytest.mark.parametrize("sizes", [(480, 120), (599, 1), (200, 200, 200), (300, 180, 101, 19)])
def test_parts_have_the_sizes_that_were_asked_for(sizes, monkeypatch):
    Y = many_labels()
    part = stratified_parts(Y, np.array(sizes) / 600)
    assert np.bincount(part).tolist() == list(sizes)
    monkeypatch.setattr(splits, "move_to_sizes", lambda Y, part, sizes, rng: part)
    before = stratified_parts(Y, np.array(sizes) / 600)
    away = np.bincount(before, minlength=len(sizes)) - sizes
    assert (part != before).sum() == away[away > 0].sum() > 0, "no more rows than needed were moved"


def test_parts_depend_on_the_seed():
    Y = labels()
    assert (stratified_parts(Y, (0.5, 0.5), 1) == stratified_parts(Y, (0.5, 0.5), 1)).all()
    assert (stratified_parts(Y, (0.5, 0.5), 1) != stratified_parts(Y, (0.5, 0.5), 2)).any()


def test_folds_are_as_even_as_those_of_a_package():
    package = pytest.importorskip("iterstrat.ml_stratifiers")
    Y = labels()
    mine = np.mean([distance(Y, folds(Y, 5, random_state=seed), 5) for seed in range(4)])
    theirs, part = [], np.empty(600, int)
    for seed in range(4):
        splitter = package.MultilabelStratifiedKFold(5, shuffle=True, random_state=seed)
        for i, (_, test) in enumerate(splitter.split(np.zeros(600), Y.toarray())):
            part[test] = i
        theirs.append(distance(Y, part, 5))
    random = np.mean([distance(Y, folds(Y, 5, "random", seed), 5) for seed in range(4)])
    assert mine < 1.1 * np.mean(theirs) < 0.6 * random


def test_random_folds_differ_by_one_row_at_most():
    part = folds(labels(103), 5, "random")
    assert sorted(np.bincount(part)) == [20, 20, 21, 21, 21]


@pytest.mark.parametrize("shares", [(1.0,), (0.5, 0.6), (1.0, 0.0), (0.5, np.nan)])
def test_shares_must_sum_to_one(shares):
    with pytest.raises(ValueError, match="shares must be"):
        stratified_parts(labels(20), shares)


def test_folds_need_rows_and_a_known_method():
    with pytest.raises(ValueError, match="only 3 rows"):
        folds([[0], [0], [1]], 4)
    with pytest.raises(ValueError, match="'stratified'"):
        folds([[0], [0], [1]], 2, "sorted")


def test_split_files_have_a_column_for_each_split():
    text = b"1 3\n4\t1\n\n2,4\n"
    assert read_row_numbers(text, 4).tolist() == [0, 3, 1]
    assert read_row_numbers(io.BytesIO(text), 4, 1).tolist() == [2, 0, 3]
    assert read_row_numbers(b"0\n2\n", 3, first=0).tolist() == [0, 2]


@pytest.mark.parametrize("text, column, said, line", [
    (b"1\n5\n", 0, "'5' is not the number of a row. Row numbers are whole numbers from 1 to 4", 2),
    (b"1\n0\n", 0, "number 0", 2),
    (b"1\n-2\n", 0, "'-2' is not the number", 2),
    (b"1\n2.5\n", 0, "'2.5' is not the number", 2),
    (b"1 2\n3\n", 0, "the line has 1 numbers, but the first line has 2", 2),
    (b"1\n\n2\n1\n", 0, "row 1 is listed twice: line 1 has it too", 4),
    (b"1\n", 1, "there is no split 2: the file has 1 column", 1),
    (b"\n \n", 0, "it lists no rows", None),
])  # fmt: skip
def test_damaged_split_files_name_the_line(text, column, said, line):
    with pytest.raises(DatasetFormatError) as caught:
        read_row_numbers(text, 4, column, name="trSplit.txt")
    assert said in str(caught.value) and caught.value.line == line and caught.value.source == "trSplit.txt"


@pytest.fixture
def data():
    made = make_synthetic(n_train=60, n_test=20, n_features=60, n_labels=8)
    names = [[f"r{i}" for i in range(60)], [f"t{i}" for i in range(20)]]
    return Dataset("d", made.X_train, made.Y_train, made.X_test, made.Y_test, None, None, *names, notes=("before",))


def test_another_split_keeps_rows_labels_names_and_notes(data):
    found = resplit(data, [61, 3, 0], [5, 79], "note", "other")
    assert (found.name, found.notes, data.notes) == ("other", ("before", "note"), ("before",))
    assert found.row_names_train == ["t1", "r3", "r0"] and found.row_names_test == ["r5", "t19"]
    assert (found.X_train[[0]] != data.X_test[[1]]).nnz == (found.Y_test[[0]] != data.Y_train[[5]]).nnz == 0
    assert found.texts_train is None and found.fingerprint != data.fingerprint
    with_texts = replace(data, texts_train=data.row_names_train, texts_test=data.row_names_test)
    assert resplit(with_texts, [61, 3, 0], [5, 79]).texts_train == ["t1", "r3", "r0"]
    with pytest.raises(ValueError, match="row 3 is in the split more than once"):
        resplit(data, [1, 3], [3])
    with pytest.raises(ValueError, match="no row 80"):
        resplit(data, [1], [80])
    with pytest.raises(ValueError, match="no test rows"):
        resplit(data, [1], [])


def test_a_data_set_is_split_anew_and_says_how(data):
    found = split_again(data, "stratified", 0.3, random_state=4)
    assert found.n_train + found.n_test == 80 and abs(found.n_test - 24) <= 3
    assert f"{found.n_test} of all 80 rows, chosen by iterative stratification with seed 4" in found.notes[-1]
    assert split_again(data, "random", 0.3).n_test == 24
    parts = [split_again(data, n_folds=4, fold=i) for i in range(4)]
    assert sum(part.n_test for part in parts) == 80 and "fold 2 of 4" in parts[1].notes[-1]
    found = [name for part in parts for name in part.row_names_test]
    assert sorted(found) == sorted(data.row_names_train + data.row_names_test)
    for n_folds in (0, 1):
        with pytest.raises(ValueError, match="n_folds must be at least 2"):
            split_again(data, n_folds=n_folds)


def test_a_file_is_read_with_two_files_of_row_numbers(tmp_path, data):
    write_matrix(tmp_path / "data.txt", data.X_train, data.Y_train)
    train, test = read_row_numbers(b"2\n4\n1\n", 60), read_row_numbers(b"60\n3\n", 60)
    found = read_dataset(tmp_path / "data.txt", split=(train, test))
    assert (found.X_train != data.X_train[[1, 3, 0]]).nnz == (found.Y_test != data.Y_train[[59, 2]]).nnz == 0
    assert "2 of the 60 rows of data.txt, chosen by a list of row numbers" in found.notes[0]
    with pytest.raises(ValueError, match="and there is a test file"):
        read_dataset(tmp_path / "data.txt", tmp_path / "data.txt", split=(train, test))


def test_rows_of_the_file_are_found_after_a_random_split(tmp_path, data):
    write_matrix(tmp_path / "data.txt", data.X_train, data.Y_train)
    found = read_dataset(tmp_path / "data.txt", test_size=0.3, random_state=7)
    place = rows_of_file(found.n_train, found.n_test, 7)
    again = resplit(found, place[[10, 0]], place[[59]])
    assert (again.X_train != data.X_train[[10, 0]]).nnz == (again.Y_test != data.Y_train[[59]]).nnz == 0


def test_test_rows_that_were_seen_in_training_are_left_out(data):
    with pytest.raises(ValueError, match="nothing to leave out"):
        without_leaks(data)
    leaky = Dataset("leaky", data.X_train, data.Y_train, sp.vstack([data.X_test, data.X_train[:5]]), np.ones((25, 8)))
    found = without_leaks(leaky)
    assert found.n_test == 20 and (found.X_test != data.X_test).nnz == 0
    assert found.notes == ("Left out: 5 of 25 test rows, which have the features of a training row.",)
    with pytest.raises(ValueError, match="no test row would be left"):
        without_leaks(Dataset("same", data.X_train, data.Y_train, data.X_train, data.Y_train))


@pytest.mark.parametrize(
    ("rows", "said"), [([0.5], "not whole"), ([True, False], "np.flatnonzero"), (["0"], "not whole")]
)
def test_row_numbers_of_a_split_are_whole_numbers(data, rows, said):
    with pytest.raises(ValueError, match=said):
        resplit(data, rows, [2])
    assert resplit(data, [0.0, 1.0], np.array([2], np.uint8)).n_train == 2


def test_a_split_has_each_row_once_and_depends_on_the_seed():
    train, test = split_rows(100, 0.2, 3)
    assert sorted([*train, *test]) == list(range(100))
    assert len(test) == 20
    assert test.tolist() == sorted(test.tolist()) == split_rows(100, 20, 3)[1].tolist()
    assert test.tolist() != split_rows(100, 0.2, 4)[1].tolist()


@pytest.mark.parametrize("n, size", [(1, 0.5), (10, 0.01), (10, 0.99), (10, 10), (10, 0.0), (10, 1.5), (10, -1)])
def test_a_split_with_an_empty_side_is_an_error(n, size):
    with pytest.raises(ValueError):
        split_rows(n, size)


@pytest.mark.parametrize("size", ["0.2", True, None])
def test_a_split_size_must_be_a_number(size):
    with pytest.raises((TypeError, ValueError)):
        split_rows(10, size)


def test_one_file_is_split_and_the_split_is_noted(tmp_path):
    X, Y = random_matrices(np.random.default_rng(8))
    write_matrix(tmp_path / "my.data.txt.gz", X, Y)
    dataset = read_dataset(tmp_path / "my.data.txt.gz", random_state=5)
    train, test = split_rows(200, 0.2, 5)
    assert dataset.name == "my.data"
    assert (dataset.X_train != X[train]).nnz == (dataset.Y_test != Y[test]).nnz == 0
    assert "40 of the 200 rows of my.data.txt.gz" in dataset.notes[0]
    assert "seed 5" in dataset.notes[0]


def test_two_files_with_names(tmp_path):
    (tmp_path / "names.txt").write_bytes("été\r\n b\nc".encode())
    dataset = read_dataset(
        TEXT, b"1 4 3\n0 1:1\n", name="n", label_names=tmp_path / "names.txt", feature_names=["p", "q", "r", "s"]
    )
    assert (dataset.name, dataset.n_train, dataset.n_test) == ("n", 3, 1)
    assert dataset.label_names == ["été", "b", "c"]
    assert dataset.feature_names == ["p", "q", "r", "s"]
    assert read_dataset(TEXT, TEXT, label_names=io.BytesIO(b"a\nb\n\n")).label_names == ["a", "b", ""]


def test_headers_that_differ_are_an_error():
    with pytest.raises(DatasetFormatError, match="states 5 features, but data .training. has 4") as caught:
        read_dataset(TEXT, b"1 5 3\n0 1:1\n")
    assert (caught.value.source, caught.value.line) == ("data (test)", 1)
    with pytest.raises(DatasetFormatError, match="states 2 labels"):
        read_dataset(TEXT, b"1 4 2\n0 1:1\n")


def test_files_without_header_are_padded_to_the_wider_one():
    dataset = read_dataset(b"0 1:1\n3 0:1\n", b"1 5:1\n")
    assert dataset.X_train.shape == (2, 6)
    assert dataset.Y_test.shape == (1, 4)
    dataset = read_dataset(TEXT, b" 1:1\n")  # not even a label
    assert (dataset.X_test.shape, dataset.Y_test.shape) == ((1, 4), (1, 3))
    assert read_dataset(b"0 1:1\n1 0:1\n", b"1 5:1\n", label_names=["a", "b", "c"]).n_labels == 3
    with pytest.raises(DatasetFormatError, match="ids make 10 features, but data .training. has 4"):
        read_dataset(TEXT, b"0 9:1\n")


@pytest.mark.parametrize("names, said", [
    (["a", "b"], "2 label names, but there are 3 labels .label_names="),
    (b"a\nb\n", "it holds 2 label names, but there are 3 labels"),
    (b"a\nb\nc\xe9\n", "line 3, column 2: the byte 0xe9 is not UTF-8"),
])  # fmt: skip
def test_names_that_do_not_fit_are_errors(names, said):
    with pytest.raises(ValueError, match=said):
        read_dataset(TEXT, TEXT, label_names=names)


def test_bad_names_and_unknown_options_are_type_errors():
    with pytest.raises(TypeError, match=r"label_names\[0\] is 1"):
        read_dataset(TEXT, TEXT, label_names=[1, 2, 3])
    with pytest.raises(TypeError, match="no argument 'sep'"):
        read_dataset(TEXT, sep=",")


def test_a_file_without_rows_is_no_data_set():
    with pytest.raises(DatasetFormatError, match="no rows"):
        read_dataset(b"0 4 3\n")
    with pytest.raises(DatasetFormatError, match="no rows"):
        read_dataset(TEXT, b"0 4 3\n")
