"""Whether a value that came with a file can be a result of its kind: types of its parts, columns of its tables."""

import dataclasses
from numbers import Integral, Real
from typing import get_args, get_origin

import numpy as np

from xmlcore import store
from xmlcore.datasets.saved import KIND as DATASETS
from xmlcore.experiment.catalog import GIVEN, MODELS
from xmlcore.first_use import pd
from xmlcore.metrics import USUAL_MEASURES, as_ranking
from xmlcore.ranking import Ranking

TYPES = {int: Integral, float: Real, str: str, bool: bool, dict: dict, list: (list, tuple)}
# Columns of texts; all others are of numbers.
TEXTS = {"axis", "bucket", "failed", "features", "measure", "method", "name", "pattern", "perturbation", "reason"}
# Columns that a table has, by kind of task and name of the table; other tables are read with what they have.
COLUMNS = {
    ("train", "measures"): "measure k value",
    ("trial", "measures"): "measure k value",
    ("robustness", "frame"): "perturbation sigma k repeat bucket measure value drop",
    ("learning_curve", "frame"): "rows seed bucket measure k value seconds",
    ("learning_curve", "forecasts"): "bucket measure k n_rows now value low high a b c reason",
    ("measures", "measures"): "bucket measure k value low high",
    ("node_quality", "nodes"): "node measured positive base_rate auc recall precision",
    ("explanations", "deletion"): "method removed row score",
    ("explanations", "importance"): "feature mean_abs mean n_rows",
    ("reduced", "measures"): "features measure k value",
    ("reduced", "numbers"): "fit_s predict_ms_per_row model_bytes n_weights n_features",
    ("prefixes", "measures"): "axis n_trees max_nodes depth measure k value",
    ("sampling", "sweep"): "axis n_adversarial examples_per_class seed accuracy macro_f1 fit_s pair_bytes failed",
    ("sampling", "candidates"): "n_candidates recall accuracy macro_f1 predict_ms_per_row",
    ("sampling", "buckets"): "bucket n_classes n_rows accuracy macro_f1 candidate_recall",
    ("compare_selections", "frame"): "method pattern share n_features seed measure value select_s seconds",
    ("selection_stability", "pairs"): "seed_a seed_b jaccard spearman",
}
NUMBERS = ("times", "size", "memory", "decided", "goodness")  # parts that are dicts of numbers
OF_RUNS = {"fit_s", "predict_s", "compile_s", "predict_ms_per_row"}  # times of a run that has a model


def check_result(value: dict, task, version: int) -> None:
    """Raise an exception unless a value can be what a version of a task gives."""
    if task.kind in ("train", "select"):
        value["params"] = task.params["params"]  # which belong to the key
    result = type(task).view(dict(value))
    for field in dataclasses.fields(result):
        part = getattr(result, field.name)
        if part is not field.default:
            _check_part(part, field.type, f"its {field.name}")
            if field.name in NUMBERS and not all(_is_number(number) for number in part.values()):
                raise ValueError(f"its {field.name} are no numbers")
        if isinstance(part, pd.DataFrame):
            columns = COLUMNS.get((task.kind, field.name), "").split()
            _check_table(part, field.name, columns if version == task.version else ())
    facts = store.info(DATASETS, task.fingerprint)
    if task.kind in ("train", "given_predictions"):
        _check_run(value, task, facts)
    elif task.kind == "decide":
        if version == task.version:  # of earlier versions none is used
            result.check(facts["n_labels"])
    elif task.kind == "trial":
        _check_trial(value, task)
    elif task.kind == "robustness" and result.first_right is not None:
        counts, asked = result.first_right, task.params
        n_levels, n_rows = sum(level != 0 for level in asked["levels"]), facts["n_test"]
        shape = 1 + n_levels, min(asked["n_rows"] or n_rows, n_rows)
        are_counts = np.shape(counts) == shape and counts.dtype.kind in "iu" and result.levels == asked["levels"]
        if not are_counts or not _within(counts, 0, asked["n_repeats"] + 1):
            raise ValueError("its counts of right labels are not those of its rows and repeats")
    elif task.kind == "select":
        selected = value["selected"]
        if (
            selected.ndim != 2
            or selected.shape[0] != facts["n_labels"]
            or not _within(selected, 0, facts["n_features"])
        ):
            raise ValueError("its features are not those of the data set")


def _check_part(part, kind, name) -> None:
    expected = pd.DataFrame if kind == "DataFrame" else TYPES.get(get_origin(kind) or kind, object)
    if not isinstance(part, expected):
        raise ValueError(f"{name} is of the type {type(part).__name__}")
    if isinstance(part, (list, tuple)) and get_args(kind):
        for item in part:
            _check_part(item, get_args(kind)[0], f"a part of {name}")
    if isinstance(part, dict) and not all(isinstance(key, str) for key in part):
        raise ValueError(f"{name} has names that are no texts")


def _is_number(value) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and not abs(value) > 1e300  # nan is a number


def _check_table(frame, name, columns) -> None:
    missing = [column for column in columns if column not in frame]
    if missing:
        raise ValueError(f"its {name} have no column {missing[0]!r:.60}")
    for column in frame:
        present = frame[column].dropna()
        kind, noun = (str, "texts") if column in TEXTS else (Real, "numbers")
        if present.dtype == object or kind is str:
            fits = all(isinstance(item, kind) for item in present)
        else:
            fits = present.dtype.kind in "biuf"
        if not fits:
            raise ValueError(
                f"{column!r:.60} of its {name} has other values than {'texts' if kind is str else 'numbers'}"
            )


def _check_run(value, task, facts) -> None:
    labels, scores = value["ranking"]["labels"], value["ranking"]["scores"]
    whole = labels.ndim == 2 and labels.shape == scores.shape and labels.shape[0] == facts["n_test"]
    if not whole or np.isnan(scores).any():
        raise ValueError("its predictions are not those of the test rows")
    as_ranking(Ranking(labels, scores), min(labels.shape[1], facts["n_labels"]), facts["n_labels"])
    if value["fingerprint"] != task.fingerprint or value["model"] != task.params.get("model", GIVEN):
        raise ValueError("it is of another model or data set")
    if value["model"] != GIVEN and not value["times"].keys() >= OF_RUNS:
        raise ValueError("it has no times")
    parameters = {p.name: p for p in MODELS[value["model"]].parameters} if value["model"] != GIVEN else {}
    for name, chosen in value.get("chosen", {}).items():
        if name in parameters:
            parameters[name].check(chosen)


def _check_trial(value, trial) -> None:
    """Raise an exception unless a trial has all measures by which a sweep may choose, or a reason why it has none."""
    if not (isinstance(value["error"], str) and float(value["seconds"]) >= 0 and int(value["n_rows"]) > 0):
        raise ValueError("it has no time, no rows, or no text for its error")
    if value["error"]:
        if value["measures"] is not None:
            raise ValueError("it has failed, and has measures")
        return
    found = value["measures"][["measure", "k", "value"]].astype({"k": int, "value": float})
    known = set(zip(found["measure"], found["k"]))
    needed = {(name, k) for name in USUAL_MEASURES for k in range(1, trial.params["k"] + 1)}
    if not needed <= known or not found["value"].between(0, 1).all():
        raise ValueError("it lacks measures")


def _within(ids, least, end) -> bool:
    """Return whether all ids are at least ``least`` and below ``end``."""
    return ids.size == 0 or (int(ids.min()) >= least and int(ids.max()) < end)
