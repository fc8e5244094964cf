"""``compact``, which all models have: label trees can have weights of a byte or less."""

from typing import Any, Self

import numpy as np

from xmlcore.metrics import precision_at_k
from xmlcore.typing import Labels, Matrix
from xmlcore.validation import check_count

KS = (1, 3, 5)
LEAST = 2.0**-100  # a scale is no smaller: float32 has no smaller powers of 2 with all their digits


def scales(largest: np.ndarray, bits: int) -> np.ndarray:
    """Return the power of 2, float32, by which whole numbers of some bits are multiplied to be weights of this size."""
    return np.exp2(np.ceil(np.log2(np.maximum(largest / (2 ** (bits - 1) - 1), LEAST)))).astype(np.float32)


class CanBeCompact:
    """Base of models that says how small they can be."""

    compact_: dict[str, Any]  # only of a model that compact has returned

    def compact(self, bits: int = 8, X: Matrix | None = None, y: Labels | None = None) -> Self:
        """Return a model with weights of a byte, whose file has about a third of the bytes; of label trees alone.

        Weights are rounded to whole numbers times a power of 2 that is the same for sibling nodes. Those that are
        rounded to 0 are left out. Predictions are those of the rounded weights, which a saved model is read with;
        explanations and gradients make float32 copies of them.

        Parameters
        ----------
        bits : int from 4 to 8
            With fewer bits more weights are rounded to 0.
        X : sparse or dense, shape (n, D), or texts, optional
            Rows to measure on, such as some that were held out of the training rows.
        y : sparse or dense binary, shape (n, L), or lists of labels, optional
            Their labels.

        Returns
        -------
        MultiLabelModel
            A model of the same class. Its ``compact_`` is a dict of "bits"; "bytes_before" and "bytes_after", of the
            arrays that are saved; and with rows "before" and "after", the precision at 1, 3 and 5 on them.

        Raises
        ------
        TypeError
            The model is no label tree, or no member of a Mixture is one.
        ValueError
            The rows do not fit the model or the labels.
        """
        self._check_fitted()
        small = self._compacted(check_count(bits, "bits", least=4, most=8))
        report = {"bits": bits, "bytes_before": _saved_bytes(self), "bytes_after": _saved_bytes(small)}
        if X is not None:
            truth = self.label_ids(y)
            for when, model in (("before", self), ("after", small)):
                values = precision_at_k(truth, model.predict_topk(X, k=max(KS)), max(KS))
                report[when] = {f"P@{k}": float(values[k - 1]) for k in KS}
        getattr(small, "model_", small).compact_ = report
        return small

    def _compacted(self, bits: int) -> Self:
        """Return a copy with weights of some bits."""
        raise TypeError(
            f"a {type(self).__name__} cannot be made compact, as it is no label tree: PLT and ExtendedPLT can, and a "
            "TextClassifier or a Mixture that holds one of them"
        )


def can_be_compact(model) -> bool:
    """Return whether a fitted model has weights that :meth:`CanBeCompact.compact` makes small."""
    return isinstance(model, CanBeCompact) and type(model)._compacted is not CanBeCompact._compacted


def _saved_bytes(model) -> int:
    return sum(array.nbytes for array in model._whole_state()[1].values())
