"""Runs trained without noise, and their twins trained with noise."""

from xmlcore import experiment
from xmlcore.experiment import twins


def record(key, model="PLT", **params):
    return {"key": key, "model": model, "params": experiment.full_params(model, params)}


def test_twins_differ_by_the_noise_alone():
    plain, twin = record("a", C=1.0), record("b", C=1.0, noise_sigma=0.05, noise_support="nonzero")
    assert twins.twins([plain, twin, record("c"), record("d", "LdSM")]) == [(plain, twin)]
