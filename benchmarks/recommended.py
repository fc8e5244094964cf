"""Choose the recommended settings, which are the defaults, of LdSM, DoubleSampling and FALS on training rows alone.

    python -m benchmarks.recommended FOLDER [--method LdSM ...] [--data NAME ...] [--splits 2]
    python -m benchmarks.recommended FOLDER --test     # published and recommended settings on the test rows: a report
    python -m benchmarks.recommended --table           # the tables again, without measuring

FOLDER holds data sets, each a folder with train.txt.gz and test.txt.gz; test files are opened with --test only, and
nothing is chosen by them. In each split a random third of the training rows (at most HELD_OUT_MOST) is held out, and
every candidate is trained on the others, or as many of them as METHODS says. Candidates take turns, with one thread.
The rule is RULE of `recommended_tables`. Everything is written to benchmarks/results/recommended.json and,
as tables, to recommended.md beside it.
"""

import json
import statistics
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks import fals as fals_study
from benchmarks.library import command, fals_tables, files, machine, processes, recommended_tables
from xmlcore import FALS, DoubleSampling, LdSM, metrics
from xmlcore.datasets import read_matrix

OUT = files.RESULTS / "recommended.json"
HELD_OUT_MOST = 3_000  # largest number of rows that candidates are measured on
HELD_OUT = 1 / 3  # share of the rows that is held out
MOST_LABELS = 30  # the labels, by frequency, for which decision trees judge a selection of features
RERANKED = {"rerank_space": "idf", "rerank_beta": 0.1, "rerank_gamma": 2.0}
LESS_RERANKED = {"rerank_space": "idf", "rerank_beta": 0.5, "rerank_gamma": 2.0}
AS_IN_PAPER = "50 trees, 2,000 nodes"
ATTEMPTS, ERRORS = {"n_attempts": 5}, {"min_error": 0.3}
FEW_EPOCHS, MORE_TREES, SOME_TREES = {"n_epochs": 5}, {"n_estimators": 20}, {"n_estimators": 15}
FROM_CANDIDATES, EXTENDED, FROM_PLT = (
    {"adversaries": "candidates"},
    {"features": "extended"},
    {"candidates_from": "plt"},
)
BY_ROWS, LEFT_OUT = {"balanced": False}, {"leave_one_out": True}
DEEPLIFT, SHARED = {"attribution": "deeplift"}, {"pattern": "FAMS"}


class Method(NamedTuple):
    """A method whose defaults are chosen."""

    model: type
    reference: str  # the preset with which candidates begin and are compared
    data: tuple[str, ...]
    candidates: dict[str, dict]  # words -> what differs from the reference
    measure: Any  # (model, train, rest) -> {measure: value}, seconds of prediction
    rows: int  # largest number of rows that candidates are trained on
    part: Any = None  # (X, Y) -> the rows and labels that the method is for
    paper: str = recommended_tables.REFERENCE  # the candidate that takes the time of the paper's settings


def ranked(model, train, rest):
    """Return P@1, P@3 and P@5 on the held-out rows, in percent, and the seconds of prediction."""
    (X, Y), start = rest, time.process_time()
    ranking = model.predict_topk(X, 5)
    seconds = time.process_time() - start
    precision = 100 * metrics.precision_at_k(Y, ranking, 5)
    return {f"P@{k}": float(precision[k - 1]) for k in (1, 3, 5)}, seconds


def classified(model, train, rest):
    """Return accuracy and macro-F1 on the held-out rows, in percent, and the seconds of prediction."""
    (X, Y), start = rest, time.process_time()
    predicted = model.predict_topk(X, 1).labels[:, 0]
    seconds = time.process_time() - start
    return {
        "accuracy": 100 * metrics.accuracy(Y, predicted),
        "macro-F1": 100 * metrics.macro_f1(Y, predicted),
    }, seconds


def judged(model, train, rest):
    """Return what decision trees on the selected features reach on the held-out rows; their time does not count."""
    found = fals_study.judge_selection({"threads": 1}, *train, *rest, model.selected_, seed=0)
    return {name: found["measures"][name] for name in fals_tables.FOUR}, 0.0


def one_class(X, Y):
    """Return the rows with exactly one label."""
    rows = np.flatnonzero(np.diff(Y.indptr) == 1)
    return X[rows], sp.csr_array(Y[rows])


def frequent(X, Y):
    """Return all rows with the most frequent labels."""
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_LABELS])
    return X, sp.csr_array(Y[:, kept])


METHODS = {
    "LdSM": Method(
        LdSM,
        "program",
        ("scene", "yeast", "20ng", "ohsumed", "tmc2007-500", "corel5k", "bibtex", "delicious", "eurlex4k-dev",
         "wordnet-hyper"),
        {
            "reference": {},
            AS_IN_PAPER: {"n_estimators": 50, "max_nodes": 2000},
            "errors of 0.3": ERRORS,
            "weight of integrity 1": {"integrity_weight": 1.0},
            "5 attempts": ATTEMPTS,
            "5 attempts, errors of 0.3": ATTEMPTS | ERRORS,
            "5 attempts, re-ranking": ATTEMPTS | RERANKED,
            "5 attempts, half re-ranking": ATTEMPTS | LESS_RERANKED,
            "5 attempts, 10 epochs": ATTEMPTS | {"n_epochs": 10},
            "5 attempts, 5 epochs": ATTEMPTS | FEW_EPOCHS,
            "5 attempts, 5 epochs, errors of 0.3": ATTEMPTS | FEW_EPOCHS | ERRORS,
            "5 attempts, 5 epochs, 20 trees": ATTEMPTS | FEW_EPOCHS | MORE_TREES,
            "5 attempts, 5 epochs, 20 trees, errors of 0.3": ATTEMPTS | FEW_EPOCHS | MORE_TREES | ERRORS,
            "5 attempts, 5 epochs, 20 trees, half re-ranking": ATTEMPTS | FEW_EPOCHS | MORE_TREES | LESS_RERANKED,
            "5 attempts, 5 epochs, 20 trees, errors of 0.3, half re-ranking": (
                ATTEMPTS | FEW_EPOCHS | MORE_TREES | ERRORS | LESS_RERANKED
            ),
            "5 attempts, 5 epochs, 15 trees": ATTEMPTS | FEW_EPOCHS | SOME_TREES,
            "5 attempts, 5 epochs, 15 trees, errors of 0.3": ATTEMPTS | FEW_EPOCHS | SOME_TREES | ERRORS,
            "5 attempts, 3 epochs, 20 trees": ATTEMPTS | {"n_epochs": 3} | MORE_TREES,
            "5 attempts, 3 epochs, 20 trees, errors of 0.3": ATTEMPTS | {"n_epochs": 3} | MORE_TREES | ERRORS,
        },
        ranked,
        4_000,
        paper=AS_IN_PAPER,
    ),
    "DoubleSampling": Method(
        DoubleSampling,
        "paper",
        ("wordnet-class", "aloi", "20ng", "ohsumed", "tmc2007-500", "scene", "bibtex"),
        {
            "reference": {},
            "10 examples": {"examples_per_class": 10.0},
            "3 candidates": {"n_candidates": 3},
            "20 candidates": {"n_candidates": 20},
            "squared hinge": {"loss": "squared_hinge"},
            "leave one out": LEFT_OUT,
            "adversaries from candidates": FROM_CANDIDATES,
            "not balanced": BY_ROWS,
            "adversaries from candidates, not balanced": FROM_CANDIDATES | BY_ROWS,
            "more features, leave one out": EXTENDED | LEFT_OUT,
            "more features, adversaries from candidates": EXTENDED | FROM_CANDIDATES,
            "more features, adversaries from candidates, not balanced": EXTENDED | FROM_CANDIDATES | BY_ROWS,
            "the same, 20 candidates": EXTENDED | FROM_CANDIDATES | BY_ROWS | {"n_candidates": 20},
            "the same, 5 candidates": EXTENDED | FROM_CANDIDATES | BY_ROWS | {"n_candidates": 5},
            "the same, squared hinge": EXTENDED | FROM_CANDIDATES | BY_ROWS | {"loss": "squared_hinge"},
            "PLT": FROM_PLT,
            "PLT, adversaries from candidates": FROM_PLT | FROM_CANDIDATES,
            "PLT, more features, adversaries from candidates": FROM_PLT | EXTENDED | FROM_CANDIDATES,
            "PLT, more features, adversaries from candidates, not balanced": (
                FROM_PLT | EXTENDED | FROM_CANDIDATES | BY_ROWS
            ),
        },
        classified,
        50_000,
        one_class,
    ),
    "FALS": Method(
        FALS,
        "paper",
        ("scene", "yeast", "20ng", "ohsumed", "tmc2007-500", "corel5k", "bibtex", "delicious"),
        {
            "reference": {},
            "one set for all labels": SHARED,
            "Fisher information": {"pattern": "FILS"},
            "Fisher information, one set": {"pattern": "FIMS"},
            "DeepLIFT": DEEPLIFT,
            "LRP": {"attribution": "lrp"},
            "DeepLIFT, one set for all labels": DEEPLIFT | SHARED,
            "5 epochs": {"n_epochs": 5},
            "20 epochs": {"n_epochs": 20},
            "L2 penalty 0.0001": {"l2": 1e-4},
            "L2 penalty 0.001": {"l2": 1e-3},
            "dropout 0.5": {"dropout": 0.5},
            "5 epochs, L2 penalty 0.001": {"n_epochs": 5, "l2": 1e-3},
            "no hidden layer": {"n_layers": 1},
            "sigmoid": {"activation": "sigmoid"},
            "step size 0.003": {"learning_rate": 0.003},
            "step size 0.0003": {"learning_rate": 0.0003},
        },
        judged,
        3_000,
        frequent,
    ),
}  # fmt: skip


def split(X, Y, seed, most):
    """Part rows at random; return X, Y of those to train on and X, Y of those to measure on."""
    order = np.random.default_rng([11, seed]).permutation(X.shape[0])
    n = min(round(HELD_OUT * X.shape[0]), HELD_OUT_MOST)
    held, kept = np.sort(order[:n]), np.sort(order[n : n + most])
    return X[kept], Y[kept], X[held], Y[held]


def fit_once(method, params, train, rest, seed):
    """Train and measure settings; return the measures, and "seconds" of processor time for training and prediction.

    Where training diverges, or selects nothing, measures are those of a useless model.
    """
    model = method.model(n_jobs=1, random_state=seed, **params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        try:
            model.fit(*train)
        except (FloatingPointError, ValueError) as error:
            return {"failed": str(error)[:200]}
        seconds = time.process_time() - start
        measures, predicting = method.measure(model, train, rest)
    return {"measures": measures, "seconds": seconds + predicting}


def params_of(method, changes):
    """Return all values of a candidate: those of the reference and the changes."""
    return method.model.PRESETS[method.reference].values | changes


def measure(method, X, Y, splits, names):
    """Train and measure candidates, the reference among them, on each split; candidates take turns.

    Returns {words: {"measures": means over splits, "seconds": their sum, "time": their ratio to the reference's}}; a
    candidate that failed has "failed".
    """
    found = {name: [] for name in names}
    for seed in range(splits):
        X_train, Y_train, X_rest, Y_rest = split(X, Y, seed, method.rows)
        for name in names:
            params = params_of(method, method.candidates[name])
            if seed == 0:  # compiles what the candidate needs
                small = {key: value for key, value in {"n_estimators": 1, "n_epochs": 1}.items() if key in params}
                toy = X_train[:300], Y_train[:300]
                fit_once(
                    method, params | small, toy, toy if method.model is not FALS else (X_rest[:50], Y_rest[:50]), 0
                )
            found[name].append(fit_once(method, params, (X_train, Y_train), (X_rest, Y_rest), seed))
    return timed({name: joined(rows) for name, rows in found.items()}, recommended_tables.REFERENCE)


def timed(found, reference):
    """Add to each row of figures the ratio of its time to that of the row ``reference``; return the rows."""
    for row in found.values():
        if "failed" not in row:
            row["time"] = round(row["seconds"] / found[reference]["seconds"], 4)
    return found


def joined(rows):
    """Return the means of the measures of some fits, and the sum of their seconds."""
    failed = [row["failed"] for row in rows if "failed" in row]
    if failed:
        return {"failed": failed[0]}
    names = rows[0]["measures"]
    measures = {name: round(statistics.fmean(row["measures"][name] for row in rows), 5) for name in names}
    return {"measures": measures, "seconds": round(sum(row["seconds"] for row in rows), 4)}


def on_test_rows(method, folder, name, seeds):
    """Return measures on the test rows of every preset and the recommended settings, trained on all training rows."""
    read = [read_matrix(folder / name / f"{part}.txt.gz") for part in ("train", "test")]
    n_features, n_labels = (max(one[i].shape[1] for one in read) for i in (0, 1))
    parts = []
    for X, Y, *_ in read:
        X.resize((X.shape[0], n_features))
        Y.resize((Y.shape[0], n_labels))
        parts.append([sp.csr_array(X), sp.csr_array(Y)])
    if method.part is frequent:  # the same labels in both parts
        n_train = parts[0][0].shape[0]
        X, Y = frequent(*(sp.csr_array(sp.vstack([parts[0][i], parts[1][i]])) for i in (0, 1)))
        parts = [[X[:n_train], Y[:n_train]], [X[n_train:], Y[n_train:]]]
    elif method.part is not None:
        parts = [method.part(*part) for part in parts]
    found = {}
    for setting, params in method.model.presets().items():
        rows = [fit_once(method, params, *parts, seed) for seed in range(seeds)]
        found[setting] = joined(rows)
    return timed(found, "paper")


def main():
    parser = command.parser("recommended", __doc__, epilog=recommended_tables.RULE)
    parser.add_argument(
        "folder", type=Path, nargs="?", help="data sets: NAME/train.txt.gz and, for --test, test.txt.gz"
    )
    parser.add_argument("--method", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--data", nargs="+", help="names of data sets; the others keep their figures")
    parser.add_argument("--splits", type=int, default=2, help="random splits, or seeds with --test")
    parser.add_argument("--missing", action="store_true", help="only candidates without figures, and the reference")
    parser.add_argument("--out", type=Path, default=OUT, help="results, as JSON")
    parser.add_argument("--test", action="store_true", help="measure presets on the test rows instead")
    parser.add_argument("--table", action="store_true", help="measure nothing: write the tables of the last figures")
    options = parser.parse_args()
    if (options.folder is None) != options.table:
        parser.error("name the FOLDER with the data sets, or --table")
    results = files.read_json(options.out)
    for kind in () if options.table else options.method:
        method = METHODS[kind]
        for name in options.data or method.data:
            about = results.setdefault(kind, {})
            header = machine.header(kind, 1)
            about |= {key: header[key] for key in ("date", "machine", "versions", "xmlcore_code")}
            if options.test:
                about.setdefault("test", {})[name] = on_test_rows(method, options.folder, name, options.splits)
            else:
                X, Y, *_ = read_matrix(options.folder / name / "train.txt.gz")
                X, Y = (X, Y) if method.part is None else method.part(X, Y)
                train, rest = (split(X, Y, 0, method.rows)[i].shape[0] for i in (0, 2))
                about |= {"reference": method.reference, "paper": method.paper, "candidates": method.candidates}
                known = about.get("held out", {}).get(name, {}).get("rows", {}) if options.missing else {}
                names = ["reference", *(one for one in method.candidates if one not in known and one != "reference")]
                rows = measure(method, X, Y, options.splits, names)
                rows = {one: (known | rows)[one] for one in method.candidates} if options.missing else rows
                about.setdefault("held out", {})[name] = {
                    "train": train,
                    "rest": rest,
                    "splits": options.splits,
                    "rows": rows,
                }
            processes.say(f"{kind}, {name}")
            files.write(options.out, json.dumps(results, indent=1) + "\n")
    files.write(options.out.with_suffix(".md"), recommended_tables.markdown(results))


if __name__ == "__main__":
    main()
