"""Decisions of a kept run: learnt on training rows that a twin of its model did not see, measured on the test rows."""

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from xmlcore import decisions, metrics
from xmlcore.decisions.calibrating import calibration_of
from xmlcore.decisions.goals import read_goal
from xmlcore.decisions.held_out import held_out
from xmlcore.decisions.learning import cuts_of, learnt, plain_marks, value_of
from xmlcore.experiment.engine import estimates
from xmlcore.experiment.engine.inputs import kept_run_and_model
from xmlcore.experiment.engine.sweep_trials import VALIDATION, resized, without_held_out
from xmlcore.experiment.engine.task import Estimate, Task, as_plain, keep, load, register, task
from xmlcore.experiment.engine.task_parameters import SEED
from xmlcore.experiment.kinds.train import estimator, full_params
from xmlcore.first_use import pd
from xmlcore.metrics.sets import of_sets
from xmlcore.models.rules import CANDIDATES, CUT, Rule
from xmlcore.parameters import Parameter
from xmlcore.progress import Progress, part_of, silent
from xmlcore.typing import DataFrame, Dataset, Ranker

MEASURES = ("micro F1", "samples F1", "macro F1", "macro F1@3", "macro F1@5", "PSP@5", "coverage@5")
AS_IT_IS = "predict, as it is"
HELD_OUT = "held-out "  # how the names of columns begin that tell of held-out rows
OF_CUT = ("micro P", "micro R", "labels")
MOST_CUTS = 200  # lines of the table of cuts, at equal steps of recall
FEWEST = 10  # training rows, of which some can be held out
EACH_ROW = 1e-3  # seconds to predict and to learn from a row
DECISION = Parameter(
    "decision",
    "Decision",
    "A measure of the task decide, or a cut, that decides which labels the model predicts. Empty: as it is.",
    "text",
    None,
    optional=True,
)


def can_decide(data: Dataset) -> bool:
    """Return whether a data set has rows from which decisions can be learnt, and labels by which to measure them."""
    return data.n_train >= FEWEST and data.Y_test.nnz > 0


@dataclass(frozen=True)
class Decisions:
    """What decisions give on the test rows of a run."""

    model: str
    n_held_out: int  # training rows that a twin of the model did not see: they decide
    # See decisions.cuts, of the test rows; and what each cut gives on the held-out rows, by which one is to be chosen.
    cuts: "DataFrame"
    # A line per measure, and one for AS_IT_IS: `measure`, `plain` (without a decision) and `decided`, in [0, 1]; and
    # what is then predicted: see metrics.sets.of_sets
    measures: "DataFrame"
    abstention: "DataFrame"  # see decisions.abstention, of the test rows
    rules: dict[str, Any]  # values and arrays of the rule of each measure

    def rule(self, name: str) -> Rule:
        """Return the rule of a measure, or of a cut of the calibrated probabilities, such as "cut 0.25"."""
        values, arrays = self.rules[MEASURES[0] if name.startswith(CUT) else name]
        found = Rule.restored(values, arrays, arrays["slopes"].shape[-1])
        if not name.startswith(CUT):
            return found
        cut = float(name.removeprefix(CUT))
        line = self.cuts.iloc[int((self.cuts["cut"] - cut).abs().argmin())]
        about = {"measure": name, "rows": self.n_held_out} | {of: float(line[HELD_OUT + of]) for of in OF_CUT}
        return replace(found, offsets=np.full(found.offsets.shape, -np.nextafter(cut, 0.0)), about=about)


@register
class Decide(Task):
    """Learn decisions for the model of a kept run. Inputs: ``run``."""

    kind, folder, result, needs, version = "decide", "decisions", Decisions, ("run",), 2
    doing = "Learning decisions for a model of {dataset}"

    PARAMETERS = (VALIDATION, SEED)

    def earlier(self) -> None:
        """Return None: results of earlier versions lack what cuts give on the held-out rows, and are made again."""

    def estimate(self) -> Estimate:
        run, data = load("train", self.inputs["run"]), self.dataset()
        params = full_params(run.model, run.params | run.chosen)
        n_held = round(self.params["validation"] * data.n_train)
        training = estimates.train(resized(data, data.n_train - n_held), run.model, params)
        return Estimate(2.0 + training.seconds + EACH_ROW * (n_held + data.n_test), training.bytes)

    def run(self, progress=silent, files=None):
        run, model = kept_run_and_model(self.inputs["run"], progress)
        data = self.dataset(progress)
        parts = without_held_out(data, self.params["validation"], self.params["seed"])
        twin = estimator(run.model, run.params | run.chosen)
        twin.fit(parts.X_train, parts.Y_train, progress=part_of(progress, 0.0, 0.6, phase="Training without some rows"))
        twin = getattr(twin, "model_", twin)
        progress("Learning decisions", 0.6)
        inv_ps = metrics.inverse_propensity(data.Y_train)
        held = held_out(twin, parts.X_test, parts.Y_test, CANDIDATES)
        calibration = calibration_of(held)
        test = held_out(model, data.X_test, data.Y_test, CANDIDATES)
        P = test.probabilities(calibration)
        rules, lines = {}, []
        for at, measure in enumerate(MEASURES):
            progress("Learning decisions", 0.6 + 0.3 * at / len(MEASURES), measure)
            goal = read_goal(measure)
            weights = inv_ps if "PSP" in goal.parts else None
            rule = learnt(held, calibration, goal, weights)
            rules[measure] = list(rule.state())
            marks = {"plain": plain_marks(goal, test), "decided": rule.take(P)}
            values = {name: value_of(goal, test, taken, weights) for name, taken in marks.items()}
            lines.append({"measure": measure} | values | of_sets(test.Y, test.marked(marks["decided"])))
        progress("Measuring decisions", 0.9)
        lines.append({"measure": AS_IT_IS} | of_sets(test.Y, model.predict(data.X_test)))
        table = cuts_of(test, P.data)
        even = np.searchsorted(table["micro R"], np.linspace(0, table["micro R"].iloc[-1], MOST_CUTS))
        table = table.iloc[np.unique(even.clip(max=len(table) - 1))]
        of_held = cuts_of(held, held.probabilities(calibration).data)
        at = np.searchsorted(-of_held["cut"], -table["cut"], side="right") - 1  # -1: nothing is predicted
        for of in OF_CUT:
            table[HELD_OUT + of] = np.append(of_held[of], 1.0 if of == "micro P" else 0.0)[at]
        found = Decisions(
            run.model, parts.n_test, table.reset_index(drop=True), pd.DataFrame(lines),
            decisions.abstention(model, data.X_test, data.Y_test), rules,
        )  # fmt: skip
        return as_plain(found)


def deciding(model: Ranker, run_key: str, name: str | None, progress: Progress = silent) -> Ranker:
    """Return a copy of the model of a kept run that predicts by a decision; without one, the model as it is."""
    if name is None:
        return model
    decisions = task("decide", {"run": run_key})
    keep(decisions, progress)
    return replace(decisions.load().rule(name), model=copy.copy(model)).keep()
