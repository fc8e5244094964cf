"""Tables of what noise does to measures and to feature values."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from xmlcore import robustness

X = sp.csr_array(np.array([[3.0, 0, -4, 1, 0, 0], [0, 0, 0, 0, 0, 0]], np.float32))
NOISY = sp.csr_array(np.array([[2.0, 0.1, -4, 0, 0.9, -0.2], [0, 0, 0, 0, 0, 1]], np.float32))


def test_values_under_noise_are_the_largest_and_some_new():
    found = robustness.values_under_noise(X, NOISY, 4)
    assert found.to_numpy().tolist() == [
        [0, 2, -4, -4],
        [0, 0, 3, 2],
        [0, 4, 0, pytest.approx(0.9)],
        [0, 5, 0, pytest.approx(-0.2)],
        [1, 5, 0, 1],
    ]
    assert len(robustness.values_under_noise(X, NOISY, 6, new=6)) == 7


def test_lengths_are_of_rows_and_of_what_noise_adds():
    own, added = robustness.lengths(X, NOISY)
    np.testing.assert_allclose(own, [26**0.5, 0], rtol=1e-6)
    np.testing.assert_allclose(added, [(1 + 0.01 + 1 + 0.81 + 0.04) ** 0.5, 1], rtol=1e-6)
    own, added = robustness.lengths(1e30 * X, 1e30 * NOISY)  # whose squares are beyond float32
    np.testing.assert_allclose([own[0], added[1]], [26**0.5 * 1e30, 1e30], rtol=1e-6)


def test_the_table_of_losses_has_a_line_per_run_and_k():
    line = {"run": "PLT", "bucket": "all", "measure": "P@k", "k": 1, "low": 0.0, "high": 1.0}
    times = {**line, "measure": "predict_s", "k": 5, "drop_mean": np.nan}
    summary = pd.DataFrame(
        [
            {**line, "sigma": 0.0, "mean": 0.8, "drop_mean": 0.0},
            {**line, "sigma": 0.1, "mean": 0.6, "drop_mean": 0.25},
            {**times, "sigma": 0.0, "mean": 1.0},
            {**times, "sigma": 0.1, "mean": 3.0},
        ]
    )
    (found,) = robustness.loss_table(summary, 0.1, ["P@k"], [1], {"PLT": 100}).to_dict("records")
    assert (found["P@k clean"], found["P@k"], found["P@k drop"]) == (0.8, 0.6, 0.25)
    assert (found["ms per row clean"], found["ms per row"]) == pytest.approx((10, 30))
