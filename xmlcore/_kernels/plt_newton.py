"""Steps of one row's dual variables towards their optimum, for one child or for sixteen."""

import math

import numpy as np

from xmlcore._kernels._jit import kernel
from xmlcore._kernels.lanes import lane_operation

LOG2_E = np.float32(1.4426950408889634)
ROUND = np.float32(12582912.0)  # 1.5 * 2**23: adding and taking it away rounds a float32 to a whole number
# 2**f for f in [-0.5, 0.5]: Taylor coefficients ln(2)**i / i!, relative error 2e-7.
EXP2 = tuple(np.float32(math.log(2) ** i / math.factorial(i)) for i in range(1, 7))
ZERO = np.float32(0.0)
ONE = np.float32(1.0)
HALF = np.float32(0.5)
SETTLED = np.float32(0.1)  # No further step is taken when the last one changed no margin by more than this.
MOST_STEPS = 40
LIMIT = np.float32(60.0)  # Largest size of a margin in a sigmoid: exp stays finite.


@kernel
def sigmoid(z):
    """Return 1 / (1 + exp(-z)) in float32."""
    return ONE / (ONE + np.float32(math.exp(-max(min(z, LIMIT), -LIMIT))))


def sigmoid_of_lanes(ops, z):
    """Do what :func:`sigmoid` does for sixteen numbers: the relative error is below 1e-6 times the size of z."""
    x = ops.maximum(ops.minimum(z, float(LIMIT)), -float(LIMIT)) * -float(LOG2_E)
    shifted = x + float(ROUND)
    f = x - (shifted - float(ROUND))
    e1, e2, e3, e4, e5, e6 = (float(e) for e in EXP2)
    power = 1.0 + f * (e1 + f * (e2 + f * (e3 + f * (e4 + f * (e5 + f * e6)))))
    return 1.0 / (1.0 + power * ops.power_of_two(shifted))


@lane_operation(n_arrays=7, n_scalars=2)
def begin_logistic(ops, dual, margins, step, low, high, last, used, C, q):
    """Take the first Newton step of sixteen dual variables; see :func:`solve_logistic` for the bracket.

    ``margins`` become z = -y * margin. ``used`` is 1 for a child and 0 for an empty lane, which stays as it is.
    ``high - low`` is the distance from the optimum. Returns the largest change of a margin.
    """
    z = -ops.copysign(used, dual) * margins
    p = sigmoid_of_lanes(ops, z)
    g = (ops.abs(dual) - C * p) * used
    s = -g / (1.0 + C * q * p * (1.0 - p))
    return (dual, z, s, ops.minimum(-g, 0.0), ops.maximum(-g, 0.0), ops.abs(s)), ops.largest(q * ops.abs(s))


@lane_operation(n_arrays=6, n_scalars=2)
def go_on_logistic(ops, dual, z, step, low, high, last, C, q):
    """Take one more step for all sixteen; see :func:`solve_logistic`. Returns the largest change of a margin."""
    p = sigmoid_of_lanes(ops, z - q * step)
    g = ops.abs(dual) + step - C * p
    low = ops.where_less(g, 0.0, step, low)
    high = ops.where_less(g, 0.0, high, step)
    newton = step - g / (1.0 + C * q * p * (1.0 - p))
    middle = 0.5 * (low + high)
    new = ops.where_less(ops.abs(newton - step), 0.5 * last, newton, middle)
    new = ops.where_less(newton, low, middle, ops.where_less(high, newton, middle, new))
    return (dual, z, new, low, high, ops.abs(new - step)), ops.largest(q * ops.abs(new - step))


@lane_operation(n_arrays=2, n_scalars=0)
def end_logistic(ops, dual, step):
    """Move the dual variables by ``step``, which becomes the change of y * a; returns the largest."""
    a = ops.maximum(ops.abs(dual) + step, 0.0)
    moved = ops.copysign(a, dual)
    return (moved, moved - dual), ops.largest(ops.abs(moved - dual))


@lane_operation(n_arrays=1, n_scalars=0)
def largest_size(ops, values):
    """Return the largest absolute value of sixteen numbers."""
    return (), ops.largest(ops.abs(values))


@lane_operation(n_arrays=2, n_scalars=0)
def largest_distance(ops, low, high):
    """Return the largest of sixteen differences ``high - low``."""
    return (), ops.largest(high - low)


@lane_operation(n_arrays=4, n_scalars=2)
def hinge_step(ops, dual, margins, step, used, half, inverse):
    """Move sixteen dual variables of one row to their exact minimum, for the squared hinge.

    Hsieh et al. (2008), algorithm 1, for the L2-loss. ``half`` is 1 / 2C and ``inverse`` 1 / (q + half). Returns the
    largest distance from an optimum, in slack.
    """
    a = ops.abs(dual)
    slack = used - ops.copysign(used, dual) * margins  # 0 in an empty lane, as everything that follows from it
    moved = ops.copysign(ops.maximum(a + (slack - a * half) * inverse, 0.0), dual)
    away = ops.abs(a * half - ops.maximum(slack, 0.0))
    return (moved, margins, moved - dual), ops.largest(away)


@kernel
def solve_logistic(z, a, gradient, step, C, q):
    """Solve a row's optimality condition for one dual variable, from the first Newton step on.

    With z = -y margin the condition is a + s = C sigmoid(z - q s); it has one root s, between 0 and
    minus the condition's value at 0, ``gradient``. Newton's method finds it. The middle of the bracket is taken instead
    where Newton's step leaves the bracket or is more than half of the last one: from one flat end of the sigmoid it
    would jump to the other.
    """
    low = min(-gradient, ZERO)
    high = max(-gradient, ZERO)
    last = abs(step)
    visits = 0
    while q * last > SETTLED and visits < MOST_STEPS:
        p = sigmoid(z - q * step)
        g = a + step - C * p
        if g < ZERO:
            low = step
        else:
            high = step
        newton = step - g / (ONE + C * q * p * (ONE - p))
        if not (newton >= low and newton <= high and abs(newton - step) < HALF * last):
            newton = HALF * (low + high)
        last = abs(newton - step)
        step = newton
        visits += 1
    return step
