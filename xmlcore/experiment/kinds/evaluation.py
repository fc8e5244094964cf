"""The result of :func:`xmlcore.evaluate`: a dict of measures, with a table and intervals."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from xmlcore import metrics

if TYPE_CHECKING:
    import pandas as pd

INTERVALS = "intervals"  # the key of the table with intervals, when evaluate was asked for it


class Evaluation(dict[str, Any]):
    """Measures of a model on test rows, by name, with the times and the ranking: a dict."""

    def __init__(self, found: dict[str, Any], Y_true: Any, inv_ps: np.ndarray):
        super().__init__(found)
        self._Y_true, self._inv_ps = Y_true, inv_ps
        self._measures = [name for name, value in found.items() if name in metrics.MEASURES]

    @cached_property
    def intervals(self) -> "pd.DataFrame":
        """The measures with 95 % bootstrap intervals over the test rows: see :func:`xmlcore.metrics.intervals`."""
        if INTERVALS in self:
            return self[INTERVALS]
        k = len(self[self._measures[0]])
        return metrics.intervals(self._Y_true, self["ranking"], k, measures=self._measures, inv_ps=self._inv_ps)

    def to_frame(self, intervals: bool = False) -> "pd.DataFrame":
        """Return the measures as a table."""
        import pandas as pd

        if intervals:
            return self.intervals.copy()
        lines = [(name, at + 1, float(value)) for name in self._measures for at, value in enumerate(self[name])]
        return pd.DataFrame(lines, columns=["measure", "k", "value"])
