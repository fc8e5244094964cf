"""Forms in which real files often come: line ends, marks and spellings; and small files that name much."""

import gzip

import pytest
from datasets.reads import failure, warned

from xmlcore.datasets import read_dataset, read_matrix

ARFF = b"""@relation 'r: -C 2'
@attribute a {0,1}
@attribute b {0,1}
@attribute x numeric
@attribute y numeric
@data
1,0,0.5,2
0,1,3,4
"""
SPARSE = ARFF[: ARFF.index(b"1,0,0.5")]


def replaced(*changes):
    text = ARFF
    for before, after in changes:
        text = text.replace(before, after)
    return text


def values(content, **options):
    X, Y, *names = read_matrix(content, **options)
    return X.toarray().tolist(), Y.toarray().astype(int).tolist(), *names


@pytest.mark.parametrize(
    "content",
    [
        ARFF.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + ARFF,
        replaced((b"@attribute ", b"@ATTRIBUTE\t"), (b" {0,1}", b"\t{ 0 , 1 }"), (b" numeric", b"\tREAL ")),
        replaced((b"@relation", b"@RELATION"), (b"@data", b"@Data ")),
        replaced((b"{0,1}", b"{false,true}"), (b"1,0,0.5", b"true,false,0.5"), (b"0,1,3", b"false,true,3")),
        replaced((b"{0,1}", b"{FALSE,TRUE}"), (b"1,0,0.5", b"TRUE,FALSE,.5"), (b"0,1,3", b"FALSE,TRUE,3")),
        SPARSE + b"{ 0 1 , 2 0.5 , 3 2 }\n{1 1, 2 3,3 4,}\n",
        SPARSE + b"{0\t1,\t2\t0.5,3 2}\r\n\r\n{1 1,2 3,3 4}",
    ],
)
def test_arff_is_read_however_it_is_spelled(content):
    assert values(content) == ([[0.5, 2], [3, 4]], [[1, 0], [0, 1]], ["x", "y"], ["a", "b"])


def test_empty_sparse_rows_and_weights_of_rows():
    content = SPARSE + b"{}\n{3 2},{5}\n{ }\n"
    assert values(content)[0] == [[0, 0], [0, 2], [0, 0]]
    assert "data: 1 row weight (first in line 8) is not used" in warned(read_matrix, content)


@pytest.mark.parametrize(
    ("changed", "line", "found"),
    [
        (SPARSE + b"{3 2.5, 1 1}\n", 7, "attribute number 1 after number 3"),
        (SPARSE + b"{1 1, 1 1}\n", 7, "attribute number 1 twice in a row"),
        (ARFF.replace(b"y numeric", b'y date "yyyy-MM-dd"'), 5, "the attribute 'y' has the type date"),
        (ARFF.replace(b"y numeric", b"y string"), 5, "the attribute 'y' has the type string"),
        (ARFF.replace(b"y numeric", b"y relational"), 5, "the attribute 'y' has the type relational"),
        (ARFF.replace(b"@data", b"@attribute z relational\n@attribute z1 numeric\n@end z\n@data"), 8, "relational"),
    ],
)
def test_arff_that_cannot_be_used_says_where_and_what_to_do(changed, line, found):
    error = failure(changed)
    assert error.line == line and found in error.found and error.remedy


def test_xmlc_with_blank_label_lists_blanks_at_line_ends_and_a_header_that_lies():
    assert values(b"3 4 3 \r\n 0:1\r\n\r\n0,2 1:1  \t\r\n") == values(b"3 4 3\n 0:1\n\n0,2 1:1\n")
    lies = b"9 2 2\n0 0:1\n5,2 7:4\n"
    assert "counts=" in failure(lies).remedy
    assert [matrix.shape for matrix in read_matrix(lies, counts="data")[:2]] == [(2, 8), (2, 6)]


@pytest.mark.parametrize(
    "content", [b"20000000 0:1\n", b"0 20000000:1\n", b"1 20000001 5\n0 0:1\n", b"1 5 20000001\n0 0:1\n"]
)
def test_a_small_file_that_asks_for_very_many_columns_is_refused_unless_that_is_wanted(content):
    error = failure(content)
    assert "20,000,001" in error.found and "only 1 " in error.found
    assert error.remedy.endswith("If it is right, pass max_columns=20000001.")
    X, Y, *_ = read_matrix(content, max_columns=20_000_001)
    assert max(X.shape[1], Y.shape[1]) == 20_000_001
    with pytest.raises(ValueError, match="max_columns=20000001"):
        read_dataset(content, content, max_columns=100)
    assert read_dataset(content, content, max_columns=1 << 25).n_train == 1


@pytest.mark.parametrize(
    ("head", "tail", "options"),
    [
        (b"1500001 1 1\n", b"", {}),
        (b"1500001 1 1\n", b"", {"counts": "data"}),
        (b"1 1 1\n0 0:1\n", b"0 0:1\n", {"counts": "data"}),
        (b"0:1\n", b"0:1\n", {"labels": b"0\n"}),
        (b"1 1\n0:1\n", b"0:1\n", {"labels": b"0\n", "counts": "data"}),
        (b"1500001 1\n", b"0:1\n", {"labels": b"0\n"}),
    ],
)
def test_millions_of_blank_rows_are_refused_however_they_come(head, tail, options):
    for blank in (b"\n", b"  \t  \r\n"):
        assert "or fewer are blank" in failure(gzip.compress(head + blank * 1_500_000 + tail, 1), **options).found


def test_files_that_have_values_for_many_columns_may_have_them():
    ids = b",".join(b"%d" % i for i in range(0, 20_000_000, 1000))
    assert read_matrix(b"%s 0:1\n" % ids)[1].shape == (1, 19_999_001)
