"""Robustness: how predictions change when rows are changed by noise, by other words, or by an attack."""

from importlib import import_module

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


def __getattr__(name):
    if name in _NAMES:
        return getattr(import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'xmlcore.robustness' has no attribute {name!r}")


def __dir__():
    return sorted([*globals(), *__all__])
