"""Measures of kept runs on test rows that are changed by noise or attacks."""

import time
from dataclasses import dataclass

import numpy as np

from xmlcore import robustness
from xmlcore.experiment.catalog import MODELS, N_ROWS, SEED
from xmlcore.experiment.engine.task import Task, keep, register, task
from xmlcore.experiment.engine.times import Work
from xmlcore.experiment.kinds.train import kept_run_and_model, sampled_rows
from xmlcore.models.plt.scaling import UNIT, read_as
from xmlcore.models.plt.shapes import trees_asked_for
from xmlcore.parameters import AUTO, REQUIRED, Parameter
from xmlcore.progress import part_of, silent
from xmlcore.robustness.attacks import BLOCK_VALUES
from xmlcore.robustness.perturbations import (
    ATTACKS,
    CERTIFICATE,
    GRADIENT,
    KINDS,
    REFERENCE,
    check_options,
    option_defaults,
)
from xmlcore.system import effective_jobs
from xmlcore.typing import DataFrame

# The model whose gradient attacks follow where the model of the run has none. With the squared hinge the gradient would
# be 0 for every label that the model is sure of.
SURROGATE_PARAMS = {"arity": 2, "max_leaf_labels": 100, "loss": "logistic", "C": 10.0}
ATTACK_BYTES, NOISE_BYTES = 160, 16  # memory per value of a block: of an attack, and of noise on all features
CERTIFYING = 20  # how many times a row is predicted that is certified
SURROGATE = "a binary PLT with logistic loss, trained on the same rows"


@dataclass(frozen=True)
class Robustness:
    """The measures of a kept run's model under noise or an attack."""

    run_key: str
    kind: str  # kind of noise or attack: a key of :data:`xmlcore.robustness.perturbations.KINDS`
    levels: list[float]  # standard deviations, rates or budgets, as :func:`xmlcore.robustness.perturbation` takes them
    options: dict  # further arguments of the perturbation
    # n_repeats, seed: number of times that noise was drawn at each level, and the seed of the first draw
    n_repeats: int
    seed: int
    # n_rows, n_test: number of test rows that were measured, and number of all test rows
    n_rows: int
    n_test: int
    frame: "DataFrame"
    surrogate: str | None = None  # the model that an attack was computed on, if this was not the model of the run
    seconds: float = 0.0
    # whether the attack was to be computed on another model even if the model of the run has a gradient
    transferred: bool = False
    # how often the first label of each row was right: ``counts`` of :class:`xmlcore.robustness.FirstRight`
    first_right: np.ndarray | None = None
    time_each_k: bool = False


@register
class MeasureRobustness(Task):
    """Measure a kept run's model under noise or an attack. Inputs: ``run``."""

    kind, folder, result, needs, version = "robustness", "robustness", Robustness, ("run",), 4

    PARAMETERS = (
        Parameter("kind", "Kind", "Of noise or attack.", "choice", REQUIRED, options=tuple(KINDS)),
        Parameter("levels", "Levels", "Standard deviations, rates or budgets.", "floats", REQUIRED),
        Parameter("options", "Options", "Of the noise or attack.", "dict", None, optional=True),
        Parameter("n_repeats", "Draws", "Times that noise is drawn at each level.", "int", 3, minimum=1),
        SEED,
        N_ROWS,
        Parameter("transferred", "Transferred", "Attack another model than that of the run.", "bool", False),
        Parameter("time_each_k", "Times of each k", "Predict once more for k = 1 and 3, to time it.", "bool", False),
    )

    def complete(self, params):
        if params["transferred"] and not KINDS[params["kind"]].is_attack:
            raise ValueError(f"only attacks can be transferred: {', '.join(ATTACKS)}; not {params['kind']!r:.200}")
        if fault := next(filter(None, map(KINDS[params["kind"]].fault, params["levels"])), ""):
            raise ValueError(fault)
        if not params["time_each_k"]:  # as in results that were kept before it was there
            del params["time_each_k"]
        return params | {"options": _stated(params["kind"], params["options"] or {})}

    def title_on(self, dataset):
        return f"Measuring {KINDS[self.params['kind']].text} on {dataset}"

    def work(self):
        p, sizes, kind = self.params, self.sizes, KINDS[self.params["kind"]]
        n_rows, fills = min(p["n_rows"] or sizes["n_test"], sizes["n_test"]), kind.fills(p["options"])
        of_row = sizes["n_features"] if fills else sizes["test_values"] / max(sizes["n_test"], 1)
        n_times = len(p["levels"]) * p["n_repeats"] * (1 + 3 * kind.steps)
        values = n_rows * of_row * (CERTIFYING if kind.needs == CERTIFICATE else 1 + n_times)
        at_once = min(n_rows * sizes["n_features"], effective_jobs(None) * BLOCK_VALUES)  # rows are changed in blocks
        n_bytes = (ATTACK_BYTES if kind.steps else NOISE_BYTES if fills else 0) * at_once
        return Work(f"{self.kind} {p['kind']}", values, int(n_bytes), self.inputs | p["options"])

    def run(self, progress=silent, files=None):
        start, params = time.perf_counter(), self.params
        kind = KINDS[params["kind"]]
        run, model = kept_run_and_model(self.inputs["run"], progress)
        dataset = self.dataset()
        attacked, attacked_name = None, None
        own = hasattr(model, "log_proba_gradient") and not params["transferred"]
        if kind.is_attack and not own:
            attacked = surrogate(run.fingerprint, run.k)
            share = 0.0 if attacked.exists() else 0.3
            key, progress = keep(attacked, part_of(progress, 0.0, share)), part_of(progress, share, 1.0)
            _, attacked = kept_run_and_model(key, progress)
            attacked_name = SURROGATE
        rows = sampled_rows(dataset.n_test, params["n_rows"], params["seed"])
        labels = dataset.Y_test[rows]
        first_right = robustness.FirstRight(labels)
        frame = robustness.evaluate(
            model,
            dataset.X_test[rows],
            labels,
            sigmas=params["levels"],
            n_repeats=params["n_repeats"],
            random_state=params["seed"],
            perturbation=params["kind"],
            options=params["options"] | ({REFERENCE: dataset.X_train} if kind.needs == REFERENCE else {}),
            Y_train=dataset.Y_train,
            inv_ps=dataset.inverse_propensity(),
            surrogate=attacked,
            progress=progress,
            on_ranking=first_right,
            time_each_k=params.get("time_each_k", False),
        )
        return Robustness(
            run_key=self.inputs["run"],
            n_test=dataset.n_test,
            frame=frame,
            surrogate=attacked_name,
            seconds=time.perf_counter() - start,
            first_right=None if kind.needs == CERTIFICATE else first_right.counts,
            **params | {"n_rows": rows.size},
        )


def surrogate(fingerprint: str, k: int = 5) -> Task:
    """Return the task that trains the model on which transferred attacks are computed."""
    return task("train", {"dataset": fingerprint}, {"params": SURROGATE_PARAMS, "k": k})


def has_gradient(model: str) -> bool:
    """Return whether attacks can follow the gradient of a model of :data:`xmlcore.experiment.MODELS`."""
    return hasattr(MODELS[model].cls, "log_proba_gradient")


def has_needed(kind: str, record: dict) -> bool:
    """Return whether a kept run's model meets the needs of a kind of perturbation; ``record`` is its record."""
    needs = KINDS[kind].needs
    if needs == CERTIFICATE:
        params = record["params"]
        is_exact = trees_asked_for({"n_estimators": 0} | params) == 1 and params.get("beam") is None
        return record["model"] == "PLT" and is_exact and read_as(params.get("normalize", UNIT)) in (AUTO, UNIT)
    return needs != GRADIENT or has_gradient(record["model"])


def _stated(kind, options) -> dict:
    """Return the options of a perturbation so that equal perturbations have equal options."""
    check_options(kind, options)
    defaults, offered = option_defaults(kind), {option.name: option for option in KINDS[kind].options}
    asked, others = {}, {}
    for name, value in options.items():
        value = value.item() if isinstance(value, np.generic) else value
        value = bool(value) if isinstance(defaults[name], bool) and value in (0, 1) else value
        if name in offered:
            asked[name] = offered[name].check(value)
        elif type(value) is not type(defaults[name]) or value != defaults[name]:  # an array has no default
            others[name] = value
    if asked or others:
        KINDS[kind].cls(0.0, **asked, **others)  # which checks them, also together
    return {name: defaults[name] for name in defaults if name in offered} | asked | others
