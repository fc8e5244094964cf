"""Is the C that `OneVsRest()` chooses a good one? Measured on training rows alone.

    python -m benchmarks.one_vs_rest FOLDER [--data bibtex wordnet-class/500 ...]

FOLDER is that of `benchmarks.compare`; test files are not opened. A random fifth of the training rows is held out, and
the others train the model with C = 1, which is scikit-learn's default, and with the C that it chooses. The best C of a
grid is found with label trees of one level, whose classifiers are the same but trained faster. Times are those of the
processor, with one thread, trials included. "wordnet-class/500" is the part of a data set with its 500 most frequent
labels. Writes results/one_vs_rest.json and .md; other data sets keep what they have there.
"""

import argparse
import json
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.library import files, tables
from benchmarks.settings_rule import read
from xmlcore import PLT, OneVsRest
from xmlcore.models.plt.trials import KS, hits_of

RESULTS = files.RESULTS / "one_vs_rest.json"
DATA = (
    "scene", "yeast", "20ng", "ohsumed", "corel5k", "bibtex", "tmc2007-500", "eurlex4k-dev", "wordnet-class/500",
    "delicious",
)  # fmt: skip
GRID = tuple(2.0**power for power in range(-2, 8))


def measure(X, Y) -> dict:
    """Measure OneVsRest with C = 1 and with the C that it chooses, and the best C of the grid.

    Returns
    -------
    dict
        "rows", "labels"; "C", that was chosen; "fixed" and "chosen", each with "P" (P@1, P@3, P@5 in [0, 1], on the
        held-out rows) and "fit_s"; "best", the greatest of each P@k over the grid.
    """
    n_rows, n_labels = Y.shape
    order = np.random.default_rng(17).permutation(n_rows)
    held_out, rest = np.sort(order[: n_rows // 5]), np.sort(order[n_rows // 5 :])

    def measured(model):
        """Train on the other rows, measure on the held-out ones."""
        start = time.process_time()
        model.fit(X[rest], Y[rest])
        seconds = time.process_time() - start
        precision = hits_of(Y[held_out], model.predict_topk(X[held_out], max(KS)).labels).mean(axis=0)
        return {"P": [round(float(value), 5) for value in precision], "fit_s": round(seconds, 3)}

    OneVsRest(n_jobs=1).fit(X[:500], Y[:500]).predict_topk(X[:50])  # compiles
    chosen = OneVsRest(n_jobs=1)
    found = {"fixed": measured(OneVsRest(C=1.0, n_jobs=1)), "chosen": measured(chosen)}
    one_level = {"loss": "logistic", "arity": 2, "max_leaf_labels": n_labels, "n_jobs": 1}
    grid = [measured(PLT(C=C, **one_level))["P"] for C in GRID]
    best = np.max(grid, axis=0).tolist()
    return {"rows": len(rest), "labels": n_labels, "C": chosen.settings_["C"], **found, "best": best}


def markdown(results) -> str:
    """Return the table of all data sets as Markdown."""
    head = ["data", "training rows", "labels", "chosen C", "minus C = 1", "minus the best of the grid", "time"]
    rows = []
    for name, found in results["data"].items():
        fixed, chosen = found["fixed"], found["chosen"]
        ratio = chosen["fit_s"] / fixed["fit_s"]
        gained = [_points(chosen["P"], other) for other in (fixed["P"], found["best"])]
        rows.append([name, f"{found['rows']:,}", f"{found['labels']:,}", f"{found['C']:.3g}", *gained, f"{ratio:.2f}×"])
    return (
        "# The C that `OneVsRest()` chooses\n\n"
        f"Measured {results['date']} on training rows alone, `python -m benchmarks.one_vs_rest`: P@1 / P@3 / P@5 in "
        "points on a fifth of them that was held out, with the C that was chosen, minus those with C = 1 and minus the "
        f"best of C = {GRID[0]:g} to {GRID[-1]:g} (each measure's own best). Time is that of training, trials "
        "included, as a multiple of training with C = 1: processor seconds of one thread.\n\n"
        f"{tables.table(head, rows)}"
    )


def _points(P, other):
    """Return the differences of P@k in points as text."""
    return " / ".join(f"{100 * (one - two):.2f}" for one, two in zip(P, other))


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.one_vs_rest", description=(__doc__ or "").split("\n\n")[0]
    )
    parser.add_argument("folder", type=Path, help="data sets: NAME/train.txt.gz")
    parser.add_argument("--data", nargs="+", default=list(DATA), help="names of data sets (default: all)")
    options = parser.parse_args()
    results = files.read_json(RESULTS) or {"data": {}}
    for name in options.data:
        results["data"][name] = measure(*read(options.folder, name))
        results["date"] = datetime.now(UTC).strftime("%Y-%m-%d")
        print(name, json.dumps(results["data"][name]), flush=True)
        files.write(RESULTS, json.dumps(results, indent=1) + "\n")
        files.write(RESULTS.with_suffix(".md"), markdown(results))


if __name__ == "__main__":
    main()
