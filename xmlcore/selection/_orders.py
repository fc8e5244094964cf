"""What scoring costs in each order of computation, before it is done."""

import time
from functools import cache
from typing import NamedTuple

import numpy as np

REFERENCES_PER_ROWS, MAX_REFERENCES = 100, 256
TYPICAL_DEVIATION = 0.12  # share of hidden units in which a row differs from its reference; measured once it is known
PASS = 12.0  # what going over a number takes, in multiply-adds of a matrix product
MOVE, CACHED = 100.0, 1 << 25  # the same, of Adam's step of a weight that has left the caches; bytes they hold
STEP = 1e7  # what a training step takes beside its numbers
IG_STEPS = 50


class Size(NamedTuple):
    """What costs depend on."""

    rows: int
    features: int
    labels: int
    hidden: tuple  # widths
    nonzeros: int


def references(n_rows: int) -> int:
    """How many references :func:`xmlcore.selection._scoring.reference_order` takes."""
    return max(1, min(MAX_REFERENCES, n_rows // REFERENCES_PER_ROWS))


def gradient_costs(size: Size, activation: str, deviation: float = TYPICAL_DEVIATION) -> dict:
    """Multiply-adds of the exact orders for the gradient: by name, those that the network allows.

    Parameters
    ----------
    size : Size
    activation : {"relu", "sigmoid"}
    deviation : float
        See ``TYPICAL_DEVIATION``.
    """
    N, D, L = size.rows, size.features, size.labels
    if not size.hidden:
        return {"closed form": float(L * D + N * L)}
    H = size.hidden[0]
    inner = sum(a * b for a, b in zip(size.hidden[:-1], size.hidden[1:]))
    costs = {"direct": N * L * (float(H) * D + inner + PASS * (D + H))}
    if len(size.hidden) == 1:
        costs["expanded"] = L * (N * H * (H / 2 + PASS) + D * H * (H + PASS))
        if activation == "relu":
            bases = references(N) * L * H * D
            costs["reference"] = N * L * D * (deviation * H + PASS) + bases
    return costs


def sampled_cost(size: Size, n_rows: int) -> float:
    """Multiply-adds of scores from ``n_rows`` rows a label."""
    N, D, L = size.rows, size.features, size.labels
    H = size.hidden[0]
    inner = sum(a * b for a, b in zip(size.hidden[:-1], size.hidden[1:]))
    return 2.0 * N * L * H + L * (n_rows + 1.0) * (H * D + inner + PASS * D)


def present_cost(size: Size, method: str, share: float = 1.0) -> float:
    """Multiply-adds of the attributions that only present features have."""
    N, L, nonzeros = size.rows * share, size.labels, size.nonzeros * share
    widths = [*size.hidden, L]
    inner = sum(a * b for a, b in zip(widths[:-1], widths[1:])) or L
    if method != "integrated_gradients":
        return nonzeros * (inner + PASS * L) + N * inner
    if len(size.hidden) == 1:
        H = size.hidden[0]
        return IG_STEPS * N * (2.0 * H * L + PASS * (H + L)) + nonzeros * H * L + N * PASS * H * L
    return IG_STEPS * (nonzeros + N) * (inner + PASS * L)


def training_cost(size: Size, n_epochs: int, batch_size: int, dense: bool, decay: bool = False) -> float:
    """Multiply-adds of training; with weight decay every step moves all weights."""
    N, D, L = size.rows, size.features, size.labels
    widths = [*size.hidden, L]
    later = sum(a * b for a, b in zip(widths[:-1], widths[1:]))
    per_epoch = 3.0 * N * later + N * L * PASS
    nonzeros = N * D if dense else size.nonzeros
    per_epoch += (2.0 if dense else 2 * PASS) * nonzeros * widths[0]
    steps = -(-N // batch_size)
    per_epoch += steps * STEP
    touched = D if decay else min(D, nonzeros / steps)
    first = MOVE if 12 * D * widths[0] > CACHED else 2 * PASS
    per_epoch += steps * (2 * PASS * later + first * touched * widths[0])
    return n_epochs * per_epoch


@cache
def multiply_adds_per_second() -> float:
    """Of one core, in float32 matrix products: measured once, in some hundredths of a second."""
    from threadpoolctl import threadpool_limits

    a = np.ones((512, 512), np.float32)
    out = np.empty_like(a)
    with threadpool_limits(1, user_api="blas"):
        np.matmul(a, a, out=out)
        times = []
        for _ in range(5):
            start = time.perf_counter()
            np.matmul(a, a, out=out)
            times.append(time.perf_counter() - start)
    return 512**3 / min(times)
