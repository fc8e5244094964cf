"""LdSM: is a degenerate split undone, as in the authors' program, or kept, as the paper prints it?

    python -m benchmarks.ldsm FOLDER --data tmc2007-500 20ng ohsumed bibtex yeast scene corel5k eurlex4k-dev

On test rows, the program's settings with 5 trees and 10 epochs. On a fifth of the training rows that is held out,
LdSM() and what could replace it, after training on at most 4,000 others: by these alone a default is chosen. Times are
processor time of one thread.
"""

import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.library import command, tables
from benchmarks.library.data import measure_each
from xmlcore import LdSM, experiment, metrics

MOST_ROWS = 4000
UNDO, KEEP = ({"degenerate_splits": how} for how in ("undo", "keep"))
TEST = {how: UNDO | {"degenerate_splits": how, "n_estimators": 5, "n_epochs": 10} for how in ("undo", "keep")}
HELD_OUT = {  # the first is the default
    f"{how['degenerate_splits']}, {n} attempt{'s' * (n > 1)}": how | {"n_attempts": n}
    for how, n in ((UNDO, 5), (UNDO, 1), (KEEP, 1), (KEEP, 5))
}


def measured(model, data):
    """Return P@1, P@3 and P@5 in percent, and seconds of training."""
    start = time.process_time()
    with warnings.catch_warnings(action="ignore"):
        model.fit(data.X_train, data.Y_train)
    seconds = time.process_time() - start
    ranking = model.predict_topk(data.X_test, 5)
    precision = 100 * metrics.precision_at_k(data.Y_test, ranking, 5)[[0, 2, 4]]
    return {"P": precision.tolist(), "s": seconds, "depth": model.size()["depth"], "nodes": model.size()["n_nodes"]}


def measure(data, _):
    part = experiment.without_held_out(data, 0.2, 0, min(MOST_ROWS, round(0.8 * data.n_train)))
    jobs = [("held out", key, LdSM(n_jobs=1, **params), part) for key, params in HELD_OUT.items()]
    jobs += [("test", key, LdSM.preset("program", n_jobs=1, **params), data) for key, params in TEST.items()]
    for rows, key, model, rows_of in jobs:
        yield {"rows": rows, "settings": key} | measured(model, rows_of)


def markdown(results):
    names, parts = list(dict.fromkeys(run["name"] for run in results["runs"])), [tables.measured_text(results)]
    for rows, settings in (("test", [*TEST]), ("held out", [*HELD_OUT])):
        found = {(run["name"], run["settings"]): run for run in results["runs"] if run["rows"] == rows}
        lines = []
        for name in names:
            base = found[name, settings[0]]
            cells = [tables.three(base["P"]), tables.seconds(base["s"])]
            for key in settings[1:]:
                one = found[name, key]
                cells += [tables.three(one["P"]), tables.times(one["s"] / base["s"])]
            lines.append([name, *cells])
        parts.append(tables.table([f"data, {rows} rows", *(h for key in settings for h in (key, "time"))], lines))
        for key in settings[1:]:
            ratios = [np.array(found[name, key]["P"]) / found[name, settings[0]]["P"] for name in names]
            gains = 100 * (np.mean(ratios, axis=1) - 1)
            parts.append(
                f"{key}: {gains.mean():+.1f} % on average over data sets, {(gains > 0).sum()} of {gains.size} gain"
            )
    return tables.document(*parts)


if __name__ == "__main__":
    out = Path(tempfile.gettempdir()) / "xmlcore-ldsm.json"
    measure_each(command.parser("ldsm", __doc__), measure, markdown, out)
