"""Dual coordinate descent for the classifiers of up to sixteen siblings (Yu, Huang and Lin, 2011)."""

import math
from typing import NamedTuple

import numpy as np

from xmlcore._kernels._jit import kernel, part
from xmlcore._kernels.lanes import LANES, add_row, margins_of_row
from xmlcore._kernels.plt_factors import LOGISTIC
from xmlcore._kernels.plt_newton import (
    HALF,
    MOST_STEPS,
    ONE,
    SETTLED,
    ZERO,
    begin_logistic,
    end_logistic,
    go_on_logistic,
    hinge_step,
    largest_distance,
    largest_size,
    sigmoid,
    solve_logistic,
)
from xmlcore._kernels.rng import shuffle, stream

# A row whose distance from its optimum is at most this share of the tolerance is skipped until the others are there.
DOZE = np.float32(0.3)
# Most passes that skip rows. The optimum of the skipped rows moves meanwhile, so passes over all rows are needed when
# the others take long.
MOST_PARTIAL = 5


class LocalRows(NamedTuple):
    """The rows of a node, with only the features that occur in them."""

    ptr: np.ndarray  # int64 (m + 1,)
    features: np.ndarray  # uint32: places among the features that occur
    values: np.ndarray  # float32
    squares: np.ndarray  # float32 (m,): |x|^2 + 1 of each row (1 for the bias)


class Costs(NamedTuple):
    """The weights of rows in the loss: of row i that of its row, times a factor where it has the child."""

    of_row: np.ndarray  # float32 (m,): C times the weight of each row
    boost: np.ndarray  # float32 (16,): the factor of each child for the rows that have it
    has_boosts: bool  # whether a factor is not 1


class Lanes(NamedTuple):
    """Memory for one row's visit, of sixteen float32 each."""

    margins: np.ndarray
    step: np.ndarray
    low: np.ndarray
    high: np.ndarray
    last: np.ndarray
    own_dual: np.ndarray
    own_step: np.ndarray


@part
def step_of_one(margin, dual, q, C, loss):
    """Return a dual variable, with its sign, at its optimum, how it changed, and how far it was."""
    y = math.copysign(ONE, dual)
    a = abs(dual)
    slack = ONE - y * margin
    if C == ZERO:
        return dual, ZERO, ZERO
    if loss == LOGISTIC:
        p = sigmoid(slack - ONE)
        g = a - C * p
        away = abs(g) / C
        change = solve_logistic(slack - ONE, a, g, -g / (ONE + C * q * p * (ONE - p)), C, q)
    else:
        half = HALF / C
        away = abs(a * half - max(slack, ZERO))
        change = (slack - a * half) / (q + half)
    new = max(a + change, ZERO)
    return math.copysign(new, y), y * (new - a), away


@part
def visit_for_one(x, i, weights, bias_at, dual, costs, settings):
    """Move the dual variable of row i, and the weights, to its optimum for one child; return how far it was."""
    start = x.ptr[i]
    end = x.ptr[i + 1]
    q = x.squares[i]
    even = weights[bias_at]
    odd = ZERO
    for t in range(start, end - 1, 2):
        even += x.values[t] * weights[x.features[t]]
        odd += x.values[t + 1] * weights[x.features[t + 1]]
    if (end - start) & 1:
        even += x.values[end - 1] * weights[x.features[end - 1]]
    C = costs.of_row[i]
    if math.copysign(ONE, dual[i]) > ZERO:
        C *= costs.boost[0]
    dual[i], change, away = step_of_one(even + odd, dual[i], q, C, settings.loss)
    if change != ZERO:
        weights[bias_at] += change
        for t in range(start, end):
            weights[x.features[t]] += x.values[t] * change
    return away


@part
def take_boosted(at, dual, used, costs, lanes, q, C, loss):
    """Take the steps of the children that the row has and whose factor is not 1, and empty their lanes for a while."""
    away = ZERO
    for c in range(LANES):
        if used[c] == ONE and costs.boost[c] != ONE and math.copysign(ONE, dual[at + c]) > ZERO:
            moved, step, distance = step_of_one(lanes.margins[c], dual[at + c], q, C * costs.boost[c], loss)
            lanes.own_dual[c] = moved
            lanes.own_step[c] = step
            away = max(away, distance)
            dual[at + c] = ZERO
            used[c] = -ZERO
    return away


@part
def put_boosted(at, dual, used, lanes):
    """Put the steps of :func:`take_boosted` among those of the other lanes; return the largest size."""
    largest = ZERO
    for c in range(LANES):
        if used[c] == ZERO and math.copysign(ONE, used[c]) < ZERO:
            used[c] = ONE
            dual[at + c] = lanes.own_dual[c]
            lanes.step[c] = lanes.own_step[c]
            largest = max(largest, abs(lanes.own_step[c]))
    return largest


@part
def visit_for_sixteen(x, i, weights, bias_at, dual, used, costs, lanes, settings):
    """Do the work of :func:`visit_for_one` for sixteen children; return the largest distance."""
    at = i * LANES
    q = x.squares[i]
    C = costs.of_row[i]
    margins_of_row(weights, bias_at, x.features, x.values, x.ptr[i], x.ptr[i + 1], lanes.margins)
    own_away = take_boosted(at, dual, used, costs, lanes, q, C, settings.loss) if costs.has_boosts else ZERO
    if settings.loss == LOGISTIC:
        move = begin_logistic(at, dual, lanes.margins, lanes.step, lanes.low, lanes.high, lanes.last, used, C, q)
        away = largest_distance(0, lanes.low, lanes.high) / C
        steps = 0
        while move > SETTLED and steps < MOST_STEPS:
            move = go_on_logistic(at, dual, lanes.margins, lanes.step, lanes.low, lanes.high, lanes.last, C, q)
            steps += 1
        moved = end_logistic(at, dual, lanes.step)
    else:
        half = HALF / C
        away = hinge_step(at, dual, lanes.margins, lanes.step, used, half, ONE / (q + half))
        moved = largest_size(0, lanes.step)
    if costs.has_boosts:
        moved = max(moved, put_boosted(at, dual, used, lanes))
        away = max(away, own_away)
    if moved > ZERO:
        add_row(weights, bias_at, x.features, x.values, x.ptr[i], x.ptr[i + 1], lanes.step)
    return away


@part
def visit_rows(x, order, awake, weights, bias_at, dual, used, costs, lanes, settings):
    """Move the dual variables of the first ``awake`` rows of ``order`` to their optimum; those far off come first."""
    violation = ZERO
    kept = 0
    is_one = dual.size == x.squares.size
    for o in range(awake):
        i = order[o]
        if costs.of_row[i] == ZERO:
            away = ZERO
        elif is_one:
            away = visit_for_one(x, i, weights, bias_at, dual, costs, settings)
        else:
            away = visit_for_sixteen(x, i, weights, bias_at, dual, used, costs, lanes, settings)
        violation = max(violation, away)
        if away > DOZE * settings.tol:
            order[o] = order[kept]
            order[kept] = i
            kept += 1
    return violation, kept


@kernel
def descend(x, order, awake, weights, bias_at, dual, used, costs, settings, number):
    """Train up to sixteen children by dual coordinate descent on the rows in ``order``, which is shuffled."""
    # Each row has one dual variable a per child, with w = sum_i a_i y_i x_i at any time. Rows are visited in an order
    # shared by the children. A row whose dual variables are all near their optimum is skipped until the others are
    # within the tolerance as well, or for ``MOST_PARTIAL`` passes. The descent ends after a pass over all rows in which
    # no distance exceeded the tolerance. The zeros of ``dual`` have the sign of y. Returns the rows visited, and the
    # largest distance in the last pass. The first ``awake`` rows are visited alone at first, and no others if they are
    # within the tolerance at once.
    m = order.size
    lanes = Lanes(
        np.zeros(LANES, np.float32), np.zeros(LANES, np.float32), np.zeros(LANES, np.float32),
        np.zeros(LANES, np.float32), np.zeros(LANES, np.float32), np.zeros(LANES, np.float32),
        np.zeros(LANES, np.float32),
    )  # fmt: skip
    passes = 0  # since all rows were visited
    visits = 0
    violation = np.float32(np.inf)
    state = stream(settings.seed, number)
    while visits < settings.max_epochs * m:
        awake = min(awake, settings.max_epochs * m - visits)
        state = shuffle(order[:awake], state)
        violation, kept = visit_rows(x, order, awake, weights, bias_at, dual, used, costs, lanes, settings)
        visits += awake
        if awake < m:
            passes += 1
            wake = violation <= settings.tol or passes == MOST_PARTIAL
            if wake and visits == awake:
                break
            violation = np.float32(np.inf)  # nothing is known of the rows that were skipped
        else:
            if violation <= settings.tol:
                break
            passes = 0
            wake = False
        awake = m if wake else kept
    return visits, violation
