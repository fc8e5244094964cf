"""Predictions of another program are read in each of their forms, and what is wrong in them is named with its place."""

import io
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from xmlcore.datasets import DatasetFormatError, read_ranking

NAMES = ["law", "art", "2", "same", " same", "a:1"]  # the third label is called as the id of itself


def read(content, n_rows=3, k=2, names=NAMES, **settings):
    content = content.encode() if isinstance(content, str) else content
    found = read_ranking(content, n_rows, len(names or NAMES), names, k, name="other.csv", **settings)
    assert found.labels.dtype == np.int32 and found.scores.dtype == np.float32
    return found.labels.tolist(), found.scores.astype(float).round(3).tolist()


def saved(save, *arrays, **named):
    file = io.BytesIO()
    save(file, *arrays, **named)
    return file.getvalue()


def scores():
    return sp.csr_array(([0.9, 0.2, -1.0, 0.5], [1, 0, 5, 2], [0, 2, 2, 4]), shape=(3, 6))


RANKED = [[1, 0], [-1, -1], [2, 5]]


@pytest.mark.parametrize("content", [
    "art,law\n\n2,a:1\n",
    "\ufeffart;law\r\n\r\n2;5\r\n\r\n",
    '"art"\tlaw\n\n2\t5',
    "first,second\nart,law\n\n2,5\n",
    "row,label\n2,2\n0,art\n0,law\n2,a:1\n",
    "Row,Rank,Label\n0,2,law\n2,2,5\n0,1,art\n2,1,2\n",
    "row,rank,label,score\n0,2,law,\n2,2,5,\n0,1,art,\n2,1,2,\n",
])  # fmt: skip
def test_labels_without_scores_are_in_the_order_of_the_file(content):
    assert read(content) == (RANKED, [[0.0, 0.0]] * 3)


@pytest.mark.parametrize("content", [
    "law:0.2,art:0.9\n\n2:0.5,a:1:-1,0:-7\n",
    "row,name,score,label\n0,x,0.2,law\n0,x,0.9,art\n2,x,-1,a:1\n2,x,0.5,2\n2,x,-7,0\n",
    saved(sp.save_npz, scores()),
    saved(sp.save_npz, scores().tocoo()),
    saved(np.savez, labels=[[1, 0], [-1, -1], [2, 5]], scores=[[0.9, 0.2], [0, 0], [0.5, -1]]),
])  # fmt: skip
def test_labels_with_scores_are_ranked_by_them(content):
    assert read(content) == (RANKED, [[0.9, 0.2], [0.0, 0.0], [0.5, -1.0]])


def test_a_label_may_be_called_as_the_column_of_a_table():
    names = ["law", "label", "Score"]
    assert read("label,law\n0\nScore\n", k=1, names=names)[0] == [[1], [0], [2]]
    assert read("label\n0\nScore\n", k=1, names=names)[0] == [[1], [0], [2]]
    assert read("row,label\n2,law\n0,label\n", k=1, names=names)[0] == [[1], [-1], [0]]


def test_empty_places_are_filled_and_dense_scores_rank_all():
    assert read(saved(np.savez, scores=np.eye(6)[[4, 0, 2]]), k=1)[0] == [[4], [0], [2]]
    for sign in ",;\t":  # the first line need not have it
        assert read(f"art\nlaw{sign}2\n0\n", k=3)[0] == [[1, -1, -1], [0, 2, -1], [0, -1, -1]]
    assert read("0\n1\n2\n", k=1, names=None)[0] == [[0], [1], [2]]


BAD = {
    "art\nlaw\n": "other.csv: it has 2 lines with labels, but there are 3 test rows",
    "art\nlaw\n0\n1\n": "other.csv: it has 4 lines with labels, but there are 3 test rows",
    "art\nlaw,unknown\n0\n": "other.csv, line 2: cell 2 of the line: 'unknown' is no label of the data set. A",
    "art\nlaw\n6\n": "other.csv, line 3: cell 1 of the line: '6' is no label of the data set",
    f"art\nlaw\n{'9' * 5000}\n": "other.csv, line 3: cell 1 of the line: '9999",
    ",unknown\nlaw\n0\n": "other.csv, line 1: cell 2 of the line: 'unknown' is no label",
    "": "other.csv: it is empty",
    "row,label,score\n0,law,\n1,art,0.5\n": "other.csv, line 3: cell 3 of the line: some labels have a score, others",
    "art\nsame\n0\n": "other.csv, line 2: cell 1 of the line: 'same' is the name of several labels. Write the id",
    "art,law,1\nlaw\n0\n": "other.csv, line 1: row 0 has the label 'art' twice",
    "art\nlaw:nan\n0\n": "other.csv, line 2: cell 1 of the line: 'nan' is no finite number",
    "art\nlaw:0.5,2\n0\n": "other.csv, line 1: row 0 has a label without a score, and others have one",
    "label,score\nart,1\n": "other.csv, line 1: the column row is missing",
    "row,label\n0,art\n3,law\n": "other.csv, line 3: cell 1 of the line: '3' is no test row. There are 3",
    "row,label,score\n0,art,1\n1,law\n": "other.csv, line 3: it has 2 cells, but 3 are needed",
    "row,label,score\n0,art,inf\n": "other.csv, line 2: cell 3 of the line: 'inf' is no finite number",
    b"\xff\xfeart\n": "other.csv",
    saved(sp.save_npz, sp.csr_array(scores()[:2])): "it has 2 rows and 6 labels, but there are 3 and 6",
    saved(sp.save_npz, sp.csr_array(scores()[:, :5])): "it has 3 rows and 5 labels, but there are 3 and 6",
    saved(sp.save_npz, scores() * np.nan): "row 0, column 1 is nan, no finite number",
    saved(np.savez, labels=[[1, 1]] * 3): "row 0 of the ranking has label 1 twice",
    saved(np.savez, labels=[[1, 0], [-1, 2], [2, 5]]): (
        "other.csv: row 1, place 2 has a label after a place without one. Fill the places"
    ),
    saved(np.savez, labels=[[1, 0]] * 3, scores=[[0.9, 0.2], [0.5, 0.5], [0.2, 0.9]]): (
        "other.csv: row 2, place 2 has a larger score than the place before. Order the labels of a row by their scores"
    ),
    saved(np.savez, labels=[[1]] * 3, scores=[["a"]] * 3): "its scores are of type <U1. Every score has to be a number",
    saved(np.savez, labels=[[1, 6]] * 3): "the label id 6 is not between 0 and 5",
    saved(np.savez, labels=np.array([[{}]] * 3, object)): "Object arrays cannot be loaded",
    saved(sp.save_npz, scores())[:-40]: "damaged or was cut off",
}


@pytest.mark.parametrize("content", BAD, ids=range(len(BAD)))
def test_what_is_wrong_is_named_with_its_place(content):
    with pytest.raises(DatasetFormatError) as error:
        read(content)
    assert BAD[content] in str(error.value)


def test_a_pickle_and_what_unpacks_to_too_much_are_refused():
    for content, settings in ((pickle.dumps([[1]]), {}), ("art\n" * 3000, {"max_bytes": 1000})):
        with pytest.raises(DatasetFormatError):
            read(content, **settings)
