"""Mixture: several models together, a file per step."""

from xmlcore.models.mixture.estimator import Mixture

__all__ = ["Mixture"]
