"""How much longer trainings take than estimated: learned from each training, used for the next estimate.

What is kept is one factor for each model on each data set and machine, with and without noise in training: the measured
time of the last training, as a multiple of its estimate.
"""

import contextlib
import math

from xmlcore import store
from xmlcore.artifact_keys import artifact_key
from xmlcore.experiment import estimates
from xmlcore.experiment.task import Estimate

FOLDER = "times"
VERSION = 1  # of what is kept, part of its key
LEAST = 0.5  # seconds; what a shorter training takes beside its own work would change the factor too much


def train(dataset, model: str, params: dict) -> Estimate:
    """Estimate a training as :func:`xmlcore.experiment.estimates.train` does, corrected by the last one that was kept.

    Parameters
    ----------
    dataset : Dataset
    model : str
        A key of :data:`xmlcore.experiment.MODELS`.
    params : dict
        All parameters of the model.

    Returns
    -------
    Estimate
    """
    made = estimates.train(dataset, model, params)
    try:
        factor = float(store.info(FOLDER, _key(dataset, model, params))["factor"])
    except (KeyError, OSError, TypeError, ValueError):  # none was kept (a StoreError), or the file is damaged
        return made
    if not 0 < factor < math.inf:
        return made
    return Estimate(estimates.START + factor * (made.seconds - estimates.START), made.bytes)


def keep(dataset, model: str, params: dict, seconds: float) -> None:
    """Keep how much longer than estimated a training took.

    Parameters
    ----------
    dataset, model, params
        As for :func:`train`.
    seconds : float
        Time of the training and of its measurement on the test rows.
    """
    work = estimates.train(dataset, model, params).seconds - estimates.START
    if seconds < LEAST or work <= 0:
        return
    key = _key(dataset, model, params)
    with contextlib.suppress(OSError), store.writing(FOLDER, key, replace=True, factor=seconds / work):
        pass  # the record has all there is


def _key(dataset, model, params) -> str:
    """Return the key of what is kept of a model on a data set and this machine."""
    what = {"model": model, "noise": params.get("noise_sigma", 0) > 0, **estimates.machine()}
    return artifact_key(FOLDER, {"dataset": dataset.fingerprint}, what, VERSION)
