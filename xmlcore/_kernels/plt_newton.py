"""Steps of one row's dual variables towards their optimum, for one child or for sixteen.

A node trains a linear classifier for each of its children by dual coordinate descent (Yu, Huang and Lin, 2011). For a
row x with the label y = +1 or -1 and a child, the dual variable is a number a >= 0. It is kept with the sign of y. When
a changes by s, the margin w x changes by y q s. In this file:

- C is the weight of the loss, and q = |x|^2 + 1 (the 1 belongs to the bias);
- z = -y margin, before the row's dual variable is changed;
- s is the total change of a since then.
"""

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
SETTLED = np.float32(0.1)  # No further step is taken after a step that changed no margin by more than this.
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
def begin_logistic(ops, dual, margins, change, low, high, last_length, used, C, q):
    """Take the first Newton step of sixteen dual variables; return the largest change of a margin."""
    # ``change`` becomes the s of the step, ``last_length`` its absolute value, and ``low`` and ``high`` the bracket of
    # :func:`solve_logistic`. ``margins`` become z. ``used`` is 0 for an empty lane, which stays as it is.
    z = -ops.copysign(used, dual) * margins
    p = sigmoid_of_lanes(ops, z)
    g = (ops.abs(dual) - C * p) * used
    s = -g / (1.0 + C * q * p * (1.0 - p))
    return (dual, z, s, ops.minimum(-g, 0.0), ops.maximum(-g, 0.0), ops.abs(s)), ops.largest(q * ops.abs(s))


@lane_operation(n_arrays=6, n_scalars=2)
def go_on_logistic(ops, dual, z, change, low, high, last_length, C, q):
    """Take one more step for all sixteen, as :func:`solve_logistic` does; return the largest change of a margin."""
    p = sigmoid_of_lanes(ops, z - q * change)
    g = ops.abs(dual) + change - C * p
    low = ops.where_less(g, 0.0, change, low)
    high = ops.where_less(g, 0.0, high, change)
    newton = change - g / (1.0 + C * q * p * (1.0 - p))
    middle = 0.5 * (low + high)
    new_change = ops.where_less(ops.abs(newton - change), 0.5 * last_length, newton, middle)
    new_change = ops.where_less(newton, low, middle, ops.where_less(high, newton, middle, new_change))
    length = ops.abs(new_change - change)
    return (dual, z, new_change, low, high, length), ops.largest(q * length)


@lane_operation(n_arrays=2, n_scalars=0)
def end_logistic(ops, dual, change):
    """Add the changes s to the dual variables; ``change`` becomes what was added to y * a. Return the largest size."""
    a = ops.maximum(ops.abs(dual) + change, 0.0)
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
    """Move sixteen dual variables of a row to their minimum, for the squared hinge; return the largest slack."""
    # Hsieh et al. (2008), algorithm 1, for the L2-loss. ``half`` is 1 / 2C and ``inverse`` 1 / (q + half).
    a = ops.abs(dual)
    slack = used - ops.copysign(used, dual) * margins  # 0 in an empty lane, as everything that follows from it
    moved = ops.copysign(ops.maximum(a + (slack - a * half) * inverse, 0.0), dual)
    away = ops.abs(a * half - ops.maximum(slack, 0.0))
    return (moved, margins, moved - dual), ops.largest(away)


@kernel
def solve_logistic(z, a, gradient, s, C, q):
    """Return the change s that moves one dual variable a to its optimum, where a + s = C sigmoid(z - q s)."""
    # ``gradient`` is a - C sigmoid(z), and ``s`` is Newton's first step. The root is between 0 and -gradient: the
    # bracket. Where a step of Newton would leave it, or would be more than half as long as the step before, its middle
    # is taken: the sigmoid is flat at both ends, and Newton's steps could jump from one to the other for ever.
    low = min(-gradient, ZERO)
    high = max(-gradient, ZERO)
    last_length = abs(s)
    steps = 0
    # A step of this length changes the margin by q times as much.
    while q * last_length > SETTLED and steps < MOST_STEPS:
        p = sigmoid(z - q * s)
        g = a + s - C * p
        if g < ZERO:
            low = s
        else:
            high = s
        candidate = s - g / (ONE + C * q * p * (ONE - p))
        if not (candidate >= low and candidate <= high and abs(candidate - s) < HALF * last_length):
            candidate = HALF * (low + high)
        last_length = abs(candidate - s)
        s = candidate
        steps += 1
    return s
