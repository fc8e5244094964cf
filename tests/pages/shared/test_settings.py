"""Settings in words, and which values are allowed."""

import pytest

from pages.shared import settings
from xmlcore import experiment


@pytest.mark.parametrize(
    ("model", "message", "said"),
    [
        (
            "LdSM",
            "class integrity counts for too much: n_attempts=5 tries again, or make integrity_weight smaller",
            "class integrity counts for too much: “Attempts at a split” = 5 tries again, or make “Weight of class "
            "integrity, λ1” smaller",
        ),
        (
            "OneVsRest",
            "stopped at max_iter=20 before tol=0.1: raise max_iter, or tol when precision does not change",
            "stopped at “Max Newton steps” = 20 before “Tolerance” = 0.1: raise “Max Newton steps”, or “Tolerance” "
            "when precision does not change",
        ),
        (
            "DoubleSampling",
            "adversaries='candidates' needs n_candidates of at least 2",
            "“Adversarial labels from” = other candidates needs “Candidates, q” of at least 2",
        ),
        ("FALS", "binary=True is for n_layers=2", "“A network for each label (FALSb)” = on is for “Layers” = 2"),
        ("PLT", "fewer threads (n_jobs), another loss of C's", "fewer threads (n_jobs), another loss of C's"),
        (None, "max_iter=20", "max_iter=20"),
    ],
)
def test_messages_call_parameters_as_the_form_does(model, message, said):
    assert settings.in_form(model, message) == said


def test_settings_are_said_where_they_differ():
    defaults = experiment.full_params("PLT")
    assert settings.changed("PLT", defaults) == ""
    assert settings.changed("PLT", {**defaults, "arity": 4, "n_estimators": 3}) == "Arity: 4, Trees: 3"


@pytest.mark.parametrize("value", [0, -1, 101, None, 1e99])
def test_numbers_out_of_bounds_are_named_with_what_is_allowed(value):
    trees = next(p for p in experiment.MODELS["PLT"].parameters if p.name == "n_estimators")
    said = settings.problem(trees, value)
    assert said.startswith("Trees:") and "1 to 100" in said
    assert settings.problem(trees, 1) is None


def test_an_empty_field_is_fine_where_it_means_something():
    beam = next(p for p in experiment.MODELS["PLT"].parameters if p.name == "beam")
    assert settings.problem(beam, None) is None


def test_warnings_end_with_one_full_stop():
    assert settings.sentence("PLT", "It is late") == settings.sentence("PLT", "It is late.") == "It is late."
    assert settings.sentence("LdSM", "Is n_estimators=3 enough?") == "Is “Trees” = 3 enough?"


def test_what_differs_from_the_defaults_is_said_in_a_few_words():
    assert settings.short_changed("OneVsRest", {"loss": "logistic", "C": 3.0}) == "C 3"
    assert settings.short_changed("OneVsRest", {"C": "auto"}) == ""
    assert settings.short_changed("OneVsRest", {"noise_sigma": 0.1, "noise_ratio": 5}) == (
        "Noise in training σ 0.1, Noise in training copies per row 5"
    )
    assert settings.short_changed("of another version", {"trees": 1, "C": 0.5}) == "trees 1, C 0.5"
