"""Forms in which real files often come: archives, line ends, marks and spellings; and small files that name much."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import pytest
from datasets.reads import failure, warned, zip_without_a_name

from xmlcore.datasets import read_dataset, read_matrix

XMLC = b"2 4 3\n0,2 0:1\n1 3:2\n"
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


def zipped(files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def tarred(mode):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:
        entry = tarfile.TarInfo("a.txt")
        entry.size = len(XMLC)
        archive.addfile(entry, io.BytesIO(XMLC))
    return made.getvalue()


def values(content, **options):
    X, Y, *names = read_matrix(content, **options)
    return X.toarray().tolist(), Y.toarray().astype(int).tolist(), *names


PACKED = {
    "gzip": gzip.compress(XMLC, mtime=0),
    "bzip2": bz2.compress(XMLC),
    "xz": lzma.compress(XMLC),
    "zip": zipped({"a.txt": XMLC}),
    "folders": zipped({"data/": b"", "data/set/": b"", "data/set/a.txt": XMLC}),
    "macOS": zipped({"__MACOSX/._a.txt": b"x", "a.txt": XMLC, "d/__MACOSX/._a.txt": b"x", "d/._a.txt": b"x"}),
    "Windows": zipped({"a/a.txt": XMLC, "a/Thumbs.db": b"x", "desktop.ini": b"x", "a/.DS_Store": b"x"}),
    "no name": zip_without_a_name(XMLC),
}
REFUSED = {
    "tar": (tarred("w"), "it is a tar archive"),
    "tar.gz": (tarred("w:gz"), "it is a compressed tar archive"),
    "tar.bz2": (tarred("w:bz2"), "it is a compressed tar archive"),
    "tar.xz": (tarred("w:xz"), "it is a compressed tar archive"),
    "zip in zip": (zipped({"b.zip": zipped({"a.txt": XMLC})}), "a zip archive within compressed data"),
    "gzip twice": (gzip.compress(gzip.compress(XMLC)), "gzip data within compressed data"),
    "two files": (zipped({"train.txt": XMLC, "test.txt": XMLC}), "holds 2 files (train.txt, test.txt)"),
    "no file": (zipped({}), "holds 0 files"),
}


@pytest.mark.parametrize("kind", PACKED)
def test_packed_files_are_read_from_bytes_paths_and_file_objects(kind, tmp_path):
    packed = PACKED[kind]
    (tmp_path / "data").write_bytes(packed)
    with open(tmp_path / "data", "rb") as stream:
        read = [values(source) for source in (packed, tmp_path / "data", io.BytesIO(packed), stream)]
    assert read == [values(XMLC)] * 4


@pytest.mark.parametrize("kind", REFUSED)
def test_other_archives_are_refused_with_what_to_do(kind):
    packed, found = REFUSED[kind]
    error = failure(packed)
    assert found in error.found and "give " in error.remedy.lower()


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


def test_nested_labels_of_a_mulan_file_count_one_by_one():
    xml = b'<labels><label name="b"><label name="a"></label></label></labels>'
    assert values(ARFF.replace(b": -C 2", b""), labels=xml)[1:] == ([[0, 1], [1, 0]], ["x", "y"], ["b", "a"])


def test_xmlc_with_blank_label_lists_blanks_at_line_ends_and_a_header_that_lies():
    assert values(b"3 4 3 \r\n 0:1\r\n\r\n0,2 1:1  \t\r\n") == values(b"3 4 3\n 0:1\n\n0,2 1:1\n")
    lies = b"9 2 2\n0 0:1\n5,2 7:4\n"
    assert "counts=" in failure(lies).remedy
    assert [matrix.shape for matrix in read_matrix(lies, counts="data")[:2]] == [(2, 8), (2, 6)]


def test_svmlight_has_comments_and_its_query_ids_are_refused():
    plain = values(b"1,0 1:0.5\n2 2:1\n")
    assert values(b"# of scikit-learn\n1,0 1:0.5 # first\n2 2:1 #\n") == plain
    assert "remove the qid tokens" in failure(b"1,0 qid:3 1:0.5\n").remedy


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
