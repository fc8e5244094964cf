"""Experiments: tasks of several kinds, whose results are kept, and the same work as plain functions for notebooks.

>>> from xmlcore import experiment
>>> run = experiment.run(dataset, "PLT", {"n_estimators": 3})                        # doctest: +SKIP
>>> task = experiment.task("train", {"dataset": dataset.fingerprint}, {"model": "PLT"})    # doctest: +SKIP
>>> experiment.keep(task), task.load().measures                                      # doctest: +SKIP

A kind of task is a file of this package; :mod:`xmlcore.experiment.engine.task` says how to add one.
"""

from xmlcore.experiment.catalog import GIVEN, MODELS, SELECTORS
from xmlcore.experiment.engine.leftovers import forget_sweep, needed_by_sweeps, remove_leftovers
from xmlcore.experiment.engine.submitting import submit
from xmlcore.experiment.engine.sweep_drive import Driver, sweep
from xmlcore.experiment.engine.sweep_trials import held_out, without_held_out
from xmlcore.experiment.engine.sweeps import Sweep
from xmlcore.experiment.engine.task import KINDS, DamagedResultWarning, Estimate, Task, from_record, keep, load, task
from xmlcore.experiment.kept_runs import DECIDED, MORE_MEASURES, half_width, parameters, runs, seeds_grouped
from xmlcore.experiment.kinds import description, explanations, export, review, robustness  # noqa: F401  which registers them
from xmlcore.experiment.kinds.compare_selections import compare_selections, comparison_titles, selection_stability
from xmlcore.experiment.kinds.external_predictions import add_predictions
from xmlcore.experiment.kinds.learning_curves import LearningCurve, learning_curve
from xmlcore.experiment.kinds.measures import (
    Measured,
    label_tree_model,
    measure_ranking,
    prefix_measures,
    prefix_points,
)
from xmlcore.experiment.kinds.packed_files import pack_fitted, pack_run
from xmlcore.experiment.kinds.predictions import with_names
from xmlcore.experiment.kinds.prepare import scaled
from xmlcore.experiment.kinds.reduced import PerLabelOneVsRest, fitting_depth, union_of_features
from xmlcore.experiment.kinds.sampling import candidate_bytes, most_adversaries, sampling_study
from xmlcore.experiment.kinds.select import (
    Selection,
    select,
    selection_params,
    selection_plan,
    selection_title,
    selector,
)
from xmlcore.experiment.kinds.train import (
    Evaluation,
    Run,
    changed_params,
    estimator,
    evaluate,
    full_params,
    load_run_model,
    run,
)
from xmlcore.experiment.main_effects import main_effects
from xmlcore.experiment.sharing.bundles import BundleError, Rerun, bundle, rerun
from xmlcore.experiment.sharing.latex import latex_table
from xmlcore.experiment.sharing.report import best_of_models, report
from xmlcore.experiment.sharing.run_code import code_of
from xmlcore.experiment.side_by_side import model_style, model_title
from xmlcore.experiment.warm_up import warm_up

__all__ = [
    "DECIDED", "GIVEN", "KINDS", "MODELS", "MORE_MEASURES", "SELECTORS", "BundleError", "DamagedResultWarning",
    "Driver", "Estimate", "Evaluation", "LearningCurve", "Measured", "PerLabelOneVsRest", "Rerun", "Run",
    "Selection", "Sweep", "Task", "add_predictions", "best_of_models", "bundle", "candidate_bytes",
    "changed_params", "code_of", "compare_selections", "comparison_titles", "estimator", "evaluate",
    "fitting_depth", "forget_sweep", "from_record", "full_params", "half_width", "held_out",
    "keep", "label_tree_model", "latex_table", "learning_curve", "load", "load_run_model",
    "main_effects", "measure_ranking", "model_style", "model_title", "most_adversaries", "needed_by_sweeps",
    "pack_fitted", "pack_run", "parameters", "prefix_measures", "prefix_points", "remove_leftovers", "report",
    "rerun", "run", "runs", "sampling_study", "scaled", "seeds_grouped", "select", "selection_params",
    "selection_plan", "selection_stability", "selection_title", "selector", "submit", "sweep", "task",
    "union_of_features", "warm_up", "with_names", "without_held_out",
]  # fmt: skip
