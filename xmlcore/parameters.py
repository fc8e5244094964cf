"""The description of an estimator's parameter, from which its check, its docstring and its form field are made."""

import functools
import inspect
import math
import numbers
import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar, dataclass_transform

import numpy as np

from xmlcore.documented import documented
from xmlcore.interrupts import in_one_step
from xmlcore.typing import Auto, RandomState
from xmlcore.validation import INT32_MAX, check_count, check_number
from xmlcore.wording import listed, meant

DOC_WIDTH = 110  # characters in a line of a generated docstring, without the indentation
UNBOUNDED_INT = 2**31 - 1  # from this maximum on, a docstring names no upper bound of an int
UNBOUNDED_FLOAT = 1e30  # the same for a float
AUTO: Auto = "auto"  # value of a parameter that the estimator chooses itself
REQUIRED = inspect.Parameter.empty  # ``default`` of a parameter that must be given
RECOMMENDED = "recommended"  # name of the settings that an estimator has by default
# Of kinds of parameters whose values have one type: the types, words for them, and the type that is kept.
TYPES = {
    "bool": ((bool, np.bool_), "True or False", bool),
    "dict": (dict, "a dict", dict),
    "files": (dict, "a dict of described files", dict),
    "pair": ((tuple, list), "two whole numbers, such as (1, 2)", tuple),
    "text": (str, "a string", str),
}

Described = TypeVar("Described")


@dataclass(frozen=True)
class Parameter:
    """A parameter of an estimator, described here only: its check, docstring and field of the form read it.

    A "share" is a float above 0 and at most 1, or an int that is a count. A "pair" is two whole numbers, the second at
    least the first. "ints" and "floats" are lists of numbers within the bounds: the different ones, ascending. "files"
    are described files by name: ``options`` has the names, and the first is needed. An "array" or "any" is checked
    where it is used.
    """

    name: str  # the argument of __init__
    label: str  # the title of the form's field
    help: str  # a sentence about None starts with "Empty", as a form shows it; the docstring then says "None"
    kind: str  # int, float, ints, floats, share, choice, bool, dict, estimator, array, pair, text, files or any
    default: Any  # REQUIRED if there is none
    options: tuple = ()  # the strings and numbers that a "choice" accepts
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None  # of the form's number field
    advanced: bool = False  # whether the form puts the field under "More settings"
    optional: bool = False  # whether None is accepted; ``help`` says what it means
    empty: str = "automatic"  # what the form shows for None, where ``optional``; "" if it does not offer None
    above_minimum: bool = False  # whether ``minimum`` itself is refused
    offered: tuple | None = None  # smallest and largest value that a form offers, where that is less
    in_form: bool = True
    also: tuple[str, ...] = ()  # names of classes whose instances are accepted as well, such as "LabelTree"
    below_maximum: bool = False  # whether ``maximum`` itself is refused
    others: tuple = ()  # further values that are accepted, such as -1, or "auto" in place of a number
    refused: tuple = ()  # numbers between ``minimum`` and ``maximum`` that are not accepted
    details: str = ""  # sentences that the docstring has after ``help``, and the form does not show
    option_names: tuple[str, ...] = ()  # what users read for the options, in their order

    @property
    def can_be_auto(self) -> bool:
        """Whether the estimator accepts "auto" where a number is expected: it then chooses the number itself."""
        return AUTO in self.others

    def named(self, option: str | None) -> str:
        """Return what users read for an option, or for None; a value that is no option is returned as text."""
        names = dict(zip(self.options, self.option_names)) | ({None: self.empty} if self.optional else {})
        return names.get(option, str(option))

    @property
    def form_help(self) -> str:
        """Return the help with the options named as in the form, and bold, where it explains one: ``plt: ...``."""

        def title(match):
            option = None if match[1] == "Empty" and self.kind == "choice" else match[1]
            return f"**{self.named(option)}**:" if option in (None, *self.options) else match[0]

        return re.sub(r"\b(\w++):", title, self.help)

    def check(self, value):
        """Return ``value`` in the one spelling that is kept, or raise an error that names the parameter."""
        if (value is None and self.optional) or type(value).__name__ in self.also:
            return value
        for other in self.others:
            if (type(value) is type(other) or isinstance(value, str)) and value == other:
                return other
        self._check_type(value)
        _, _, converted = TYPES.get(self.kind, (object, "", lambda value: value))
        return _CHECKS.get(self.kind, lambda _, value: value)(self, converted(value))

    def _check_type(self, value) -> None:
        """Raise TypeError for a value of another type; the message says what is accepted."""
        is_whole = isinstance(value, (int, np.integer))
        wants_whole = self.kind == "int" and self.also
        if (self.can_be_auto and self.kind != "pair" and not isinstance(value, numbers.Real)) or (
            wants_whole and not is_whole
        ):
            number = "a whole number" if self.kind == "int" else "a finite number"
            auto, none = [f'"{AUTO}"'] if self.can_be_auto else [], ["None"] if self.optional else []
            *first, last = [number, *self.also, *auto, *none]
            raise TypeError(f"{self.name} must be {', '.join(first)} or {last}, not {value!r:.200}")
        types, words, _ = TYPES.get(self.kind, (object, "", None))
        if not isinstance(value, types) or (self.kind == "pair" and len(value) != 2):
            raise TypeError(f"{self.name} must be {words}, not {value!r:.200}")

    def _check_pair(self, value) -> tuple:
        value = tuple(map(self._check_int, value))
        if value[0] > value[1]:
            raise ValueError(f"{self.name} is {value!r:.200}: the second number must be at least the first")
        return value

    def _check_choice(self, value):
        for option in self.options if isinstance(value, (str, numbers.Real)) else ():
            if option in (value, str(value)):  # "inf" is the spelling of infinity, too
                return option
        allowed = ", ".join([*map(str, self.options), *(f"a {name}" for name in self.also)])
        raise ValueError(f"{self.name} must be one of {allowed}, not {value!r:.200}")

    def _check_files(self, value) -> dict:
        if not {self.options[0]} <= set(value) <= set(self.options):
            others = f"may have {', '.join(self.options[1:])}" if self.options[1:] else "nothing else"
            raise ValueError(f"{self.name} need {self.options[0]}, and {others}; they have {listed(sorted(value))}")
        return value

    def _check_estimator(self, value):
        if not hasattr(value, "fit") or isinstance(value, type):
            raise TypeError(f"{self.name} must be an estimator, such as PLT(), not {value!r:.200}")
        return value

    def _check_models(self, value):
        if not isinstance(value, (list, tuple)) or not value or any(isinstance(one, type) for one in value):
            raise TypeError(f"{self.name} must be a list of estimators, such as [PLT(), LdSM()], not {value!r:.200}")
        if bad := [one for one in value if not (hasattr(one, "predict_topk") or hasattr(one, "predict_proba"))]:
            raise TypeError(f"{self.name} has {bad[0]!r:.60}, which has neither predict_topk nor predict_proba")
        return value

    def _check_share(self, value):
        return self._check_int(value) if isinstance(value, (int, np.integer)) else self._check_float(value)

    def _check_int(self, value) -> int:
        """Return a whole number within the bounds; a share that is a count is at least 1."""
        least = 1 if self.kind == "share" else self.minimum
        value = check_count(value, self.name, least=-math.inf if least is None else least, most=self.maximum)
        if value in self.refused:
            raise ValueError(f"{self.name} must be another number than {value}")
        return value

    def _check_float(self, value) -> float:
        """Return a number within the bounds, or a share."""
        if self.kind == "share":
            return check_number(value, f"{self.name} as a share", 0.0, 1.0, above=True)
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        return check_number(value, self.name, low, high, above=self.above_minimum, below=self.below_maximum)

    def _check_list(self, value, check) -> list:
        """Return the different numbers of a list, ascending; () is accepted if it is the default."""
        if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
            raise TypeError(f"{self.name} must be a list of numbers, not {value!r:.200}")
        numbers = sorted({check(number) for number in value})
        if not numbers and self.default != ():
            raise ValueError(f"{self.name} is empty: give one number or more")
        return numbers

    @property
    def type_text(self) -> str:
        """Return the type and the bounds as a docstring states them, such as ``float in (0, 1]``."""
        bounds = self._bounds_text()
        texts = {
            "choice": "{" + ", ".join(f'"{option}"' for option in self.options) + "}",
            "share": "float in (0, 1] or int, at least 1",
            "ints": f"list of int{bounds}",
            "floats": f"list of float{bounds}",
            "pair": "(int, int)",
            "text": "str",
        }
        of_number = self.kind + bounds + "".join(f", not {value}" for value in self.refused)
        text = of_number if self.kind in ("int", "float") else texts.get(self.kind, self.kind)
        alternatives = [*self.also, *map(repr, self.others), *(["None"] if self.optional else [])]
        comma = "," if "," in text and alternatives else ""
        return text + comma + "".join(f" or {alternative}" for alternative in alternatives)

    def _bounds_text(self) -> str:
        """Return the bounds as they follow the type, such as `` in [0, 1]``; "" if there are none."""
        low, high = self.minimum, self.maximum
        if high is not None and high >= (UNBOUNDED_INT if self.kind in ("int", "ints") else UNBOUNDED_FLOAT):
            high = None
        if low is None and high is None:
            return ""
        if high is None:
            return f", {'above' if self.above_minimum else 'at least'} {low:g}"
        if low is None:
            return f", {'below' if self.below_maximum else 'at most'} {high:g}"
        return f" in {'(' if self.above_minimum else '['}{low:g}, {high:g}{')' if self.below_maximum else ']'}"

    @property
    def doc(self) -> str:
        """Return the entry of a numpydoc "Parameters" section: a line with the type, then the help, indented."""
        help = re.sub(r"\bEmpty\b", "None", self.help) if self.optional else self.help
        if self.kind == "bool":
            help = re.sub(r"\bOff\b", "False", help)
        default = f'"{self.default}"' if isinstance(self.default, str) else repr(self.default)
        text = textwrap.fill(
            " ".join([help, *([self.details] if self.details else [])]),
            DOC_WIDTH,
            initial_indent="    ",
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        given = "" if self.default is REQUIRED else f", default {default}"
        return f"{self.name} : {self.type_text}{given}\n{text}"


# How values of each kind are checked once their type is; of the other kinds every value is accepted.
_CHECKS = {
    "int": Parameter._check_int,
    "float": Parameter._check_float,
    "share": Parameter._check_share,
    "ints": lambda self, value: self._check_list(value, self._check_int),
    "floats": lambda self, value: self._check_list(value, self._check_float),
    "pair": Parameter._check_pair,
    "choice": Parameter._check_choice,
    "files": Parameter._check_files,
    "estimator": Parameter._check_estimator,
    "models": Parameter._check_models,
}


def no_parameter(owner: str, unknown: list[str], known: Iterable[str]) -> str:
    """Return an error text for unknown names: the known ones, and similar ones."""
    has = f"it has {', '.join(known)}" if known else "it has none"
    return f"{owner} has no parameter {listed(unknown)}: {has}{meant(unknown, known)}"


def filled(parameters: "tuple[Parameter, ...]", values: dict[str, Any], owner: str) -> dict[str, Any]:
    """Return a value for each parameter of ``owner``: a given one, checked, or the default."""
    known = {parameter.name: parameter for parameter in parameters}
    if unknown := sorted(set(values) - set(known)):
        raise ValueError(no_parameter(owner, unknown, known))
    if missing := [name for name in known if known[name].default is REQUIRED and name not in values]:
        raise ValueError(f"{owner} needs the parameter {' and '.join(missing)}")
    return {name: p.check(values[name]) if name in values else p.default for name, p in known.items()}


def check_parameters(estimator, parameters: "tuple[Parameter, ...]") -> None:
    for parameter in parameters:
        parameter.check(getattr(estimator, parameter.name))


class HasParameters:
    """Base of classes with parameters: it gets, sets and checks them, as scikit-learn's tools expect.

    A subclass has a field for each parameter, as a dataclass has, and describes it in the table ``PARAMETERS``.
    """

    PARAMETERS: tuple[Parameter, ...] = ()
    _PARTS: dict[str, type | None] = {}  # parameters that are estimators, and what None stands for

    def __init_subclass__(cls, **kwargs):
        """Have ``fit`` and its like, where a subclass defines them, change their object in one step."""
        super().__init_subclass__(**kwargs)
        for name in ("fit", "partial_fit", "fit_for_adversarial_examples"):
            if callable(cls.__dict__.get(name)):
                setattr(cls, name, in_one_step(cls.__dict__[name]))

    @classmethod
    def _param_names(cls) -> list[str]:
        return sorted(parameter.name for parameter in cls.PARAMETERS)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; ``deep``: also those of a parameter that is a model, as ``model__name``."""
        params = {name: getattr(self, name) for name in self._param_names()}
        for part in self._PARTS if deep else ():
            if hasattr(params[part], "get_params"):
                params |= {f"{part}__{name}": value for name, value in params[part].get_params().items()}
        return params

    def set_params(self, **params: object) -> Self:
        """Set parameters by name, ``model__name`` for one of the model that is a parameter, and return the estimator.

        ValueError for a name that there is not; then no parameter is changed.
        """
        names = self._param_names()
        of_parts = {}
        for name in [name for name in params if "__" in name and name.partition("__")[0] in self._PARTS]:
            part, _, inner = name.partition("__")
            of_parts.setdefault(part, {})[inner] = params.pop(name)
        for name in params:
            if name not in names:
                valid = f"Valid parameters are: {names}{meant([name], names)}"
                raise ValueError(f"Invalid parameter {name!r:.200} for estimator {self!r:.200}. {valid}")
        for name, value in params.items():
            setattr(self, name, value)
        for part, inner in of_parts.items():
            if getattr(self, part) is None and self._PARTS[part] is not None:
                setattr(self, part, self._PARTS[part]())
            getattr(self, part).set_params(**inner)
        return self

    def __repr__(self):
        defaults = {parameter.name: parameter.default for parameter in self.PARAMETERS}
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if name not in defaults or repr(value) != repr(defaults[name])
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _check_params(self) -> None:
        """Raise a ValueError or TypeError that names the first parameter with a value that ``fit`` cannot use."""
        check_parameters(self, self.PARAMETERS)


def _naming_the_unknown(made):
    """Return an ``__init__`` that lists the parameters if it gets an unknown one."""
    known = [name for name, p in inspect.signature(made).parameters.items() if name != "self"]

    @functools.wraps(made)
    def __init__(self, *args, **params):
        if unknown := sorted(params.keys() - set(known)):
            raise TypeError(no_parameter(type(self).__name__, unknown, known))
        made(self, *args, **params)

    return __init__


@dataclass_transform()
def described(cls: type[Described]) -> type[Described]:
    """Make ``__init__`` of a class's fields, and describe ``cls.PARAMETERS`` where its docstring has ``{parameters}``.

    A class with an ``__init__`` of its own keeps it. Entries are in the order of the signature, as numpydoc wants them.
    """
    has_doc = cls.__doc__ is not None
    dataclass(eq=False, repr=False, match_args=False)(cls)
    cls.__init__ = _naming_the_unknown(cls.__init__)
    if not has_doc:  # python -OO
        return cls
    order = list(inspect.signature(cls).parameters)
    entries = [p.doc for p in sorted(cls.PARAMETERS, key=lambda p: order.index(p.name))]

    def indented_entries(match):
        """Return the section, indented like the line ``{parameters}`` that it replaces."""
        return textwrap.indent("\n".join(["Parameters", "----------", *entries]), match[1])

    cls.__doc__, count = re.subn(r"^([ \t]*)\{parameters\}", indented_entries, cls.__doc__, flags=re.MULTILINE)
    if count != 1:
        raise ValueError(f"the docstring of {cls.__name__} has {count} lines {{parameters}}, and needs one")
    return documented(cls)


@dataclass(frozen=True)
class Preset:
    """Published settings of an estimator, under one name.

    They hold all parameters that matter to the method: a preset stays the same when a default changes.
    """

    title: str  # whose settings they are, such as "Paper's"
    source: str  # where they are published, and what was not published and comes from elsewhere
    values: dict[str, Any]


@dataclass(frozen=True)
class About:
    """Description of a model or a selector for users, beside its class."""

    title: str
    summary: str
    paper: str
    color: str | None = None  # "#rrggbb" in every figure; None: purple
    mark: str | None = None  # a symbol of Plotly; None: a star
    # Sentences on what its scores are; none if they are probabilities. The first is of scores that are another number
    # than that of predict_proba, the others, by the parameter loss (None: it has none), of those that are the same.
    scores: str = ""
    scores_by_loss: dict[str | None, str] = field(default_factory=dict)

    def scores_with(self, loss: str | None) -> str:
        return self.scores_by_loss.get(loss, self.scores)


def in_form(parameters: "tuple[Parameter, ...]") -> "tuple[Parameter, ...]":
    """Return the parameters that a form shows, with the values that it offers as ``minimum`` and ``maximum``."""
    shown = []
    for parameter in parameters:
        if not parameter.in_form:
            continue
        low, high = parameter.offered or (parameter.minimum, parameter.maximum)
        shown.append(
            replace(
                parameter,
                kind="float" if parameter.kind == "share" else parameter.kind,
                minimum=low,
                maximum=high,
                above_minimum=parameter.above_minimum and parameter.offered is None,
                below_maximum=parameter.below_maximum and parameter.offered is None,
                optional=parameter.optional and parameter.empty != "",
                also=(),
                others=(AUTO,) if parameter.can_be_auto else (),
            )
        )
    return tuple(shown)


GENERATORS = ("RandomState", "Generator")  # names of NumPy's classes whose instances are accepted as seeds
SEEDS = "None draws a random seed. A generator is drawn from: each fit then has another seed."

SEED = Parameter(
    "random_state", "Seed", "The same seed gives the same model, whatever the number of workers.",
    "int", 0, minimum=0, optional=True, empty="", offered=(0, 2**32 - 1), advanced=True, also=GENERATORS, details=SEEDS,
)  # fmt: skip

N_JOBS = Parameter(
    "n_jobs", "Workers",
    "Number of threads. -1 and None use all cores that this process may use. The result does not depend on this "
    "number.",
    "int", None, refused=(0,), optional=True, in_form=False,
    details="-2 uses all but one, and so on. In a call that joblib makes, such as a fit of a grid search on several "
    "processes, None is 1.",
)  # fmt: skip


def seed_of(random_state: RandomState) -> int:
    """Return the seed that ``random_state`` stands for."""
    generator = np.random.default_rng() if random_state is None else random_state
    if isinstance(generator, np.random.Generator):
        return int(generator.integers(INT32_MAX))
    if isinstance(generator, np.random.RandomState):
        return int(generator.randint(INT32_MAX))
    return int(generator)
