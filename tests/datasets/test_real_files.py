"""Forms in which real files often come: blanks, headers that lie; and small files that name much."""

import gzip

import pytest
from datasets.reads import advised, failure, read

from xmlcore.datasets import read_dataset, read_matrix


def test_xmlc_with_odd_blanks_and_a_header_that_lies():
    assert read(b"3 4 3 \r\n 0:1\r\n\r\n0,2 1:1  \t\r\n") == read(b"3 4 3\n 0:1\n\n0,2 1:1\n")
    lies = b"9 2 2\n0 0:1\n5,2 7:4\n"
    assert advised(lies) == ("counts", "data")
    assert [matrix.shape for matrix in read_matrix(lies, counts="data")[:2]] == [(2, 8), (2, 6)]


@pytest.mark.parametrize(
    "content", [b"20000000 0:1\n", b"0 20000000:1\n", b"1 20000001 5\n0 0:1\n", b"1 5 20000001\n0 0:1\n"]
)
def test_a_small_file_with_very_many_columns_is_refused(content):
    error = failure(content)
    assert "20,000,001" in error.found and "only 1 " in error.found
    assert error.fault[-2:] == ("max_columns", 20_000_001)
    X, Y, *_ = read_matrix(content, max_columns=20_000_001)
    assert max(X.shape[1], Y.shape[1]) == 20_000_001
    with pytest.raises(ValueError, match="max_columns=20000001"):
        read_dataset(content, content, max_columns=100)
    assert read_dataset(content, content, max_columns=1 << 25).n_train == 1


@pytest.mark.parametrize(("head", "tail", "options"), [
    (b"1500001 1 1\n", b"", {}),
    (b"1500001 1 1\n", b"", {"counts": "data"}),
    (b"1 1 1\n0 0:1\n", b"0 0:1\n", {"counts": "data"}),
    (b"0:1\n", b"0:1\n", {"labels": b"0\n"}),
    (b"1 1\n0:1\n", b"0:1\n", {"labels": b"0\n", "counts": "data"}),
    (b"1500001 1\n", b"0:1\n", {"labels": b"0\n"}),
])  # fmt: skip
def test_millions_of_blank_rows_are_refused_however_they_come(head, tail, options):
    for blank in (b"\n", b"  \t  \r\n"):
        assert "or fewer are blank" in failure(gzip.compress(head + blank * 1_500_000 + tail, 1), **options).found


def test_files_that_have_values_for_many_columns_may_have_them():
    ids = b",".join(b"%d" % i for i in range(0, 20_000_000, 1000))
    assert read_matrix(b"%s 0:1\n" % ids)[1].shape == (1, 19_999_001)
