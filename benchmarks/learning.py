"""Does a label tree that learns on get as precise as one that is trained on everything, and at which cost?

    python -m benchmarks.learning FOLDER --data bibtex ohsumed wordnet-hyper

PLT(learnable=True) is fitted to ten elevenths of the training rows and learns the others, a tenth more, at once; or it
is fitted to half of the rows, or to a fifty-first of them, and learns the others in fifty batches; or rows come by the
last of their labels, each of which begins in one of fifty weeks. All of them are compared with PLT() on all rows.
"""

from functools import partial

import numpy as np
import scipy.sparse as sp

from benchmarks.library import command, tables
from benchmarks.library.data import measure_each
from benchmarks.library.processes import timed
from xmlcore import PLT, metrics
from xmlcore.datasets import make_synthetic

BATCHES = 50
CORRECTIONS = 20
WAYS = ("from half", "from a batch", "labels by week")


def precision(model, data):
    P = metrics.precision_at_k(data.Y_test, model.predict_topk(data.X_test, 5), 5)
    return [float(P[k - 1]) for k in (1, 3, 5)]


def orders(Y, seed):
    """Return the order of the rows, and how many come first, in each way."""
    rng, n = np.random.default_rng(seed), Y.shape[0]
    order = rng.permutation(n)
    row, week = np.repeat(np.arange(n), np.diff(Y.indptr)), rng.integers(0, BATCHES, Y.shape[1])
    last = np.zeros(n, int)
    np.maximum.at(last, row, week[Y.indices])
    by_week = order[np.argsort(last[order], kind="stable")]
    return dict(zip(WAYS, ((order, n // 2), (order, n // (BATCHES + 1)), (by_week, n // (BATCHES + 1)))))


def measure(data, options):
    measure_one(make_synthetic(n_train=1000, n_test=100, n_labels=300, n_jobs=1), 0)  # compiles
    for seed in range(options.seeds):
        yield {"seed": seed} | measure_one(data, seed)


def measure_one(data, seed):
    X, Y, params = sp.csr_array(data.X_train), sp.csr_array(data.Y_train), {"random_state": seed, "n_jobs": 1}
    order = np.random.default_rng(seed).permutation(X.shape[0])
    most, rest = np.split(order, [round(order.size / 1.1)])
    whole, of_fit = timed(lambda: PLT(**params).fit(X[order], Y[order]))
    part = PLT(learnable=True, **params).fit(X[most], Y[most])
    run = {"all": precision(whole, data), "most": precision(part, data), "fit_s": of_fit}
    _, seconds = timed(lambda: part.partial_fit(X[rest], Y[rest]))
    run |= {"learnt": precision(part, data), "share": seconds / of_fit}
    run |= {name: part.size()[name] for name in ("rows_bytes", "model_bytes")}

    def correct(i):  # the row gets a label of another one
        return part.correct([i], part.rows_.X[[i]], [{*part.rows_.Y[[i]].indices, *Y[[order[-1 - i]]].indices[:1]}])

    each = [timed(partial(correct, i))[1] for i in range(CORRECTIONS)]
    run |= {"rows": X.shape[0], "correction_ms": 1000 * float(np.median(each)), "ways": {}}
    for way, (order, first) in orders(Y, seed).items():
        model = PLT(learnable=True, **params).fit(X[order[:first]], Y[order[:first]])
        for rows in np.array_split(order[first:], BATCHES):
            model.partial_fit(X[rows], Y[rows])
        run["ways"][way] = precision(model, data)
    return run


def markdown(results):
    def of(values):
        return " / ".join(f"{100 * value:.2f}" for value in values)

    def mean(name, key, of_run=lambda run: run):
        return np.mean([of_run(run)[key] for run in results["runs"] if run["name"] == name], axis=0)

    names = list(dict.fromkeys(run["name"] for run in results["runs"]))
    costs = [[name, f"{mean(name, 'rows'):,.0f}", str(sum(run["name"] == name for run in results["runs"])),
              of(mean(name, "all")), of(mean(name, "most")), of(mean(name, "learnt")),
              f"{mean(name, 'fit_s'):.2f}", f"{100 * mean(name, 'share'):.0f} %", f"{mean(name, 'correction_ms'):.0f}",
              tables.mebibytes(mean(name, "rows_bytes")), tables.mebibytes(mean(name, "model_bytes"))]
             for name in names]  # fmt: skip
    ways = [[name, *(of(mean(name, way, lambda run: run["ways"])) for way in WAYS)] for name in names]
    text = ["# Learning on", tables.measured_text(results)]
    text += ["P@1 / P@3 / P@5 in %, means over seeds; processor time of one thread."]
    head = [
        "data",
        "rows",
        "seeds",
        "all rows",
        "ten elevenths",
        "and the rest learnt",
        "fit, s",
        "cost",
        "a correction, ms",
    ]
    text += [tables.table([*head, "rows kept, MiB", "model, MiB"], costs)]
    text += [f"After {BATCHES} batches, to be compared with all rows:", tables.table(["data", *WAYS], ways)]
    return "\n\n".join(text) + "\n"


if __name__ == "__main__":
    parser = command.parser("learning", __doc__)
    parser.add_argument("--seeds", type=int, default=3)
    measure_each(parser, measure, markdown, threads=1)
