"""Extreme multi-label classification: methods, metrics, data and figures.

The public names load on first use, so that ``import xmlcore`` stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what __getattr__ imports on first use, for editors and type checkers
    from xmlcore.experiment import evaluate
    from xmlcore.models import PLT, DoubleSampling, ExtendedPLT, LabelTree, LdSM, OneVsRest, TextClassifier, load_model
    from xmlcore.ranking import Ranking
    from xmlcore.selection import FALS

    from . import datasets, experiment, explain, figures, jobs, metrics, models, robustness, selection, serve, store

__version__ = "0.1.0"

_NAMES = {
    "PLT": "xmlcore.models",
    "ExtendedPLT": "xmlcore.models",
    "LdSM": "xmlcore.models",
    "DoubleSampling": "xmlcore.models",
    "OneVsRest": "xmlcore.models",
    "TextClassifier": "xmlcore.models",
    "FALS": "xmlcore.selection",
    "LabelTree": "xmlcore.models",
    "load_model": "xmlcore.models",
    "Ranking": "xmlcore.ranking",
    "evaluate": "xmlcore.experiment",
}
_MODULES = (
    "datasets",
    "metrics",
    "models",
    "selection",
    "robustness",
    "explain",
    "figures",
    "experiment",
    "store",
    "jobs",
    "serve",
)

__all__ = [
    "DoubleSampling",
    "ExtendedPLT",
    "FALS",
    "PLT",
    "LabelTree",
    "LdSM",
    "OneVsRest",
    "Ranking",
    "TextClassifier",
    "evaluate",
    "datasets",
    "experiment",
    "explain",
    "figures",
    "jobs",
    "load_model",
    "metrics",
    "models",
    "robustness",
    "selection",
    "serve",
    "store",
]


if not TYPE_CHECKING:  # type checkers report a name that does not exist

    def __getattr__(name):
        if name in _NAMES:
            return getattr(import_module(_NAMES[name]), name)
        if name in _MODULES:
            return import_module(f"xmlcore.{name}")
        raise AttributeError(f"module 'xmlcore' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
