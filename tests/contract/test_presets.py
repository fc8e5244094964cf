"""Settings by name: the recommended ones are the defaults, and published ones stay what they are."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone

from tests.contract.estimators import CASES, every_class, problem
from xmlcore.parameters import RECOMMENDED, check_parameters

SMALL = {"n_estimators": 2, "max_nodes": 15, "n_epochs": 2, "max_leaf_labels": 2}  # so that fits are quick
WITHOUT_EFFECT = {"random_state", "n_jobs", "negative", "max_score_bytes", "keep_network"}  # on the method itself
NOISE = {"sigma", "augment_ratio", "noise_support"}  # of ExtendedPLT
CLASSES = dict.fromkeys(case.cls for case in CASES)
every_preset = pytest.mark.parametrize(
    ("cls", "name"), [(cls, name) for cls in CLASSES for name in cls.PRESETS], ids=lambda x: getattr(x, "__name__", x)
)


@every_class
def test_recommended_settings_are_defaults_others_are_refused(cls):
    assert repr(cls.preset(RECOMMENDED)) == repr(cls()) and list(cls.presets()) == [RECOMMENDED, *cls.PRESETS]
    table = {parameter.name: parameter.default for parameter in cls.PARAMETERS}
    assert cls.presets()[RECOMMENDED].items() <= table.items()

    with pytest.raises(ValueError, match=f"{cls.__name__} has no settings named 'none such': it has recommended"):
        cls.preset("none such")


@every_preset
def test_a_preset_names_every_parameter_that_matters(cls, name):
    values = cls.PRESETS[name].values
    assert values.keys() - NOISE == {p.name for p in cls.PARAMETERS} - WITHOUT_EFFECT - NOISE
    assert cls.PRESETS[name].title and cls.PRESETS[name].source.endswith(".")


@every_preset
def test_a_preset_is_valid_and_can_be_cloned_and_changed(cls, name):
    values = cls.PRESETS[name].values
    model = cls.preset(name)
    check_parameters(model, cls.PARAMETERS)
    assert {parameter: model.get_params()[parameter] for parameter in values} == values == cls.presets()[name]
    assert repr(clone(model)) == repr(model)
    first = next(iter(inspect.signature(cls).parameters))
    assert cls.preset(name, random_state=7).random_state == 7 and first in cls.preset(name).get_params()
    cls.presets()[name].clear()
    assert cls.preset(name).get_params() == model.get_params(), "what presets() returns is a copy"
    with pytest.raises(TypeError, match="no_such_argument"):
        cls.preset(name, no_such_argument=1).fit(*problem())
    X, Y = problem()
    small = {parameter: value for parameter, value in SMALL.items() if parameter in cls.PRESETS[name].values}
    model = cls.preset(name, **small).fit(X, Y)
    assert np.isfinite(model.predict_topk(X, k=2).scores).all()
