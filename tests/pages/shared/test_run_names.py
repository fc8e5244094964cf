"""Names and colours of runs."""

from pages.shared import run_names
from xmlcore import experiment


def record(key, model="PLT", **params):
    return {"key": key, "model": model, "params": experiment.full_params(model, params)}


def test_runs_are_named_as_short_as_tells_them_apart():
    plain, noisy = record("a"), record("b", noise_sigma=0.05)
    assert run_names.names([plain]) == {"a": "PLT"}
    assert run_names.names([plain, noisy]) == {"a": "PLT", "b": "PLT trained with noise"}
    more = record("c", noise_sigma=0.1)
    assert run_names.names([noisy, more])["c"] == "PLT trained with noise σ = 0.1"
    other = record("d", C=1.0)
    assert run_names.names([plain, other]) == {"a": "PLT (default settings)", "d": "PLT (C, weight of the loss: 1)"}
    sparse = record("e", noise_sigma=0.05, noise_support="nonzero")
    assert run_names.names([noisy, sparse])["e"].endswith("(Noise in training, on: present features only)")
    assert len(set(run_names.names([plain, noisy, more, other, sparse]).values())) == 5


def test_a_plt_trained_with_noise_has_the_colour_of_the_extended_plt():
    assert run_names.style_model(record("b", noise_sigma=0.05)) == "ExtendedPLT"
    assert run_names.style_model(record("b", "LdSM", noise_sigma=0.05)) == "LdSM"
