"""Decisions of a kept run: learnt on training rows that a model of its settings did not see, measured on test rows."""

import contextlib
import copy
import itertools
from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from xmlcore import decisions
from xmlcore.decisions.calibrating import calibration_of
from xmlcore.decisions.goals import read_goal
from xmlcore.decisions.held_out import held_out
from xmlcore.decisions.learning import cuts_of, learnt, plain_marks, value_of
from xmlcore.decisions.promises import kept_cuts, losses_at
from xmlcore.experiment.catalog import SEED
from xmlcore.experiment.engine.sweep_trials import VALIDATION, without_held_out
from xmlcore.experiment.engine.task import Task, keep, load, register, task
from xmlcore.experiment.kinds.train import estimator, full_params, kept_run_and_model
from xmlcore.experiment.kinds.trees import training
from xmlcore.first_use import pd
from xmlcore.metrics.measures import share
from xmlcore.metrics.sets import of_sets
from xmlcore.models.rules import CANDIDATES, CUT, Rule
from xmlcore.parameters import Parameter
from xmlcore.progress import Progress, part_of, silent
from xmlcore.typing import DataFrame, Dataset, Ranker


class BestFor(NamedTuple):
    """The measure for which a decision is best: see :func:`xmlcore.decisions.learn`."""

    group: str
    measure: str | dict[str, float]
    at_most: bool = False


CHOICES = {
    "micro F1": BestFor("Pairs of row and label", "micro F1"),
    "samples F1": BestFor("Each row", "samples F1"),
    "macro F1": BestFor("Each label", "macro F1"),
    "macro F1@3": BestFor("Each label", "macro F1@3"),
    "macro F1@5": BestFor("Each label", "macro F1@5"),
    "macro F1@5, at most 5": BestFor("Each label", "macro F1@5", True),
    "macro R@5": BestFor("Each label", "macro R@5"),
    "coverage@5": BestFor("Each label", "coverage@5"),
    "PSP@5": BestFor("Rare labels count more", "PSP@5"),
    "P@5 and macro F1@5": BestFor("Half of each", {"P@5": 0.5, "macro F1@5": 0.5}),
}
MEASURES = tuple(CHOICES)
PROMISE = "promise "  # begins the name of a decision that promises a recall, which follows
RISK = 0.1  # of a promise
AMONG = " among "  # in the name of a decision: ids of the only labels that may be predicted follow, or -3 for all but 3
AS_IT_IS = "predict, as it is"
HELD_OUT = "held-out "  # begins the names of columns about held-out rows
FOUND = "recall of rows"  # the mean share of a row's true labels that are predicted: it is what is promised
EMPTY = "empty"  # the share of rows without a label
OF_CUT = ("micro P", "micro R", "labels", FOUND, EMPTY)
SETS = ("micro P", "micro R", "micro F1", "samples F1", "macro F1", "labels", FOUND)  # measures of any decision
MOST_CUTS = 200  # lines of the table of thresholds, at equal steps of recall
FEWEST = 10  # training rows: with fewer, none can be held out
LABELS = "Ids or names of the only labels that may be predicted, 3;7, or of those that may not: -3;-7."
DECISION = Parameter(
    "decision",
    "Decision",
    "A measure of the task decide, a threshold (cut 0.25) or a promised recall (promise 0.8); the first two "
    "also among ids of labels (cut 0.25 among 3;7). Empty: as trained.",
    "text",
    None,
    optional=True,
)


def can_decide(data: Dataset) -> bool:
    """Return whether a data set has rows from which decisions can be learnt, and labels by which to measure them."""
    return data.n_train >= FEWEST and data.Y_test.nnz > 0


def is_decision(name) -> bool:
    """Return whether a value names a decision: a measure, a threshold or a promised recall."""
    if not isinstance(name, str):
        return False
    name, among, ids = name.partition(AMONG)
    if among and (name.startswith(PROMISE) or not all(id.removeprefix("-").isdecimal() for id in ids.split(";"))):
        return False
    if name in CHOICES:
        return True
    beginning = next((start for start in (CUT, PROMISE) if name.startswith(start)), None)
    with contextlib.suppress(ValueError):
        return beginning is not None and 0 < float(name.removeprefix(beginning)) <= 1
    return False


def without_labels(name: str) -> str:
    """Return the name of a decision among all labels."""
    return name.partition(AMONG)[0]


def among(name: str, allowed: np.ndarray | None) -> str:
    """Return the name of a decision that may predict some labels only, bool (L,); a promise is about all labels."""
    name = without_labels(name)
    if allowed is None or allowed.all() or name.startswith(PROMISE):
        return name
    return name + AMONG + written_labels(allowed)


def written_labels(allowed: np.ndarray) -> str:
    """Return the ids of the labels that are allowed, bool (L,), or of the others, as in :data:`LABELS`."""
    few = 2 * allowed.sum() <= allowed.size
    return ";".join(f"{'' if few else '-'}{id}" for id in np.flatnonzero(allowed == few))


def read_labels(text: str | None, names: Container[str] = ()) -> tuple[list | None, list | None]:
    """Return the labels that may be predicted and those that may not, of a text as in :data:`LABELS`; None: no such."""
    found: tuple[list, list] = [], []
    for part in (text or "").split(";"):
        name = part.strip().removeprefix("-").strip()
        if name:
            label = int(name) if name.isdecimal() and name not in names else name
            found[part.strip().startswith("-")].append(label)
    return found[0] or None, found[1] or None


@dataclass(frozen=True)
class Decisions:
    """Measures of decisions on the test rows of a run."""

    model: str
    n_held_out: int  # training rows from which decisions are learnt, with a model of the same settings trained without
    # See decisions.cuts, of the test rows, with macro F1 and OF_CUT; and the measures of each threshold on the held-out
    # rows, by which to choose.
    cuts: "DataFrame"
    # A line per measure, and one for AS_IT_IS: `measure`, `plain` (without a decision) and `decided`, in [0, 1]; and
    # measures of the predicted sets: see metrics.sets.of_sets
    measures: "DataFrame"
    abstention: "DataFrame"  # see decisions.abstention, of the test rows
    rules: dict[str, Any]  # values and arrays of the rule of each measure

    def rule(self, name: str) -> Rule:
        """Return the rule of a measure, of a threshold such as "cut 0.25", or of a promised recall: "promise 0.8".

        "micro F1 among 3;7" may predict the labels 3 and 7 only, and "micro F1 among -3;-7" all but these.
        """
        if AMONG in name:
            return self.rule(without_labels(name)).within(*read_labels(name.partition(AMONG)[2]))
        is_cut = is_decision(name) and name not in CHOICES
        line = self.line(name)
        values, arrays = self.rules[MEASURES[0] if is_cut else name]
        found = Rule.restored(values, arrays, arrays["slopes"].shape[-1])
        if not is_cut:
            return found
        reached = {of: float(line[HELD_OUT + of]) for of in OF_CUT}
        cut = float(line["cut"] if name.startswith(PROMISE) else name.removeprefix(CUT))
        about = {"measure": name, "rows": self.n_held_out} | (reached if line["cut"] == cut else {})
        if name.startswith(PROMISE):
            about = {"promise": "recall", "level": float(name.removeprefix(PROMISE)), "risk": RISK}
            about |= {"rows": self.n_held_out, "cut": cut, "value": reached[FOUND], "labels": reached["labels"]}
            about |= {"empty": reached[EMPTY]}
        return replace(found, offsets=np.full(found.offsets.shape, -np.nextafter(cut, 0.0)), about=about)

    def line(self, name: str | None) -> "pd.Series":
        """Return measures of a decision on the test rows, at least :data:`SETS`; None: of ``predict``, as it is.

        They are those with all labels.
        """
        name = name and without_labels(name)
        if name is not None and not is_decision(name):
            raise ValueError(f"there is no decision {name!r:.60}: such are {', '.join(MEASURES)}, cut 0.5, promise 0.8")
        if name is None or name in CHOICES:
            return self.measures.set_index("measure").loc[name or AS_IT_IS]
        if name.startswith(CUT):
            return self.cuts.iloc[int((self.cuts["cut"] - float(name.removeprefix(CUT))).abs().argmin())]
        level = float(name.removeprefix(PROMISE))
        if not self.promised(level):
            raise ValueError(f"no threshold can promise a recall of {level:g} on the {self.n_held_out:,} held-out rows")
        return self.cuts.iloc[len(self.cuts) - self.promised(level)]

    def promised(self, level: float) -> int:
        """Return how many thresholds, from the lowest on, keep a promised recall: see decisions.promise."""
        losses = 1 - self.cuts[HELD_OUT + FOUND].to_numpy()[::-1]
        return kept_cuts(losses, self.n_held_out, level, RISK) if level < 1 else 0


@register
class Decide(Task):
    """Learn decisions for the model of a kept run. Inputs: ``run``."""

    kind, folder, result, needs, version = "decide", "decisions", Decisions, ("run",), 4
    doing = "Learning decisions for a model of {dataset}"

    PARAMETERS = (VALIDATION, SEED)

    def work(self):
        run = load("train", self.inputs["run"])
        n_rows = round((1 - self.params["validation"]) * self.sizes["n_train"])
        return training(self, run.model, full_params(run.model, run.params | run.chosen), n_rows=n_rows)

    def run(self, progress=silent, files=None):
        run, model = kept_run_and_model(self.inputs["run"], progress)
        data = self.dataset(progress)
        parts = without_held_out(data, self.params["validation"], self.params["seed"])
        own = estimator(run.model, run.params | run.chosen)
        own.fit(parts.X_train, parts.Y_train, progress=part_of(progress, 0.0, 0.6, phase="Training without some rows"))
        own = getattr(own, "model_", own)
        progress("Learning decisions", 0.6)
        inv_ps = data.inverse_propensity()
        held = held_out(own, parts.X_test, parts.Y_test, CANDIDATES)
        calibration = calibration_of(held)
        test = held_out(model, data.X_test, data.Y_test, CANDIDATES)
        P = test.probabilities(calibration)
        rules, lines = {}, []
        for at, (name, choice) in enumerate(CHOICES.items()):
            progress("Learning decisions", 0.6 + 0.3 * at / len(CHOICES), name)
            goal = read_goal(choice.measure)
            weights = inv_ps if "PSP" in goal.parts else None
            rule = learnt(held, calibration, goal, weights, choice.at_most)
            rules[name] = list(replace(rule, about=rule.about | {"measure": name}).state())
            marks = {"plain": plain_marks(goal, test), "decided": rule.take(P)}
            values = {way: value_of(goal, test, taken, weights) for way, taken in marks.items()}
            lines.append({"measure": name} | values | measures_of_sets(test.Y, test.marked(marks["decided"])))
        progress("Measuring decisions", 0.9)
        lines.append({"measure": AS_IT_IS} | measures_of_sets(test.Y, model.predict(data.X_test)))
        table = cuts_of(test, P.data)
        even = np.searchsorted(table["micro R"], np.linspace(0, table["micro R"].iloc[-1], MOST_CUTS))
        table = table.iloc[np.unique(even.clip(max=len(table) - 1))].copy()
        p = held.probabilities(calibration).data
        of_held, tried = cuts_of(held, p), table["cut"].to_numpy()
        at = np.searchsorted(-of_held["cut"], -tried, side="right") - 1  # -1: nothing is predicted
        for of in OF_CUT[:3]:
            table[HELD_OUT + of] = np.append(of_held[of], 1.0 if of == "micro P" else 0.0)[at]
        table["macro F1"] = _macro_f1(test, P.data, tried)
        for begin, found, of_found in (("", test, P.data), (HELD_OUT, held, p)):
            losses, _, empty = (part[::-1] for part in losses_at(found, of_found, tried[::-1], "recall"))
            table[begin + FOUND], table[begin + EMPTY] = (1 - losses).clip(0, 1), empty.clip(0, 1)
        return Decisions(
            run.model, parts.n_test, table.reset_index(drop=True), pd.DataFrame(lines),
            decisions.abstention(model, data.X_test, data.Y_test), rules,
        )  # fmt: skip


def measures_of_sets(Y, sets) -> dict[str, float]:
    """Return :data:`SETS` of predicted labels; of a row without true labels all are found."""
    right, true = (np.asarray(part.sum(axis=1), np.float64) for part in (sets.multiply(Y), Y))
    return of_sets(Y, sets) | {FOUND: float(share(right, true, 1.0).mean())}


def _macro_f1(held, p, cuts) -> list[float]:
    """Return the macro F1 at each threshold; ``cuts`` has them in descending order."""
    order, L = np.argsort(-p, kind="stable"), held.Y.shape[1]
    labels, right = held.scores.indices[order], held.right[order]
    true = np.bincount(held.Y.indices, minlength=L)
    hits, predicted, values = np.zeros(L), np.zeros(L), []
    ends = np.searchsorted(-p[order], -cuts, side="right")
    for first, end in itertools.pairwise([0, *ends.tolist()]):
        hits += np.bincount(labels[first:end], right[first:end], L)
        predicted += np.bincount(labels[first:end], minlength=L)
        values.append(float(share(2 * hits, predicted + true)[true > 0].mean()))
    return values


def deciding(model: Ranker, run_key: str, name: str | None, progress: Progress = silent) -> Ranker:
    """Return a copy of the model of a kept run that predicts by a decision; without one, the model as it is."""
    if name is None:
        return model
    decisions = task("decide", {"run": run_key})
    keep(decisions, progress)
    return replace(decisions.load().rule(name), model=copy.copy(model)).keep()
