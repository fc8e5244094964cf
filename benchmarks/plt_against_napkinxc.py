"""PLT beside napkinXC's, on the same data, threads and machine, in turns.

    python -m benchmarks.plt_against_napkinxc FOLDER [--data bibtex delicious] [--runs 3] [--threads 2]

FOLDER holds data sets, each a folder with train.txt.gz and test.txt.gz. Both models use their defaults, which agree:
binary balanced k-means tree, at most 100 labels under a last node, logistic loss, C = 10, weights below 0.1 dropped.
Times are medians over the runs, each with another seed; precision is the mean. Reading files is not counted for either;
compiling kernels is shown on its own line.
napkinXC's fit writes its model to disk, and that is part of its training time; loading it again is not counted.
"""

import argparse
import statistics
import tempfile
import time
from importlib import metadata
from pathlib import Path

import scipy.sparse as sp

from xmlcore import PLT, metrics
from xmlcore.datasets import read_dataset


def time_ours(data, seed, threads, _):
    model = PLT(random_state=seed, n_jobs=threads)
    start = time.perf_counter()
    model.fit(data.X_train, data.Y_train)
    trained = time.perf_counter()
    ranking = model.predict_topk(data.X_test, 5)
    return trained - start, time.perf_counter() - trained, ranking


def time_napkinxc(data, seed, threads, folder):
    from napkinxc.models import PLT as Rival

    X, Y, X_test = (sp.csr_matrix(m.astype("float32")) for m in (data.X_train, data.Y_train, data.X_test))
    model = Rival(str(Path(folder) / "model"), seed=seed, threads=threads, verbose=False)
    start = time.perf_counter()
    model.fit(X, Y)
    trained = time.perf_counter()
    model.load()  # its fit leaves the model on disk
    loaded = time.perf_counter()
    ranking = model.predict(X_test, top_k=5)
    return trained - start, time.perf_counter() - loaded, ranking


def measure(data, runs, threads):
    contestants = {"xmlcore": time_ours, "napkinXC": time_napkinxc}
    found = {name: [] for name in contestants}
    for seed in range(runs):
        for name, contest in contestants.items():
            with tempfile.TemporaryDirectory() as folder:
                fit_s, predict_s, ranking = contest(data, seed, threads, folder)
            precision = 100 * metrics.precision_at_k(data.Y_test, ranking, 5)
            found[name].append((fit_s, 1000 * predict_s / data.n_test, *precision[[0, 2, 4]]))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", nargs="+", default=["bibtex", "delicious", "wordnet-hyper"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()

    start = time.perf_counter()
    X = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] * 4
    PLT(max_leaf_labels=2).fit(X, [[0, 1], [2], [3, 4]] * 4).predict_topk(X, 1)
    print(f"compiling, or loading, kernels: {time.perf_counter() - start:.1f} s")
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numba", "numpy", "scipy", "napkinxc"))
    print(f"{versions}; {options.threads} threads, {options.runs} runs\n")
    print("| data | library | training s | prediction ms/row | P@1 | P@3 | P@5 |\n|---|---|---|---|---|---|---|")
    for name in options.data:
        data = read_dataset(options.folder / name / "train.txt.gz", options.folder / name / "test.txt.gz")
        for library, rows in measure(data, options.runs, options.threads).items():
            columns = list(zip(*rows))
            fit_s, predict_ms = (statistics.median(column) for column in columns[:2])
            precision = " | ".join(f"{statistics.fmean(column):.2f}" for column in columns[2:])
            print(f"| {name} | {library} | {fit_s:.2f} | {predict_ms:.4f} | {precision} |", flush=True)


if __name__ == "__main__":
    main()
