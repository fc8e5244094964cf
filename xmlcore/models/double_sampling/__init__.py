"""Double sampling: classes ranked by a linear function of (row, class) features, a file per step."""

from xmlcore.models.double_sampling.estimator import DoubleSampling
from xmlcore.models.double_sampling.learning import MEANINGS

__all__ = ["MEANINGS", "DoubleSampling"]
