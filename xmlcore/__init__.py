"""Extreme multi-label classification: methods, metrics, data and figures.

The public names load on first use, so that ``import xmlcore`` stays quick. An argument that a function cannot use is a
ValueError or a TypeError, which names it; docstrings list other errors.
"""

from typing import TYPE_CHECKING

from xmlcore.extras import is_there
from xmlcore.first_use import on_first_use

if TYPE_CHECKING:  # what is imported on first use, for editors and type checkers
    from xmlcore.experiment import evaluate
    from xmlcore.models import (
        PLT,
        DoubleSampling,
        ExtendedPLT,
        LabelTree,
        LdSM,
        Mixture,
        NearestRows,
        OneVsRest,
        TextClassifier,
        load_model,
    )  # fmt: skip
    from xmlcore.ranking import Ranking
    from xmlcore.selection import FALS

    from . import (
        datasets,
        decisions,
        experiment,
        explain,
        figures,
        jobs,
        metrics,
        models,
        robustness,
        selection,
        serve,
        store,
    )

__version__ = "0.1.0"

__all__ = [
    "DoubleSampling", "ExtendedPLT", "FALS", "PLT", "LabelTree", "LdSM", "Mixture", "NearestRows", "OneVsRest",
    "Ranking", "TextClassifier", "evaluate", "datasets", "decisions", "experiment", "explain", "figures", "jobs",
    "load_model", "metrics", "models", "robustness", "selection", "serve", "store",
]  # fmt: skip

if not TYPE_CHECKING:  # type checkers report a name that does not exist
    __all__ = [name for name in __all__ if is_there(name)]
    _MODULES = (
        "datasets", "decisions", "experiment", "explain", "figures", "jobs", "metrics", "models", "review",
        "robustness", "selection", "serve", "store",
    )  # fmt: skip
    _MODELS = (
        "DoubleSampling", "ExtendedPLT", "LabelTree", "LdSM", "Mixture", "NearestRows", "OneVsRest", "PLT",
        "TextClassifier", "load_model",
    )  # fmt: skip
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "xmlcore": _MODULES,
            "xmlcore.experiment": ("evaluate",),
            "xmlcore.models": _MODELS,
            "xmlcore.ranking": ("Ranking",),
            "xmlcore.selection": ("FALS",),
        },
    )
