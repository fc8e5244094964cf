"""Requested labels are scored as by the plain-Python twin."""

import naive
import numpy as np
import pytest
from _kernels.plt_problems import SHAPES, fitted

from xmlcore._kernels import plt_candidates
from xmlcore.models.plt import LOSS_NUMBERS
from xmlcore.validation import csr_parts


@pytest.mark.parametrize("shape", SHAPES)
def test_scores_of_chosen_labels_are_their_path_products(shape):
    model, X = fitted(*shape)
    wanted = np.array([[3, 4, 9, 0, 16]] * X.shape[0], np.int32)
    out = np.empty(wanted.size)
    taken = model._search().take(csr_parts(X), (0, X.shape[0]))
    plt_candidates.score_labels(
        model.fitted_[0], LOSS_NUMBERS[shape[0]], model.leaves_[0], taken, np.arange(X.shape[0]),
        np.arange(0, wanted.size + 1, 5), wanted.ravel(), out,
    )  # fmt: skip
    for i, x in enumerate(X.toarray().astype(float)):
        x = naive.plt_rows.in_columns(x, model.feature_of_column_)
        expected = naive.plt_candidates.score_labels(model.fitted_[0], shape[0], x, wanted[i].tolist())
        np.testing.assert_allclose(out[5 * i : 5 * i + 5], expected, rtol=1e-4)
