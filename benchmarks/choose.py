"""Choose the settings of xmlcore's label tree that `benchmarks.compare` uses, on training rows alone.

    python -m benchmarks.choose FOLDER [--data bibtex delicious ...] [--splits 3] [--threads 2]
    python -m benchmarks.choose --again      # the rule once more, on the figures of the last time

FOLDER is that of `benchmarks.compare`; test files are not opened. In each split a random fifth of the training rows is
held out, every candidate below is trained on the rest, and its exact top 5 is measured on the fifth. Candidates take
turns, so that a slow minute of the machine hits all alike. The rule is that of `choose`. Writes settings.json, which
is what `compare` reads, and every candidate's figures to results/choice.json.
"""

import json
import statistics
import time
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks import compare
from benchmarks.library import command, files
from xmlcore import PLT, experiment, metrics
from xmlcore.datasets import read_matrix

CHOICE = files.RESULTS / "choice.json"
HELD_OUT = 0.2
TOLERANCE = 0.1  # points of precision
AT = (1, 3, 5)
LOSSES = [("logistic", C) for C in (1.0, 3.0, 10.0)] + [("squared_hinge", C) for C in (0.25, 0.5, 1.0, 2.0, 4.0)]
CANDIDATES = {  # "single" is chosen on every data set, "wide" on WIDE_DATA
    "single": [
        {"arity": arity, "max_leaf_labels": 100, "loss": loss, "C": C}
        for arity, (loss, C) in product((2, 8, 16, 32), LOSSES)
    ],
    "wide": [
        {"arity": arity, "max_leaf_labels": 100, "n_estimators": 3, "loss": loss, "C": C}
        for arity, (loss, C) in product((32, 100, 256), LOSSES)
        if C >= 0.5
    ],
}
RULE = (
    "A candidate's shortfall is the largest of three differences: the best P@1, P@3 and P@5 of any candidate minus its "
    f"own. Of those whose shortfall is at most the least one plus {TOLERANCE} points, the one with the least product "
    "of training time and prediction time."
)


def kinds_on(name, kinds=None):
    """Return the kinds of settings to choose on a data set: ``kinds`` if given; "wide" where ensembles are compared."""
    return list(kinds or (["single", "wide"] if name in compare.WIDE_DATA else ["single"]))


def choose(measured):
    """Return the position of the candidate that the rule chooses.

    Looking at the worst of the three measures keeps each of them near the best: a mean lets a large gain in P@1 pay for
    a loss in P@5. Where no candidate is good at all three, the smallest shortfall is still one of them. The product of
    times buys neither training nor prediction with the other.

    Parameters
    ----------
    measured : list of dict
        With "P@1", "P@3", "P@5" in percent, "fit_s" (seconds) and "ms_per_row" (milliseconds of prediction).
    """
    names = [f"P@{k}" for k in AT]
    best = {name: max(one[name] for one in measured) for name in names}
    shortfall = [max(best[name] - one[name] for name in names) for one in measured]
    enough = min(shortfall) + TOLERANCE + 1e-9
    good = [i for i, short in enumerate(shortfall) if short <= enough]
    return min(good, key=lambda i: measured[i]["fit_s"] * measured[i]["ms_per_row"])


def held_out(n_rows, split):
    """Return the row numbers to train on and those to measure on."""
    kept, held = experiment.held_out(n_rows, HELD_OUT, split)
    return np.sort(kept), held


def measure(X, Y, candidates, splits, threads):
    """Train every candidate on each split and measure it; candidates take turns.

    Returns a list of dicts, one per candidate: the medians of "fit_s" and "ms_per_row", and the means of "P@1", "P@3"
    and "P@5" in percent, over the splits.
    """
    found = [[] for _ in candidates]
    for split in range(splits):
        train, rest = held_out(X.shape[0], split)
        X_train, Y_train, X_rest, Y_rest = X[train], Y[train], X[rest], Y[rest]
        for candidate, rows in zip(candidates, found):
            PLT(n_jobs=threads, **candidate).fit(X_train[:500], Y_train[:500]).predict_topk(X_rest[:50], 5)  # compiles
            model = PLT(random_state=split, n_jobs=threads, **candidate)
            start = time.perf_counter()
            model.fit(X_train, Y_train)
            trained = time.perf_counter()
            ranking = model.predict_topk(X_rest, 5)
            done = time.perf_counter()
            precision = 100 * metrics.precision_at_k(Y_rest, ranking, 5)
            rows.append((trained - start, 1000 * (done - trained) / rest.size, *(precision[k - 1] for k in AT)))
    figures = []
    for rows in found:
        fit_s, ms_per_row, *precision = zip(*rows)
        one = {"fit_s": statistics.median(fit_s), "ms_per_row": statistics.median(ms_per_row)}
        one |= {f"P@{k}": statistics.fmean(values) for k, values in zip(AT, precision)}
        figures.append({name: round(value, 5) for name, value in one.items()})
    return figures


def lines_of(by_data):
    """Return {data: {kind: list of dict}} as JSON with a line for each dict."""
    blocks = []
    for data, kinds in by_data.items():
        inner = ",\n".join(
            f"  {json.dumps(kind)}: [\n   " + ",\n   ".join(map(json.dumps, rows)) + "\n  ]"
            for kind, rows in kinds.items()
        )
        blocks.append(f" {json.dumps(data)}: {{\n{inner}\n }}")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def main():
    parser = command.parser("choose", __doc__, epilog=RULE)
    parser.add_argument("folder", type=Path, nargs="?", help="data sets: NAME/train.txt.gz")
    parser.add_argument("--again", action="store_true", help="measure nothing: choose from results/choice.json")
    parser.add_argument(
        "--data", nargs="+", default=list(compare.DATA), help="names of data sets; the others keep their choice"
    )
    parser.add_argument("--splits", type=int, default=3, help="random splits, each with a seed of its own")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--kinds",
        nargs="+",
        choices=list(CANDIDATES),
        help=f"default: single; wide too on {' and '.join(compare.WIDE_DATA)}",
    )
    options = parser.parse_args()
    if (options.folder is None) != options.again:
        parser.error("name the FOLDER with the data sets, or --again")

    settings, everything = files.read_json(compare.SETTINGS), files.read_json(CHOICE)
    chosen = settings.get("chosen", {})
    if options.again:
        for name, kinds in everything.items():
            for kind, rows in kinds.items():
                rows = [{key: value for key, value in row.items() if key != "chosen"} for row in rows]
                best = choose(rows)
                chosen.setdefault(name, {})[kind] = CANDIDATES[kind][best]
                rows[best] = rows[best] | {"chosen": True}
                kinds[kind] = rows
                compare.say(f"{name}, {kind}: {rows[best]}")
        files.write(compare.SETTINGS, json.dumps(settings | {"rule": RULE, "chosen": chosen}, indent=1) + "\n")
        files.write(CHOICE, lines_of(everything))
        return
    for name in options.data:
        X, Y, _, _ = read_matrix(options.folder / name / "train.txt.gz")
        for kind in kinds_on(name, options.kinds):
            candidates = CANDIDATES[kind]
            figures = measure(X, Y, candidates, options.splits, options.threads)
            best = choose(figures)
            chosen.setdefault(name, {})[kind] = candidates[best]
            rows = [candidate | one for candidate, one in zip(candidates, figures)]
            rows[best] = rows[best] | {"chosen": True}
            everything.setdefault(name, {})[kind] = rows
            compare.say(f"{name}, {kind}: {rows[best]}")
            description = {"rule": RULE, "splits": options.splits, "date": datetime.now(UTC).strftime("%Y-%m-%d")}
            files.write(compare.SETTINGS, json.dumps(description | {"chosen": chosen}, indent=1) + "\n")
            files.write(CHOICE, lines_of(everything))


if __name__ == "__main__":
    main()
