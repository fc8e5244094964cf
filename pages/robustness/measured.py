"""Runs measured under noise: tasks that are started or offered, and their results in one table."""

import functools

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
    CERTIFIED: "share of the rows whose first label no change of this length can turn, whatever the attack",
}


def title(measure: str) -> str:
    return {PAPER_MEASURE: "PSDCG@k by 1/log(1 + n)", CERTIFIED: "Certified rows"}.get(measure, measure)


class UnderNoise:
    """What was measured of the runs chosen: ``results`` of tasks by the names of runs, in one table and its summary.

    The column ``run`` (name) is added; ``summary`` has means and intervals, and ``model``, one of the ``looks`` of
    :func:`run_names.looks`.
    """

    def __init__(self, results: dict[str, object], looks: pd.DataFrame):
        self.results, self.looks = results, looks
        parts = [result.frame.assign(run=name, rows=result.n_rows) for name, result in results.items()]
        self.frame = pd.concat(parts, ignore_index=True)
        self.summary = robustness.summarise(self.frame).join(looks["model"], on="run")

    @property
    def n_rows(self) -> dict[str, int]:
        return {name: result.n_rows for name, result in self.results.items()}

    @functools.cached_property
    def _of_all_labels(self) -> dict:
        lines = self.summary[self.summary["bucket"] == "all"].itertuples()
        return {(line.run, line.measure, line.k, f"{line.sigma:.9g}"): line for line in lines}

    def value(self, run: str, measure: str, k: int, level: float, column: str = "mean") -> float:
        """Return a number of the summary over all labels; nan where there is none."""
        line = self._of_all_labels.get((run, measure, k, f"{level:.9g}"))
        return float(getattr(line, column)) if line is not None else float("nan")

    @functools.cached_property
    def best(self) -> str:
        """The result that is right most often where nothing is changed, of equals the first by name."""
        return max(sorted(self.results), key=lambda run: self.value(run, "P@k", 1, 0.0))

    @functools.cached_property
    def _losses(self) -> dict:
        counts = {run: one.first_right for run, one in self.results.items()}
        of_best = counts[self.best]
        if of_best is None:  # an earlier version measured it
            return {}
        alike = {run: of for run, of in counts.items() if np.shape(of) == np.shape(of_best)}
        levels = [f"{level:.9g}" for level in self.results[self.best].levels if level]
        frame = robustness.losses(alike, self.best)
        return {(line.run, levels[line.level - 1]): line for line in frame.itertuples()}

    def loss(self, run: str, level: float):
        """Return the line of :func:`xmlcore.robustness.losses`, beside the best result; None if that is not known."""
        return self._losses.get((run, f"{level:.9g}"))

    def loses(self, run: str, level: float) -> int:
        """Return 1 if a result surely loses P@1 at a level, -1 if it surely gains, else 0."""
        loss = self.loss(run, level)
        return int(np.sign(loss.lost)) if loss is not None and loss.p_lost < metrics.SURE else 0

    def loses_more(self, run: str, level: float) -> int:
        """Return 1 if a result surely loses a larger share of P@1 than the best, -1 if a smaller one, else 0."""
        loss = self.loss(run, level)
        return int(np.sign(loss.more)) if loss is not None and loss.p_more < metrics.SURE else 0

    def is_ahead(self, run: str, level: float) -> bool:
        """Return whether a result is surely right more often at a level than the best one, on the same rows."""
        at = {one: self.loss(one, level) for one in self.results}
        if at[run] is None:
            return False
        right = {one: self.results[one].first_right[known.level] for one, known in at.items() if known}
        of_best = right.pop(self.best)
        # What would be lost by the best one in the place of each other: of these, the largest was picked.
        more = robustness.losses({one: [of, of_best] for one, of in right.items()}).set_index("run").loc[run]
        return more["lost"] > 0 and more["p_lost"] < metrics.SURE

    def is_unchanged(self, run: str, level: float) -> bool:
        """Return whether the first label of each row is right as often as without noise, or that is unknown."""
        known, counts = self.loss(run, level), self.results[run].first_right
        return known is None or np.array_equal(counts[known.level], counts[0])

    @functools.cached_property
    def margin_of_rows(self) -> float:
        s = self.summary
        at = s[s["measure"].isin(["P@k", CERTIFIED]) & (s["k"] == 1) & (s["bucket"] == "all")]
        low, high = wilson(at["mean"], at["run"].map(self.n_rows))
        return float((high - low).max() / 2)

    @functools.cached_property
    def measures(self) -> list[str]:
        """The measures of :data:`MEASURES` that the results have."""
        present = set(self.summary["measure"])
        return [m for m in MEASURES if m in present]


def waiting(runs, names, measurements, settings, drawn) -> str:
    """Return which levels or runs are not measured yet; nothing for one run alone, which its button names."""
    said = "" if drawn is settings else "These levels are not measured together yet, so earlier ones are shown. "
    missing = [f"**{format.plain(names[r['key']])}**" for r in runs if names[r["key"]] not in measurements.results]
    if len(missing) == 1 and drawn is settings:
        return ""
    where = "yet" if drawn is settings else "there"
    return f"{said}Not measured {where}: {format.listed(missing)}." if missing else said


def by_earlier(runs, names, measurements, drawn) -> str:
    """Return a sentence that names what is drawn and an earlier version has measured; empty if there is no such."""
    shown = [record for record in runs if names[record["key"]] in measurements.results]
    earlier = [f"**{format.plain(names[r['key']])}**" for r in shown if not drawn.task(r).exists()]
    were = "was" if len(earlier) == 1 else "were"
    return f"{format.listed(earlier)} {were} measured by an earlier version." if earlier else ""


def measure(runs, names, settings) -> tuple:
    """Return the stored measurements of the runs, or None, and their settings: if need be, with the levels before.

    What is not measured is started, or a button shown that starts it.
    """
    wanted = {names[r["key"]]: settings.task(r) for r in runs}
    results = tasks.ready_all(wanted, button="Measure", key="robustness.start")
    if not results and (before := choices.at_other_levels(runs, settings)):
        settings = before
        results = tasks.kept({names[r["key"]]: settings.task(r) for r in runs})
    return UnderNoise(results, run_names.looks(runs, names)) if results else None, settings
