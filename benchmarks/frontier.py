"""What precision costs: label trees of three qualities, decision trees, one-vs-rest, and mixtures of their results.

    python -m benchmarks.frontier FOLDER [--data bibtex ...] [--most-seconds 180]
    python -m benchmarks.frontier --again     # the tables once more, without measuring

FOLDER is that of `benchmarks.compare`. Every method has its default settings but for the number of trees. Times are
those of the processor, with one thread, so other programs disturb them little. The members of a mixture are trained a
second time without a fifth of the training rows, and the weights are chosen on this fifth; test rows are only used for
the figures that are reported. Writes results/frontier.json and frontier.md; other data sets keep what they have there.
"""

import itertools
import json
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

from benchmarks.choose import held_out
from benchmarks.library import command, files, tables
from benchmarks.library.data import read_real
from xmlcore import PLT, LdSM, OneVsRest, metrics

RESULTS = files.RESULTS / "frontier.json"
DATA = ("bibtex", "eurlex4k-dev", "delicious", "wordnet-class")
METHODS = {  # name -> the model that is trained
    "PLT, fast": PLT(quality="fast", n_jobs=1),
    "PLT, balanced": PLT(n_jobs=1),
    "PLT, best": PLT(quality="best", n_jobs=1),
    "PLT, 10 trees": PLT(n_estimators=10, n_jobs=1),
    "LdSM, 10 trees": LdSM(n_jobs=1),
    "LdSM, 50 trees": LdSM(n_estimators=50, n_jobs=1),
    "One-vs-rest": OneVsRest(n_jobs=1),
}
MEMBERS = ("PLT, best", "LdSM, 10 trees", "One-vs-rest")  # of the mixture
MIXTURE = "Mixture"
DEPTH = 20  # labels of each row that a member brings to the mixture
STEPS = 10  # weights are multiples of one tenth
COSTS = {"fit_s": "Training, seconds", "ms_per_row": "Prediction, ms per row"}
MEASURES = ("P@1", "PSP@5")


class TooSlowError(Exception):
    """A training took longer than it may."""


def within(seconds):
    """Return a progress function that ends a training after so many seconds of the processor."""
    start = time.process_time()

    def progress(*_, **__):
        if time.process_time() - start > seconds:
            raise TooSlowError

    return progress


def trained(model, X, Y, most_seconds):
    """Train a copy of a model; return it and the seconds of the processor that it took."""
    copy = type(model)(**model.get_params())
    start = time.process_time()
    copy.fit(X, Y, progress=within(most_seconds))
    return copy, time.process_time() - start


def predicted(model, X, k):
    """Return the k best labels of each row, and the milliseconds of the processor that a row took."""
    start = time.process_time()
    ranking = model.predict_topk(X, k)
    return ranking, 1000 * (time.process_time() - start) / X.shape[0]


def measured(Y, ranking, inverse_propensities):
    """Return P@1 and PSP@5 in percent."""
    return {
        "P@1": 100 * float(metrics.precision_at_k(Y, ranking, 5)[0]),
        "PSP@5": 100 * float(metrics.psprecision_at_k(Y, ranking, 5, inv_ps=inverse_propensities)[4]),
    }


def shares(ranking, n_labels):
    """Return the scores of a ranking as a sparse matrix, those of each row divided by their sum."""
    scores = np.where(ranking.labels >= 0, np.maximum(ranking.scores, 0), 0).astype(np.float64)
    scores /= np.maximum(scores.sum(axis=1, keepdims=True), 1e-12)
    rows, places = np.nonzero(scores)
    cells = (scores[rows, places], (rows, ranking.labels[rows, places]))
    return sp.csr_array(cells, shape=(scores.shape[0], n_labels))


def mixed(parts, weights):
    """Return the weighted sum of members' shares."""
    return sp.csr_array(sum(weight * part for weight, part in zip(weights, parts)))


def best_weights(parts, Y, inverse_propensities):
    """Return the weights, tenths that add up to 1, of the largest sum of P@1 and PSP@5; the first of equal ones."""
    grid = [w for w in itertools.product(range(STEPS + 1), repeat=len(parts)) if sum(w) == STEPS]
    found = [
        sum(measured(Y, mixed(parts, np.array(weights) / STEPS), inverse_propensities).values()) for weights in grid
    ]
    return [weight / STEPS for weight in grid[int(np.argmax(found))]]


def measure(data, most_seconds, say=print):
    """Measure all methods and their mixture on a data set; return a list of dicts, one for each."""
    inverse = metrics.inverse_propensity(data.Y_train)
    rows, rest = held_out(data.n_train, 0)
    lines, test_parts, rest_parts, mixture_s, mixture_ms = [], {}, {}, 0.0, 0.0
    for name, model in METHODS.items():
        line = {"run": name, "model": type(model).__name__}
        try:
            trained(model, data.X_train[:300], data.Y_train[:300], np.inf)[0].predict_topk(data.X_test[:50], DEPTH)
            fitted, fit_s = trained(model, data.X_train, data.Y_train, most_seconds)
            ranking, ms_per_row = predicted(fitted, data.X_test, 5)
            line |= {"fit_s": fit_s, "ms_per_row": ms_per_row} | measured(data.Y_test, ranking, inverse)
            if name in MEMBERS:
                more, more_ms = predicted(fitted, data.X_test, DEPTH)
                part, part_s = trained(model, data.X_train[rows], data.Y_train[rows], most_seconds)
                test_parts[name] = shares(more, data.n_labels)
                rest_parts[name] = shares(part.predict_topk(data.X_train[rest], DEPTH), data.n_labels)
                mixture_s, mixture_ms = mixture_s + fit_s + part_s, mixture_ms + more_ms
        except TooSlowError:
            line["failed"] = f"left out: training took more than {most_seconds:g} s"
        lines.append(line)
        say(f"{data.name}: {line}")
    if len(rest_parts) > 1:
        start = time.process_time()
        weights = best_weights(list(rest_parts.values()), data.Y_train[rest], inverse)
        chosen_s = time.process_time() - start
        start = time.process_time()
        scores = mixed(list(test_parts.values()), weights)
        mixture_ms += 1000 * (time.process_time() - start) / data.n_test
        line = {"run": MIXTURE, "model": MIXTURE, "weights": dict(zip(rest_parts, weights))}
        line |= {"fit_s": mixture_s + chosen_s, "ms_per_row": mixture_ms} | measured(data.Y_test, scores, inverse)
        lines.append(line)
        say(f"{data.name}: {line}")
    return lines


def frame_of(lines):
    """Return the measured runs of a data set as a frame for :func:`xmlcore.figures.frontier`."""
    return pd.DataFrame([line for line in lines if "failed" not in line])


def markdown(results):
    """Return the tables of all data sets as Markdown."""
    from xmlcore.figures import pareto

    parts = [
        "Default settings but for the number of trees. Seconds and milliseconds of the processor, one thread, one run "
        "each. P@1 and PSP@5 in percent, on the test rows. Bold: no other run costs less time and reaches as much. The "
        f"mixture adds the shares that its members give to their {DEPTH} best labels; its weights were chosen on a "
        "fifth of the training rows, and its time is that of all its members, trained twice."
    ]
    for name, found in results["data"].items():
        frame = frame_of(found["runs"])
        best = {(m, c): set(frame["run"][pareto(frame[c], frame[m])]) for m in MEASURES for c in COSTS}
        rows = []
        for line in found["runs"]:
            if "failed" in line:
                rows.append([line["run"], line["failed"], "", "", ""])
                continue
            weights = ", ".join(f"{weight:g} {member}" for member, weight in line.get("weights", {}).items())
            cells = [tables.points(line[m]) for m in MEASURES]
            cells = [
                f"**{cell}**" if any(line["run"] in best[m, c] for c in COSTS) else cell
                for m, cell in zip(MEASURES, cells)
            ]
            rows.append([line["run"], weights, tables.number(line["fit_s"]), tables.number(line["ms_per_row"]), *cells])
        head = ["run", "weights", "training, s", "prediction, ms per row", *MEASURES]
        parts.append(f"## {name}\n\nMeasured on {found['date']}.\n\n{tables.table(head, rows, left=2)}")
    return "\n\n".join(parts) + "\n"


def as_json(results):
    """Return results as JSON with a line for each run."""
    blocks = []
    for name, found in results["data"].items():
        runs = ",\n   ".join(map(json.dumps, found["runs"]))
        blocks.append(f' {json.dumps(name)}: {{"date": {json.dumps(found["date"])}, "runs": [\n   {runs}\n  ]}}')
    return '{"data": {\n' + ",\n".join(blocks) + "\n}}\n"


def main():
    parser = command.parser("frontier", __doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="data sets: NAME/train.txt.gz and NAME/test.txt.gz")
    parser.add_argument("--data", nargs="+", default=list(DATA), help="names of data sets; the others keep theirs")
    parser.add_argument("--most-seconds", type=float, default=180.0, help="a longer training is left out")
    parser.add_argument("--again", action="store_true", help="measure nothing: write the tables of the last time")
    options = parser.parse_args()
    if (options.folder is None) != options.again:
        parser.error("name the FOLDER with the data sets, or --again")
    results = files.read_json(RESULTS) or {"data": {}}
    for name in [] if options.again else options.data:
        lines = measure(read_real(options.folder / name), options.most_seconds, lambda text: print(text, flush=True))
        results["data"][name] = {"date": datetime.now(UTC).strftime("%Y-%m-%d"), "runs": lines}
        files.write(RESULTS, as_json(results))
    files.write(RESULTS.with_suffix(".md"), markdown(results))


if __name__ == "__main__":
    main()
