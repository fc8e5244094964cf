"""The search for all labels above a threshold finds what its plain-Python twin finds."""

import naive
import numpy as np
import pytest
from _kernels.plt_problems import SHAPES, fitted


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("threshold", [0.0, 0.01, 0.3])
def test_threshold_search_finds_what_brute_force_finds(shape, threshold):
    model, X = fitted(*shape)
    found = model.predict_proba(X, threshold)
    with np.errstate(divide="ignore"):
        least = np.log(threshold)
    for i, x in enumerate(X.toarray().astype(float)):
        expected = naive.plt_threshold.search_threshold(
            model.fitted_[0], shape[0], naive.plt_rows.in_columns(x, model.feature_of_column_), least
        )
        row = dict(zip(found[[i]].indices.tolist(), found[[i]].data.tolist()))
        assert row.keys() == {label for label, score in expected.items() if np.float32(np.exp(score)) > 0}
        for label, value in row.items():
            assert value == pytest.approx(np.exp(expected[label]), rel=1e-5)
