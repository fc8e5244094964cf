"""One run: data set x model x parameters -> results, measured the same way everywhere; and what more is asked of it."""

from xmlcore.experiment._explanations import Explanations, explanations_key, explanations_saved, load_explanations
from xmlcore.experiment._prefixes import (
    load_prefixes,
    prefix_measures,
    prefix_points,
    prefix_seconds,
    prefixes_key,
    prefixes_saved,
)
from xmlcore.experiment._robustness import Robustness, load_robustness, robustness_key, robustness_saved
from xmlcore.experiment._runs import (
    Run,
    estimator,
    evaluate,
    full_params,
    load_run,
    load_run_model,
    run,
    run_key,
    run_saved,
)
from xmlcore.experiment._sampling import (
    Sampling,
    load_sampling,
    sampling_key,
    sampling_saved,
    sampling_study,
)
from xmlcore.parameters import MODELS, ModelInfo, Parameter

__all__ = [
    "MODELS",
    "Explanations",
    "ModelInfo",
    "Parameter",
    "Robustness",
    "Run",
    "Sampling",
    "estimator",
    "evaluate",
    "explanations_key",
    "explanations_saved",
    "full_params",
    "load_explanations",
    "load_prefixes",
    "load_robustness",
    "load_run",
    "load_run_model",
    "load_sampling",
    "prefix_measures",
    "prefix_points",
    "prefix_seconds",
    "prefixes_key",
    "prefixes_saved",
    "robustness_key",
    "robustness_saved",
    "run",
    "run_key",
    "run_saved",
    "sampling_key",
    "sampling_saved",
    "sampling_study",
]
