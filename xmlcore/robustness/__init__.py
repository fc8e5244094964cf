"""Robustness: how predictions change when rows are changed by noise, by other words, or by an attack."""

from typing import TYPE_CHECKING

from xmlcore.first_use import on_first_use

if TYPE_CHECKING:  # what is imported on first use, for editors and type checkers
    from xmlcore.augmentation import augment, augmented_bytes
    from xmlcore.noise import GaussianNoise, WordNoise
    from xmlcore.robustness.attacks import FGSM, PGD
    from xmlcore.robustness.certificates import certified_radius
    from xmlcore.robustness.evaluation import evaluate, summarise
    from xmlcore.robustness.levels import ValueScale, default_levels, training_sigma
    from xmlcore.robustness.perturbations import perturbation
    from xmlcore.robustness.tables import changed_values, lengths, loss_table
    from xmlcore.robustness.training import AdversarialTraining

__all__ = [
    "FGSM", "PGD", "AdversarialTraining", "GaussianNoise", "ValueScale", "WordNoise", "augment", "augmented_bytes",
    "certified_radius", "changed_values", "default_levels", "evaluate", "lengths", "loss_table", "perturbation",
    "summarise", "training_sigma",
]  # fmt: skip

if not TYPE_CHECKING:  # type checkers report a name that does not exist
    __getattr__, __dir__ = on_first_use(
        __name__,
        {
            "xmlcore.augmentation": ("augment", "augmented_bytes"),
            "xmlcore.noise": ("GaussianNoise", "WordNoise"),
            "xmlcore.robustness.attacks": ("FGSM", "PGD"),
            "xmlcore.robustness.certificates": ("certified_radius",),
            "xmlcore.robustness.evaluation": ("evaluate", "summarise"),
            "xmlcore.robustness.levels": ("ValueScale", "default_levels", "training_sigma"),
            "xmlcore.robustness.perturbations": ("perturbation",),
            "xmlcore.robustness.tables": ("changed_values", "lengths", "loss_table"),
            "xmlcore.robustness.training": ("AdversarialTraining",),
        },
    )
