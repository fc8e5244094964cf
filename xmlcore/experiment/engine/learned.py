"""How much longer trainings and selections take than estimated: learned from each, used for the next estimate.

What is kept is one factor for each model on each data set and machine, with and without noise: the measured time of
trainings as a multiple of their estimates. Selections of features have one for each setting but the seed. It is a
weighted geometric mean: a training weighs as much as it took seconds, half as much once another has followed, and the
estimate as it is weighs :data:`PRIOR` seconds. So a short training, whose time is mostly that of reading and loading,
hardly changes the factor, and a long one nearly decides.
"""

import contextlib
import math

from xmlcore import store
from xmlcore.artifact_keys import artifact_key
from xmlcore.experiment.catalog import SELECTORS
from xmlcore.experiment.engine import estimates
from xmlcore.experiment.engine.task import Estimate

FOLDER = "times"
VERSION = 2  # of what is kept, part of its key
PRIOR = 2.0  # seconds; the weight of the estimate that nothing was learned for


def train(dataset, model: str, params: dict) -> Estimate:
    """Estimate a training as :func:`xmlcore.experiment.engine.estimates.train` does, corrected by earlier ones.

    Until there was a training with noise, those without noise correct its estimate.
    """
    made = estimates.train(dataset, model, params)
    kept = _kept(_key(dataset, model, params)) or _kept(_key(dataset, model, {**params, "noise_sigma": 0}))
    if kept is None:
        return made
    factor, _ = kept
    return Estimate(estimates.START + factor * (made.seconds - estimates.START), made.bytes)


def keep(dataset, model: str, params: dict, seconds: float) -> None:
    """Keep how much longer than estimated a training took."""
    work = estimates.train(dataset, model, params).seconds - estimates.START
    _keep(_key(dataset, model, params), work, seconds)


def selection_plan(dataset, method: str, params: dict | None = None) -> dict:
    """Estimate a selection as :func:`estimates.selection_plan` does, corrected by earlier ones."""
    plan = estimates.selection_plan(dataset, method, params)
    kept = _kept(_selection_key(dataset, method, params))
    return plan if kept is None else plan | {"seconds": kept[0] * plan["seconds"]}


def selection(dataset, method: str, params: dict, times: int = 1) -> Estimate:
    """Estimate selections as :func:`xmlcore.experiment.engine.estimates.selection` does, corrected by earlier ones."""
    return estimates.selection(dataset, selection_plan(dataset, method, params), times)


def keep_selection(dataset, method: str, params: dict, seconds: float) -> None:
    """Keep how much longer than estimated a selection took."""
    work = estimates.selection_plan(dataset, method, params)["seconds"]
    _keep(_selection_key(dataset, method, params), work, seconds)


def _keep(key, work, seconds):
    """Keep that what was estimated to take ``work`` seconds took ``seconds``."""
    if seconds <= 0 or work <= 0:
        return
    before, weight = _kept(key) or (1.0, PRIOR)
    weight = max(weight / 2, PRIOR)
    mean = (weight * math.log(before) + seconds * math.log(seconds / work)) / (weight + seconds)
    fields = {"factor": math.exp(mean), "weight": weight + seconds}
    with contextlib.suppress(OSError), store.writing(FOLDER, key, replace=True, **fields):
        pass  # the record has all there is


def _kept(key) -> tuple[float, float] | None:
    """Return the factor that was kept and its weight in seconds; None if there is none, or its file is damaged."""
    try:
        info = store.info(FOLDER, key)
        factor, weight = float(info["factor"]), float(info["weight"])
    except (KeyError, OSError, TypeError, ValueError):  # none was kept (a StoreError), or the file is damaged
        return None
    return (factor, weight) if 0 < factor < math.inf and 0 < weight < math.inf else None


def _key(dataset, model, params) -> str:
    """Return the key of what is kept of a model on a data set and this machine."""
    what = {"model": model, "noise": params.get("noise_sigma", 0) > 0, **estimates.machine()}
    return artifact_key(FOLDER, {"dataset": dataset.fingerprint}, what, VERSION)


def _selection_key(dataset, method, params) -> str:
    """Return the key of what is kept of a selection on a data set and this machine, the same for all seeds."""
    settings = SELECTORS[method].filled(method, params)
    settings.pop("random_state", None)
    what = {"method": method, "settings": settings, **estimates.machine()}
    return artifact_key(FOLDER, {"dataset": dataset.fingerprint}, what, VERSION)
