"""Robustness: how predictions change when rows are changed by noise, by other words, or by an attack."""

from xmlcore.augmentation import augment, augmented_bytes
from xmlcore.noise import GaussianNoise, WordNoise
from xmlcore.robustness.attacks import FGSM, PGD
from xmlcore.robustness.certificates import certified_radius
from xmlcore.robustness.evaluation import evaluate, lengths, loss_table, summarise, values_under_noise
from xmlcore.robustness.levels import ValueScale, default_levels, training_sigma
from xmlcore.robustness.losses import FirstRight, losses
from xmlcore.robustness.perturbations import perturbation
from xmlcore.robustness.training import AdversarialTraining

__all__ = [
    "FGSM", "PGD", "AdversarialTraining", "FirstRight", "GaussianNoise", "ValueScale", "WordNoise", "augment",
    "augmented_bytes", "certified_radius", "values_under_noise", "default_levels", "evaluate", "lengths", "loss_table",
    "losses", "perturbation", "summarise", "training_sigma",
]  # fmt: skip
