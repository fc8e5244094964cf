"""Large files, which are read in blocks, give what the same text gives as a whole: matrices, warnings and errors."""

import bz2
import gzip
import lzma
import random
import warnings

import pytest
from datasets.fuzzing import mutate

from xmlcore.datasets import DatasetFormatError, read_dataset, read_matrix
from xmlcore.datasets.readers import blocks, sources

NUMBERS = ("1", "0", "-0.25", "3e-5", "0.1000000015", "123456789.123456789123", "1e39", "16777217.0000000000001")


def xmlc(rng, header=True):
    rows, numbers = [], (*NUMBERS[:-2], NUMBERS[-1])
    for _ in range(60):
        labels = ",".join(map(str, rng.sample(range(9), rng.randrange(4))))
        pairs = " ".join(f"{rng.randrange(30)}:{rng.choice(numbers)}" for _ in range(rng.randrange(6)))
        rows.append(rng.choice(("", f"{labels} {pairs}", f"{labels} {pairs} # a comment", f"{labels} {pairs}\r")))
    rows = [row for row in rows if row.strip() or header]
    n_rows = sum(not row.strip().startswith("#") for row in rows)
    return "\n".join([f"{n_rows} 30 9"] * header + rows + [""]).encode()


def arff(rng, sparse=True):
    head = "@relation 'a: -C 2'\n@attribute y1 {0,1}\n@attribute y2 {0,1}\n@attribute c {red,green,blue}\n"
    head += "".join(f"@attribute f{i} numeric\n" for i in range(5)) + "@data\n"
    rows = []
    for _ in range(60):
        values = [rng.choice("01?"), rng.choice("01"), rng.choice(("red", "'green'", "?"))]
        values += [rng.choice((*NUMBERS[:-2], NUMBERS[-1], "?")) for _ in range(5)]
        kept = sorted(rng.sample(range(8), rng.randrange(9)))
        row = "{" + ", ".join(f"{i} {values[i]}" for i in kept) + "}" if sparse else ",".join(values)
        rows.append(rng.choice((row, row, f"{row},{{2}}", f"{row} % a comment", "% a comment")))
    return (head + "\n".join(rows)).encode()


FILES = {
    "xmlc": lambda rng: xmlc(rng),
    "svmlight": lambda rng: xmlc(rng, header=False),
    "sparse ARFF": lambda rng: arff(rng),
    "dense ARFF": lambda rng: arff(rng, sparse=False),
}


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 400)
    monkeypatch.setattr(sources, "_CHUNK", 40)


def outcome(source, **options):
    """What reading gives, in a form that can be compared."""
    with warnings.catch_warnings(record=True, action="always") as caught:
        try:
            X, Y, *names = read_matrix(source, name="file", **options)
        except DatasetFormatError as error:
            return str(error)
    arrays = [getattr(matrix, part) for matrix in (X, Y) for part in ("indptr", "indices", "data")]
    return X.shape, Y.shape, [(a.dtype, a.tobytes()) for a in arrays], names, [str(w.message) for w in caught]


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("counts", ["header", "data"])
def test_a_file_read_in_blocks_gives_what_its_text_gives(kind, counts, small_blocks, tmp_path):
    rng, read = random.Random(0), 0
    for i in range(40):
        content = FILES[kind](rng)
        content = mutate(content, rng) if i % 2 else content
        path = tmp_path / "file"
        path.write_bytes(content)
        expected = outcome(content, counts=counts)
        assert outcome(path, counts=counts) == expected, content
        read += not isinstance(expected, str)
    assert read >= 20


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_a_file_compressed_or_not_is_never_read_as_a_whole(pack, kind, small_blocks, tmp_path, monkeypatch):
    content = FILES[kind](random.Random(1))
    (tmp_path / "file").write_bytes(pack(content))
    expected = outcome(content)
    monkeypatch.setattr(blocks.LargeText, "whole", None)  # so that it would fail
    assert outcome(tmp_path / "file") == expected and not isinstance(expected, str)


def test_lines_and_headers_longer_than_a_block_are_read(small_blocks, tmp_path):
    line = b"2 500 2\n0 " + b" ".join(b"%d:1" % i for i in range(500)) + b"\n1 3:2\n"
    head = b"@relation 'a: -C 1'\n@attribute y {0,1}\n" + b"".join(b"@attribute f%d real\n" % i for i in range(50))
    for content in (line, head + b"@data\n{0 1, 7 2.5}\n{50 1}\n"):
        (tmp_path / "file").write_bytes(b"\xef\xbb\xbf" + content)
        assert outcome(tmp_path / "file") == outcome(content)


def test_a_large_file_that_is_too_large_is_refused(small_blocks, tmp_path):
    content = xmlc(random.Random(3))
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(DatasetFormatError, match="holds more than 600 bytes"):
        read_matrix(tmp_path / "file", max_bytes=600)


def test_progress_of_a_large_file_rises_to_its_end(small_blocks, tmp_path):
    (tmp_path / "train.txt").write_bytes(xmlc(random.Random(4)))
    shares = []
    read_dataset(tmp_path / "train.txt", progress=lambda phase, share, detail="": shares.append((phase, share)))
    reading = [share for phase, share in shares if phase == "Reading the training rows"]
    assert len(reading) > 5 and reading == sorted(reading) and 0.7 < reading[-1] <= 1


def test_arrays_grow_where_the_beginning_is_no_sample(small_blocks, tmp_path):
    content = b"".join(b"0 1:1\n" for _ in range(100)) + b"1 " + b" ".join(b"%d:1" % i for i in range(2000)) + b"\n"
    (tmp_path / "file").write_bytes(content)
    X, Y, *_ = read_matrix(tmp_path / "file")
    assert X.nnz == 2100 and Y.nnz == 101
    assert X.indices.base is None or X.indices.base.size == X.nnz  # nothing is kept beyond what is used


def test_very_many_empty_rows_of_arff_need_memory_to_be_given(monkeypatch):
    from xmlcore.datasets.readers import arff_rows

    monkeypatch.setattr(arff_rows, "MANY_ROWS", 1000)
    content = b"@relation 'a: -C 1'\n@attribute y {0,1}\n@attribute f real\n@data\n{0 1, 1 2}\n" + b"{ }\n" * 2000
    with pytest.raises(DatasetFormatError, match=r"its first 2,001 rows, only 1 are not empty.*24 bytes.*max_bytes"):
        read_matrix(content)
    assert read_matrix(content, max_bytes=50_000)[0].shape == (2001, 1)
    assert read_matrix(content.replace(b"{ }", b"{1 1}"))[0].nnz == 2001
