"""How a parameter of an estimator is described, and checked."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from xmlcore.validation import check_count, check_number


@dataclass(frozen=True)
class Parameter:
    """One parameter of an estimator: the only place where it is described.

    The estimator's check, its docstring, the forms of the dashboard and the reference read this description.

    Attributes
    ----------
    name : str
        As in the estimator's ``__init__``.
    label : str
        What a form calls it.
    help : str
        What a larger value or another choice does, and who published it.
    kind : {"int", "float", "choice", "bool"}
    default : object
    options : tuple of str
        For "choice".
    minimum, maximum : number or None
        Smallest and largest value that the estimator accepts; None is without limit.
    above : bool
        Whether ``minimum`` itself is refused.
    offered : (number, number) or None
        Smallest and largest value that a form offers, where that is less than what is accepted.
    step : number or None
        Of a form's number field.
    advanced : bool
        Seldom worth changing: a form shows it apart.
    optional : bool
        None is accepted, and means what ``help`` says.
    empty : str
        A word for None, where ``optional``: a form shows it in the empty field.
    in_form : bool
        Whether a form shows it at all.
    also : tuple of str
        Names of classes whose instances are accepted, too, such as ``"LabelTree"``.
    """

    name: str
    label: str
    help: str
    kind: str
    default: Any
    options: tuple = ()
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    advanced: bool = False
    optional: bool = False
    empty: str = "automatic"
    above: bool = False
    offered: tuple | None = None
    in_form: bool = True
    also: tuple[str, ...] = ()

    def check(self, value) -> None:
        """Raise an error that names the parameter, unless the estimator accepts ``value``.

        Raises
        ------
        TypeError
            Of another type.
        ValueError
            Out of bounds, or none of the options.
        """
        if (value is None and self.optional) or type(value).__name__ in self.also:
            return
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        if self.kind == "int":
            check_count(value, self.name, least=low, most=None if high == math.inf else high)
        elif self.kind == "float":
            check_number(value, self.name, low, high, above=self.above)
        elif self.kind == "bool":
            if not isinstance(value, (bool, np.bool_)):
                raise TypeError(f"{self.name} must be True or False, not {value!r}")
        elif not isinstance(value, str) or value not in self.options:
            allowed = ", ".join([*self.options, *(f"a {name}" for name in self.also)])
            raise ValueError(f"{self.name} must be one of {allowed}, not {value!r}")


def check_parameters(estimator, parameters: "tuple[Parameter, ...]") -> None:
    """Check the attributes of an estimator that are its parameters.

    Parameters
    ----------
    estimator : object
        Has an attribute for each of ``parameters``.
    parameters : tuple of Parameter

    Raises
    ------
    TypeError, ValueError
        The first one that cannot be; the message names it.
    """
    for parameter in parameters:
        parameter.check(getattr(estimator, parameter.name))


SEED = Parameter(
    "random_state",
    "Seed",
    "The same seed gives the same model, whatever the number of workers.",
    "int",
    0,
    minimum=0,
    maximum=2**32 - 1,
    advanced=True,
)
