"""Steps of all trainings: an estimator from parameters, its kernels, and measuring time and memory."""

import contextlib
import time
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xmlcore.experiment.catalog import MODELS, NOISE_NAMES
from xmlcore.jobs.memory import Usage
from xmlcore.models.base import warm_up
from xmlcore.models.plt.warming import unneeded
from xmlcore.robustness import AdversarialTraining
from xmlcore.validation import check_known

if TYPE_CHECKING:
    from xmlcore.models.base import MultiLabelModel


def full_params(model: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the parameters of a run with the defaults filled in."""
    return check_known(MODELS, model, "model").filled(model, params)


def estimator(model: str, params: dict[str, Any] | None = None) -> "MultiLabelModel":
    """Make the estimator of a run, not fitted."""
    params = check_known(MODELS, model, "model").defaults | (params or {})  # fit checks them
    noise = {passed: params.pop(name) for name, passed in NOISE_NAMES.items()}
    if params.get("members"):
        params["members"] = [estimator(one["model"], one["params"]) for one in params["members"]]
    made = MODELS[model].cls(**params)
    if noise["sigma"] == 0:
        return made

    return AdversarialTraining(made, **noise, random_state=params.get("random_state", 0))


def compile_kernels(unfitted, X=None) -> float:
    """Compile the kernels that an estimator uses for rows, or load them; return the seconds that this took."""
    start = time.perf_counter()
    warm_up(getattr(unfitted, "model", unfitted), () if X is None else unneeded(X))
    return time.perf_counter() - start


@dataclass
class WatchedTraining:
    """Time and memory of a training, filled in by :func:`watched`."""

    seconds: float = 0.0
    compile_s: float = 0.0  # time of compiling kernels, which is not part of the seconds
    # "peak_bytes", the most memory of the process meanwhile, and "before_bytes"; empty where the system does not tell
    memory: dict = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    cpu_seconds: float = 0.0  # of the processors for this process, which other programs hardly change


@contextlib.contextmanager
def watched(compile_s: float = 0.0):
    """Measure time and memory of a ``with`` block, and collect its warnings."""
    watch, usage = WatchedTraining(compile_s=compile_s), Usage()
    start, worked = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True, action="always") as caught:
        yield watch
    watch.seconds, watch.cpu_seconds = time.perf_counter() - start, time.process_time() - worked
    _, peak = usage.now()
    if peak is not None:
        watch.memory = {"peak_bytes": peak, "before_bytes": usage.at_start}
    watch.warnings = [str(warning.message) for warning in caught]


def grown(memory: dict, unknown: float = 0) -> float:
    """Return by how many bytes the process grew at most while it was :func:`watched`."""
    known = {"peak_bytes", "before_bytes"} <= memory.keys()
    return memory["peak_bytes"] - memory["before_bytes"] if known else unknown
