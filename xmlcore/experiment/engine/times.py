"""How long work took on this machine, and by this how long other work will take: a small Bayesian regression.

Work has a prior, which is a number of seconds from a formula (``estimates.py``). What is learned is the logarithm of
the seconds that it took over the prior, as a Gaussian process with three parts: one that all work has in common, which
is the machine; one of the work of a group, such as a model; and one of similar work of the group. With few times, or
times of other work only, the estimate stays near the prior.
"""

import contextlib
import functools
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from xmlcore.state import database
from xmlcore.system import cache_root

TABLE = "times"  # of the database: "group/number" -> [seconds of the prior, seconds taken, features, bytes taken]
MOST = 40  # times that are kept of a group
MOST_USED = 200  # times that an estimate is computed from: the newest
MACHINE, GROUP, SIMILAR, NOISE = 1.0, 0.5, 0.5, 0.1  # variances of the parts, and of one time
LENGTH = 2.0  # distance in features, which are logarithms, at which work is no longer similar
MUCH = 50 << 20  # bytes; what is below depends on what the process did before
PASSING = 1.0  # seconds that may come and go with other programs: short work tells little


class Work(NamedTuple):
    """Work of a group: the seconds that its formula gives, and what distinguishes it from other work of the group."""

    group: str
    seconds: float
    features: dict[str, float]


class _Learned(NamedTuple):
    """What is known of earlier work: the weight of each in an estimate, and the bytes that each took."""

    works: list[Work]
    weights: np.ndarray
    n_bytes: list[int]


def features(about: Mapping[str, Any]) -> dict[str, float]:
    """Return sizes and settings as numbers: the logarithm of a number, and 1 for the value that anything else has."""
    named = {}
    for name, value in about.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            named[name] = math.log1p(abs(value))
        else:
            named[f"{name} {value}"] = 1.0
    return named


def expected(work: Work) -> float:
    """Return the seconds that work will take on this machine."""
    known = _learned(cache_root(), changed())
    if not known.works:
        return work.seconds
    return work.seconds * math.exp(float(_covariance([work], known.works)[0] @ known.weights))


def most_bytes(work: Work) -> int:
    """Return the most memory that work of the group took here, for as many values as this work has; 0 if never much."""
    known, values = _learned(cache_root(), changed()), work.features.get("values", 0.0)
    took = [
        n_bytes * max(1.0, math.exp(values - other.features.get("values", 0.0)))
        for other, n_bytes in zip(known.works, known.n_bytes)
        if other.group == work.group and n_bytes > MUCH
    ]
    return int(max(took, default=0))


def add(work: Work, seconds: float, n_bytes: int = 0, worked: float = math.inf) -> None:
    """Keep what work took, but no more seconds than the processors ``worked`` for it; what cannot be written is not.

    Work that lasts longer than that has waited for other programs, which the next one may not meet.
    """
    seconds = min(seconds, worked)
    if seconds > 0 and work.seconds > 0:
        with contextlib.suppress(OSError):
            database().append(TABLE, work.group, [work.seconds, seconds, work.features, n_bytes], MOST)


def changed() -> float:
    """Return when a time was kept last, 0.0 without one or if it cannot be read: estimates hold until then."""
    with contextlib.suppress(OSError):
        return max(database().written(TABLE).values(), default=0.0)
    return 0.0


@functools.lru_cache(maxsize=4)
def _learned(root, when) -> _Learned:
    """Return what is known of the work that was kept last."""
    works, taken, logarithms, noise = [], [], [], []
    rows = database().rows(TABLE) if when else []
    for row in sorted(rows, key=lambda row: row.written)[-MOST_USED:]:
        with contextlib.suppress(TypeError, ValueError, AttributeError, ArithmeticError):  # a damaged row
            prior, seconds, named, n_bytes = row.value
            logarithm, variance, n_bytes = math.log(seconds / prior), NOISE + (PASSING / seconds) ** 2, int(n_bytes)
            named = {str(k): float(v) for k, v in named.items()}
            if all(map(math.isfinite, (logarithm, variance, n_bytes, *named.values()))):
                works.append(Work(row.key.rpartition("/")[0], prior, named))
                taken.append(n_bytes)
                logarithms.append(logarithm)
                noise.append(variance)
    weights = np.linalg.solve(_covariance(works, works) + np.diag(noise), logarithms) if works else np.zeros(0)
    return _Learned(works, weights, taken)


def _covariance(some: list[Work], others: list[Work]) -> np.ndarray:
    """Return the covariance of what is learned between each of ``some`` and each of ``others``."""
    covariance = np.full((len(some), len(others)), MACHINE)
    for group in {work.group for work in some}:
        rows = [at for at, work in enumerate(some) if work.group == group]
        columns = [at for at, work in enumerate(others) if work.group == group]
        names = {name: None for work in (*some, *others) if work.group == group for name in work.features}
        left, right = (
            np.array([[works[at].features.get(name, 0.0) for name in names] for at in places]).reshape(
                len(places), len(names)
            )
            for works, places in ((some, rows), (others, columns))
        )
        squares = ((left[:, None] - right) ** 2).sum(axis=2)
        covariance[np.ix_(rows, columns)] += GROUP + SIMILAR * np.exp(-squares / (2 * LENGTH**2))
    return covariance
