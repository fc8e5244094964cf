"""Search settings of LdSM for one data set, on held-out thirds of its training rows alone.

    python -m benchmarks.choose_ldsm FOLDER NAME [--search coordinate] [--budget 40] [--trees 10] [--threads 2]

FOLDER is that of `benchmarks.ldsm`; test files are not opened, and the folds are the same. GRID says what is tried:
add a parameter of LdSM to it, or values. "coordinate" starts at the reference settings, tries all values of one
parameter after the other, keeps the best, and goes round until nothing gets better; "random" draws settings. The best
is the one with the highest mean of P@1, P@3 and P@5. Prints a ranking; every candidate's figures go to
results/ldsm_choice.json, where those of the same sources, folds and number of trees are found again instead of being
measured twice.
"""

import json
import math
import statistics
import time
from pathlib import Path

import numpy as np

from benchmarks import choose, ldsm
from benchmarks.library import command, comparison, files, ldsm_tables, machine, processes, tables
from xmlcore import LdSM
from xmlcore.datasets import read_matrix

CHOICE = files.RESULTS / "ldsm_choice.json"
GRID = {
    "integrity_weight": [0.5, 1.0, 2.0, 4.0, 8.0],
    "multiway_weight": [0.25, 0.5, 1.0, 2.0, 4.0],
    "learning_rate": [0.01, 0.03, 0.1, 0.3, 1.0],
    "max_nodes": [300, 1000, 3000, 10000],
    "n_epochs": [2, 5, 20, 50],
    "arity": [2, 3, 4],
}
FIGURES = (*comparison.PRECISIONS, "fit_s")


class Spent(Exception):
    """The budget is used up."""


def score(found):
    """Return the mean of P@1, P@3 and P@5, by which candidates are ranked."""
    return statistics.fmean(found[name] for name in comparison.PRECISIONS)


def coordinate(grid, start, measure):
    """Change one parameter after the other as long as a value is better; ``measure`` raises :class:`Spent` to stop it.

    ``grid`` has the values to try for each parameter, and ``start`` the settings to begin with.
    """
    best, best_score = start, score(measure(start))
    better = True
    while better:
        better = False
        for name, values in grid.items():
            for value in values:
                one = best | {name: value}
                if one != best and (found := score(measure(one))) > best_score:
                    best, best_score, better = one, found, True


def random(grid, start, measure, seed=0):
    """Measure the start, then settings drawn from the grid, each once; ``measure`` raises :class:`Spent` to stop it."""
    measure(start)
    rng = np.random.default_rng(seed)
    for number in rng.permutation(math.prod(map(len, grid.values()))):
        one = dict(start)
        for name, values in grid.items():
            number, at = divmod(int(number), len(values))
            one[name] = values[at]
        measure(one)


SEARCHES = {"coordinate": coordinate, "random": random}


def searched(search, grid, start, evaluate, budget, known=()):
    """Run a search, and return the measures of all candidates that it asked for, each once.

    Parameters
    ----------
    search : str
        A key of SEARCHES.
    grid : dict of name -> list
        The values to try for each parameter.
    start : dict
        Parameters to begin with, those that are not in the grid included.
    evaluate : callable
        Takes parameters and returns a dict of FIGURES.
    budget : int
        Largest number of calls of ``evaluate``.
    known : list of dict
        Candidates ("params" and FIGURES) that need no call.

    Returns
    -------
    list of dict
        "params" and measures, in the order asked for.
    """
    earlier = {key_of(one["params"]): one for one in known}
    asked, calls = {}, 0

    def measure(params):
        nonlocal calls
        key = key_of(params)
        if key not in asked:
            if key not in earlier:
                if calls >= budget:
                    raise Spent
                calls += 1
            asked[key] = earlier.get(key) or {"params": params} | evaluate(params)
        return asked[key]

    try:
        SEARCHES[search](grid, start, measure)
    except Spent:
        pass
    return list(asked.values())


def key_of(params):
    """Return parameters as text, by which equal ones are recognised."""
    return json.dumps(params, sort_keys=True)


def evaluate(X, Y, params, threads):
    """Train and measure settings on each fold; return means, or zeros for settings with which training diverges."""
    job = {"model": "LdSM", "params": params, "n_jobs": threads, "repeat": False}
    fits = []
    for rows, held_out in ldsm.folds(X.shape[0]):
        try:
            fits.append(ldsm.fit_once(job, (X[rows], Y[rows]), (X[held_out], Y[held_out]), seed=0))
        except FloatingPointError:
            return dict.fromkeys(FIGURES, 0.0)
    found = {name: statistics.fmean(fit[name] for fit in fits) for name in comparison.PRECISIONS}
    return {name: round(value, 4) for name, value in (found | {"fit_s": sum(f["train_s"] for f in fits)}).items()}


def ranking(candidates, start, most=20):
    """Return a Markdown table of candidates, the best first, with what differs from the start."""
    rows = []
    for one in sorted(candidates, key=score, reverse=True)[:most]:
        changed = {name: value for name, value in one["params"].items() if start.get(name) != value}
        rows.append(
            [ldsm_tables.as_words(changed), f"{score(one):.2f}", *(tables.number(one[name], 4) for name in FIGURES)]
        )
    return tables.table(["changed", "mean", *comparison.PRECISIONS, "training s, three folds"], rows)


def main():
    parser = command.parser("choose_ldsm", __doc__)
    parser.add_argument("folder", type=Path, help="data sets: NAME/train.txt.gz")
    parser.add_argument("name", help="of the data set")
    parser.add_argument("--search", choices=list(SEARCHES), default="coordinate")
    parser.add_argument("--budget", type=int, default=40, help="candidates that are measured")
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--start", type=json.loads, default={}, metavar="JSON", help="instead of the reference's")
    options = parser.parse_args()

    X, Y, _, _ = read_matrix(options.folder / options.name / "train.txt.gz")
    usual = {name: value for name, value in LdSM().get_params().items() if name in GRID}
    start = usual | ldsm_tables.REFERENCE | options.start | {"n_estimators": options.trees}
    same = {"code": machine.code_now(), "trees": options.trees}
    everything = files.read_json(CHOICE)
    before = everything.get(options.name, {}).get("candidates", [])
    known = [one for one in before if same.items() <= one.items()]
    others = [one for one in before if one not in known]
    found = {key_of(one["params"]): one for one in known}

    def measure(params):
        began = time.perf_counter()
        one = evaluate(X, Y, params, options.threads) | same
        found[key_of(params)] = {"params": params} | one
        files.write(CHOICE, choose.lines_of(everything | {options.name: {"candidates": others + list(found.values())}}))
        processes.say(
            f"{score(one):.2f} {[one[name] for name in FIGURES]} {params} ({time.perf_counter() - began:.0f} s)"
        )
        return one

    candidates = searched(options.search, GRID, start, measure, options.budget, known)
    print(ranking(candidates, start))


if __name__ == "__main__":
    main()
