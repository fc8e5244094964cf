"""Steps of dual variables are those of the plain-Python twins, for one child and for sixteen."""

import naive
import numpy as np
import pytest
from numba import njit

from xmlcore._kernels import plt_newton


@njit
def begin_logistic(dual, margins, step, low, high, last, used, C, q):
    return plt_newton.begin_logistic(0, dual, margins, step, low, high, last, used, C, q)


@njit
def go_on_logistic(dual, z, step, low, high, last, C, q):
    return plt_newton.go_on_logistic(0, dual, z, step, low, high, last, C, q)


@njit
def end_logistic(dual, step):
    return plt_newton.end_logistic(0, dual, step)


@njit
def hinge_step(dual, margins, step, used, half, inverse):
    return plt_newton.hinge_step(0, dual, margins, step, used, half, inverse)


def sixteen(values):
    return np.resize(np.asarray(values, np.float32), 16)


def test_sigmoids_are_right_to_float32_rounding_of_their_argument():
    margins = np.concatenate([np.linspace(-90, 90, 2001), [0, 1e-6, -1e-6]]).astype(np.float32)
    expected = [naive.plt_newton.sigmoid(float(m)) for m in margins]
    np.testing.assert_allclose([plt_newton.sigmoid(m) for m in margins], expected, rtol=6e-6)
    low, high, step, last = (sixteen(0) for _ in range(4))
    found = []
    for first in range(
        0, margins.size, 16
    ):  # with a = 0, y = -1, C = 1, the distance from the optimum is sigmoid(margin)
        z = sixteen(margins[first : first + 16])
        begin_logistic(sixteen(-0.0), z, step, low, high, last, sixteen(1), np.float32(1), np.float32(1))
        found += (high - low).tolist()
    np.testing.assert_allclose(found[: margins.size], expected, rtol=6e-6)


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2, 1e4])
def test_a_visit_solves_the_rows_equation_wherever_it_starts(C):
    rng_ = np.random.default_rng(0)
    n, q = 512, 2.0
    y = rng_.choice([-1.0, 1.0], n)
    z = (20 * rng_.standard_normal(n)).astype(np.float32)
    a = (C * rng_.choice([0.0, 1.0, 1e-4, 0.5], n)).astype(np.float32)
    at_zero = a - C * np.array([naive.plt_newton.sigmoid(-m) for m in z])
    slope = np.array([1 + C * q * naive.plt_newton.sigmoid(-m) * naive.plt_newton.sigmoid(m) for m in z])
    alone = np.array(
        [
            plt_newton.solve_logistic(-z[i], a[i], np.float32(at_zero[i]), np.float32(-at_zero[i] / slope[i]), C, q)
            for i in range(n)
        ]
    )
    together = []
    for i in range(0, n, 16):
        margins, dual = y[i : i + 16] * z[i : i + 16], np.copysign(a[i : i + 16], y[i : i + 16])
        margins, dual, before = margins.astype(np.float32), dual.astype(np.float32), a[i : i + 16]
        step, low, high, last = (sixteen(0) for _ in range(4))
        move = begin_logistic(dual, margins, step, low, high, last, sixteen(1), np.float32(C), np.float32(q))
        np.testing.assert_allclose(high - low, np.abs(at_zero[i : i + 16]), atol=1e-5 * C)
        steps = 0
        while move > plt_newton.SETTLED and steps < plt_newton.MOST_STEPS:
            move = go_on_logistic(dual, margins, step, low, high, last, np.float32(C), np.float32(q))
            steps += 1
        together += step.tolist()
        end_logistic(dual, step)
        np.testing.assert_allclose(np.abs(dual), before + step * y[i : i + 16], rtol=1e-5, atol=1e-6 * C)
    for s in (alone, np.array(together)):
        s = np.maximum(s, -a)
        wanted = C * np.array([naive.plt_newton.sigmoid(-m) for m in z + q * s])
        assert np.abs(a + s - wanted).max() <= (1 + C * q / 4) * plt_newton.SETTLED / q  # slope times step


def test_a_hinge_visit_is_the_exact_minimum():
    rng_ = np.random.default_rng(1)
    C, q = 0.7, 1.8
    y, margins = rng_.choice([-1.0, 1.0], 16), 3 * rng_.standard_normal(16)
    a = rng_.choice([0.0, 0.4, 2.0], 16)
    dual, step, used = np.copysign(a, y).astype(np.float32), sixteen(0), sixteen(1)
    half = np.float32(0.5 / C)
    away = hinge_step(dual, margins.astype(np.float32), step, used, half, np.float32(1 / (q + half)))
    expected, distances = naive.plt_newton.hinge_steps(margins, a, (y + 1) / 2, q, C)
    np.testing.assert_allclose(step, y * expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(dual, np.copysign(a + expected, y), rtol=1e-5, atol=1e-6)
    assert away == pytest.approx(max(distances) / C, rel=1e-5)
