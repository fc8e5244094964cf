"""Set the numbers of the rule by which `PLT()` chooses its settings, on training rows alone, and say what it is worth.

    python -m benchmarks.settings_rule FOLDER [--data bibtex delicious ...]
    python -m benchmarks.settings_rule --again      # rules are compared once more, on the figures of the last time

FOLDER is that of `benchmarks.compare`; test files are not opened. In each split a random fifth of the training rows is
held out; there are as many splits as hold out 2,500 rows. On the other rows, and on samples of them, a tree of each
shape that some rule could try is trained with each C of a grid. Then every rule of a grid is played on these figures:
its trials read the figures of the sample, between two C of the grid by a straight line, and its result reads those of
the held-out fifth.

A rule is as good as on the data set that it serves worst: how much of the precision it keeps there of the best tree.
Of the rules whose training, trials included, takes on average at most twice as long as that of a binary tree with
C = 1, those are kept that are within 1 % of the best; of them those whose mean over the data sets is within 0.05 % of
the greatest; of them, the quickest is taken. What it gives on a data set that had no part in the choice is found by
leaving out each data set in turn, and its parts (:func:`part_of`) with it; "yso-finna-en" has 60,000 of its rows. In a
play any difference counts, whether or not it is beyond chance, and rows have length 1. Beside it stands what `PLT()`
itself reaches. Writes results/settings_rule.json and .md.
"""

import json
import math
import time
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks import compare
from benchmarks.library import command, files, tables
from benchmarks.precision import read_data
from xmlcore import PLT
from xmlcore.models.plt.building import has_one_level
from xmlcore.models.plt.choosing import decide
from xmlcore.models.plt.shapes import BINARY, Sizes, possible_shapes
from xmlcore.models.plt.trials import (
    KS,
    NAMES,
    RULE,
    Data,
    hits_of,
    rows_of_some_labels,
    shape_of_part,
    sizes_of_trials,
)
from xmlcore.parameters import AUTO

FIGURES = files.RESULTS / "settings_rule.json"
REPORT = files.RESULTS / "settings_rule.md"
DATA = (
    "scene", "yeast", "20ng", "ohsumed", "corel5k", "bibtex", "eurlex4k-dev", "tmc2007-500", "delicious", "aloi",
    "wordnet-class", "wordnet-hyper", "aloi/500", "wordnet-class/500", "wordnet-hyper/500", "yso-finna-en",
    "yso-finna-en/head", "yso-finna-en/torso", "yso-finna-en/tail", "yso-finna-en/5000 rows", "yso-finna-en/20000 rows",
    "yso-finna-en/half of features", "bibtex/half of features", "eurlex4k-dev/half of features",
    "wordnet-class/half of features",
)  # fmt: skip
HELD_OUT = 2500  # rows that all splits of a data set together hold out, at least
ON_ALL = tuple(2.0**power for power in range(-4, 4))  # values of C for all rows that are not held out
ON_SAMPLE = tuple(2.0**power for power in range(-4, 6))
OF_LABELS = "labels"  # the sample that is all rows of some labels
LONGEST = 2.0  # times the training time of a binary tree: longer would be slower than the fastest other library
# Rules whose precision is a smaller share below the best are equally good: in the worst case, which may have 1,000 rows
# that are held out, and in the mean.
OF_WORST, OF_MEAN = 0.01, 0.0005
THIRDS = ("head", "torso", "tail")  # of the labels by frequency, with a third of the rows' labels each
GRID = {  # the numbers of the rule that are compared; the others are as in RULE
    "sample_least": (500, 1500),
    "largest_share": (0.25, 0.5),
    "most_cost": (1.5, 2.0, 2.5, 3.0),
    "shape_gain": (0.02, 0.01, 0.0),  # of rules that are equally good and quick, the first is taken
    "C_power": (-0.6, -0.4, -0.2, 0.0),
    "C_trust": (0.5, 0.75, 1.0),
}
EVERY_AUTO = dict.fromkeys(NAMES, AUTO)


def rules():
    """Return every rule of the grid."""
    return [RULE._replace(**dict(zip(GRID, values))) for values in product(*GRID.values())]


# Measuring ------------------------------------------------------------------------------------------------------------


def read(folder, name):
    """Return the training rows of a data set or of a part of it: X and Y."""
    name, _, part = name.partition("/")
    data = read_data(folder, name)
    return part_of(data.X_train, data.Y_train, part) if part else (data.X_train, data.Y_train)


def part_of(X, Y, part):
    """Return a part of a data set: "500" frequent labels, a third of the labels, "5000 rows" or "half of features"."""
    rng = np.random.default_rng(21)
    if part == "half of features":
        return X[:, np.sort(rng.permutation(X.shape[1])[: X.shape[1] // 2])], Y
    if part.endswith(" rows"):
        rows = np.sort(rng.permutation(X.shape[0])[: int(part.partition(" ")[0])])
        return X[rows], Y[rows]
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    order = np.argsort(-counts, kind="stable")
    if part in THIRDS:
        third = (np.cumsum(counts[order]) - 1) * len(THIRDS) // Y.nnz
        labels = order[third == THIRDS.index(part)]
    else:
        labels = order[: int(part)]
    Y = sp.csr_array(Y[:, np.sort(labels)])
    rows = np.flatnonzero(np.diff(Y.indptr))
    return X[rows], Y[rows]


def measure(X, Y, split) -> dict:
    """Train every tree that a rule could train on one split of the training rows; return what was measured.

    Returns
    -------
    dict
        "rows", "labels", "labels_per_row" of the part that is not held out, and "trees", a list of dicts: "arity",
        "max_leaf_labels", "sample" (number of rows, OF_LABELS, or None for all), "C", "P" (P@1, P@3, P@5 in [0, 1]),
        "fit_s" and "predict_s" (processor seconds of one thread). And "own", with the settings, "P" and "fit_s" of
        `PLT()`.
    """
    n_rows = X.shape[0]
    order = np.random.default_rng([17, split]).permutation(n_rows)
    held_out, rest = np.sort(order[: n_rows // 5]), np.sort(order[n_rows // 5 :])  # a fifth is held out
    X_held_out, Y_held_out, X, Y = X[held_out], Y[held_out], X[rest], Y[rest]
    n_rows = X.shape[0]
    order = np.random.default_rng([18, split]).permutation(n_rows)
    parts = [(None, ON_ALL, X, Y, X_held_out, Y_held_out)]
    for size, n_others in sorted({sizes_of_trials(n_rows, rule) for rule in rules()}):
        sample, others = np.sort(order[:size]), np.sort(order[size : size + n_others])
        parts.append((size, ON_SAMPLE, X[sample], Y[sample], X[others], Y[others]))
    n_labels, size = Y.shape[1], sum(sizes_of_trials(n_rows))
    of_labels = rows_of_some_labels(Data(X, Y, None, None), min(size, n_rows // 2), [19, split])
    if of_labels is not None:
        order = np.random.default_rng([20, split]).permutation(of_labels.X.shape[0])
        sample, others = np.split(order, [int(RULE.trained_share * order.size)])
        rows = [matrix[np.sort(part)] for part in (sample, others) for matrix in of_labels[:2]]
        parts.append((OF_LABELS, ON_SAMPLE, *rows))
    sizes, shapes = Sizes(n_rows, n_labels, Y.nnz / n_rows), {}
    for rule in rules():
        for shape in [BINARY, *possible_shapes(EVERY_AUTO, sizes, rule=rule)]:
            shape = shape | {"max_leaf_labels": min(shape["max_leaf_labels"], Y.shape[1])}
            shapes[tuple(shape.values())] = shape
    trees = []
    for shape in shapes.values():
        for size, grid, *data in parts:
            if size == OF_LABELS and has_one_level(n_labels, **shape):
                continue
            for row in train(shape | shape_of_part(shape, n_labels, data[1].shape[1]), grid, data, split):
                trees.append(shape | {"sample": size} | row)
    PLT(n_jobs=1).fit(X[:500], Y[:500]).predict_topk(X[:50])  # compiles
    (own,) = train({}, [AUTO], parts[0][2:], split)
    return sizes._asdict() | {"trees": trees, "own": own}


def train(shape, grid, data, seed):
    """Train one shape with each C of a grid; yield what was measured, by rising C."""
    X, Y, X_other, Y_other = data
    given = shape | ({"normalize": "l2", "loss": "squared_hinge"} if shape else {})
    if shape:
        PLT(C=1.0, n_jobs=1, **given).fit(X[:500], Y[:500]).predict_topk(X_other[:50])  # compiles
    for C in grid:
        start = time.process_time()
        model = PLT(C=C, n_jobs=1, random_state=seed, **given).fit(X, Y)
        trained = time.process_time()
        labels = model.predict_topk(X_other, max(KS)).labels
        done = time.process_time()
        given |= {"tree": model.trees_[0]}  # the labels are clustered once
        precision = [round(float(value), 5) for value in hits_of(Y_other, labels).mean(axis=0)]
        yield {
            "C": model.settings_["C"],
            "P": precision,
            "fit_s": round(trained - start, 4),
            "predict_s": round(done - trained, 4),
        }


# Playing a rule on what was measured ----------------------------------------------------------------------------------


class Split:
    """What was measured on one split of a data set, between two values of C by a straight line over log C."""

    def __init__(self, measured):
        self.sizes = Sizes(*(measured[name] for name in Sizes._fields))
        self.lines = {}
        for tree in measured["trees"]:
            key = tree["arity"], tree["max_leaf_labels"], tree["sample"]
            self.lines.setdefault(key, []).append([math.log(tree["C"]), *tree["P"], tree["fit_s"], tree["predict_s"]])
        self.lines = {key: np.array(sorted(lines)).T for key, lines in self.lines.items()}
        self.binary = self.at(BINARY, None, 1.0)
        self.own = np.array(measured["own"]["P"]), measured["own"]["fit_s"]

    def at(self, shape, sample, C):
        """Return P@1, P@3, P@5 (ndarray), seconds of training and seconds of prediction of a tree."""
        log_C, *columns = self.lines[shape["arity"], min(shape["max_leaf_labels"], self.sizes.labels), sample]
        values = [np.interp(math.log(C), log_C, column) for column in columns]
        return np.array(values[:3]), values[3], values[4]


def best_of(splits):
    """Return P@1, P@3 and P@5 of the best tree of each: the greatest mean over splits."""
    shapes = [key for key in splits[0].lines if key[2] is None]
    return np.max([np.mean([one.lines[key][1:4] for one in splits], axis=0).max(axis=1) for key in shapes], axis=0)


class RecordedTrials:
    """Trials that read what was measured on a sample; see :class:`xmlcore.models.plt.trials.Trials`."""

    def __init__(self, split, sample, share, measured):
        self.split, self.sample, self.share, self.least = split, sample, share, 1 / measured
        self.seconds, self.reference = 0.0, None

    def run(self, settings):
        """Return the settings of a trial and what was measured."""
        P, fit_s, predict_s = self.split.at(settings, self.sample, settings["C"])
        self.seconds += fit_s + predict_s
        P = np.maximum(P, self.least)
        self.reference = P if self.reference is None else self.reference
        return {name: settings[name] for name in NAMES} | {"score": float((P / self.reference).mean())}

    def is_better(self, first, other):
        """Return True: any difference counts."""
        return True


def play(split, rule):
    """Let a rule choose; return P@1, P@3, P@5 on the held-out rows, all seconds, and the settings."""
    shapes = possible_shapes(EVERY_AUTO, split.sizes, rule=rule)
    if split.sizes.rows < rule.least_rows:
        settings, seconds = (shapes[0] if len(shapes) == 1 else BINARY) | {"C": 1.0}, 0.0
    else:
        size, measured = sizes_of_trials(split.sizes.rows, rule)
        trials = [RecordedTrials(split, size, size / split.sizes.rows, measured)]
        one_level = has_one_level(split.sizes.labels, **shapes[0])
        if not one_level and any(sample == OF_LABELS for _, _, sample in split.lines):
            trials.append(RecordedTrials(split, OF_LABELS, rule.trained_share, measured))
        _, settings = decide(EVERY_AUTO, shapes, ["l2"], *trials, rule=rule)
        seconds = sum(one.seconds for one in trials)
    P, fit_s, _ = split.at(settings, None, settings["C"])
    return P, seconds + fit_s, settings


def score(splits, rule):
    """Return the mean over splits of the precision as a share of the best, and of log time as a multiple of binary."""
    played = [(split, *play(split, rule)[:2]) for split in splits]
    share = (np.mean([P for _, P, _ in played], axis=0) / best_of(splits)).mean()
    log_time = np.mean([math.log(seconds / split.binary[1]) for split, _, seconds in played])
    return float(share), float(log_time)


def best_rule(scores, names):
    """Return the position of the best rule over some data sets; ``scores[name][i]`` is what :func:`score` returns."""
    shares, log_times = np.moveaxis(np.array([scores[name] for name in names]), 2, 0)
    worst, mean, log_time = shares.min(axis=0), shares.mean(axis=0), log_times.mean(axis=0)
    kept = np.flatnonzero(log_time <= math.log(LONGEST))
    for kind, tolerance in ((worst, OF_WORST), (mean, OF_MEAN)):
        kept = kept[kind[kept] >= kind[kept].max() - tolerance]
    return kept[log_time[kept].argmin()]


def without(scores, name):
    """Return the position of the rule that is best over all data sets from other sources."""
    return best_rule(scores, [other for other in scores if source_of(other) != source_of(name)])


def source_of(name):
    """Return the source of a data set: parts of one, and the two of WordNet, are not independent."""
    name = name.partition("/")[0]
    return "wordnet" if name.startswith("wordnet-") else name


# Report ---------------------------------------------------------------------------------------------------------------


COLUMNS = ("minus binary tree", "minus best", "time")
FORMATS = (tables.three, tables.three, tables.times)


def numbers_of(rule):
    """Return the numbers of a rule that are compared, as text."""
    return ", ".join(f"{name} {getattr(rule, name):g}" for name in GRID)


def gain(splits, played):
    """Return P@1, P@3, P@5 minus those of the binary tree, and minus the best, in points, and time over binary's."""
    rows, best = [], best_of(splits)
    for split in splits:
        P, seconds = played(split)
        rows.append([*100 * (P - split.binary[0]), *100 * (P - best), math.log(seconds / split.binary[1])])
    mean = np.mean(rows, axis=0)
    return mean[:3], mean[3:6], math.exp(mean[6])


def report(results):
    """Return the report as Markdown, and the best rule."""
    splits = {name: [Split(one) for one in measured] for name, measured in results["data"].items()}
    grid = rules()
    scores = {name: [score(measured, rule) for rule in grid] for name, measured in splits.items()}
    names = list(splits)
    best = grid[best_rule(scores, names)]
    kept = dict(zip(grid, np.min([[share for share, _ in one] for one in scores.values()], axis=0)))
    lines, means = [], {"without": [], "all": [], "now": []}
    for name in names:
        left_out = grid[without(scores, name)]
        found = {
            "without": gain(splits[name], lambda split, rule=left_out: play(split, rule)[:2]),
            "all": gain(splits[name], lambda split: play(split, best)[:2]),
            "now": gain(splits[name], lambda split: split.own),
        }
        for which, one in found.items():
            means[which].append([*one[0], *one[1], math.log(one[2])])
        changed = ", ".join(
            f"{field} {getattr(left_out, field):g}"
            for field in GRID
            if getattr(left_out, field) != getattr(best, field)
        )
        shown = [f(value) for one in (found["without"], found["now"]) for f, value in zip(FORMATS, one)]
        lines.append([name, changed or "the same", *shown])
    average = {which: np.mean(rows, axis=0) for which, rows in means.items()}
    average = {which: (row[:3], row[3:6], math.exp(row[6])) for which, row in average.items()}
    for text, which in (("mean", "without"), ("mean, with the rule of all data sets", "all")):
        shown = [f(value) for one in (average[which], average["now"]) for f, value in zip(FORMATS, one)]
        lines.append([f"**{text}**", "", *shown])
    text = [
        "# The rule by which PLT() chooses its settings",
        "",
        f"Measured {results['date']} on training rows alone, `python -m benchmarks.settings_rule`: a fifth of them is "
        f"held out, in as many random splits as hold out {HELD_OUT:,} rows together.",
        "",
        f"Best over all {len(names)} data sets among {len(grid)} rules: {numbers_of(best)}. Built in: "
        f"{numbers_of(RULE)}. On the data set that a rule serves worst it keeps {kept[best]:.1%} and "
        f"{kept[RULE]:.1%} of the precision of the best tree; no rule keeps more than {max(kept.values()):.1%}.",
        "",
        "Each line has what the rule gives that is best over the *other* data sets: P@1 / P@3 / P@5 in points, on the "
        "held-out rows, minus those of a binary tree with 100 labels under a last node and C = 1 (Parabel), and minus "
        "the best of every tree that was trained (each measure's own best, of the means over splits). Time is that of "
        "training, trials included, as a multiple of the binary tree's: processor seconds of one thread, for a rule "
        "without the clustering of labels, which was done once for all C of a shape. Rows have length 1 in all of "
        "this. The last three columns are what `PLT()` itself reaches, which also tries inverse document frequencies.",
        "",
        tables.table(
            [
                "data",
                "numbers that differ without it",
                *(f"{column}{own}" for own in ("", ", PLT()") for column in COLUMNS),
            ],
            lines,
            left=2,
        ),
    ]
    return "\n".join(text) + "\n", best


def main():
    parser = command.parser("settings_rule", __doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="data sets: NAME/train.txt.gz")
    parser.add_argument("--again", action="store_true", help="measure nothing: read results/settings_rule.json")
    parser.add_argument("--data", nargs="+", default=list(DATA), help="names of data sets; the others stay as they are")
    options = parser.parse_args()
    if (options.folder is None) != options.again:
        parser.error("name the FOLDER with the data sets, or --again")
    results = files.read_json(FIGURES) or {"data": {}}
    for name in [] if options.again else options.data:
        X, Y = read(options.folder, name)
        splits = range(-(-HELD_OUT // (X.shape[0] // 5)))
        results["data"][name] = [measure(X, Y, split) for split in splits]
        results["date"] = datetime.now(UTC).strftime("%Y-%m-%d")
        write(results)
        compare.say(f"{name}: measured")
    text, best = report(results)
    files.write(REPORT, text)
    print(text)


def write(results):
    """Write the figures, with a line for each tree."""
    order = [name for name in DATA if name in results["data"]] + [name for name in results["data"] if name not in DATA]
    blocks = []
    for name in order:
        splits = []
        for one in results["data"][name]:
            trees = ",\n   ".join(map(json.dumps, one["trees"]))
            rest = json.dumps({key: value for key, value in one.items() if key != "trees"})[1:-1]
            splits.append(f'  {{{rest}, "trees": [\n   {trees}\n  ]}}')
        blocks.append(f"  {json.dumps(name)}: [\n" + ",\n".join(splits) + "\n  ]")
    rest = json.dumps({key: value for key, value in results.items() if key != "data"})[1:-1]
    files.write(FIGURES, f'{{{rest}, "data": {{\n' + ",\n".join(blocks) + "\n}}\n")


if __name__ == "__main__":
    main()
