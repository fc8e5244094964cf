"""What learning further rows by partial_fit costs, and how precise the model is then:

    python -m benchmarks.partial_fit FOLDER [--only NAME ...] [--seeds N]

FOLDER has a folder for each data set, with train.txt.gz and test.txt.gz. For each seed, a model is fitted to ten
elevenths of the training rows, drawn at random, and learns the others by partial_fit, a tenth more. Beside it stand the
model that is fitted to all training rows, and the one that does not learn the others. All have their default settings,
one thread and the same seed. Precision is measured on the test rows, and cost is processor time.
"""

import statistics
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.library import command, files, machine, tables
from benchmarks.library.data import read_real
from xmlcore import DoubleSampling, LdSM, metrics
from xmlcore.models.base import warm_up

RESULT = files.RESULTS / "partial_fit.json"
MODELS = {"LdSM": LdSM, "DoubleSampling": DoubleSampling}
DATA = {
    "LdSM": ("scene", "yeast", "corel5k", "bibtex", "ohsumed", "20ng", "tmc2007-500", "eurlex4k-dev", "delicious"),
    "DoubleSampling": ("wordnet-class", "aloi", "20ng", "ohsumed", "tmc2007-500", "bibtex"),
}
SHARE = 0.1  # of the rows of the first fit that are learnt in addition
KS = (1, 3, 5)
NAMES = ("all", "first", "more")  # fitted to all rows, to the first, and then learning the others


def timed(work):
    """Return what a function returns, and the processor time that it took."""
    start = time.process_time()
    return work(), time.process_time() - start


def divided(n_rows, seed):
    """Return the numbers of the first rows and of those that are learnt in addition, both drawn at random."""
    order = np.random.default_rng(seed).permutation(n_rows)
    n_first = round(n_rows / (1 + SHARE))
    return np.sort(order[:n_first]), np.sort(order[n_first:])


def measured(cls, data, seed, params=None):
    """Train the three models with a seed; return the seconds and the precision at ``KS``, in percent, of each."""
    first, rest = divided(data.n_train, seed)

    def fitted(rows):
        return timed(lambda: made().fit(data.X_train[rows], data.Y_train[rows]))

    def made():
        return cls(**params or {}, random_state=seed, n_jobs=1)

    whole, seconds = fitted(np.arange(data.n_train))
    found = {"seed": seed, "all": {"seconds": seconds} | precision(whole, data)}
    model, seconds = fitted(first)
    found["first"] = {"seconds": seconds} | precision(model, data)
    _, seconds = timed(lambda: model.partial_fit(data.X_train[rest], data.Y_train[rest]))
    return found | {"more": {"seconds": seconds} | precision(model, data)}


def precision(model, data):
    """Return the precision of a model at ``KS`` on the test rows, in percent."""
    values = 100 * metrics.precision_at_k(data.Y_test, model.predict_topk(data.X_test, max(KS)), max(KS))
    return {f"P@{k}": float(values[k - 1]) for k in KS}


def study(options):
    """Measure, and return the results; they are written after each data set."""
    results = machine.header("partial_fit", 1)
    warnings.simplefilter("ignore")
    for name, cls in MODELS.items():
        warm_up(cls(n_jobs=1))
        for data_name in DATA[name]:
            if (options.only and data_name not in options.only) or not (options.folder / data_name).is_dir():
                continue
            data = read_real(options.folder / data_name)
            fits = [measured(cls, data, seed) for seed in range(options.seeds)]
            run = {"model": name, "data": data_name, "n_train": data.n_train, "n_labels": data.n_labels, "fits": fits}
            results["runs"].append(run)
            print(*row_of(run), sep=" | ", flush=True)
            files.write(options.out, files.as_json(results))
    return results | {"xmlcore_code_end": machine.code_now()}


def row_of(run):
    """Return the row of the table for a model on a data set."""
    fits = run["fits"]
    lost = [tables.interval([fit["more"][f"P@{k}"] - fit["all"][f"P@{k}"] for fit in fits]) for k in KS]
    values = [" / ".join(f"{statistics.fmean(fit[name][f'P@{k}'] for fit in fits):.2f}" for k in KS) for name in NAMES]
    cost = statistics.median(fit["more"]["seconds"] / fit["all"]["seconds"] for fit in fits)
    seconds = statistics.median(fit["all"]["seconds"] for fit in fits)
    return [run["data"], *values, *lost, tables.number(seconds), f"{100 * cost:.1f} %"]


def markdown(results):
    """Return the results as Markdown."""
    head = ["data", "all rows", "ten elevenths", "and partial_fit", *(f"P@{k}, change" for k in KS), "fit, s", "cost"]
    lines = [
        "# Learning further rows",
        "",
        "A model is fitted to ten elevenths of the training rows and learns the others, a tenth more, by "
        "`partial_fit`. P@1 / P@3 / P@5 in percent on the test rows, means over seeds, of models fitted to all rows, "
        "to ten elevenths of them, and of the latter after `partial_fit`. change: of the last beside the first, in "
        "points, with its 95 % interval over seeds. cost: processor time of `partial_fit` as a share of that of the "
        "fit to all rows; other programs ran at the same time, which changes a ratio of processor times little.",
        "",
    ]
    for name in MODELS:
        runs = [run for run in results["runs"] if run["model"] == name]
        if runs:
            seeds = len(runs[0]["fits"])
            lines += [f"## {name}", "", f"{seeds} seeds.", "", tables.table(head, list(map(row_of, runs))), ""]
    return "\n".join([*lines, tables.measured_text(results), ""])


def main():
    parser = command.parser("partial_fit", __doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="data sets: NAME/train.txt.gz and NAME/test.txt.gz")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="data sets; by default all that are there")
    parser.add_argument("--seeds", type=int, default=5)
    command.add_files(parser, RESULT)
    options = parser.parse_args()
    if options.folder is None and not options.table:
        parser.error("name the folder with the data sets")
    results = files.read_json(options.out) if options.table else study(options)
    files.write(options.out, files.as_json(results))
    command.show(markdown(results), options)


if __name__ == "__main__":
    main()
