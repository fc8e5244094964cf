"""Runs measured under noise: tasks that are started or offered, and their results in one table."""

import functools
from typing import NamedTuple

import numpy as np
import pandas as pd

from pages.robustness import choices
from pages.shared import format, tasks
from pages.shared.results import run_names
from pages.shared.results.measured import SHOWN_MEASURES
from xmlcore import metrics, robustness
from xmlcore.metrics.calibration import wilson
from xmlcore.robustness.perturbations import CERTIFIED

PAPER_MEASURE = "PSDCG@k (1/log)"
MEASURES = {  # on the page; tables for download have more
    **{name: metrics.MEASURES[name].meaning for name in SHOWN_MEASURES},
    PAPER_MEASURE: "like nDCG@k, but rare labels count more: a label of n training rows by 1 / log(1 + n). The "
    "PSDCG@k and PSnDCG@k of the Train page have other weights",
    CERTIFIED: "share of the rows whose first label no change of this length can alter, whatever the attack",
}


def title(measure: str) -> str:
    return {PAPER_MEASURE: "PSDCG@k by 1/log(1 + n)", CERTIFIED: "Certified rows"}.get(measure, measure)


class UnderNoise:
    """Measurements of the runs chosen: ``results`` of tasks by the names of runs, in one table and its summary.

    The column ``run`` (name) is added; ``summary`` has means and intervals, and ``model``, one of the ``styles`` of
    :func:`run_names.styles`. ``settings`` are those of the measurements, and names of downloads begin with ``files``.
    """

    def __init__(self, results: dict[str, object], styles: pd.DataFrame, settings, files: str):
        self.results, self.styles, self.settings, self.files = results, styles, settings, files
        parts = [result.frame.assign(run=name, rows=result.n_rows) for name, result in results.items()]
        self.frame = pd.concat(parts, ignore_index=True)
        self.summary = robustness.summarise(self.frame).join(styles["model"], on="run")

    @property
    def n_rows(self) -> dict[str, int]:
        return {name: result.n_rows for name, result in self.results.items()}

    @functools.cached_property
    def _of_all_labels(self) -> dict:
        lines = self.summary[self.summary["bucket"] == "all"].itertuples()
        return {(line.run, line.measure, line.k, f"{line.sigma:.9g}"): line for line in lines}

    def value(self, run: str, measure: str, k: int, level: float, column: str = "mean") -> float:
        """Return a number of the summary over all labels; nan where it was not measured."""
        line = self._of_all_labels.get((run, measure, k, f"{level:.9g}"))
        return float(getattr(line, column)) if line is not None else float("nan")

    @functools.cached_property
    def best(self) -> str:
        """The result that is right most often where nothing is changed, of equals the first by name."""
        if self.certified:
            return max(self.results, key=lambda run: self.value(run, CERTIFIED, 1, self.settings.levels[-1]))
        return max(sorted(self.results), key=lambda run: self.value(run, "P@k", 1, 0.0))

    @property
    def certified(self) -> bool:
        """Whether this is about rows that no change can alter, and not about measures under noise."""
        return CERTIFIED in self.measures

    @functools.cached_property
    def _losses(self) -> dict:
        counts = {run: one.first_right for run, one in self.results.items()}
        of_best = counts[self.best]
        if of_best is None:  # of certificates
            return {}
        alike = {run: of for run, of in counts.items() if np.shape(of) == np.shape(of_best)}
        levels = [f"{level:.9g}" for level in self.results[self.best].levels if level]
        frame = robustness.losses(alike, self.best)
        return {(line.run, levels[line.level - 1]): line for line in frame.itertuples()}

    def loses(self, run: str, level: float, what: str = "lost") -> int:
        """Return 1 if a result significantly loses P@1 at a level, or "more" of it than the best; -1 if it gains."""
        loss = self._losses.get((run, f"{level:.9g}"))  # a line of xmlcore.robustness.losses; None if it is not known
        return int(np.sign(getattr(loss, what))) if loss and getattr(loss, f"p_{what}") < metrics.SURE else 0

    @functools.cached_property
    def margin_of_rows(self) -> float:
        s = self.summary
        at = s[s["measure"].isin(["P@k", CERTIFIED]) & (s["k"] == 1) & (s["bucket"] == "all")]
        low, high = wilson(at["mean"], at["run"].map(self.n_rows))
        return float((high - low).max() / 2)

    @functools.cached_property
    def measures(self) -> list[str]:
        present = set(self.summary["measure"])
        return [m for m in MEASURES if m in present]


class MeasuredRuns(NamedTuple):
    """Measurements of the results that are compared, and a note on those that are missing."""

    compared: list  # records of the results that can be compared
    left_out: str  # why others are not compared, in Markdown
    measurements: UnderNoise | None
    waiting: str  # names the results that are not measured yet


def measure(ready, runs, settings) -> MeasuredRuns:
    """Return kept measurements of the results, if need be at levels measured before; missing ones are offered."""
    compared, names = settings.alike(runs), ready.titles
    wanted = {names[r["key"]]: settings.task(r) for r in compared}
    found = tasks.ready_all(wanted, button="Measure", key="robustness.start") if compared else {}
    drawn = settings
    if not found and (before := choices.at_other_levels(compared, settings)):
        drawn = before
        found = tasks.kept({names[r["key"]]: drawn.task(r) for r in compared})
    missing = [format.bold(name) for name in wanted if name not in found]
    waiting = "" if drawn is settings else "These levels are not measured together yet, so earlier ones are shown. "
    if found and (len(missing) > 1 or missing and waiting):  # one alone is named by its button
        waiting += f"Not measured: {format.listed(missing)}."
    files = "-".join([format.file_name(ready.name), "robustness", settings.kind, *(r["key"][:6] for r in compared)])
    measurements = UnderNoise(found, run_names.styles(compared, names), drawn, files) if found else None
    return MeasuredRuns(compared, settings.apart(runs, names), measurements, waiting)
