"""Measures that decisions can be best for, as gains of labels."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from xmlcore._kernels.decisions import COVERAGE, LINEAR, MACRO_F1, MACRO_PRECISION
from xmlcore._kernels.ranking import top_k_sparse
from xmlcore.metrics import inverse_propensity
from xmlcore.validation import INT32_MAX, check_weights

AT_K = ("P", "PSP", "macro F1", "macro P", "macro R", "balanced accuracy", "coverage")  # each with @k
FREE = ("micro F1", "samples F1", "macro F1", "balanced accuracy")  # without: the number of labels is open
SECOND = {"macro F1": MACRO_F1, "macro P": MACRO_PRECISION, "coverage": COVERAGE}  # those that are not linear


class Goal(NamedTuple):
    """A measure, or a weighted sum of measures of the same k."""

    parts: dict[str, float]  # weights of measures, by their names without k
    k: int  # 0: the number of labels is open

    @property
    def name(self) -> str:
        """How it is called: "P@3", or "0.5 P@3 + 0.5 macro F1@3"."""
        at = f"@{self.k}" if self.k else ""
        several = len(self.parts) > 1
        return " + ".join(f"{weight:g} {name}{at}" if several else f"{name}{at}" for name, weight in self.parts.items())

    @property
    def kind(self) -> int:
        """The number by which kernels know the part that is not linear in probabilities."""
        return next((SECOND[name] for name in self.parts if name in SECOND), LINEAR)


class Gains(NamedTuple):
    """A goal for some rows: a label of probability p gains ``slopes * p + offsets``, and ``scale`` times its kind's."""

    kind: int
    scale: float
    of_labels: np.ndarray  # (3, L): slopes, offsets, and the rows that have each label, or are expected to


def read_goal(measure: str | Mapping[str, float]) -> Goal:
    """Return what a name, or names with weights, stand for."""
    given = {measure: 1.0} if isinstance(measure, str) else measure
    known = f"{', '.join(f'{name}@k' for name in AT_K)} (such as 'macro F1@3') and {', '.join(FREE)}"
    if not isinstance(given, Mapping) or not given:
        raise TypeError(f"measure is {measure!r:.60}: give a name, or a dict of weights by name. Known are {known}")
    parts, ks = {}, set()
    for name, weight in given.items():
        plain, at, k = name.rpartition("@") if isinstance(name, str) and "@" in name else (name, "", "0")
        if not (plain in AT_K and k.isdecimal() and len(k) < 1000 and int(k) > 0 if at else plain in FREE):
            raise ValueError(f"{name!r:.60} is not a measure to decide for: known are {known}")
        parts[plain] = float(check_weights([weight], f"the weight of {name:.60}")[0])
        ks.add(int(k))
    if max(ks) > INT32_MAX:
        raise ValueError(f"{', '.join(given):.60} has a k above {INT32_MAX:,}")
    if len(ks) > 1 or (len(parts) > 1 and ks == {0}):
        raise ValueError(f"{', '.join(given):.200} cannot be joined: the parts of a sum need the same k")
    second = [name for name in parts if name in SECOND]
    if len(second) > 1:
        raise ValueError(f"{' and '.join(second)} cannot be joined: at most one of {', '.join(SECOND)} goes into a sum")
    return Goal(parts if len(parts) > 1 else dict.fromkeys(parts, 1.0), ks.pop())


def gains_of(goal: Goal, n_rows: int, true: np.ndarray, inv_ps=None, best_gain: float | None = None) -> Gains:
    """Return the gains of a goal over ``n_rows`` rows; ``true`` (L,) are the expected rows of each label."""
    slopes, offsets, scale = np.zeros(true.size), np.zeros(true.size), 0.0
    there = max(1, int((true > 0).sum()))
    for name, weight in goal.parts.items():
        if name in SECOND:
            scale = weight / there
        elif name == "P":
            slopes += weight / (goal.k * n_rows)
        elif name == "PSP":
            slopes += weight * inv_ps / best_gain
        else:  # macro recall, half of balanced accuracy
            of_true = np.divide(weight, there * true, out=np.zeros(true.size), where=true > 0)
            if name == "balanced accuracy":
                others = np.where(n_rows > true, n_rows - true, np.inf)
                slopes += 0.5 * (of_true + weight / (there * others))
                offsets -= 0.5 * weight / (there * others)
            else:
                slopes += of_true
    return Gains(goal.kind, scale, np.stack([slopes, offsets, true]))


def best_gain_of(Y, inv_ps, k) -> float:
    """Return the sum over rows of the k largest weights among their true labels, by which PSP is divided."""
    k = min(k, int(np.diff(Y.indptr).max(initial=0)))
    labels, scores = np.empty((Y.shape[0], k), np.int32), np.empty((Y.shape[0], k))
    top_k_sparse(Y.indptr.astype(np.int64), Y.indices.astype(np.int32), inv_ps[Y.indices], labels, scores)
    return float(scores.sum())


def propensities(goal: Goal, inv_ps, n_labels, Y=None) -> np.ndarray | None:
    """Return the weights of labels if the goal needs them: as given, or from the labels of rows."""
    if "PSP" not in goal.parts:
        if inv_ps is not None:
            raise ValueError(f"{goal.name} takes no inv_ps: only PSP@k weighs labels by them")
        return None
    if inv_ps is None and Y is None:
        raise ValueError("PSP@k needs inv_ps, the weight of each label: metrics.inverse_propensity(Y_train)")
    return inverse_propensity(Y) if inv_ps is None else check_weights(inv_ps, "inv_ps", n_labels)
