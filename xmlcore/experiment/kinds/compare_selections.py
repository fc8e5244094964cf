"""Comparison of selections by the measures of decision trees that are trained on the selected features."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from xmlcore import metrics
from xmlcore.experiment.engine import estimates
from xmlcore.experiment.engine.task import Estimate, Task, as_plain, register
from xmlcore.experiment.engine.task_parameters import N_ROWS, SEEDS
from xmlcore.experiment.kinds.select import (
    WarningsBySeed,
    selection_params,
    selection_title,
    selector,
    warm_up_selector,
)
from xmlcore.experiment.kinds.train import sampled_rows
from xmlcore.first_use import pd
from xmlcore.models.compiling import COMPILING
from xmlcore.parameters import REQUIRED, Parameter, filled
from xmlcore.progress import Progress, ProgressLike, part_of, silent, to_progress
from xmlcore.selection import BRDT
from xmlcore.typing import DataFrame, Dataset
from xmlcore.validation import INT32_MAX, check_dataset, check_list

ALL = "all features"
VARIED = ("n_features", "random_state")  # a comparison varies these parameters of selections, and ignores their values
COLUMNS = ["method", "pattern", "share", "n_features", "seed", "measure", "value", "select_s", "seconds"]


@dataclass(frozen=True)
class Comparison:
    """How well decision trees predict with the features that selections keep."""

    # A row per method, share, seed and measure. Columns: `method` (its name by :func:`comparison_titles`, or "all
    # features"), `pattern` (of FALS, else empty), `share` (of the features that each label keeps), `n_features` (the
    # number of features that each label keeps), `seed` (of the selection and of the trees), `measure`, `value`,
    # `select_s` (seconds of the selection, which is made once for all shares), `seconds` (of the trees).
    frame: "DataFrame"
    # n_rows, n_train: number of rows that trees were trained on, and number of all training rows
    n_rows: int
    n_train: int
    # n_test_rows, n_test: number of test rows that measures were computed on, and number of all test rows
    n_test_rows: int
    n_test: int
    fingerprint: str
    seconds: float = 0.0
    # warnings of the selections. Each is listed once, with the selection and the seeds that gave it.
    warnings: list[str] = field(default_factory=list)


def compare_selections(
    dataset: "Dataset",
    selections: Sequence[Any],
    shares: Sequence[float] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7),
    seeds: Sequence[int] = (0, 1, 2),
    n_rows: int | None = None,
    progress: ProgressLike = silent,
) -> Comparison:
    """Train decision trees on the features that selections keep, and measure what they predict for the test rows."""
    progress = to_progress(progress)
    start = time.perf_counter()
    wanted = {"selections": selections, "shares": shares, "seeds": seeds, "n_rows": n_rows}
    study = _Study(dataset, filled(CompareSelections.PARAMETERS, wanted, "compare_selections"), progress)
    progress(COMPILING, 0.0)
    study.warm_up()
    lines = [line for at in range(len(study.selections)) for line in study.lines_of(at)]
    return Comparison(
        frame=pd.DataFrame(lines, columns=COLUMNS),
        n_rows=study.rows.size,
        n_train=dataset.n_train,
        n_test_rows=study.tested.size,
        n_test=dataset.n_test,
        fingerprint=dataset.fingerprint,
        seconds=time.perf_counter() - start,
        warnings=study.warned.lines(),
    )


def comparison_titles(selections: Sequence[Any]) -> list[str]:
    """Return the names of selections in a comparison: the method, and the parameters in which they differ."""
    full = [None if selection is None else (selection[0], selection_params(*selection)) for selection in selections]
    titles = [ALL if selection is None else selection_title(*selection) for selection in full]
    longer = []
    for title, selection in zip(titles, full):
        alike = [other for name, other in zip(titles, full) if name == title]
        if selection is None or len(alike) == 1:
            longer.append(title)
            continue
        differ = [p for p in selection[1] if len({repr(other[1][p]) for other in alike}) > 1 and p not in VARIED]
        words = ", ".join(f"{p} {selection[1][p]}" for p in differ)
        longer.append(title.removesuffix(")") + f", {words})" if title.endswith(")") else f"{title} ({words})")
    return longer


class _Study:
    """The rows, selections and progress of a comparison."""

    def __init__(self, dataset, wanted, progress):
        check_dataset(dataset)
        self.selections, self.seeds = _full_selections(wanted["selections"]), wanted["seeds"]
        self.titles = comparison_titles(self.selections)
        self.rows, self.tested = (sampled_rows(n, wanted["n_rows"], 0) for n in (dataset.n_train, dataset.n_test))
        self.X, self.Y = dataset.X_train[self.rows], dataset.Y_train[self.rows]
        self.X_test, self.Y_test = dataset.X_test[self.tested], dataset.Y_test[self.tested]
        self.n_features = dataset.n_features
        self.counts = features_of_shares(wanted["shares"], dataset.n_features)
        self.warned = WarningsBySeed()
        self.progress = progress
        self._costs = estimates.comparison_steps(dataset, self.selections, self.counts, self.seeds, self.rows.size)
        self._at = 0  # number of steps that have begun

    def warm_up(self):
        few = np.eye(4, dtype=np.float32)
        scores = BRDT().fit(few, few > 0).predict_proba(few)
        for measure in metrics.SCORE_MEASURES.values():
            measure.compute(few > 0, scores)

    def lines_of(self, at) -> list[tuple]:
        """Make selection number ``at`` with every seed, train trees on every share, and return rows of the frame."""
        selection, title = self.selections[at], self.titles[at]
        pattern = selection[1]["pattern"] if selection is not None and selection[0] == "FALS" else ""
        if selection is not None:
            self.progress(COMPILING, self._fraction(self._at))
            warm_up_selector(*selection)
        lines = []
        for seed in self.seeds:
            fitted, select_s = None, 0.0
            if selection is not None:
                with self.warned.of(title, seed):
                    fitted, select_s = self._select(selection, seed, f"{title}, seed {seed}")
            for count, share in self.counts.items() if fitted is not None else [(self.n_features, 1.0)]:
                values, seconds = self._grow_trees(fitted, count, seed, f"{title}, seed {seed}")
                lines += [(title, pattern, share, count, seed, m, v, select_s, seconds) for m, v in values.items()]
        return lines

    def _select(self, selection, seed, detail):
        method, params = selection
        varied = {"n_features": max(self.counts), "random_state": seed}
        params = params | {name: value for name, value in varied.items() if name in params}
        start = time.perf_counter()
        fitted = selector(method, params).fit(self.X, self.Y, progress=self._step(None, detail))
        return fitted, time.perf_counter() - start

    def _grow_trees(self, fitted, count, seed, detail):
        """Train a tree per label on its best ``count`` features, and return measures and seconds."""
        start = time.perf_counter()
        selected = None if fitted is None else fitted.selected_[:, :count]
        if fitted is not None:
            detail += f", {count:,} feature{'' if count == 1 else 's'}"
        trees = BRDT(selected, random_state=seed)
        trees.fit(self.X, self.Y, progress=self._step("Growing trees", detail))
        scores = trees.predict_proba(self.X_test)
        values = {name: float(measure.compute(self.Y_test, scores)) for name, measure in metrics.SCORE_MEASURES.items()}
        return values, time.perf_counter() - start

    def _step(self, phase, detail) -> Progress:
        """Begin the next step, and return the function to which it reports its progress."""
        start, end = self._fraction(self._at), self._fraction(self._at + 1)
        self._at += 1
        inner = part_of(self.progress, start, end, phase=phase)
        return lambda own_phase, fraction, own_detail="": inner(own_phase, min(fraction, 1.0), detail)

    def _fraction(self, n_steps) -> float:
        """Return the time of the first ``n_steps`` steps, as a share of the time of all steps."""
        return min(1.0, sum(self._costs[:n_steps]) / (sum(self._costs) or 1.0))


def features_of_shares(shares, n_features: int) -> dict[int, float]:
    """Return a dict from the different numbers of features, to which shares are rounded, to the nearest share."""
    nearest = {}
    for share in shares:
        count = max(1, round(share * n_features))
        if count not in nearest or abs(share - count / n_features) < abs(nearest[count] - count / n_features):
            nearest[count] = share
    return nearest


def _full_selections(selections) -> list:
    """Return selections with all their parameters; ValueError if there are none."""
    selections = check_list(selections, "selections", "pairs of a method and its parameters")
    if not selections:
        raise ValueError("no selection to compare: give pairs of a method and its parameters, or None for all features")
    return [None if selection is None else (selection[0], selection_params(*selection)) for selection in selections]


@register
class CompareSelections(Task):
    """Compare selections by decision trees that are trained on the features that the selections keep."""

    kind, folder, result = "compare_selections", "judged", Comparison
    doing = "Comparing selections on {dataset}"

    PARAMETERS = (
        Parameter(
            "selections", "Selections",
            "Pairs of a method and its parameters, or None for all features.",
            "any", REQUIRED,
        ),
        Parameter(
            "shares", "Shares", "Of the features.", "floats", (0.1,), minimum=0.0, maximum=1.0, above_minimum=True
        ),
        replace(SEEDS, help="Of the trees, and of the selections that have a seed.", maximum=INT32_MAX),
        N_ROWS,
    )  # fmt: skip

    def complete(self, params):
        kept = []
        for selection in _full_selections(params["selections"]):
            if selection is not None:
                method, full = selection
                selection = [method, {name: value for name, value in full.items() if name not in VARIED}]
            kept.append(selection)
        return params | {"selections": kept}

    def estimate(self) -> Estimate:
        dataset, selections = self.dataset(), _full_selections(self.params["selections"])
        counts = features_of_shares(self.params["shares"], dataset.n_features)
        return estimates.comparison(dataset, selections, counts, self.params["seeds"], self.params["n_rows"])

    def run(self, progress=silent, files=None):
        return as_plain(compare_selections(self.dataset(progress), progress=progress, **self.params))
