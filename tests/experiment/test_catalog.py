"""The catalog describes what can be run: its classes, its defaults, and what its parameters accept."""

import pytest

from xmlcore.experiment import MODELS, SELECTORS
from xmlcore.experiment.catalog import NOISE

EVERY = MODELS | SELECTORS
every_entry = pytest.mark.parametrize("name", EVERY)


@every_entry
def test_an_entry_leads_to_its_class_and_is_described_for_users(name):
    entry = EVERY[name]
    about = entry.cls.ABOUT
    assert about.title and about.paper and about.summary.endswith(".")
    names = [parameter.name for parameter in entry.parameters]
    assert len(set(names)) == len(names)


@every_entry
def test_defaults_are_filled_in_and_make_the_estimator(name):
    entry = EVERY[name]
    noise = {parameter.name for parameter in NOISE}
    filled = entry.filled(name, None)
    assert filled == entry.filled(name, {}) == entry.defaults
    own = {parameter: value for parameter, value in filled.items() if parameter not in noise}
    made = entry.cls(**own)
    assert made.get_params(deep=False) == entry.cls().get_params(deep=False), "a form begins with other defaults"
    first = entry.parameters[0]
    assert entry.filled(name, {first.name: first.default}) == filled


@every_entry
def test_refused_parameters_are_named(name):
    entry = EVERY[name]
    with pytest.raises(ValueError, match=f"{name} has no parameter depth, wide: it has .*{entry.parameters[0].name}"):
        entry.filled(name, {"wide": 1, "depth": 2})
    for parameter in entry.parameters:
        with pytest.raises((TypeError, ValueError), match=rf"\b{parameter.name}\b|sigma|augment_ratio"):
            entry.filled(name, {parameter.name: object()})
