"""Mutated files give matrices or a DatasetFormatError, nothing else, soon and in little memory."""

import random
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from datasets.fuzzing import check, mutate, mutate_archive
from datasets.reads import sparse_npz, zip_without_a_name

from tests.archiving import npz, workbook
from xmlcore.datasets import read_matrix, write_arff

FEW = 150
DENSE = rb"""% dense
@relation 'd: -C -2'
@attribute height numeric % metres
@attribute 'it\'s a colour' {red, green, 'dark \'blue\''}
@attribute "old \\ er" {1,0}
@attribute day integer [1,31] {2.0}
@attribute tall {0,1}
@attribute 'TAG_m\'usica' {no,yes}

@data
1.5,green,1,3,0,no
0,'dark \'blue\'',0,?,1,yes, {0.5}
-2e-3	red	1	31	0	'yes'
{0 1.25,1 green, 4 1}, {2}
{}
"""
XML = b"""<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels"><label name="tall"><label name="TAG_m'usica"/></label></labels>"""


def read(content, options):
    """Read a file, and check that what is read fits together."""
    X, Y, *names = read_matrix(content, **options)
    assert X.shape[0] == Y.shape[0] and X.has_canonical_format and Y.has_canonical_format
    for matrix, named in zip((X, Y), names):
        assert named is None or len(named) == matrix.shape[1]
        assert matrix.nnz == 0 or (0 <= matrix.indices.min() and matrix.indices.max() < matrix.shape[1])


def run(seeds, count, chance, options):
    """Read ``count`` damaged files, with each of the options in turn; return how many could be read."""
    done = 0
    for i in range(count):
        seed = seeds[i % len(seeds)]
        content = (mutate_archive if seed.startswith(b"PK") else mutate)(seed, chance)
        done += check(read, content, options[i % len(options)])
    return done


def sparse_rows(X, Y, header=True):
    """Rows of XMLC text."""
    lines = [f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}"] * header
    for i in range(X.shape[0]):
        x, y = X[[i]].tocoo(), Y[[i]].tocoo()
        pairs = " ".join(f"{j}:{v:.4g}" for j, v in zip(x.col, x.data))
        lines.append(",".join(map(str, y.col)) + " " + pairs)
    return "\n".join([*lines, ""]).encode()


def table(X, Y, mark=",", decimal="."):
    names = [*(f"f {i}" for i in range(X.shape[1])), *(f'"y{j}"' for j in range(Y.shape[1]))]
    rows = np.hstack([X.toarray(), Y.toarray()])
    lines = [mark.join(names), *(mark.join(f"{v:g}".replace(".", decimal) for v in row) for row in rows)]
    return "\n".join([*lines, ""]).encode()


def words(X, Y):
    """A table with a column of text, one of true and false, and labels of yes and no."""
    rows = [f"{row[0]:g},a{i % 3},{row[1] > 0}," for i, row in enumerate(X.toarray())]
    rows = [row + ",".join("yes" if y else "no" for y in labels) for row, labels in zip(rows, Y.toarray())]
    return "\n".join(["x,text,flag," + ",".join(f"y{j}" for j in range(Y.shape[1])), *rows, ""]).encode()


def listing(X, Y):
    """A table with a column that lists labels."""
    cells = ['"' + ";".join(f"name {j}" for j in Y[[i]].indices) + '"' for i in range(X.shape[0])]
    rows = [",".join(f"{v:g}" for v in row) + "," + cell for row, cell in zip(X.toarray(), cells)]
    return "\n".join([",".join([*(f"f{i}" for i in range(X.shape[1])), "tags"]), *rows, ""]).encode()


def cases(kind):
    """Files of a format that can be read, and options to read them with."""
    rng = np.random.default_rng(0)
    X = sp.random_array((12, 9), density=0.4, rng=rng, format="csr", dtype=np.float32)
    Y = sp.random_array((12, 4), density=0.4, rng=rng, format="csr") > 0
    if kind == "xmlc":
        return [sparse_rows(X, Y)], [{}, {"counts": "data"}, {"first_index": 1, "counts": "data"}]
    if kind == "svmlight":
        return [sparse_rows(X, Y, header=False)], [{}, {"format": "svmlight"}]
    if kind == "two files":
        labels = sparse_rows(sp.csr_array(Y.astype(int)), sp.csr_array((Y.shape[0], 1), dtype=bool), header=False)
        features = sparse_rows(X, sp.csr_array((X.shape[0], 1), dtype=bool), header=False)
        header = b"%d %d\n" % X.shape
        options = [{"labels": labels}, {"labels": b"%d %d\n" % Y.shape + labels}, {"labels": labels, "counts": "data"}]
        return [features, header + features], options
    if kind == "csv":
        plain = [table(X, Y), table(X, Y, ";", ","), table(X, Y, "|"), listing(X, Y), words(X, Y)]
        left_out = {"labels": -4, "leave_out": True}
        return plain, [{"labels": -4}, {"labels": -4}, {"labels": 2}, {"labels": "tags"}, {}, left_out]
    if kind == "workbook":
        rows = [[f"f {i}" for i in range(9)] + ["tags"], *([*map(float, row), "a;b"] for row in X.toarray())]
        return [workbook(rows), workbook(rows, [])], [{"labels": "tags"}, {"labels": -1}, {}]
    if kind == "npz":
        parts = {"X_data": X.data, "X_indices": X.indices, "X_indptr": X.indptr, "X_shape": np.array(X.shape)}
        parts |= {"Y_indices": Y.indices, "Y_indptr": Y.indptr, "Y_shape": np.array(Y.shape)}
        dense, classes = X.toarray(), np.arange(X.shape[0]) % 3
        seeds = [npz(**parts, label_names=np.array([f"y{j}" for j in range(Y.shape[1])])), npz(X=dense, Y=Y.toarray())]
        seeds += [npz(X=dense, y=classes), npz(X=dense, y=np.array(["a", "b", "\u00e4"])[classes])]
        seeds += [sparse_npz(X.asformat(form)) for form in ("csr", "csc", "coo")]
        return seeds, [{}, {"labels": sparse_npz(Y)}]
    with tempfile.TemporaryDirectory() as written:
        path = Path(written, "a.arff")
        write_arff(path, X, Y, ["a", "b c", "d'e", "\\", "ü", "y%", "f6", "f7", "f8"])
        seeds = [DENSE, path.read_bytes()]
    broken = [{"labels": mutate(XML, random.Random(seed)), "format": "arff"} for seed in range(8)]
    return seeds, [{}, {"format": "arff"}, *({"labels": labels} for labels in (-2, 1, XML, ["tall"])), *broken]


KINDS = ("xmlc", "svmlight", "two files", "csv", "workbook", "npz", "arff")


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_damaged_files_are_read_or_refused(kind):
    seeds, options = cases(kind)
    read(seeds[0], options[0])  # compiles the kernels
    assert 0 < run(seeds, FEW, random.Random(1), options) < FEW


# Files that once raised something else, took very long, or much memory.
CORPUS = {
    "many blank lines before a table": (b"\n" * 300_000 + b"a,b\n1,0\n", {"labels": -1}),
    "billions of labels that no row has": (b"1 2147483647 2147483647\n0 1:1\n", {}),
    "a zip archive with a file of no name": (zip_without_a_name(b"1 1 1\n0 0:1\n"), {}),
    "an npz file with text of no characters": (npz(X=np.eye(2), y=np.array([2**31, 5], "<u4").view("<U1")), {}),
    "brackets in brackets": (b"a,tags\n1," + b"[" * 100_000 + b"]" * 100_000 + b"\n", {"labels": "tags"}),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("case", CORPUS)
def test_what_once_failed_is_read_or_refused(case):
    content, options = CORPUS[case]
    check(read, content, options)
