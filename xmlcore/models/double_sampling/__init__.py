"""(π, κ)-DS with candidate selection: classification into very many classes by double sampling.

Training: the sums of the classes (:mod:`.classes`), the sample (:mod:`.sampling`), its pairs and the function f that is
learnt from them (:mod:`.learning`). Prediction: candidates, from centroids or from a label tree (:mod:`.candidates`),
ranked by f (:mod:`.prediction`).
"""

from xmlcore.models.double_sampling.estimator import DoubleSampling
from xmlcore.models.double_sampling.features import MEANINGS

__all__ = ["MEANINGS", "DoubleSampling"]
