"""Fits of power laws against brute force, samples with a known exponent, and the package powerlaw."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import zeta

from xmlcore.datasets.statistics.power_law import (
    PowerLaw,
    _draw,
    _table,
    compare_with_power_law,
    fit_power_law,
    goodness_of_fit,
    power_law_curve,
)


def sample(alpha, n, seed=0, x_min=1):
    rng = np.random.default_rng(seed)
    fit = PowerLaw(alpha, 0.0, x_min, n, n, 0.0)
    return _draw(fit, _table(fit), n, rng)


@pytest.mark.parametrize("alpha, x_min", [(1.6, 1), (2.5, 1), (2.5, 7), (3.5, 30)])
def test_the_exponent_of_a_sample_is_found_within_its_error(alpha, x_min):
    fit = fit_power_law(sample(alpha, 20_000, x_min=x_min), x_min)
    assert abs(fit.alpha - alpha) < 3 * fit.alpha_error < 0.15
    assert (fit.x_min, fit.n_tail, fit.n) == (x_min, 20_000, 20_000)


def test_a_fit_maximises_the_likelihood_and_minimises_the_distance():
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


def test_the_error_of_alpha_is_that_of_many_samples():
    fits = [fit_power_law(sample(2.2, 500, seed), 1) for seed in range(60)]
    assert np.std([fit.alpha for fit in fits]) == pytest.approx(np.mean([fit.alpha_error for fit in fits]), rel=0.25)


def test_a_draw_has_the_shares_of_the_power_law_also_beyond_the_table():
    x = sample(1.3, 200_000)
    for least in (1, 2, 10, 1000, 10**6, 10**9):
        share = zeta(1.3, float(least)) / zeta(1.3, 1.0)
        assert (x >= least).mean() == pytest.approx(share, abs=4 * math.sqrt(share / x.size))


def test_a_power_law_passes_its_test_and_another_distribution_does_not():
    law, other = sample(2.4, 800), np.random.default_rng(0).poisson(20, 800)
    passed, failed = (goodness_of_fit(x, fit_power_law(x, 1), n_samples=60) for x in (law, 1 + other))
    assert passed.p > 0.2 and failed.p == 0
    assert passed.alpha_low < 2.4 < passed.alpha_high
    again = goodness_of_fit(law, fit_power_law(law, 1), n_samples=60)
    assert again == passed and goodness_of_fit(law, n_samples=5, random_state=1) != goodness_of_fit(law, n_samples=5)


def test_the_p_values_of_power_laws_are_spread_evenly():
    p = [goodness_of_fit(sample(2.0, 100, seed), n_samples=20, random_state=seed).p for seed in range(20)]
    assert 0.3 < np.mean(p) < 0.7 and np.mean(np.array(p) < 0.1) < 0.3


def test_the_curve_passes_through_the_number_of_counts_in_the_tail():
    fit = fit_power_law(sample(2.5, 1000, x_min=4), 4)
    curve = power_law_curve(fit, 500)
    assert curve["count"].iloc[-1] == 4 and curve["rank"].iloc[-1] == pytest.approx(1000)
    assert curve["count"].iloc[0] == pytest.approx(500) and curve["rank"].is_monotonic_increasing


def test_a_tail_of_close_large_counts_has_a_steep_power_law_and_no_warning():
    fit = fit_power_law([10**7, 10**7 + 1, 10**7 + 3] * 5)
    assert fit.alpha == 50 and 0 < fit.distance < 1 and fit.alpha_error > 0
    assert np.isfinite(compare_with_power_law([10**7, 10**7 + 1, 10**7 + 3] * 5, fit)["ratio"]).all()


@pytest.mark.parametrize("counts", [[], [0, 0], [3], [5, 5, 5, 0]])
def test_fewer_than_two_different_counts_have_no_power_law(counts):
    fit = fit_power_law(counts)
    assert math.isnan(fit.alpha) and fit.n_tail == 0
    assert math.isnan(goodness_of_fit(counts, n_samples=2).p)
    assert compare_with_power_law(counts).empty and power_law_curve(fit, 10).empty


def test_counts_that_are_a_matrix_are_refused_before_scipy_sees_a_damaged_one():
    damaged = sp.csr_array(np.eye(3))
    damaged.indptr = np.array([0, 5, 2, 3], np.int32)
    for function in (fit_power_law, compare_with_power_law):
        with pytest.raises(ValueError, match="counts must be whole numbers"):
            function(damaged)


@pytest.mark.parametrize("counts", [[1] * 30 + [2] * 5, [1, 7], [1, 1, 2, 9, 9, 9, 50]])
def test_two_different_counts_in_the_tail_can_decide_nothing(counts):
    fit = fit_power_law(counts, 9 if 9 in counts else None)
    tested = goodness_of_fit(counts, fit, n_samples=3)
    assert math.isfinite(fit.alpha) and tested.n_samples == 3
    assert all(math.isnan(value) for value in tested[:-1])
    assert not math.isnan(goodness_of_fit([*counts, 100], fit, n_samples=3).p)


def test_alternatives_are_told_apart_where_the_data_can():
    law = compare_with_power_law(sample(2.2, 3000), fit_power_law(sample(2.2, 3000), 1)).set_index("distribution")
    assert law.loc["exponential", "ratio"] > 3 and law.loc["exponential", "p"] < 0.01
    bell = 1 + np.random.default_rng(0).poisson(np.exp(np.random.default_rng(1).normal(3, 0.5, 3000)))
    bell = compare_with_power_law(bell, fit_power_law(bell, 1)).set_index("distribution")
    assert bell.loc["log-normal", "ratio"] < -3


def test_fit_and_comparison_are_those_of_the_package_powerlaw():
    powerlaw = pytest.importorskip("powerlaw")
    counts = sample(2.3, 2000, 5, 3)
    theirs = powerlaw.Fit(counts, discrete=True, estimate_discrete=False, xmin=3, verbose=False)
    mine = fit_power_law(counts, 3)
    assert mine.alpha == pytest.approx(theirs.power_law.alpha, abs=2e-3)
    ratio, p = theirs.distribution_compare("power_law", "exponential", normalized_ratio=True)
    found = compare_with_power_law(counts, mine).set_index("distribution").loc["exponential"]
    assert found["ratio"] == pytest.approx(ratio, rel=0.02)
