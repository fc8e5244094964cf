"""Twins: two runs with the same model and parameters, of which one was trained with noise and one without.

A run is given here as a record: a dict with ``model`` (a key of :data:`xmlcore.experiment.MODELS`) and ``params`` (all
parameters of the run).
"""

from xmlcore.experiment.catalog import NOISE


def trained_with_noise(record: dict) -> bool:
    """Return whether noisy copies were added to the training rows of a run; False if its noise is no number."""
    sigma = record["params"].get("noise_sigma", 0)
    return isinstance(sigma, (int, float)) and sigma > 0


def params_without_noise(record: dict) -> dict:
    """Return the parameters of a run with the noise parameters set to their defaults, which means no noise."""
    return record["params"] | {parameter.name: parameter.default for parameter in NOISE}


def twins(records: list[dict]) -> list[tuple[dict, dict]]:
    """Return all pairs of a run trained without noise and its twin trained with noise, in the order of the records."""
    return [
        (plain, noisy)
        for plain in records
        if not trained_with_noise(plain)
        for noisy in records
        if trained_with_noise(noisy)
        and noisy["model"] == plain["model"]
        and params_without_noise(noisy) == plain["params"]
    ]
