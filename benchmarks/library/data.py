"""Data sets as measuring processes read them: real ones, made-up ones, parts of them, in flat files."""

import gzip
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.library import command, files, machine, processes
from xmlcore.datasets import Dataset, load, make_synthetic, read_dataset, read_text_dataset, write_matrix

TOY_ROWS = 500  # what everybody trains on once before anything is measured
TEXT_ROWS = 60_000  # a sample of the training rows, where rows are texts


def normalised(X):
    """Return the rows scaled to length 1, as float32 with sorted indices; rows of zeros stay."""
    X = sp.csr_array(X, dtype=np.float32, copy=True)
    X.sort_indices()
    lengths = np.sqrt(np.add.reduceat(np.append(X.data.astype(np.float64) ** 2, 0), X.indptr[:-1]))
    lengths[(np.diff(X.indptr) == 0) | (lengths == 0)] = 1
    X.data = (X.data / np.repeat(lengths, np.diff(X.indptr))).astype(np.float32)
    return X


def toy_part(X, Y):
    """Return the first rows with their labels, and only those labels."""
    X, Y = X[:TOY_ROWS], Y[:TOY_ROWS]
    present = np.flatnonzero(np.bincount(Y.indices, minlength=Y.shape[1]))
    return X, sp.csr_array(Y[:, present])


def prepare(data, folder, texts):
    """Write what contestants read: npz for all; with ``texts``, also text for the library that reads nothing else."""
    folder.mkdir(parents=True)
    train = normalised(data.X_train), sp.csr_array(data.Y_train)
    parts = {"train": train, "toy": toy_part(*train), "test": (normalised(data.X_test), sp.csr_array(data.Y_test))}
    for part, (X, Y) in parts.items():
        for which, matrix in (("X", X), ("Y", Y.astype(np.float32))):
            arrays = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
            np.savez(folder / f"{part}-{which}.npz", shape=np.array(matrix.shape), **arrays)
        if texts and part != "test":
            write_matrix(folder / f"{part}.txt", X, Y)


def sizes(data):
    """Return the numbers of rows, features and labels of a data set."""
    return {name: getattr(data, name) for name in ("n_train", "n_test", "n_features", "n_labels")}


def described(data):
    """Return the sizes of a data set and its fingerprint, a hash of its content."""
    per_row = {"nonzeros_per_row": data.X_train.nnz / data.n_train, "labels_per_row": data.Y_train.nnz / data.n_train}
    return sizes(data) | per_row | {"fingerprint": data.content_hash}


PARTS = ("X_train", "Y_train", "X_test", "Y_test")


def make(job):
    """Make a data set and write it where the other processes read it; return its sizes, and time and memory."""
    start = time.perf_counter()
    if "read" in job["make"]:
        data = read_real(job["make"]["read"])
    elif "load" in job["make"]:
        data = load(job["make"]["load"])
    elif "labels_of" in job["make"]:
        data = frequent_part(read_real(job["make"]["labels_of"]), job["make"]["n_labels"])
    else:
        data = make_synthetic(**job["make"], n_jobs=job["threads"])
    found = {"make_s": time.perf_counter() - start, "make_peak": machine.memory_peak()}
    for part in PARTS:
        matrix = getattr(data, part)
        for name in ("data", "indices", "indptr"):
            np.save(Path(job["data"]) / f"{part}.{name}.npy", getattr(matrix, name), allow_pickle=False)
    return (
        found
        | sizes(data)
        | {
            "nonzeros": int(data.X_train.nnz),
            "labels": int(data.Y_train.nnz),
            "labels_with_rows": int(np.unique(data.Y_train.indices).size),
        }
    )


def read_real(folder):
    """Return the data set of a folder with train.txt.gz and test.txt.gz."""
    folder = Path(folder)
    return read_dataset(folder / "train.txt.gz", folder / "test.txt.gz", name=folder.name)


def read_data(folder, name):
    """Return a data set of the folder; of texts, a sample of the training rows and all test rows, as tf-idf."""
    if (folder / name / "train.txt.gz").is_file():
        return read_real(folder / name)
    with gzip.open(folder / name / "train.jsonl.gz") as file:
        lines = file.readlines()
    rows = np.sort(np.random.default_rng(0).permutation(len(lines))[:TEXT_ROWS])
    return read_text_dataset(b"".join(lines[row] for row in rows), folder / name / "test.jsonl.gz", name=name)


def measure_each(parser, measure, markdown, out=None, threads=2):
    """Measure data sets of a folder, run by run, unless tables alone are wanted; write and print the tables."""
    parser.add_argument("folder", type=Path, nargs="?", help="data sets: NAME/train.* and NAME/test.*")
    parser.add_argument("--data", nargs="+", metavar="NAME", help="data sets (default: all of the FOLDER)")
    command.add_files(parser, out or files.RESULTS / f"{parser.prog.split('.')[-1]}.json")
    options = parser.parse_args()
    runs = (
        {"name": name} | run for name in names(options) for run in measure(read_data(options.folder, name), options)
    )
    command.measured(parser.prog.split(".")[-1], options, runs, markdown, threads)


def names(options):
    """Return the data sets that are asked for, by default all of the folder."""
    folders = options.folder.glob("*/train.*.gz") if options.folder else ()
    return options.data or sorted(path.parent.name for path in folders)


def frequent_part(data, n_labels):
    """Return a data set with the most frequent labels, the training rows that have one of them, and all test rows."""
    counts = np.bincount(data.Y_train.indices, minlength=data.n_labels)
    kept = np.sort(np.argsort(-counts, kind="stable")[:n_labels])
    Y_train, Y_test = sp.csr_array(data.Y_train[:, kept]), sp.csr_array(data.Y_test[:, kept])
    rows = np.flatnonzero(np.diff(Y_train.indptr))
    return Dataset(data.name, data.X_train[rows], Y_train[rows], data.X_test, Y_test)


def read_part(job, part):
    """Return a matrix that :func:`make` wrote."""
    arrays = [np.load(Path(job["data"]) / f"{part}.{name}.npy") for name in ("data", "indices", "indptr")]
    width = job["about"]["n_features" if part[0] == "X" else "n_labels"]
    return sp.csr_array(tuple(arrays), shape=(arrays[2].size - 1, width))


if __name__ == "__main__":  # python -m benchmarks.library.data --job FILE
    processes.run_job(Path(sys.argv[2]), {"make": make})
