"""Factors of nodes are those of the plain-Python twin."""

import naive
import numpy as np
import pytest

from xmlcore._kernels import plt_factors
from xmlcore.models.plt import LOSS_NUMBERS


@pytest.mark.parametrize("loss", list(LOSS_NUMBERS))
def test_factors_at_extreme_margins(loss):
    for margin in (-np.inf, -800.0, -1.0, 0.0, 0.5, 1.0, 800.0, np.inf):
        expected = naive.plt_factors.log_probability(margin, loss)
        assert plt_factors.log_probability(np.float32(margin), LOSS_NUMBERS[loss]) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("loss", list(LOSS_NUMBERS))
def test_margins_below_the_least_have_smaller_factors_and_few_above_do(loss):
    margins = np.concatenate([np.linspace(-30, 30, 601), [0.999, 1.0, 1.001]]).astype(np.float32)
    factors = np.array([plt_factors.log_probability(m, LOSS_NUMBERS[loss]) for m in margins])
    for wanted in [-np.inf, -900.0, -5.0, -0.7, -1e-3, -1e-13, 0.0]:
        least = plt_factors.least_margin(wanted, LOSS_NUMBERS[loss])
        assert (factors[margins < least] < wanted).all()
        assert (factors[margins > least + 1e-3] >= wanted - 1e-11).all()
