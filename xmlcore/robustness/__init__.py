"""Robustness: how predictions change when rows are changed by noise, by other words, or by an attack."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what __getattr__ imports on first use, for editors and type checkers
    from xmlcore.augmentation import augment, augmented_bytes
    from xmlcore.noise import GaussianNoise, WordNoise
    from xmlcore.robustness.attacks import FGSM, PGD
    from xmlcore.robustness.certificates import certified_radius
    from xmlcore.robustness.evaluation import evaluate, summarise
    from xmlcore.robustness.levels import ValueScale, default_levels, training_sigma
    from xmlcore.robustness.perturbations import perturbation
    from xmlcore.robustness.tables import changed_values, lengths, loss_table
    from xmlcore.robustness.training import AdversarialTraining

_NAMES = {
    "GaussianNoise": "xmlcore.noise",
    "WordNoise": "xmlcore.noise",
    "perturbation": "xmlcore.robustness.perturbations",
    "FGSM": "xmlcore.robustness.attacks",
    "PGD": "xmlcore.robustness.attacks",
    "AdversarialTraining": "xmlcore.robustness.training",
    "augment": "xmlcore.augmentation",
    "augmented_bytes": "xmlcore.augmentation",
    "certified_radius": "xmlcore.robustness.certificates",
    "evaluate": "xmlcore.robustness.evaluation",
    "summarise": "xmlcore.robustness.evaluation",
    "ValueScale": "xmlcore.robustness.levels",
    "default_levels": "xmlcore.robustness.levels",
    "training_sigma": "xmlcore.robustness.levels",
    "changed_values": "xmlcore.robustness.tables",
    "lengths": "xmlcore.robustness.tables",
    "loss_table": "xmlcore.robustness.tables",
}

__all__ = [
    "FGSM",
    "PGD",
    "AdversarialTraining",
    "GaussianNoise",
    "ValueScale",
    "WordNoise",
    "augment",
    "augmented_bytes",
    "certified_radius",
    "changed_values",
    "default_levels",
    "evaluate",
    "lengths",
    "loss_table",
    "perturbation",
    "summarise",
    "training_sigma",
]


if not TYPE_CHECKING:  # type checkers report a name that does not exist

    def __getattr__(name):
        if name in _NAMES:
            return getattr(import_module(_NAMES[name]), name)
        raise AttributeError(f"module 'xmlcore.robustness' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
