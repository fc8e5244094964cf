"""Mutated files give matrices or a DatasetFormatError, nothing else, soon and in little memory."""

import io
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from datasets.fuzzing import MANY, check, mutate, mutate_archive
from datasets.reads import zip_without_a_name

from tests.archiving import npz
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


def scipy_npz(matrix):
    made = io.BytesIO()
    sp.save_npz(made, matrix, compressed=False)
    return made.getvalue()


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


def matrices(folder=None, n=12):
    """Small pieces of real data, or made ones without a folder."""
    if folder is None:
        rng = np.random.default_rng(0)
        X = sp.random_array((n, 9), density=0.4, rng=rng, format="csr", dtype=np.float32)
        Y = sp.random_array((n, 4), density=0.4, rng=rng, format="csr") > 0
        return [(X, Y)]
    found = []
    for name in ("bibtex", "yeast", "delicious"):
        X, Y, *_ = read_matrix(folder / name / "test.txt.gz")
        X, Y = X[:n], Y[:n]
        X, Y = X[:, np.unique(X.indices)[:40]], Y[:, np.unique(Y.indices)[:8]]
        found.append((sp.csr_array(X), sp.csr_array(Y)))
    return found


def cut(folder, file, features, labels):
    """Return a real file with its first features and last labels only, and its first rows."""
    head, _, rows = (folder / "arff" / file).read_text().partition("@data\n")
    attributes = [line for line in head.split("\n") if line.startswith("@attribute")]
    keep = [*range(features), *range(len(attributes) - labels, len(attributes))]
    made = [f"@relation 'cut: -C -{labels}'", *(attributes[i] for i in keep), "@data"]
    for row in rows.split("\n")[:30]:
        if row.startswith("{"):
            pairs = [pair.split(" ") for pair in row[1:-1].split(",")]
            made.append("{" + ",".join(f"{keep.index(int(i))} {v}" for i, v in pairs if int(i) in keep) + "}")
        elif row:
            values = row.split(",")
            made.append(",".join(values[i] for i in keep))
    return "\n".join([*made, ""]).encode()


def cases(kind, folder=None):
    """Files of a format that can be read, and options to read them with."""
    made = matrices(folder)
    if kind == "xmlc":
        return [sparse_rows(X, Y) for X, Y in made], [{}, {"counts": "data"}, {"first_index": 1, "counts": "data"}]
    if kind == "svmlight":
        return [sparse_rows(X, Y, header=False) for X, Y in made], [{}, {"format": "svmlight"}]
    if kind == "two files":
        X, Y = made[0]
        labels = sparse_rows(sp.csr_array(Y.astype(int)), sp.csr_array((Y.shape[0], 1), dtype=bool), header=False)
        features = sparse_rows(X, sp.csr_array((X.shape[0], 1), dtype=bool), header=False)
        header = b"%d %d\n" % X.shape
        options = [{"labels": labels}, {"labels": b"%d %d\n" % Y.shape + labels}, {"labels": labels, "counts": "data"}]
        return [features, header + features], options
    if kind == "csv":
        plain = [table(X, Y) for X, Y in made] + [table(*made[0], ";", ","), table(*made[0], "|"), listing(*made[0])]
        plain += [words(*made[0])]
        left_out = {"labels": -4, "leave_out": True}
        return plain, [{"labels": -4}, {"labels": -4}, {"labels": 2}, {"labels": "tags"}, {}, left_out]
    if kind == "npz":
        seeds = []
        for X, Y in made:
            parts = {"X_data": X.data, "X_indices": X.indices, "X_indptr": X.indptr, "X_shape": np.array(X.shape)}
            parts |= {"Y_indices": Y.indices, "Y_indptr": Y.indptr, "Y_shape": np.array(Y.shape)}
            seeds.append(npz(**parts, label_names=np.array([f"y{j}" for j in range(Y.shape[1])])))
            seeds.append(npz(X=X.toarray(), Y=Y.toarray()))
            seeds.append(npz(X=X.toarray(), y=np.arange(X.shape[0]) % 3))
            seeds.append(npz(X=X.toarray(), y=np.array(["a", "b", "\u00e4"])[np.arange(X.shape[0]) % 3]))
        seeds += [scipy_npz(made[0][0].asformat(form)) for form in ("csr", "csc", "coo")]
        return seeds, [{}, {"labels": scipy_npz(made[0][1])}]
    seeds = [DENSE, *([] if folder is None else [cut(folder, name, 20, 8) for name in REAL_ARFF])]
    with tempfile.TemporaryDirectory() as written:
        path = Path(written, "a.arff")
        write_arff(
            path, *made[0], ["a", "b c", "d'e", "\\", "ü", "y%"] + [f"f{i}" for i in range(6, made[0][0].shape[1])]
        )
        seeds.append(path.read_bytes())
    broken = [{"labels": mutate(XML, random.Random(seed)), "format": "arff"} for seed in range(8)]
    return seeds, [{}, {"format": "arff"}, *({"labels": labels} for labels in (-2, 1, XML, ["tall"])), *broken]


KINDS = ("xmlc", "svmlight", "two files", "csv", "npz", "arff")
REAL_ARFF = ("Corel5k-train-sparse.arff", "yeast-train.arff")


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_damaged_files_are_read_or_refused(kind):
    seeds, options = cases(kind)
    read(seeds[0], options[0])  # compiles the kernels
    assert 0 < run(seeds, FEW, random.Random(1), options) < FEW


CODE = """
import random, types
from pathlib import Path
sys.modules["tests"] = types.ModuleType("tests")  # an installed library may have a package of this name
sys.modules["tests"].__path__ = sys.path[1:2]
from datasets import fuzzing, test_fuzzing

kind, folder = sys.argv[1], Path(sys.argv[2])
seeds, options = test_fuzzing.cases(kind, folder)
test_fuzzing.run(seeds, 20, random.Random(0), options)  # compiles the kernels and imports what is needed
fuzzing.limit_memory(fuzzing.BYTES)
print(test_fuzzing.run(seeds, fuzzing.MANY, random.Random(2), options))
"""


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.real_data
@pytest.mark.timeout(100 + MANY / 20)
@pytest.mark.parametrize("kind", KINDS)
def test_many_damaged_real_files_take_little_time_and_memory(kind, real_data):
    root = Path(__file__).resolve().parents[2]
    code = f"import sys; sys.path[:0] = [{str(root)!r}, {str(root / 'tests')!r}]\n" + CODE
    done = subprocess.run(
        [sys.executable, "-c", code, kind, str(real_data)], capture_output=True, text=True, timeout=100 + MANY / 20
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert 0 < int(done.stdout) < MANY


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
