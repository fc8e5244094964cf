"""Names and colours of runs."""

from pages.shared.results import run_names
from xmlcore import experiment


def record(key, model="PLT", **params):
    return {"key": key, "model": model, "params": experiment.full_params(model, params)}


def test_runs_are_named_by_what_tells_them_apart():
    plain, noisy = record("a"), record("b", noise_sigma=0.05)
    assert run_names.names([plain]) == {"a": "PLT"}
    assert run_names.names([plain, noisy]) == {"a": "PLT", "b": "PLT trained with noise σ = 0.05"}
    more = record("c", noise_sigma=0.1)
    assert run_names.names([noisy, more])["c"] == "PLT trained with noise σ = 0.1"
    other = record("d", C=1.0)
    assert run_names.names([plain, other, record("f", "LdSM")]) == {
        "a": "PLT (C automatic)",
        "d": "PLT (C 1)",
        "f": "LdSM",
    }
    sparse = record("e", noise_sigma=0.05, noise_support="nonzero")
    assert run_names.names([noisy, sparse])["e"].endswith("(Noise in training on present features only)")
    assert len(set(run_names.names([plain, noisy, more, other, sparse]).values())) == 5


def test_runs_of_the_same_name_are_told_apart_by_their_keys():
    mine, other = {**record("abcdef"), "name": "mine"}, {**record("bcdefg"), "name": "mine"}
    assert run_names.names([mine, other]) == {"abcdef": "mine [abcd]", "bcdefg": "mine [bcde]"}
    assert run_names.names([{**mine, "name": "PLT"}, record("c")]) == {"abcdef": "PLT [abcd]", "c": "PLT [c]"}


def test_a_plt_trained_with_noise_has_the_colour_of_the_extended_plt():
    assert run_names.style_model(record("b", noise_sigma=0.05)) == "ExtendedPLT"
    assert run_names.style_model(record("b", "LdSM", noise_sigma=0.05)) == "LdSM"


def test_a_selection_of_another_version_of_the_program_has_a_name():
    mine = {"key": "a", "method": "FALS", "params": {"gone": 3}}
    assert run_names.selection_title(mine) == "FALS (gone 3)"
    assert run_names.selection_title({**mine, "method": "Old"}) == "Old (gone 3)"
