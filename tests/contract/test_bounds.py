"""Every number that a public function takes has bounds, and the error about another one names the parameter.

Parameters of estimators stand in tables, which test_parameters.py goes through.
"""

import inspect
import re
import threading
from functools import cache

import numpy as np
import pandas as pd
import pytest
from contract.estimators import CASES, fitted, problem
from public_names import public_functions

from xmlcore import PLT, LdSM, TextClassifier, datasets, explain, jobs, robustness
from xmlcore.datasets import Dataset
from xmlcore.experiment import Driver, PerLabelOneVsRest
from xmlcore.models import PackedModel
from xmlcore.selection import BRDT

NUMBER = re.compile(
    r"((collections\.abc\.Sequence|list)\[)?(int|float)\]?( \| (int|str|collections\.abc\.\w+\[int\]))?( \| None)?"
)
# Numbers that may be negative or infinite, and numbers that may be more than 1.
ANY = ("n_jobs", "norm", "older_than", "score", "threshold of at_threshold")  # files may be of the future
ABOVE_1 = (
    "A", "B", "augment_ratio", "difference", "features_per_row", "grace", "idle_seconds", "labels_per_row", "level",
    "noise_levels", "now", "seconds", "sigmas", "timeout", "wait",
)  # fmt: skip
# Reports of work, errors, checks, rules as they were saved, numbers of other arguments; and estimators, which check
# their parameters in fit.
INTERNAL = re.compile(
    r"\.progress\.|Error\.__init__|\.check_\w+$|\.restored|\.of_(allowed|entries)|FirstRight|\.base\."
    r"|\.(models|selection|texts|training)\..*__init__"
)

PART = re.compile(r"(?<= of )\w+")  # of the package, in what names a number

TEXTS = b"text,labels\n" + b"one two,a\nthree one,b\n" * 4
LDSM = next(case for case in CASES if case.cls is LdSM)


def annotation(parameter):
    text = parameter.annotation
    return text if isinstance(text, str) else inspect.formatannotation(text)


NUMBERS = {
    f"{parameter.name} of {name.removeprefix('xmlcore.')}": (function, parameter)
    for name, function in public_functions().items()
    for parameter in inspect.signature(function).parameters.values()
    if NUMBER.fullmatch(annotation(parameter)) and not INTERNAL.search(name)
}


@cache
def arguments():
    """Return arguments by name, or by "name of function"; and objects with methods by the names of their classes."""
    X, Y = problem()[0], problem()[1].astype(int)
    plt, data, frame = PLT(max_leaf_labels=2).fit(X, Y), Dataset("toy", X, Y, X, Y), pd.DataFrame()
    ranking, noise, packed = plt.predict_topk(X, 7), robustness.GaussianNoise(0.1), PackedModel(plt)
    noisy = robustness.evaluate(plt, X, Y, sigmas=(0, 0.1), n_repeats=1).assign(run="toy")
    few, facts = explain.contributions(plt, X[:1], 0, dataset=data), datasets.facts_of_rows(data, X, ranking)
    selected = np.arange(14).reshape(7, 2)
    texts = TextClassifier(PLT()).fit(["one two", "two three"] * 4, [["x"], ["y"]] * 4)
    objects = [texts] + [fitted(case) for case in CASES if case.predicts] + [plt, data, packed, noise, plt.trees_[0]]
    objects += [PerLabelOneVsRest(selected).fit(X, Y), BRDT(selected).fit(X, Y)]
    objects += [object.__new__(cls) for cls in (jobs.Queue, jobs.WorkerPool, jobs.Job, Driver)]
    objects[-2]._over = objects[-1]._stopped = threading.Event()
    objects[-1]._thread = threading.Thread()
    own = {
        "X": X, "Y": Y, "Y_train": Y, "Y_true": Y, "after": X[:1], "arrays": {}, "axis": "a", "before": X[:1],
        "color": "c", "counts": Y.sum(axis=0), "dataset": data, "first": few,
        "frame": frame, "frame of friedman": [[1, 2], [3, 4], [5, 6]], "frame of summarise": noisy, "group": "g",
        "inv_ps": np.ones(7), "kind": "gaussian", "kind of probability": "margin", "kind of remove_stale": "train",
        "labels": np.zeros(48, int), "labels of importance": Y, "made": None, "measure": "P@1", "measures": ["P@k"],
        "model": plt,
        "model of prefix_measures": fitted(LDSM), "n_rows": 48, "n_rows of loss_table": {"toy": 48}, "name": "n",
        "names": ["n"], "noisy": X, "packed": packed, "params": {"n_adversarial": 1}, "path": "nowhere.zip",
        "perturbation": noise, "predictions": ranking, "progress": None, "queue": None, "ranking": ranking,
        "ranking_a": ranking, "ranking_b": ranking, "rankings": {"a": ranking, "b": ranking},
        "rankings of intervals_of_several": [ranking] * 2, "recall of promise": 0.5, "rows": facts,
        "rows_or_texts": X, "rule": None, "scale": robustness.ValueScale(1.0, 1.0, 1.0), "scores": Y / 2,
        "second": few, "selected": selected, "shape": "small", "share": 0.5, "shares": [0.5, 0.5],
        "source": b"0 0:1\n", "source of read_texts": TEXTS, "summary": robustness.summarise(noisy), "test": facts,
        "texts": ["one"], "title": "t", "train": b"0 0:1\n1 0:2\n0 1:1\n", "train of read_text_dataset": TEXTS,
        "value": "v", "x": X[:1],
    }  # fmt: skip
    return own, {name: one for one in objects for name in [base.__name__ for base in type(one).__mro__]}


def call(function, parameter, value):
    """Call a function with a value, and with what arguments() has for those that it needs."""
    own, objects = arguments()
    own = own | {"X": ["one"]} if function.__qualname__.startswith("TextClassifier") else own
    _, _, title = function.__qualname__.rpartition(".")
    known = {}
    for other in inspect.signature(function).parameters.values():
        if other.name == "self":
            known["self"] = objects[function.__qualname__.split(".")[0]]
        elif f"{other.name} of {title}" in own:
            known[other.name] = own[f"{other.name} of {title}"]
        elif other.default is other.empty and other.kind not in (other.VAR_KEYWORD, other.VAR_POSITIONAL):
            known[other.name] = own.get(other.name, 1)
    is_list = annotation(parameter).startswith(("list", "collections"))
    return function(**known | {parameter.name: [value] if is_list else value})


def beyond_bounds(function, parameter):
    is_whole, few = "float" not in annotation(parameter), (parameter.name, f"{parameter.name} of {function.__name__}")
    beyond = [2.5] if is_whole else [] if any(name in ABOVE_1 for name in few) else [10.0]
    beyond = [2.5] * is_whole if any(name in ANY for name in few) else [*beyond, -1, np.inf]
    return ("3", 1j, True, np.nan, 10**400, *beyond)


@pytest.mark.parametrize("part", sorted({PART.search(number)[0] for number in NUMBERS}))
def test_numbers_beyond_their_bounds_are_refused_and_named(part):
    accepted = []
    for number, (function, parameter) in NUMBERS.items():
        for value in beyond_bounds(function, parameter) if PART.search(number)[0] == part else ():
            try:
                call(function, parameter, value)
            except (ValueError, TypeError) as error:
                if re.search(rf"^(?!.*needs the column)(?s:.*)\b{parameter.name}\b", str(error)):
                    continue
            accepted.append((number, value))
    assert not accepted
