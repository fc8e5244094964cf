"""Tables: separators, names, columns of labels, missing cells, and errors that name the cell."""

import bz2
import io
import warnings

import numpy as np
import pandas as pd
import pytest
from datasets.reads import failure, read_named, warned

from xmlcore.datasets import read_dataset, read_matrix, read_new_rows
from xmlcore.datasets.readers import table_cells

PLAIN = b"width,height,red,blue\n1,0.5,0,1\n0,-2e3,1,0\n"
VALUES = ([[1, 0.5], [0, -2000]], [[0, 1], [1, 0]])
NAMES = (["width", "height"], ["red", "blue"])


def read(content, labels=-2, **options):
    *values, feature_names, label_names = read_named(content, labels=labels, **options)
    return tuple(values), (feature_names, label_names)


@pytest.mark.parametrize("content", [
    PLAIN,
    PLAIN.replace(b",", b"\t"),
    PLAIN.replace(b",", b";"),
    PLAIN.replace(b",", b"|"),
    PLAIN.replace(b",", b"|").replace(b"0.5", b"0,5"),
    PLAIN.replace(b"0,1\n", b"no,yes\n").replace(b"1,0\n", b"Yes,N\n"),
    PLAIN.replace(b"0,1\n", b"F,T\n"),
    PLAIN.replace(b",", b";").replace(b"0.5", b"0,5"),
    PLAIN.replace(b",", b" , "),
    PLAIN.replace(b"\n", b"\r\n"),
    b"\xef\xbb\xbf" + PLAIN.rstrip(),
    b"\n" + PLAIN.replace(b"\n", b"\n \n"),
    b'"width","height","red","blue"\n"1","0.5","0","1"\n0,-2e3,1,0\n',
    PLAIN.replace(b",1\n", b",True\n").replace(b",0\n", b",FALSE\n").replace(b"\n0,", b"\nfalse,"),
    bz2.compress(PLAIN),
])  # fmt: skip
def test_a_table_is_read_however_it_is_written(content):
    assert read(content) == (VALUES, NAMES)
    assert read(io.BytesIO(content), format="csv") == (VALUES, NAMES)


@pytest.mark.parametrize("labels", [["red", "blue"], ("red", "blue"), -2, np.int64(-2)])
def test_columns_of_labels_are_chosen_by_name_or_number(labels):
    assert read(PLAIN, labels) == (VALUES, NAMES)
    assert read(b"red,blue,width,height\n0,1,1,0.5\n1,0,0,-2e3\n", 2) == (VALUES, NAMES)
    assert read(PLAIN, ["blue", "red"])[1][1] == ["blue", "red"]


def test_a_table_without_names_is_read_by_number():
    content = PLAIN.split(b"\n", 1)[1]
    assert read(content) == (VALUES, (None, None))
    assert "the first line has no names" in failure(content, labels=["red"]).found
    assert read(b"0,1,1\n1,0,0\n", -1) == (([[0, 1], [1, 0]], [[1], [0]]), (None, None))
    assert read(b"0,1,2\n5,6,1\n7,8,0\n", -1) == (([[5, 6], [7, 8]], [[1], [0]]), (["0", "1"], ["2"]))


def test_the_row_numbers_of_pandas_are_left_out_and_this_is_said():
    content = pd.read_csv(io.BytesIO(PLAIN)).to_csv().encode()
    (said,) = warned(read_matrix, content, labels=-2)
    assert "the first column has no name" in said
    with warnings.catch_warnings(action="ignore"):
        assert read(content) == read(content.replace(b",width", b"Unnamed: 0,width")) == (VALUES, NAMES)


@pytest.mark.parametrize("mark", [b";", b"|", b", "])
def test_one_column_may_list_the_labels(mark):
    content = b'x,tags,y\n1,"red%sblue",2\n0,,1\n5,"b\xc3\xa4r",0\n' % mark
    values, names = read(content, "tags")
    assert values == ([[1, 2], [0, 1], [5, 0]], [[1, 0, 1], [0, 0, 0], [0, 1, 0]])
    assert names == (["x", "y"], ["blue", "bär", "red"])


def test_labels_listed_in_two_files_are_joined():
    made = read_dataset(b"x,tags\n1,b;a\n2,c\n", b"x,tags\n1,d\n2,a\n", labels="tags")
    assert made.label_names == ["a", "b", "c", "d"]
    assert made.Y_train.toarray().tolist() == [[1, 1, 0, 0], [0, 0, 1, 0]]
    assert made.Y_test.toarray().tolist() == [[0, 0, 0, 1], [1, 0, 0, 0]]


def test_labels_may_be_in_a_table_of_their_own(tmp_path):
    features, labels = b"width,height\n1,0.5\n0,-2e3\n", b"red,blue\n0,1\n1,0\n"
    (tmp_path / "y.csv").write_bytes(labels)
    for source in (labels, tmp_path / "y.csv", str(tmp_path / "y.csv"), io.BytesIO(labels)):
        assert read(features, source) == (VALUES, NAMES)
    assert "it has 1 rows" in failure(features, labels=b"red,blue\n0,1\n").found


def test_missing_cells_are_zeros_and_this_is_said():
    content = b"a,b,y\n1,,0\n?,2,1\nNA,nan,0\n"
    said = warned(read_matrix, content, labels=-1)
    assert said == ["data: 4 cells are missing, first in line 2, column 'b': read as 0"]
    with warnings.catch_warnings(action="ignore"):
        assert read(content, -1)[0] == ([[1, 0], [0, 2], [0, 0]], [[0], [1], [0]])


def test_values_are_rounded_like_float32_of_their_text():
    rng = np.random.default_rng(5)
    values = rng.integers(0, 1 << 31, 3000, dtype=np.uint32).view(np.float32)
    values = values[np.isfinite(values)]
    middles = (values.astype(float) + np.nextafter(values, np.float32(0)).astype(float)) / 2  # the hardest to round
    texts = [*map(repr, middles.tolist()), "1.17549429e-38", "3.40282356e+38", "0.1", "16777217.0000001"]
    content = "x,y\n" + "".join(f"{text},{i % 2}\n" for i, text in enumerate(texts))
    X, *_ = read_matrix(content.encode(), labels=-1)
    assert (X.toarray()[:, 0] == np.array([np.float32(float(text)) for text in texts])).all()


def test_blocks_cut_a_table_anywhere(monkeypatch):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.integers(0, 2, (50, 4)), columns=list("abcd"))
    frame["tags"] = ['x\n;"y"' if i % 3 else "z, w" for i in range(50)]
    content = frame.to_csv(index=False).encode()
    monkeypatch.setattr(table_cells, "_BLOCK", 37)
    X, Y, _, names = read_matrix(content, labels="tags")
    assert (X.toarray() == frame[list("abcd")].to_numpy()).all()
    assert names == ['"y"', "x", "z, w"]
    assert Y.toarray()[:, 2].tolist() == [i % 3 == 0 for i in range(50)]
    broken = content + b"1,0,1,no,z\n"
    error = failure(broken, labels="tags")
    assert (error.line, error.column) == (content.count(b"\n") + 1, 7)


@pytest.mark.parametrize(("content", "labels", "line", "column", "found"), [
    (b"a,b,y\n1,2,0\n1,x,1\n", -1, 3, 3, "'x' in column 'b' is not a number"),
    (b"a,b,y\n1,2,0\n\n1,2\n", -1, 4, None, "2 cells, but the first line has 3"),
    (b"a,b,y\n1,2,0,9\n", -1, 2, None, "4 cells, but the first line has 3"),
    (b"a,b,y\n1,2,0\n1,2,3\n", -1, 3, 5, "the label 'y' is 3, not 0 or 1"),
    (b"a,b,y\n1,2,0\n1,2,\n", -1, 3, 5, "the label 'y' is missing"),
    (b"a,b,y\n1,2,yes\n1,2,maybe\n", -1, 3, 5, "the label 'y' is 'maybe'"),
    (b"a,b,y\n1,yes,1\n", -1, 2, 3, "'yes' in column 'b' is not a number"),
    (b"a|b|y\n1|2|0\n1|x|1\n", -1, 3, 3, "'x' in column 'b' is not a number"),
    (b"a,b,y\ntrue,1,0\n%s,2,0\n" % (b"9" * 24_000), -1, 3, 1, "in column 'a' has 24,000 characters"),
    (b"a,b,y\n1,1e39,0\n", -1, 2, 3, "the value in column 'b' is infinite, or too large"),
    (b"a,b,y\n1,-inf,0\n", -1, 2, 3, "the value in column 'b' is infinite, or too large"),
    (b"a,b,y\n", -1, None, None, "names of columns, but no rows"),
    (b"a,b,y\n1,2,0\n", -3, 1, None, "the last 3 are to be labels, but there are 3 columns"),
    (b"a,height,y\n1,2,0\n", ["weight"], 1, None, "no column has the name 'weight'; similar names: height"),
    (b"a,b,b\n1,2,0\n", ["b"], 1, None, "2 columns have the name 'b'"),
    (b"a,b,y\n1,2,0\n", ["a", "b", "y"], None, None, "all 3 columns are labels"),
    (b"a,\xe4,y\n1,2,0\n", -1, 1, None, "the name of column 2, b'\\xe4', is not UTF-8"),
    (b"a,tags\n1,x\n2,\xe4\n", "tags", 3, 3, "a cell in column 'tags' is not UTF-8"),
    (b'a,b,y\n1,2,0\n1,"2,0\n1,2,0\n', -1, 3, None, "cells, but the first line has 3"),
])  # fmt: skip
def test_tables_that_cannot_be_read_say_where_and_why(content, labels, line, column, found):
    error = failure(content, labels=labels, format="csv")
    assert found in error.found and error.remedy
    assert (error.line, error.column) == (line, column)


def test_a_table_says_which_columns_look_like_labels():
    error = failure(PLAIN)
    assert "a table of 4 columns between commas (width, height, red, blue)" in error.found
    assert "in the first lines, the last 2 hold nothing but 0 and 1" in error.found
    assert error.fault[-2:] == ("labels", -2)
    assert failure(b"x,tags\n3,a\n").fault[-2:] == ("labels", "tags")


def test_an_open_quote_is_one_long_cell_and_found_soon():
    assert table_cells.cells(b'a,"' + b"," * 1_000_000, b",") == [b"a", b'"' + b"," * 1_000_000]
    assert table_cells.cells(b'"a,b","c""d,",e', b",") == [b"a,b", b'c"d,', b"e"]


def test_odd_names_and_labels_are_said():
    assert warned(read_matrix, b"a,b,b,a\n1,2,0,1\n1,2,1,1\n", labels=-2) == [
        "data: 2 labels are named like a feature: 'a', 'b'. Is it among the features too?",
        "data: there is a label that every row has: 'a'",
    ]
    said = warned(read_matrix, b"a,b,y,y\n1,2,0,1\n1,2,0,0\n", labels=-2)
    assert said == [
        "data: a label name is not unique: 'y' stands for the labels 0, 1. Ids tell them apart.",
        "data: there is a label that no row has: 'y'",
    ]


def test_a_bar_separates_cells_where_no_other_mark_does():
    X, Y, features, labels = read_matrix(b"x,tags\n1,a|b\n2,b|c|d|e\n", labels="tags")
    assert labels == ["a", "b", "c", "d", "e"] and features == ["x"]
    assert read(b"x|tags\n1|a;b\n2|b,c\n", "tags")[1] == (["x"], ["a", "b", "b,c"])
    assert "a table" not in failure(b"1 |f a:1 b:2\n0 |f a:3 c:2\n").found, "Vowpal Wabbit"


def test_columns_of_text_are_left_out_if_that_is_wanted():
    late = b"a,name,note,y\n" + b"1,Ann,,0\n" * 40 + b"2,Bob,\xc3\xa4,1\n"
    for block in (100, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(table_cells, "_BLOCK", block)
            said = warned(read_matrix, late, labels=-1, leave_out=True)
            assert said == ["data: 2 columns of text left out: 'name', 'note'"]
            with warnings.catch_warnings(action="ignore"):
                (X, Y), names = read(late, -1, leave_out=True)
        assert names == (["a"], ["y"]) and X == [[1]] * 40 + [[2]] and Y[-1] == [1]
    assert failure(late, labels=-1).fault[-2:] == ("leave_out", True)
    assert "all columns of features are text" in failure(b"a,y\nx,1\nz,0\n", labels=-1, leave_out=True).found
    assert "the label 'y' is 'x'" in failure(b"a,y\n1,x\n2,0\n", labels=-1, leave_out=True).found


IDS = {
    "named, repeated and with numbers": ("id,a,b\n7,1,2\n7,3,4\n", ["7", "7"]),
    "named, between features, one missing": ("a,Doc_ID,b\n1,x,2\n3,,4\n", ["x", ""]),
    "the first of text": ('name\ta\tb\n"x ""1"" é"\t1\t2\n=1+1\t3\t4\n', ['x "1" é', "=1+1"]),
    "the index of pandas": (",a,b\nx,1,2\ny,3,4\n", ["x", "y"]),
    "row numbers": (",a,b\n0,1,2\n1,3,4\n", None),
    "not unique": ("name,a,b\nx,1,2\nx,3,4\n", None),
    "labels": ("labels,a,b\nx,1,2\ny,3,4\n", None),
    "a note": ("a,b,note\n1,2,x\n3,4,y\n", None),
}


@pytest.mark.parametrize("content, ids", IDS.values(), ids=IDS)
def test_new_rows_have_the_ids_of_the_one_column_that_has_them(content, ids):
    with warnings.catch_warnings(record=True, action="always") as said:
        found = read_new_rows(content.encode(), 2, ["a", "b"])
    assert found.X.toarray().tolist() == [[1, 2], [3, 4]] and found.unknown == []
    assert found.ids == ids and bool(said) == (ids is None), "what is left out is said"


@pytest.mark.parametrize("names", [["id", "a", "b"], None])
def test_a_column_called_id_that_is_a_feature_has_no_ids(names):
    found = read_new_rows(b"id,a,b\n7,1,2\n8,3,4\n", 3, names)
    assert found.X.toarray().tolist() == [[7, 1, 2], [8, 3, 4]] and found.ids is None
    found = read_new_rows(b"a,id,b\n1,x,2\n3,x,4\n", 3 if names else 2, names)
    assert found.ids == ["x", "x"] and found.missing.tolist() == [0] * bool(names), "text is no feature"


def test_words_in_some_of_many_columns_do_not_slow_the_others(monkeypatch):

    calls, frame = [], table_cells._frame
    monkeypatch.setattr(table_cells, "_frame", lambda *args: calls.append(args[1:]) or frame(*args))
    names = b",".join(b"c%d" % i for i in range(60)) + b"\n"
    (X, Y), _ = read(names + (b"1," * 40 + b",".join([b"true"] * 10 + [b"yes"] * 10) + b"\n") * 3, -10)
    assert X == [[1] * 50] * 3 and Y == [[1] * 10] * 3
    assert [len(columns) for columns, _ in calls] == [60, 40, 20], "each column is read as text at most once"


def test_decimal_commas_may_come_late_and_are_none_in_lists():
    content = b"a;b;y\n" + b"1;2;0\n" * 60 + b"1,5;2;1\n"
    assert read(content, -1)[0][0][-1] == [1.5, 2]
    read_back = (([[0.5, 1.25], [2.5, 3]], [[1], [0]]), (None, None))
    assert read(b"0,5|1,25|1\n2,5|3,0|0\n", -1) == read_back
    assert read(b"0.5|1.25|1\n2.5|3.0|0\n", -1) == read_back
    assert read(b"a,tags\n1,3|4\n2,3|5\n", "tags")[0] == ([[1], [2]], [[1, 1, 0], [1, 0, 1]])
    assert read(b"a;tags\n1.5;3,7\n2;7\n", "tags") == (([[1.5], [2]], [[1, 1], [0, 1]]), (["a"], ["3", "7"]))
    assert "the label 'y' is 0.5, not 0 or 1" in failure(b"a;b\n1;2\n3;4\n", labels=b"x;y\n1;0\n0;0,5\n").found


@pytest.mark.parametrize("value", [b"1.500", b"1.5", b"1.500,5"])
def test_a_point_among_decimal_commas_is_refused(value):
    late = failure(b"a;y\n" + b"1;0\n" * 60 + b"1,5;1\n" + value + b";0\n", labels=-1)
    early = failure(b"a;y\n" + value + b";0\n" + b"3,5;1\n", labels=-1)
    assert (late.line, early.line) == (63, 2)
    assert "has a point, but other numbers a decimal comma" in late.found
    assert early.found == late.found


@pytest.mark.parametrize("labels", [-1, ["y"], "tags"])
def test_a_table_of_one_line_is_a_table_if_columns_are_chosen(labels):
    assert "names of columns, but no rows" in failure(b"a,tags,y\n", labels=labels).found
    assert read(b"1,5,0,1\n") == (([[1, 5]], [[0, 1]]), (None, None))


def test_a_table_may_have_one_label_and_nothing_else():
    assert read(b"a,b\n1,2\n3,4\n", b"y\n0\n1\n") == (([[1, 2], [3, 4]], [[0], [1]]), (["a", "b"], ["y"]))
    assert read(b"a,b\n1,2\n3,4\n", b"7\n1\n")[0][1] == [[0, 0, 0, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 0, 0, 0]]  # ids


def test_columns_without_labels_and_without_a_name_are_said():
    assert "at the ends of lines" in failure(b"a,y,\n1,0,\n2,1,\n", labels=-1).remedy
    error = failure(b"a,tags\n1,\n2,\n", labels="tags")
    assert (error.found, error.remedy) == ("no row has a label", "Does another column list the labels?")


def test_column_numbers_of_pandas_are_no_row():
    assert read(b"# a,y\n1,0\n2,1\n", -1)[1] == (["a"], ["y"])
    plain = pd.DataFrame([[5, 0.5, 1], [6, 2, 0]])
    for frame in (plain, plain[[0, 2]].set_axis([0, 1], axis=1)):
        values, names = read(frame.to_csv().encode(), -1)
        assert values == read(frame.to_csv(index=False, header=False).encode(), -1)[0]
        assert names[0] == [str(i) for i in range(len(frame.columns) - 1)]


def test_a_feature_that_counts_the_rows_is_said():
    rows = b"".join(b"%d,%d,%d\n" % (i, i % 7, i % 2) for i in range(1, 11))
    said = "data: column 'id' counts the rows, and is read as a feature"
    assert warned(read_matrix, b"id,size,y\n" + rows, labels=-1) == [said]
    assert warned(read_matrix, b"id,size,y\n" + rows.replace(b"10,", b"11,"), labels=-1) == []
