"""All kept runs as a table, from the records of the store: no predictions are read."""

import contextlib
import hashlib
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from xmlcore import store
from xmlcore.experiment.catalog import NOISE
from xmlcore.experiment.engine.fitting import grown
from xmlcore.experiment.kinds.train import FOLDER
from xmlcore.first_use import pd
from xmlcore.metrics.measures import MORE_MEASURES as MORE
from xmlcore.metrics.measures import USUAL_MEASURES
from xmlcore.metrics.statistics import student_reach
from xmlcore.ranking import KS
from xmlcore.typing import DataFrame
from xmlcore.validation import check_frame, check_is

MEASURES = tuple(f"{measure[:-1]}{k}" for measure in USUAL_MEASURES for k in KS)  # columns: P@1, P@3, ...
MORE_MEASURES = tuple(f"{measure[:-1]}{k}" for measure in MORE for k in KS)  # further columns: coverage@1, ...
DECIDED = ("micro F1", "samples F1", "macro F1", "labels")  # of what ``predict`` returns, by the model's own decision
TIMES = ("fit_s", "fit_cpu_s", "predict_s", "predict_ms_per_row", "compile_s")
SIZES = ("model_bytes", "n_nodes", "depth", "n_weights")
MEMORY = "training_bytes"
SEED = "random_state"


def runs(keys: Iterable[str] | None = None) -> "DataFrame":
    """Return a table of kept runs, whatever their data sets and models.

    Only the records of the store are read.

    Parameters
    ----------
    keys : iterable of str, optional
        Keys of runs, in the order of the lines; runs that are not kept are left out. By default all runs that are kept,
        the newest first.

    Returns
    -------
    DataFrame
        A line per run: ``key``, ``dataset`` (name), ``fingerprint`` (of the data set), ``model``, ``params`` (a dict of
        all parameters), ``seed`` (NaN for a model without one), ``k``, ``created`` (ISO time, UTC), ``version`` (of the
        kind of task), ``xmlcore`` (version); measures in [0, 1] (``P@1``, ``P@3``, ``P@5``, ``nDCG@1``, ..., and those
        of :data:`MORE_MEASURES`, NaN above the run's k); ``micro F1``, ``samples F1`` and ``macro F1`` of the labels
        that ``predict`` returns, and ``labels``, their mean number for a row (NaN for predictions of other programs);
        ``rule``, which labels these are, in words; ``fit_s``, ``predict_s`` and ``compile_s`` in seconds, ``fit_cpu_s``
        in seconds of processor time, summed over threads, ``predict_ms_per_row`` in milliseconds;
        ``model_bytes``, ``n_nodes``, ``depth``, ``n_weights``;
        ``training_bytes``, by how much the process grew at most while it trained (NaN where the system does not tell);
        ``setting``, a hash that runs share which differ only in the seed; ``problem``, why a run cannot be read, else
        empty.
    """
    records = store.entries(FOLDER) if keys is None else _records(keys)
    return pd.DataFrame([_line(record) for record in records], columns=list(_COLUMNS))


def parameters(frame: "DataFrame", every: bool = False, seed: bool = True) -> "DataFrame":
    """Return the parameters of runs in columns: by default those in which runs of the same model differ.

    Parameters
    ----------
    frame : DataFrame
        Lines of :func:`runs` or :func:`seeds_grouped`.
    every : bool
        All parameters.
    seed : bool
        Whether the seed, ``random_state``, is among them.

    Returns
    -------
    DataFrame of object
        A line per line of ``frame``, with its index; a column per parameter, None where a model does not have it.
    """
    check_frame(frame, ("params", "model"), "runs")
    params, models = frame["params"].tolist(), frame["model"].tolist()
    names = dict.fromkeys(name for own in params for name in own)
    by_model: dict[str, list[dict]] = {}
    for model, own in zip(models, params):
        by_model.setdefault(model, []).append(own)

    def differs(name):  # not where one run has 1, and another 1.0
        return any(len({repr(own[name]) for own in of if name in own}) > 1 for of in by_model.values())

    wanted = [name for name in names if (seed or name != SEED) and (every or differs(name))]
    columns = {name: pd.Series([own.get(name) for own in params], index=frame.index, dtype=object) for name in wanted}
    return pd.DataFrame(columns, index=frame.index)


def seeds_grouped(frame: "DataFrame") -> "DataFrame":
    """Return a line for all runs that differ only in their seed, with means and intervals.

    Parameters
    ----------
    frame : DataFrame
        Lines of :func:`runs`.

    Returns
    -------
    DataFrame
        The columns of :func:`runs`; measures, times and sizes are means over the runs, and the others are those of the
        first run. Added are ``keys`` (list of the runs' keys), ``seeds`` (list) and ``n`` (how many runs), and for each
        measure ``P@1 low`` and ``P@1 high``: the 95 % interval of the mean over seeds by Student's t, NaN for one run.
        Lines are in the order of their first runs.
    """
    check_frame(frame, _COLUMNS, "runs")
    measures = [*MEASURES, *MORE_MEASURES]
    numbers = [*measures, *DECIDED, *TIMES, *SIZES, MEMORY]
    groups = frame.groupby("setting", sort=False)
    made = groups.first().reset_index()
    n = groups.size().to_numpy()
    means = groups[numbers].mean()
    made[numbers] = means.to_numpy()
    made["keys"], made["seeds"] = (groups[of].agg(list).tolist() for of in ("key", "seed"))
    made["n"] = n
    reach = student_reach(n[:, None], groups[measures].std())
    middle = made[measures].to_numpy(dtype=float)
    ends = {f"{m} low": np.maximum(0, middle[:, i] - reach[:, i]) for i, m in enumerate(measures)}
    ends |= {f"{m} high": np.minimum(1, middle[:, i] + reach[:, i]) for i, m in enumerate(measures)}
    made = pd.concat([made, pd.DataFrame(ends)], axis=1)
    return made[[*_COLUMNS, "keys", "seeds", "n", *ends]]


def half_width(lines: "DataFrame", measure: str) -> Any:
    """Return half of the width of the interval over seeds, before its ends were cut at 0 and 1."""
    check_is(measure, str, "measure", "the name of a measure")
    check_frame(lines, (measure, f"{measure} low", f"{measure} high"), "seeds_grouped", "lines")
    below, above = lines[measure] - lines[f"{measure} low"], lines[f"{measure} high"] - lines[measure]
    return below.where(below > above, above)


_COLUMNS = (
    "key", "dataset", "fingerprint", "model", "params", "seed", "k", "created", "version", "xmlcore",
    *MEASURES, *MORE_MEASURES, *DECIDED, "rule", *TIMES, *SIZES, MEMORY, "setting", "problem",
)  # fmt: skip


def _records(keys):
    for key in keys:
        with contextlib.suppress(store.StoreError):
            yield store.info(FOLDER, key)


def _line(record) -> dict:
    summary, problem = record.get("summary"), ""
    if not isinstance(summary, dict):
        summary, problem = {}, f"the record of the run {record['key']} has no summary; make the run again"
    about = record["params"] if isinstance(record.get("params"), dict) else {}
    model, params, k = about.get("model", ""), about.get("params", {}), about.get("k", 0)
    fingerprint = record.get("fingerprint", "")
    measures = summary.get("measures", {})
    described = [fingerprint, model, {name: value for name, value in params.items() if name != SEED}, k]
    setting = json.dumps(described, sort_keys=True, default=str)  # runs share it that differ only in their seed
    line = {
        "key": record["key"],
        "dataset": record.get("dataset", ""),
        "fingerprint": fingerprint,
        "model": model,
        "params": params,
        "seed": params.get(SEED, np.nan),
        "k": k,
        "created": record.get("created", ""),
        "version": record.get("version", 0),
        "xmlcore": record.get("xmlcore", ""),
        "setting": hashlib.sha256(setting.encode("utf-8")).hexdigest()[:16] if params else record["key"],
        "problem": problem,
    }
    for measure in (*USUAL_MEASURES, *MORE):
        values = measures.get(measure, ())
        line |= {f"{measure[:-1]}{at}": values[at - 1] if at <= len(values) else np.nan for at in KS}
    line |= {name: summary.get("decided", {}).get(name, np.nan) for name in DECIDED}
    line["rule"] = summary.get("decided", {}).get("rule", "")
    line |= {name: summary.get("times", {}).get(name, np.nan) for name in TIMES}
    line[MEMORY] = grown(summary.get("memory", {}), np.nan)
    return line | {name: summary.get("size", {}).get(name, np.nan) for name in SIZES}


# --- noisy counterparts: runs with the same settings, but for training with noise; each is a record ---


def trained_with_noise(record: dict) -> bool:
    """Return whether noisy copies were added to the training rows of a run; False for invalid noise."""
    sigma = record["params"].get("noise_sigma", 0)
    return isinstance(sigma, (int, float)) and sigma > 0


def noisy_counterparts(records: list[dict]) -> list[tuple[dict, dict]]:
    """Return all pairs of a run trained without noise and its noisy counterpart, in the order of the records."""
    no_noise = {parameter.name: parameter.default for parameter in NOISE}
    return [
        (plain, noisy)
        for plain in records
        if not trained_with_noise(plain)
        for noisy in records
        if trained_with_noise(noisy)
        and noisy["model"] == plain["model"]
        and noisy["params"] | no_noise == plain["params"]
    ]
