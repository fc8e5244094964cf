"""Every parameter behaves as its table says: signature, check at every bound, docstring, form, get_params, clone."""

import inspect
import math

import numpy as np
import pytest
from contract.estimators import CASES, assert_same, each_once, every_case, every_class, problem, results
from sklearn.base import clone

from xmlcore import PLT, load_model
from xmlcore.experiment import MODELS, SELECTORS
from xmlcore.experiment.catalog import NOISE
from xmlcore.parameters import RECOMMENDED, check_parameters, seed_of
from xmlcore.robustness import AdversarialTraining

# Values that each kind of parameter refuses, and accepts, whatever its bounds are.
NO_NUMBERS = [True, np.True_, math.nan, math.inf, -math.inf, 1j, np.array([1, 2])]
REFUSED = {
    "int": [*NO_NUMBERS, 1.5, 2.0, "1"],
    "float": [*NO_NUMBERS, 10**400],
    "share": [*NO_NUMBERS, 0, -1, 0.0, 1.000001, -0.5],
    "choice": ["no such choice", 0, True],
    "bool": [0, 1, "True", "x"],
    "dict": ["x", [("a", 1)]],
    "estimator": [PLT, 3, "x"],
    "array": ["no array", [[-1]]],
}
ACCEPTED = {"share": [1e-9, 1.0, 1, 10**6, np.float32(0.5), np.int64(3)], "bool": [True, False, np.True_]}


def refused(parameter):
    """Values that the estimator must refuse, by the table."""
    values = [*REFUSED.get(parameter.kind, ["x"]), *parameter.refused, *([] if parameter.optional else [None])]
    values += [] if parameter.kind == "array" else [object(), [1], {1, 2}]
    values += [parameter.options[0].upper() + "!"] if parameter.kind == "choice" else []
    for bound, sign, is_out in ((parameter.minimum, -1, parameter.above_minimum),
                                (parameter.maximum, 1, parameter.below_maximum)):  # fmt: skip
        if bound is not None and parameter.kind in ("int", "float", "share"):
            step = 1 if parameter.kind == "int" else max(1e-12, abs(bound) * 1e-6)
            beyond = [bound + sign * step, *([bound] if is_out else [])]
            values += [value for value in beyond if value not in parameter.others]
    return values


def accepted(parameter):
    """Values that the estimator must accept, by the table, as far as this parameter alone decides."""
    values = [*parameter.options, *parameter.others, *(parameter.offered or ()), *ACCEPTED.get(parameter.kind, ())]
    values += [parameter.default] if parameter.default is not None else []
    values += [None] if parameter.optional else []
    if parameter.kind in ("int", "float"):
        bounds = (parameter.minimum, parameter.above_minimum), (parameter.maximum, parameter.below_maximum)
        values += [bound for bound, is_out in bounds if bound is not None and not is_out]
        numbers = [value for value in values if isinstance(value, int | float) and value not in parameter.others]
        values += [np.float64(n) if parameter.kind == "float" else np.int64(n) for n in numbers if abs(n) < 2**62]
    return values


@every_class
def test_defaults_of_the_signature_are_those_of_the_table(cls):
    table = {parameter.name: parameter.default for parameter in cls.PARAMETERS}
    assert len(table) == len(cls.PARAMETERS), "a parameter is described twice"
    estimator = cls()
    for name, default in table.items():
        assert getattr(estimator, name) is default or getattr(estimator, name) == default
    named = {name: p.default for name, p in inspect.signature(cls).parameters.items() if p.kind not in (p.VAR_KEYWORD,)}
    assert named.items() <= table.items() and estimator.get_params() == table
    if named.keys() != table.keys():
        assert any(p.kind == p.VAR_KEYWORD for p in inspect.signature(cls).parameters.values())


@every_class
def test_an_unknown_argument_is_a_type_error_at_once_or_at_fit(cls):
    with pytest.raises(TypeError, match="no_such_argument"):
        cls(no_such_argument=1).fit(*problem())
    name = cls.PARAMETERS[0].name
    for misspelt in (name.swapcase(), name + "s"):
        with pytest.raises(TypeError, match=rf"{misspelt}: .*\. Did you mean {name}\?$"):
            cls(**{misspelt: 1}).fit(*problem())


@every_class
def test_a_value_that_the_table_excludes_is_refused_and_named(cls):
    for parameter, value in ((one, value) for one in cls.PARAMETERS for value in refused(one)):
        estimator = next(case for case in CASES if case.cls is cls).make()
        estimator.set_params(**{parameter.name: value})
        with pytest.raises((TypeError, ValueError), match=rf"\b{parameter.name}\b"):
            estimator.fit(*problem())
        assert not hasattr(estimator, "n_features_in_"), f"{parameter.name}={value!r} was accepted"


@every_class
def test_values_that_the_table_includes_are_accepted(cls):
    estimator = cls()
    for parameter, value in ((one, value) for one in cls.PARAMETERS for value in accepted(one)):
        setattr(estimator, parameter.name, value)
        check_parameters(estimator, (parameter,))


@every_class
def test_docstrings_have_parameters_in_order_of_signature(cls):
    doc, table = inspect.getdoc(cls), {parameter.name: parameter for parameter in cls.PARAMETERS}
    entries = [line.lstrip(" *") for line in doc.splitlines() if " : " in line and ", default " in line]
    names = [entry.split(" : ")[0] for entry in entries]
    signature = [name for name in inspect.signature(cls).parameters if name in names]
    assert sorted(names) == sorted(table) and [name for name in names if name in signature] == signature
    for name, entry in zip(names, entries):
        assert entry.startswith(f"{name} : {table[name].type_text}, default ")
        assert table[name].label and table[name].help[-1] in ".)" and "{parameters}" not in doc
    shown = doc.split("\nParameters\n")[1].split("\nAttributes\n")[0]
    assert all(len(line) <= 120 for line in shown.splitlines())


@pytest.mark.parametrize("name", [*MODELS, *SELECTORS])
def test_what_a_form_offers_is_accepted_by_the_estimator(name):
    info = (MODELS | SELECTORS)[name]
    table = {parameter.name: parameter for parameter in info.cls.PARAMETERS}
    for offered in info.parameters:
        if offered in NOISE:
            continue
        described_as = table[offered.name]
        assert offered.default == described_as.default and offered.help == described_as.help
        for value in (offered.minimum, offered.maximum, offered.default, *offered.options):
            if value is not None:
                described_as.check(value)
        if offered.optional:
            described_as.check(None)


def test_what_a_form_offers_of_noise_is_accepted():
    table = {parameter.name: parameter for parameter in AdversarialTraining.PARAMETERS}
    for offered, name in zip(NOISE, ("sigma", "augment_ratio", "noise_support", "kind"), strict=True):
        assert offered.label == table[name].label and offered.help.startswith(table[name].help)
        for value in (offered.minimum, offered.maximum, offered.default, *offered.options):
            if value is not None and (name, value) != ("sigma", 0.0):
                table[name].check(value)
    assert NOISE[0].default == 0.0 and all(info.parameters[-len(NOISE) :] == NOISE for info in MODELS.values())
    assert not any(parameter in NOISE for info in SELECTORS.values() for parameter in info.parameters)


@every_case
def test_get_params_set_params_repr_and_clone_belong_together(case):
    estimator = case.make()
    params = estimator.get_params(deep=False)
    assert {parameter.name for parameter in case.cls.PARAMETERS} <= params.keys()
    assert all(params[name] is getattr(estimator, name) for name in params if hasattr(estimator, name))
    again = case.cls(**params)
    assert repr(again) == repr(estimator) and repr(again).startswith(case.cls.__name__ + "(")
    copied = clone(estimator)
    assert type(copied) is case.cls and repr(copied) == repr(estimator)
    for name, value in copied.get_params(deep=False).items():
        assert repr(value) == repr(params[name])
    other = case.cls()
    assert other.set_params(**params) is other and other.get_params(deep=False) == params
    assert other.set_params() is other


@every_class
def test_an_unknown_parameter_is_named_and_nothing_is_set(cls):
    estimator = cls()
    before = estimator.get_params()
    first = cls.PARAMETERS[0].name
    with pytest.raises(ValueError, match=rf"Invalid parameter 'none_such' for estimator {cls.__name__}\(.*'{first}'"):
        estimator.set_params(none_such=1, **{first: "changed"})
    assert estimator.get_params() == before


@each_once
def test_a_generator_is_a_seed_and_gives_another_one_each_time(case, tmp_path):
    if "random_state" not in case.make().get_params():
        return
    X, Y = case.problem()
    for make in (np.random.RandomState, np.random.default_rng):
        assert len({seed_of(generator) for generator in [make(5)] * 3}) == 3
        first = case.make(random_state=make(5)).fit(X, Y)
        assert_same(results(first), results(case.make(random_state=seed_of(make(5))).fit(X, Y)))
        if isinstance(first.random_state, np.random.Generator) and hasattr(first, "save"):
            assert_same(results(load_model(first.save(tmp_path / "model"))), results(first))
    with pytest.raises(TypeError, match="random_state"):
        case.make(random_state="5").fit(X, Y)
    assert 0 <= seed_of(None) < 2**31 and seed_of(7) == 7


SMALL = {"n_estimators": 2, "max_nodes": 15, "n_epochs": 2, "max_leaf_labels": 2}  # so that fits are quick
WITHOUT_EFFECT = {
    "random_state",
    "n_jobs",
    "learnable",
    "negative",
    "max_score_bytes",
    "keep_network",
}  # on the method itself
OF_NOISE = {"sigma", "augment_ratio", "noise_support"}  # of ExtendedPLT
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
    assert values.keys() - OF_NOISE == {p.name for p in cls.PARAMETERS} - WITHOUT_EFFECT - OF_NOISE
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
