"""Are planted wrong and missing labels the first doubts?

    python -m benchmarks.review FOLDER --data bibtex cooking delicious wordnet-hyper [--cleanlab PYTHON]

Of the labels of training rows, 5 % are replaced by others and 20 % are taken away. The other label is any one of those
that the row does not have, one drawn by frequency, or one of five whose rows are most alike. Doubts are compared with
the faults that were planted (true faults of the data count as none), and with cleanlab, which gets the same
probabilities as a dense matrix, by a Python that has it.
"""

import json
import subprocess
import tempfile
from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from benchmarks.library import command, tables
from benchmarks.library.data import measure_each
from benchmarks.memory import highest_memory
from xmlcore import PLT, review

WAYS = ("at random", "by frequency", "confused")
FIRST = (100, 1000)
SHARES = {"wrong": 0.05, "missing": 0.2}
DENSE_GB = 4  # of probabilities that cleanlab is given at most
CLEANLAB = """
import json, resource, sys
import numpy as np
from cleanlab.multilabel_classification.filter import find_multilabel_issues_per_class
found = np.load(sys.argv[1])
p, rows, labels = found["p"], found["rows"], found["labels"]
given = [labels[a:b].tolist() for a, b in zip(rows, rows[1:])]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
issues = find_multilabel_issues_per_class(given, p, n_jobs=1)
has = np.zeros(p.shape, bool)
has[np.repeat(np.arange(len(given)), np.diff(rows)), labels] = True
quality = np.where(has, p, 1 - p) + 1.0 * ~np.asarray(issues)
first = np.argsort(quality, axis=None, kind="stable")[:1000]
print(json.dumps([first.tolist(), 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)]))
"""


def plant(X, Y, way, seed=0):
    """Return labels with faults, and the places, row * L + label, where they differ from Y."""
    rng, (n, L) = np.random.default_rng(seed), Y.shape
    row, label = np.repeat(np.arange(n), np.diff(Y.indptr)), Y.indices.astype(np.int64)
    order = rng.permutation(Y.nnz)
    n_wrong, n_missing = (round(share * Y.nnz) for share in SHARES.values())
    wrong, gone = order[:n_wrong], order[: n_wrong + n_missing]
    if way == "at random":
        other = rng.integers(L, size=n_wrong)
    elif way == "by frequency":
        other = label[rng.integers(Y.nnz, size=n_wrong)]
    else:
        means = normalize(sp.csr_array(Y.T.astype(np.float32)) @ X)
        used, near = np.unique(label[wrong]), np.zeros((L, 5), np.int64)
        for some in np.array_split(used, max(1, used.size // 500)):
            cosine = (means[some] @ means.T).toarray()
            cosine[np.arange(some.size), some] = -1
            near[some] = np.argpartition(-cosine, 5, axis=1)[:, :5]
        other = near[label[wrong], rng.integers(5, size=n_wrong)]
    true = row * L + label
    put = row[wrong] * L + other
    kept = np.union1d(np.delete(true, gone), put[~np.isin(put, true)])
    return as_labels(kept, Y.shape), np.setxor1d(kept, true)


def as_labels(places, shape):
    return sp.csr_array((np.ones(places.size, bool), (places // shape[1], places % shape[1])), shape=shape)


def shares_right(places, faults):
    right = np.isin(places, faults)
    return [float(right[:n].mean()) for n in FIRST]


def by_cleanlab(python, found, Y):
    """Return the first places by cleanlab and the bytes that it takes above the probabilities."""
    p = np.zeros(Y.shape)
    p[found["row"], found["label"]] = found["probability"]
    with tempfile.NamedTemporaryFile(suffix=".npz") as given:
        np.savez(given.name, p=p, rows=Y.indptr, labels=Y.indices)
        done = subprocess.run([python, "-c", CLEANLAB, given.name], capture_output=True, text=True, check=True)
    first, taken = json.loads(done.stdout)
    return np.array(first), taken + p.nbytes


def measure(data, options):
    X = data.X_train
    for way in WAYS:
        Y, faults = plant(X, data.Y_train, way)
        found, peak, seconds = highest_memory(partial(review.doubts, PLT(), X, Y))
        places = (found["row"] * Y.shape[1] + found["label"]).to_numpy()
        run = {"way": way, "labels": Y.nnz, "faults": faults.size, "peak": peak, "cpu_s": seconds}
        run["doubts"] = shares_right(places, faults)
        if options.cleanlab and 8 * Y.shape[0] * Y.shape[1] < DENSE_GB * 2**30:
            first, taken = by_cleanlab(options.cleanlab, found, Y)
            run |= {"cleanlab": shares_right(first, faults), "cleanlab_bytes": taken}
        yield run


def markdown(results):
    def shares(run, key):
        return [f"{100 * share:.0f}" for share in run[key]] if key in run else ["", ""]

    head = ["data", "faults", "planted", *(f"doubts, first {n:,}" for n in FIRST), *(f"cleanlab, {n:,}" for n in FIRST),
            "memory, MiB", "cleanlab's, MiB", "processor s"]  # fmt: skip
    lines = [[run["name"], run["way"], f"{run['faults']:,}", *shares(run, "doubts"), *shares(run, "cleanlab"),
              tables.mebibytes(run["peak"]), tables.mebibytes(run["cleanlab_bytes"]) if "cleanlab" in run else "",
              tables.seconds(run["cpu_s"])] for run in results["runs"]]  # fmt: skip
    about = "Planted faults among the first doubts, in %."
    return tables.document(
        "# Wrong and missing labels", tables.measured_text(results), about, tables.table(head, lines)
    )


if __name__ == "__main__":
    parser = command.parser("review", __doc__)
    parser.add_argument("--cleanlab", metavar="PYTHON", help="the interpreter of an environment that has cleanlab")
    measure_each(parser, measure, markdown)
