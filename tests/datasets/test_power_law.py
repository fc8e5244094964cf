"""Fits of power laws against brute force, samples with a known exponent, and the package powerlaw."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import zeta

from xmlcore.datasets import fit_power_law


def sample(alpha, n, seed=0, x_min=1):
    """Draw counts from a power law: exactly below 100,000, beyond that from a continuous one."""
    drawn, table = 1 - np.random.default_rng(seed).random(n), zeta(alpha, x_min + np.arange(100_001.0))
    x = np.searchsorted(-table / table[0], -drawn, side="right") - 1
    far = (x_min + 99_999.5) * (drawn * table[0] / table[-1]) ** (-1 / (alpha - 1))
    return np.where(x < 100_000, x + x_min, np.minimum(far, 2**62)).astype(np.int64)


@pytest.mark.parametrize("alpha, x_min", [(1.6, 1), (2.5, 1), (2.5, 7), (3.5, 30)])
def test_the_exponent_of_a_sample_is_found_within_its_error(alpha, x_min):
    fit = fit_power_law(sample(alpha, 20_000, x_min=x_min), x_min)
    assert abs(fit.alpha - alpha) < 3 * fit.alpha_error < 0.15
    assert (fit.x_min, fit.n_tail, fit.n) == (x_min, 20_000, 20_000)


def test_a_fit_has_most_likelihood_and_least_distance():
    rng = np.random.default_rng(3)
    counts = np.concatenate([sample(2.3, 150, 1, 5), rng.integers(1, 5, 100)])
    found, best = fit_power_law(counts), None
    for x_min in np.unique(counts)[:-1]:
        tail = counts[counts >= x_min]
        alphas = np.linspace(1.05, 8, 20_000)
        likelihood = -tail.size * np.log(zeta(alphas, x_min)) - alphas * np.log(tail).sum()
        alpha = alphas[likelihood.argmax()]
        every = np.arange(x_min, tail.max() + 1)
        data = np.array([(tail <= x).mean() for x in every])
        distance = np.abs(data - (1 - zeta(alpha, every + 1.0) / zeta(alpha, x_min))).max()
        if best is None or distance < best[0]:
            best = distance, alpha, x_min
    assert found.x_min == best[2]
    assert (found.distance, found.alpha) == pytest.approx(best[:2], abs=1e-3)


def test_a_tail_of_close_large_counts_has_a_steep_power_law():
    fit = fit_power_law([10**7, 10**7 + 1, 10**7 + 3] * 5)
    assert fit.alpha == 50 and 0 < fit.distance < 1 and fit.alpha_error > 0


@pytest.mark.parametrize("counts", [[], [0, 0], [3], [5, 5, 5, 0]])
def test_fewer_than_two_different_counts_have_no_power_law(counts):
    fit = fit_power_law(counts)
    assert math.isnan(fit.alpha) and fit.n_tail == 0


def test_counts_that_are_a_matrix_are_refused():
    damaged = sp.csr_array(np.eye(3))
    damaged.indptr = np.array([0, 5, 2, 3], np.int32)
    with pytest.raises(ValueError, match="counts must be whole numbers"):
        fit_power_law(damaged)


def test_the_fit_is_that_of_the_package_powerlaw():
    powerlaw = pytest.importorskip("powerlaw")
    counts = sample(2.3, 2000, 5, 3)
    theirs = powerlaw.Fit(counts, discrete=True, estimate_discrete=False, xmin=3, verbose=False)
    mine = fit_power_law(counts, 3)
    assert mine.alpha == pytest.approx(theirs.power_law.alpha, abs=2e-3)
