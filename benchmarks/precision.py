"""How precise can anyone be? Other libraries' defaults, three trees and chosen settings beside ours, on every set.

    python -m benchmarks.precision FOLDER --rivals PYTHON [--data bibtex ...] [--model FILE.py:CLASS ...]
                                          [--only NAME ...] [--times]
    python -m benchmarks.precision --again --out FILE.json     # its tables once more, without measuring

FOLDER and PYTHON are those of `benchmarks.compare`. A library's settings are tried on a random fifth of the training
rows that is held out, with a wide beam and three trees (one on LARGE data); the one of the largest mean of P@1, P@3 and
P@5 is trained on all training rows, with three trees, and meets the test rows once. Whatever was measured is kept, run
by run, and a second start goes on from there. Without --times every run is a single one in a process of its own, for
precision alone; with --times the final contestants are measured as `compare` does. Results go to a temporary
file, which is named, unless --out names another; results/precision.json has what is published.
"""

import argparse
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.compare import Contestant, add_model, ask_versions, quality, run_once
from benchmarks.library import command, files, machine, tables
from benchmarks.library.comparison import MEASURES, PRECISIONS
from benchmarks.library.contestant import SUMMED
from benchmarks.library.data import TEXT_ROWS, described, prepare, read_data
from benchmarks.library.processes import say
from xmlcore import experiment, metrics
from xmlcore.datasets import Dataset
from xmlcore.system import kernel_cache_root

RESULTS = Path(tempfile.gettempdir()) / "xmlcore-precision" / "precision.json"
DATA = (  # what is in results/precision.json
    "bibtex", "delicious", "corel5k", "eurlex4k-dev", "20ng", "ohsumed", "tmc2007-500", "yeast", "scene",
    "wordnet-class", "aloi", "wordnet-hyper", "yso-finna-en",
)  # fmt: skip
LARGE = ("delicious", "wordnet-class", "aloi", "wordnet-hyper", "yso-finna-en")  # settings are tried with one tree
HELD_OUT = 0.2  # of the training rows
TREES, WIDE_BEAM, SEED = 3, 50, 0
MOST_LABELS = 1000  # for one-vs-rest of scikit-learn
DEFAULT, THREE, CHOSEN = "default", f"{TREES} trees", "chosen"
OURS = {  # name -> the class, its parameters
    "PLT()": ("PLT", {}),
    "PLT(quality='fast')": ("PLT", {"quality": "fast"}),
    "PLT(quality='best')": ("PLT", {"quality": "best"}),
    "PLT(n_estimators=3)": ("PLT", {"n_estimators": 3}),
    "OneVsRest()": ("OneVsRest", {}),
}
RIVALS = {  # library -> name, its parameter for the number of trees
    "omikuji": ("omikuji", "n_trees"), "libpecos": ("PECOS", "n_trees"), "napkinxc": ("napkinXC", "ensemble"),
    "libmultilabel": ("LibMultiLabel", "n_trees"), "scikit-learn": ("LinearSVC, one-vs-rest", None),
}  # fmt: skip


def settings(shapes, names, *losses):
    """Return each loss with each shape; the shapes take turns, so that few settings are of all shapes."""
    return [shape | dict(zip(names, loss)) for loss, shape in product(losses, shapes)]


SQUARED = "L2R_L2LOSS_SVC_DUAL"  # the squared hinge loss
SETTINGS = {  # what is tried; the first is the default, and the others keep smaller weights
    "omikuji": settings(
        [{}, {"cluster_balanced": False, "cluster_k": 100, "max_depth": 3}],  # Parabel; Bonsai, as its README says
        ("linear_loss_type", "linear_c", "linear_weight_threshold"),  # 0: squared hinge, 1: logistic
        (0, 1.0, 0.1), (0, 1.0, 0.01), (0, 0.3, 0.01), (1, 10.0, 0.01), (0, 3.0, 0.01), (0, 0.1, 0.01),
    ),
    "libpecos": settings(
        [{}, {"nr_splits": 64, "max_leaf_size": 400}], ("solver_type", "Cp", "Cn", "threshold"),
        (SQUARED, 1.0, 1.0, 0.1), (SQUARED, 1.0, 1.0, 0.01), (SQUARED, 0.3, 0.3, 0.01), (SQUARED, 2.0, 1.0, 0.01),
        (SQUARED, 3.0, 3.0, 0.01), (SQUARED, 0.1, 0.1, 0.01),
    ),
    "napkinxc": settings(
        [{}, {"arity": 16, "max_leaves": 200}], ("loss", "liblinear_c", "weights_threshold"),  # l2: squared hinge
        ("log", 10.0, 0.1), ("log", 10.0, 0.01), ("l2", 1.0, 0.01), ("l2", 0.3, 0.01), ("l2", 0.1, 0.01),
        ("l2", 3.0, 0.01),
    ),
    "libmultilabel": settings(  # LIBLINEAR's options; -B 1: a bias; -s 7: logistic
        [{}, {"K": 20}], ("options",), ("",), ("-B 1",), ("-B 1 -c 0.3",), ("-s 7 -c 10 -B 1",), ("-B 1 -c 3",),
        ("-B 1 -c 0.1",),
    ),
    "scikit-learn": settings([{}], ("C",), (1.0,), (0.3,), (3.0,), (0.1,), (10.0,)),
}  # fmt: skip


class Ranker:
    """Trains contestants on a data set's training rows, each in a process of its own, and lets them rank others."""

    def __init__(self, data, work, options):
        self.data, self.work, self.options = data, work, options
        self.known = np.unique(data.Y_train.indices)  # some libraries do not survive labels without rows
        parts = data.X_train, data.Y_train[:, self.known], data.X_test, data.Y_test[:, self.known]
        prepare(Dataset(data.name, *parts), work / "data", texts=True)

    def rank(self, library, params, once=True, seconds=None, **job):
        """Return what was measured and the labels of each row, None if it failed."""
        job |= {"library": library, "params": params, "seed": SEED, "threads": self.options.threads, "once": once}
        job |= {"data": str(self.work / "data"), "n_labels": len(self.known)}
        python = sys.executable if library == "xmlcore" else self.options.rivals
        options = argparse.Namespace(threads=self.options.threads, timeout=seconds or self.options.most_seconds)
        contestant = Contestant(library, library, "", params)
        found, labels = run_once(python, contestant, job, self.work / "run", options, kernel_cache_root())
        found["params"] = params
        if found["failed"]:
            return found, None
        search = "exact" if "exact" in labels else next(iter(labels))
        found["ms_per_row"] = min(way["ms_per_row"] for way in found["searches"][search])
        return found, np.where(labels[search] < 0, -1, self.known[labels[search]])


def with_trees(library, setting, trees):
    """Return a setting with a number of trees, for a library that has trees."""
    name = RIVALS[library][1]
    return setting | {name: trees} if name and (trees > 1 or library == "omikuji") else setting  # its default is 3


def best_setting(figures):
    """Return the position of the largest of the figures, the first of equal ones; None stands for a failure."""
    known = [-np.inf if figure is None else figure for figure in figures]
    return int(np.argmax(known)) if max(known, default=-np.inf) > -np.inf else None


def try_settings(library, ranker, trees, figures, most_seconds, keep):
    """Append to ``figures`` the mean of P@1, P@3 and P@5 of each setting on the rows held out, as far as time goes."""
    weights, until = metrics.inverse_propensity(ranker.data.Y_train), time.perf_counter() + most_seconds
    for setting in SETTINGS[library][len(figures) :]:
        left = max(1.0, until - time.perf_counter())
        found, labels = ranker.rank(library, with_trees(library, setting, trees), seconds=left, beam=WIDE_BEAM)
        if labels is None and found["failed"].startswith("stopped"):
            break
        measured = labels is not None and quality(ranker.data, weights, labels)
        figures.append(float(np.mean([measured[name] for name in PRECISIONS])) if measured else None)
        say(f"  {library} {setting}: {found['failed'] or round(figures[-1], 2)}")
        keep()


def contestants(n_labels):
    """Return (name, library, kind) of all contestants on a data set."""
    found = [(name, "xmlcore", name) for name in OURS]
    for library, (name, trees) in RIVALS.items():
        if trees or n_labels <= MOST_LABELS:
            kinds = (DEFAULT, THREE, CHOSEN) if trees else (DEFAULT, CHOSEN)
            found += [(f"{name}, {kind}", library, kind) for kind in kinds]
    return found


def final(library, kind, setting, ranker, options):
    """Train a contestant on all training rows and rank the test rows; a chosen one with one tree if three fail."""
    once = not options.times
    if library == "xmlcore":
        return ranker.rank(library, OURS[kind][1], once, model=OURS[kind][0])
    if kind == CHOSEN and setting is None:
        return {"failed": "no setting was tried within the time"}, None
    params = {} if setting is None else SETTINGS[library][setting]
    job = {} if setting is None else {"beam": WIDE_BEAM}
    for trees in {DEFAULT: (1,), THREE: (TREES,), CHOSEN: (TREES, 1)}[kind]:
        run, labels = ranker.rank(library, with_trees(library, params, trees), once, **job)
        if labels is not None:
            break
    return run, labels


def measure(data, found, folder, options, keep):
    """Measure on one data set what is not in ``found`` yet; labels are kept in the folder."""
    everyone, weights = contestants(data.n_labels), metrics.inverse_propensity(data.Y_train)
    present = [one for one in everyone if {one[0], one[1]} & options.only]
    tried = {library: found["tried"].setdefault(library, []) for _, library, kind in present if kind == CHOSEN}
    choosing = [library for library, figures in tried.items() if len(figures) < len(SETTINGS[library])]
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="xmlcore-precision-") as work:
        if choosing and options.choice_seconds:
            kept, held_out = experiment.held_out(data.n_train, HELD_OUT, SEED)
            parts = [(data.X_train[rows], data.Y_train[rows]) for rows in (np.sort(kept), held_out)]
            part = Ranker(Dataset(data.name, *parts[0], *parts[1]), Path(work) / "part", options)
            for library in choosing:
                try_settings(library, part, found["trees_tried"], tried[library], options.choice_seconds, keep)
        whole = Ranker(data, Path(work) / "whole", options)
        for name, library, kind in present:
            setting = best_setting(tried[library]) if kind == CHOSEN else None
            version = found["xmlcore_code"] if library == "xmlcore" else setting
            if is_done(name, version, found, folder, options):
                continue
            run, labels = final(library, kind, setting, whole, options)
            line = {"contestant": name, "library": library, "version": version, "timed": options.times}
            line |= {key: run[key] for key in ("params", "failed", "train_s", "ms_per_row", "others_cpu") if key in run}
            if labels is not None:
                np.savez_compressed(folder / f"{name}.npz", labels=labels)
                line["measures"] = with_intervals(data, weights, labels)
            found["runs"] = [one for one in found["runs"] if one["contestant"] != name] + [line]
            say(f"{data.name}, {name}: {run['failed'] or line['measures']}")
            keep()
    order = [name for name, *_ in everyone]
    found["runs"].sort(key=lambda run: order.index(run["contestant"]))
    found["differences"] = differences(data, weights, found["runs"], folder)
    keep()


def is_done(name, version, found, folder, options):
    """Return whether a contestant, ours of these sources, has been measured as the options ask for, or failed."""
    if ":" in OURS.get(name, ("",))[0]:  # of a file of the user's, which may have changed
        return False
    runs = [run for run in found["runs"] if run["contestant"] == name and run["version"] == version]
    kept = (folder / f"{name}.npz").is_file()
    return any(run["timed"] >= options.times and (kept or "measures" not in run) for run in runs)


def with_intervals(data, weights, labels):
    """Return value, low and high of each measure, in percent; the intervals are of a bootstrap over rows."""
    frame = metrics.intervals(data.Y_test, labels, (1, 3, 5), measures=["P@k", "nDCG@k", "PSP@k"], inv_ps=weights)
    lines = {line.measure.replace("@k", f"@{line.k}"): line for line in frame.itertuples()}
    return {name: [100 * float(getattr(lines[name], key)) for key in ("value", "low", "high")] for name in MEASURES}


def best_of(runs, measure, ours=None):
    """Return the best run in a measure: of ours, of the others', or of all with ``ours=None``; None without one."""
    known = [run for run in runs if "measures" in run and ours in (None, run["library"] == "xmlcore")]
    return max(known, key=lambda run: run["measures"][measure][0], default=None)


def differences(data, weights, runs, folder):
    """Return {measure: {ours: [difference from the best of the others, low, high, whose it is]}}, in points."""

    def compared(run, other, measure):
        pair = [np.load(folder / f"{one['contestant']}.npz")["labels"] for one in (run, other)]
        name, k = measure.split("@")
        one = metrics.paired_bootstrap(data.Y_test, *pair, f"{name}@k", int(k), inv_ps=weights)
        return [*(100 * value for value in (one.difference, one.low, one.high)), other["contestant"]]

    ours = [run for run in runs if run["library"] == "xmlcore" and "measures" in run]
    others = {measure: best_of(runs, measure, ours=False) for measure in MEASURES}
    return {m: {run["contestant"]: compared(run, other, m) for run in ours} for m, other in others.items() if other}


# Tables ---------------------------------------------------------------------------------------------------------------


def setting_text(run, found):
    """Return what was set, and how it was chosen, as text."""
    text = ", ".join(f"`{name}={value!r}`" for name, value in run.get("params", {}).items())
    if not run["contestant"].endswith(CHOSEN):
        return text
    figures, known = found["tried"].get(run["library"], []), len(SETTINGS[run["library"]])
    failed = f", {figures.count(None)} of which failed" if None in figures else ""
    trees = f", tried with {found['trees_tried']} tree(s)" if RIVALS[run["library"]][1] else ""
    return f"{text}; best of {len(figures)} of {known} settings{failed}{trees}"


def data_markdown(name, found):
    """Return the table of one data set."""
    rows, about = [], found["about"]
    for run in found["runs"]:
        values = run.get("measures", {}).values()
        cells = [f"{value:.2f} ± {(high - low) / 2:.2f}" for value, low, high in values]
        cells = cells or [f"failed: {run['failed']}", "–", "–", "–", "–"]
        about_now = "" if run["timed"] else "~"
        times = [about_now + tables.number(run[key]) if key in run else "–" for key in ("train_s", "ms_per_row")]
        rows.append([run["contestant"], setting_text(run, found), *cells, *times])
    if any("measures" in run for run in found["runs"]):
        best = [(best_of(found["runs"], measure), measure) for measure in MEASURES]
        cells = [f"**{run['measures'][measure][0]:.2f}** {run['contestant']}" for run, measure in best]
        rows.append(["**best of anyone**", "", *cells, "", ""])
    table = tables.table(["", "setting", *MEASURES, "training, s", "ms per row"], rows, left=2)
    sizes = [f"{about[f'n_{what}']:,} {text}" for what, text in SIZES.items()]
    return f"## {name}\n\n{', '.join(sizes)}. {tables.measured_text(found)}\n\n{table}"


def summary(results):
    """Return the table of the differences between our best and the best of the others, with their intervals."""
    rows = []
    for name, found in results["data"].items():
        tried, known = (sum(len(of[library]) for library in found["tried"]) for of in (found["tried"], SETTINGS))
        name += f"<br>only {tried} of {known} settings tried" if tried < known else ""
        row = [name]
        for measure in MEASURES if any(found.get("differences", {}).values()) else ():
            mine = found["differences"].get(measure, {})
            ours, (value, low, high, other) = max(mine.items(), key=lambda one: one[1][0])
            text = f"{value:+.2f} ({low:+.2f} to {high:+.2f})"
            row.append(f"{f'**{text}**' if low > 0 or high < 0 else text}<br>{ours} − {other}")
        missing = "nothing to compare" if "differences" in found else "not measured to the end"
        rows.append(row if len(row) > 1 else [name, missing, "–", "–", "–", "–"])
    return tables.table(["data", *MEASURES], rows)


SIZES = {"train": "training rows", "test": "test rows", "features": "features", "labels": "labels"}
ABOUT = f"""# How precise can anyone be?

P@1, P@3, P@5, nDCG@5 and PSP@5 (A = 0.55, B = 1.5) on the test rows, in percent, ± half of a 95 % bootstrap interval
over rows. All get the same rows, scaled to length 1. Times with ~ are of a single run in a new process beside other
programs. Ensembles are the libraries' own; of PECOS, which has none, the scores of trees of {TREES} seeds are added up
over the {SUMMED} best labels of each. Chosen: the setting of the largest mean of P@1, P@3 and P@5 on a fifth of the
training rows that was held out, then trained on all of them; its beam is {WIDE_BEAM} wide, that of the others 10
(napkinXC searches exactly). Of yso-finna-en {TEXT_ROWS:,} of the training rows are used, as tf-idf. scikit-learn's
one-vs-rest takes part on up to {MOST_LABELS:,} labels. The settings were changed once, when many choices lay at their
edge (C = 0.3); the chosen contestants on scene and bibtex had met the test rows by then.

## Our best minus the best of the others

In points, with the 95 % interval of a paired bootstrap over test rows; bold where it leaves out 0. Each measure has its
own best of ours and of all others, both found on the test rows, which favours the side with more contestants.

"""


def markdown(results):
    """Return all tables as Markdown."""
    return "\n\n".join([ABOUT + summary(results), *(data_markdown(*item) for item in results["data"].items())]) + "\n"


def write(known, out):
    """Write results, with a line for each run, and tables; data sets in their order, others after them."""
    known = {name: known[name] for name in dict.fromkeys((*DATA, *known)) if name in known}
    files.write_sets(out, known, markdown({"data": known}))


def main():
    parser = command.parser("precision", __doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="data sets: NAME/train.txt.gz and NAME/test.txt.gz")
    parser.add_argument("--rivals", default=sys.executable, help="Python that has the other libraries")
    parser.add_argument("--data", nargs="+", metavar="NAME", help="data sets (default: all of the FOLDER)")
    parser.add_argument("--out", type=Path, default=RESULTS, help="results, as JSON; the tables are written beside it")
    add_model(parser)
    known = [*OURS, *RIVALS]
    parser.add_argument("--only", nargs="+", choices=known, default=known, metavar="NAME", help=", ".join(known))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--most-seconds", type=float, default=600.0, help="a longer run is stopped, and named")
    parser.add_argument("--choice-seconds", type=float, default=600.0, help="for the settings of one library")
    parser.add_argument("--times", action="store_true", help="measure the contestants once more, for their times")
    parser.add_argument("--again", action="store_true", help="measure nothing: write the tables of the last time")
    labels = Path(tempfile.gettempdir()) / "xmlcore-precision"
    parser.add_argument("--labels", type=Path, default=labels, help="where labels are kept; without: measured again")
    options = parser.parse_args()
    if (options.folder is None) != options.again:
        parser.error("name the FOLDER with the data sets, or --again")
    if options.again:
        write(files.read_json(options.out)["data"], options.out)
        return
    own = {model.rpartition(":")[2]: (model, {}) for model in options.model}
    OURS.update(own)
    if not options.folder.is_dir():
        parser.error(f"there is no folder {options.folder}")
    there = sorted({path.parent.name for path in options.folder.glob("*/train.*.gz")})
    options.data = options.data or there
    if not there:
        parser.error(f"no NAME/train.txt.gz or NAME/train.jsonl.gz in {options.folder}")
    if absent := sorted(set(options.data) - set(there)):
        parser.error(f"no train.txt.gz or train.jsonl.gz for {', '.join(absent)} in {options.folder}")
    versions = ask_versions(options.rivals, list(RIVALS), options.threads)
    options.only = {*options.only, *own}
    for library in sorted(options.only & RIVALS.keys()):
        if error := versions[library]["error"]:
            say(f"{library} is left out, as it is not there: {machine.without_paths(error)}")
            options.only.remove(library)
    for name in options.data:
        data = read_data(options.folder, name)
        trees = 1 if name in LARGE else TREES
        head = machine.header("precision", options.threads) | {"tried": {}, "trees_tried": trees}
        found = head | files.read_json(options.out).get("data", {}).get(name, {})
        found |= {key: head[key] for key in ("date", "xmlcore_code")} | {"rivals": versions, "about": described(data)}

        def keep(name=name, found=found):
            # another process may have written there
            write(files.read_json(options.out).get("data", {}) | {name: found}, options.out)

        measure(data, found, options.labels / name, options, keep)
    say(f"written to {options.out} and {options.out.with_suffix('.md').name}")


if __name__ == "__main__":
    main()
