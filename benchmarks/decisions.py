"""Measure what decisions are worth: measures with and without, calibration, promises, and the time beside xCOLUMNs.

    python -m benchmarks.decisions FOLDER [--data bibtex ...] [--only calibration] [--out FILE]

FOLDER is that of `benchmarks.compare`. Of each data set, a random fifth of the training rows, 20,000 at most, is held
out; `PLT()` is trained on the others; rules are learnt on the held-out rows and measured on the test rows, which
decide nothing. Promises are given 200 times, each time by another half of the test rows (5,000 at most), and looked
at on the other half; one is served over HTTP, which answers 10,000 test rows. Sets for all test rows together are
chosen by `best_sets` and by xCOLUMNs, of the same sparse probabilities.
Writes results/decisions.json and .md; `--only calibration`, or `drift`, measures anew what is said of that.
"""

import json
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks import serving
from benchmarks.library import calibrating, command, files, machine, tables
from benchmarks.library import data as of_data
from xmlcore import PLT, decisions, metrics
from xmlcore.datasets import read_text_dataset
from xmlcore.decisions.goals import read_goal
from xmlcore.decisions.held_out import held_out
from xmlcore.decisions.learning import FREE_BY_CUT, plain_marks, value_of
from xmlcore.decisions.promises import promised
from xmlcore.models import PackedModel
from xmlcore.models.rules import CANDIDATES

DATA = ("bibtex", "eurlex4k-dev", "delicious", "wordnet-class", "wordnet-hyper")
MEASURES = (*FREE_BY_CUT, "macro F1", "macro F1@1", "macro F1@3", "macro F1@5", "macro R@3", "balanced accuracy@3",
            "PSP@5", "coverage@5")  # fmt: skip
PROMISES = ({"recall": 0.8}, {"recall": 0.8, "risk": None}, {"precision": 0.8})
SPLITS, RISK, SEED = 200, 0.1, 0
ONLY = {"calibration": ("calibration", "ways"), "drift": ("drift",)}  # what can be measured alone, and its parts
BACKED_OFF, MOST, ROWS = {"wordnet-class": 0.6, "wordnet-hyper": 0.8}, (3, 5, 10), 2000  # promised recall, entries
ALARM, LOST = 0.05, (0.0, 0.2, 0.5)  # p-value; shares of the values of rows that are lost
SERVED, ROWS_SERVED = ("wordnet-hyper",), 10_000


def read(folder):
    if (folder / "train.txt.gz").exists():
        return of_data.read_real(folder)
    return read_text_dataset(folder / "train.jsonl.gz", folder / "test.jsonl.gz")


def measured(name, folder, say, only=None):
    """Return all figures of a data set, or those of one name of ``ONLY``."""
    data = read(folder / name)
    order = np.random.default_rng(SEED).permutation(data.n_train)
    n = min(data.n_train // 5, 20_000)
    kept, out = np.sort(order[n:]), np.sort(order[:n])
    model = PLT()
    times = {"training": calibrating.trained(model, data, kept)}
    X, Y = data.X_train[out], data.Y_train[out]
    decisions.learn(model, X[:100], Y[:100], "macro F1@3")  # compiles
    if only == "drift":
        return {"data": name, "drift": of_drift(decisions.learn(model, X[::2], Y[::2]), X[1::2])}
    calibration = decisions.calibrate(model, X, Y)
    test = held_out(model, data.X_test, data.Y_test, CANDIDATES)
    inv_ps = metrics.inverse_propensity(data.Y_train)
    say(f"{name}: trained in {times['training']:.1f} s")
    found = {"data": name, "held_out": n, "test": data.n_test, "labels": data.n_labels, "times": times}
    found["calibration"] = [calibrating.before_and_after(model, times["training"], (X, Y), test)]
    if name in calibrating.ALL_MODELS_ON:
        found["calibration"] += calibrating.of_other_models(data, kept, out)
    found["ways"] = calibrating.ways(model, (X, Y), data.X_test, test)
    say(f"{name}: calibration")
    if only:
        return found
    found["threshold"] = [
        100 * metrics.precision_recall_f1(data.Y_test, model.predict(data.X_test, cut), average="micro").f1
        for cut in (0.5, None)
    ]
    found["measures"] = {one: of_measure(one, model, (X, Y), test, calibration, inv_ps) for one in MEASURES}
    say(f"{name}: measures")
    found["promises"] = [of_promise(test, calibration, **given) for given in PROMISES]
    found["drift"] = of_drift(decisions.learn(model, X[::2], Y[::2]), X[1::2])
    if name in BACKED_OFF:
        promise = decisions.promise(model, X, Y, recall=BACKED_OFF[name])
        found["backed off"] = [of_back_off(promise, data, most) for most in MOST]
    if name in SERVED:
        found["served"] = over_http(decisions.promise(model, X, Y, **PROMISES[0]), data.X_test, data.Y_test)
    frame = decisions.abstention(model, data.X_test, data.Y_test)
    by_hand = {share: (frame["by hand"] - share).abs().idxmin() for share in (0, 0.1, 0.2, 0.4)}
    found["abstention"] = {share: float(frame.loc[line, "P@1"]) for share, line in by_hand.items()}
    found["together"] = {f"macro F1@{k}": beside_xcolumns(k, test, calibration) for k in (1, 3, 5)}
    say(f"{name}: promises, and beside xCOLUMNs")
    return found


def of_measure(measure, model, rows, test, calibration, inv_ps):
    """Return the value on the test rows without and with the rule, and that of the sets for all test rows together."""
    goal = read_goal(measure)
    weights = inv_ps if "PSP" in goal.parts else None
    start = time.perf_counter()
    rule = decisions.learn(model, *rows, measure, inv_ps=weights)
    seconds = time.perf_counter() - start
    P = test.probabilities(rule.calibration)
    marks = {"plain": plain_marks(goal, test), "rule": rule.take(P)}
    if measure not in FREE_BY_CUT:
        together = decisions.best_sets(P, measure, inv_ps=weights)
        marks["together"] = np.asarray(together[test.row, P.indices]).ravel()
    return {name: value_of(goal, test, taken, weights) for name, taken in marks.items()} | {"seconds": seconds}


def of_promise(test, calibration, risk=RISK, **wanted):
    """Return how often a promise failed on the rows that did not decide, the mean value there, and the mean size."""
    rng = np.random.default_rng(SEED)
    n, (name, level) = min(test.Y.shape[0], 10_000), next(iter(wanted.items()))
    failed, values, sizes, refused = 0, [], [], 0
    for _ in range(SPLITS):
        order = rng.permutation(test.Y.shape[0])[:n]
        halves = [test.part(np.sort(order[part])) for part in (slice(n // 2), slice(n // 2, None))]
        try:
            cut = promised(halves[0], calibration, name, level, risk)["cut"]
        except ValueError:
            refused += 1
            continue
        value, size = kept(halves[1], calibration, name, cut)
        failed += value < level
        values.append(value)
        sizes.append(size)
    means = {"value": values, "labels": sizes}
    means = {name: float(np.mean(found)) if found else None for name, found in means.items()}
    return {"promise": name, "level": level, "risk": risk, "failed": failed, "refused": refused} | means


def over_http(rule, X, Y):
    """Return what the sets of a promise are worth when `xmlcore serve` answers for test rows."""
    n = min(ROWS_SERVED, X.shape[0])
    rows = [dict(zip(map(str, X[[at]].indices), X[[at]].data.tolist())) for at in range(n)]
    parts = [{"rows": rows[first : first + 500], "decided": True} for first in range(0, n, 500)]
    with tempfile.TemporaryDirectory() as folder:
        PackedModel(rule.keep()).save(f"{folder}/model.zip")
        with serving.served("xmlcore", Path(folder), parts[0]) as (_, port):
            answers = [serving.ask(port, part)["predictions"] for part in parts]
    found = [{label["id"] for label in row} for answer in answers for row in answer]
    true = [{*Y[[at]].indices.tolist()} for at in range(n)]
    shares = [len(of & row) / len(of) if of else 1.0 for of, row in zip(true, found)]
    return {"rows": n, "value": float(np.mean(shares)), "labels": float(np.mean([*map(len, found)]))}


def of_back_off(promise, data, most):
    """Return how many labels sets have, and the few entries in their place, and which share of true labels is found."""
    X, Y = data.X_test[:ROWS], data.Y_test[:ROWS]
    entries = decisions.back_off(promise, X, most)
    sets = [{*row.indices.tolist()} for row in promise.predict(X)]
    held = [{j for entry in row for j in entry.labels} for row in entries]
    true = [{*row.indices.tolist()} for row in Y]
    sizes = {"entries": [*map(len, entries)], "labels": [*map(len, held)], "sets": [*map(len, sets)]}
    found = {f"recall of {name}": [len(of & row) / max(1, len(of)) for of, row in zip(true, rows)]
             for name, rows in (("sets", sets), ("entries", held))}  # fmt: skip
    means = {name: float(np.mean(values)) for name, values in (sizes | found).items()}
    return {"at most": most, "promised": promise.about["level"], "median": float(np.median(sizes["labels"]))} | means


def of_drift(rule, X):
    """Return, for shares of values of rows that are lost, how often some rows look unlike those of a rule."""
    rng, alarms = np.random.default_rng(SEED), dict.fromkeys(LOST, 0)
    for _ in range(SPLITS):
        rows = X[np.sort(rng.permutation(X.shape[0])[: min(500, X.shape[0] // 2)])]
        for share in LOST:
            rest = rows.copy()
            rest.data *= rng.random(rest.nnz) >= share
            rest.eliminate_zeros()
            alarms[share] += rule.drift(rest).p_value < ALARM
    return alarms


def kept(part, calibration, name, cut):
    taken = part.probabilities(calibration).data >= cut
    n = part.Y.shape[0]
    hits, sizes = (np.bincount(part.row, marks, minlength=n) for marks in (taken * part.right, taken))
    whole = np.diff(part.Y.indptr) if name == "recall" else sizes
    return float(np.where(whole > 0, hits / np.maximum(whole, 1), 1.0).mean()), float(sizes.mean())


def beside_xcolumns(k, test, calibration):
    """Return the expected value and the seconds of both, of the same probabilities."""
    from xcolumns.block_coordinate import predict_using_bc_with_0approx
    from xcolumns.metrics import binary_f1_score_on_conf_matrix

    P = test.probabilities(calibration)
    found = {}
    start = time.perf_counter()
    ours = decisions.best_sets(P, f"macro F1@{k}")
    found["seconds"] = time.perf_counter() - start
    theirs = sp.csr_matrix(P).astype(np.float32)
    predict_using_bc_with_0approx(theirs[:10], binary_f1_score_on_conf_matrix, k, init_y_pred="top", max_iter=1)
    start = time.perf_counter()
    sets = predict_using_bc_with_0approx(theirs, binary_f1_score_on_conf_matrix, k, seed=0, skip_tn=True)
    found["seconds of xCOLUMNs"] = time.perf_counter() - start

    def expected(sets):
        hits = np.asarray(P.multiply(sp.csr_array(sets.astype(bool))).sum(axis=0)).ravel()
        whole = np.asarray(sets.astype(bool).sum(axis=0)).ravel() + np.asarray(P.sum(axis=0)).ravel()
        return float(np.divide(2 * hits, whole, out=np.zeros(whole.size), where=whole > 0).mean())

    return found | {"value": expected(ours), "value of xCOLUMNs": expected(sets)}


def percent(value):
    return "–" if value is None else tables.points(100 * value)


def markdown(results):
    """Return the tables."""
    runs = results["runs"]

    def rows(of):
        return [[run["data"], *cells] for run in runs for cells in of(run)]

    def of_measures(run):
        return [[one, *(percent(found.get(name)) for name in ("plain", "rule", "together"))]
                for one, found in run["measures"].items()]  # fmt: skip

    def of_promises(run):
        return [[f"{one['promise']} {one['level']:g}", "on average" if one["risk"] is None else f"{one['risk']:g}",
                 str(one["failed"]), str(one["refused"]), percent(one["value"]),
                 "–" if one["labels"] is None else f"{one['labels']:.1f}"] for one in run["promises"]]  # fmt: skip

    def of_back_offs(run):
        return [[f"{one['promised']:g}", str(one["at most"]), f"{one['sets']:.1f}", percent(one["recall of sets"]),
                 f"{one['entries']:.1f}", f"{one['labels']:.0f}", f"{one['median']:.0f}",
                 percent(one["recall of entries"])] for one in run.get("backed off", ())]  # fmt: skip

    def of_xcolumns(run):
        return [[name, percent(one["value"]), percent(one["value of xCOLUMNs"]), tables.number(one["seconds"]),
                 tables.number(one["seconds of xCOLUMNs"]),
                 tables.number(one["seconds"] / one["seconds of xCOLUMNs"], 2)]
                for name, one in run["together"].items()]  # fmt: skip

    anew = tables.measured_text(results["calibration"]) if "calibration" in results else ""
    parts = [
        ("`predict` without a decision: micro-F1 with a cut at 0.5, and with the cut that trials chose", "",
         ["data", "at 0.5", "chosen"], 1, lambda run: [[*map(tables.points, run["threshold"])]]),
        ("Measures on the test rows, in percent",
         "Without: the k labels of the largest scores, or those from 0.5 on. Rule: one row at a time. Together: sets "
         "for all test rows at once, by the same probabilities.",
         ["data", "measure", "without", "rule", "together"], 2, of_measures),
        ("Expected calibration error on the test rows, in points (15 bins of equal count)",
         "Floor: the error, of the first label and of the first 5, that the calibrated probabilities would have if "
         f"labels were drawn from them (mean of {calibrating.DRAWS} draws). {anew}",
         ["data", "model", "first label", "first 5", "floor", "time, of a training"], 2, calibrating.cells_of_models),
        ("Ways to calibrate the scores of PLT: that error of the first 5 / 1000 times the log loss of 100 candidates",
         "By depth: the factors of the nodes have a curve for each depth, and their product has another one; not for "
         f"trees of one level. By place: as `calibrate` does it. {anew}",
         ["data", "as they are", "temperature", "one curve", "by depth", "by place"], 1, calibrating.cells_of_ways),
        (f"Promises, of {SPLITS} draws of half of the test rows",
         "Failed: on the other half the share was below the promised one. Refused: no cut could promise it.",
         ["data", "promise", "risk", "failed", "refused", "mean share", "labels in a set"], 3, of_promises),
        (f"Drift: in how many of {SPLITS} draws rows looked unlike those that a rule was learnt from (p < {ALARM})",
         "Half of the held-out rows for the rule, draws of 500 (at most half) of the others, of which values are lost.",
         ["data", *(f"{100 * share:g} %" for share in LOST)], 1,
         lambda run: [[*map(str, run["drift"].values())]]),
        ("Back-off: a few labels and groups of the label tree in place of the sets of a promise",
         "Of the first 2,000 test rows: means, and the median of the labels in the entries of a row.",
         ["data", "recall promised", "at most", "labels in a set", "recall of sets", "entries", "labels in entries",
          "median", "recall of entries"], 1, of_back_offs),
        ("A promise that is served", "`xmlcore serve` answers test rows with the sets of a promise of 0.8, risk 0.1.",
         ["data", "rows", "mean recall", "labels in a set"], 1,
         lambda run: [[f"{run['served']['rows']:,}", percent(run["served"]["value"]),
                       f"{run['served']['labels']:.1f}"]] if "served" in run else []),
        ("P@1 of the rest, when the rows of which the model is least sure are left to people", "",
         ["data", "none", "10 %", "20 %", "40 %"], 1, lambda run: [[*map(percent, run["abstention"].values())]]),
        ("Beside xCOLUMNs 0.0.2: expected macro F1@k in percent, and seconds", "",
         ["data", "measure", "ours", "xCOLUMNs", "s", "s of xCOLUMNs", "ratio"], 2, of_xcolumns),
    ]  # fmt: skip
    how = " ".join(__doc__.split("\n\n")[2].split())
    lines = ["# What decisions are worth", how, tables.measured_text(results)]
    for title, said, head, left, of in parts:
        lines += [f"## {title}", *filter(None, [said]), tables.table(head, rows(of), left)]
    return "\n\n".join(lines) + "\n"


def main():
    parser = command.parser("decisions", __doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", nargs="+", default=list(DATA))
    parser.add_argument("--out", type=Path, default=files.RESULTS / "decisions.json")
    parser.add_argument("--only", choices=list(ONLY))
    options = parser.parse_args()
    header = machine.header("decisions", 2) | {"date": datetime.now(UTC).date().isoformat()}
    runs = [measured(name, options.folder, lambda text: print(text, flush=True), options.only) for name in options.data]
    header["xmlcore_code_end"] = machine.code_now()
    results = header | {"runs": runs}
    if options.only:
        results = json.loads(options.out.read_text()) | {options.only: header}
        by_name = {run["data"]: run for run in runs}
        for run in results["runs"]:
            run |= {part: by_name[run["data"]][part] for part in ONLY[options.only] if run["data"] in by_name}
    files.write(options.out, files.as_json(results))
    command.show(markdown(results), options)


if __name__ == "__main__":
    main()
