"""Dual coordinate descent does what its plain-Python twin does, for one child and for up to sixteen."""

import naive
import numpy as np
import pytest
from _kernels.plt_problems import sparse_rows

from xmlcore._kernels import plt_clusters, plt_descent, plt_training
from xmlcore._kernels.lanes import LANES
from xmlcore.models.plt import LOSS_NUMBERS
from xmlcore.validation import csr_parts


@pytest.mark.parametrize("loss", list(LOSS_NUMBERS))
@pytest.mark.parametrize("n_children", [1, 3, 16])
@pytest.mark.parametrize("max_epochs", [1, 4])
@pytest.mark.parametrize("weighed", [False, True])
def test_weights_and_visits_are_those_of_the_twin(loss, n_children, max_epochs, weighed):
    X = sparse_rows(25, 10, n_children, density=0.4)
    plt_clusters.normalise_rows(csr_parts(X)[0], X.data)
    targets = np.random.default_rng(1).random((25, n_children)) < 0.4
    features, local = plt_training.gather_rows(*csr_parts(X), np.arange(25, dtype=np.int32), 10)
    lanes = 1 if n_children == 1 else LANES
    signs, used = np.full((25, lanes), -0.0, np.float32), np.zeros(LANES, np.float32)
    signs[:, :n_children][targets] = 0.0
    used[:n_children] = 1
    weights = np.zeros((features.size + 1) * lanes, np.float32)
    never = -1.0  # a tolerance that nothing reaches, so that no row is skipped, which rounding would decide
    settings = plt_training.DescentSettings(
        LOSS_NUMBERS[loss], np.float32(2), np.float32(never), max_epochs, np.float32(0), 9
    )
    of_row, boost = np.full(25, 2, np.float32), np.ones(LANES, np.float32)
    if weighed:
        of_row[:], boost[::2] = np.linspace(0.5, 4, 25), 3
    costs = plt_descent.Costs(of_row, boost, weighed)
    visits, violation = plt_descent.descend(
        local, weights, lanes * features.size, signs.ravel(), used, costs, settings, 5
    )
    C = of_row[:, None] * np.where(targets, boost[:n_children], 1.0)
    expected, n_visits, worst = naive.plt_descent.descend(
        X.toarray()[:, features], targets.astype(float), loss, C, never, max_epochs, 9, 5
    )
    assert visits == n_visits == 25 * max_epochs
    assert violation == pytest.approx(worst, abs=1e-3)
    weights = weights.reshape(-1, lanes)
    np.testing.assert_allclose(weights[:, :n_children], expected, atol=0.01)  # both stop near a row's root
    assert used[:n_children].all() and np.abs(expected).max() > 0.3
    assert not weights[:, n_children:].any(), "an empty lane has weights"
