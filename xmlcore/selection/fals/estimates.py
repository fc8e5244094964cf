"""Estimates of the time and memory that fitting a FALS needs."""

import time
from functools import cache

import numpy as np

from xmlcore import system
from xmlcore.selection.fals import blocks, sampled
from xmlcore.selection.fals.exact import rows_at_once
from xmlcore.selection.fals.network import sizes_of
from xmlcore.selection.fals.orders import CHOICE, DRAWN, PRESENT, PRESENT_SAMPLED, SLOPE, plan, training_cost
from xmlcore.selection.fals.parameters import SHARED
from xmlcore.selection.fals.scoring import network_size, score_bytes
from xmlcore.selection.fals.selecting import check_n_scored_rows
from xmlcore.selection.fals.training import DENSE, batch_size, steps_per_epoch
from xmlcore.system import effective_jobs
from xmlcore.validation import check_count, check_features

BLOCK_BYTES = {PRESENT: 20, PRESENT_SAMPLED: 48}  # of each score of a block, in these orders; else 4
LABEL_BYTES = 340  # that each label takes besides its weights and scores
STEP_BYTES = 40  # that each step of training takes while the lengths of all steps are computed


def estimate(params, X, n_labels: int, nnz: int | None) -> dict:
    """Return the dict of :meth:`xmlcore.FALS.estimate`."""
    (n_rows, n_features), nnz = _shape(X, nnz)
    check_n_scored_rows(params, n_rows)
    sizes = sizes_of(params, n_features, n_labels)
    size, networks = network_size(params, (n_rows, n_features), n_labels, nnz)
    order, scoring, costs, _ = plan(params, size, networks)
    dense, batch = _is_dense(params, n_rows, n_features, nnz), batch_size(params.batch_size, n_rows)
    training = networks * training_cost(size, params.n_epochs, batch, dense, params.l2 > 0)
    speed = multiply_adds_per_second() * effective_jobs(params.n_jobs)
    scored = costs[order] + n_labels * (CHOICE * n_features + (SLOPE * n_rows if scoring == "exact" else 0))
    return {
        "seconds": (training + scored) / speed,
        "training_seconds": training / speed,
        "scoring_seconds": scored / speed,
        "bytes": needed_bytes(params, (n_rows, n_features), n_labels, nnz),
        "order": order,
        "scoring": scoring,
        "n_hidden": sizes[1] if len(sizes) > 2 else 0,
        "n_steps": params.n_epochs * steps_per_epoch(n_rows, batch),
        "costs": costs,
    }


def _is_dense(params, n_rows, n_features, nnz) -> bool:
    return nnz > DENSE * n_rows * n_features and not params.binary


def check_memory(params, X, n_labels: int) -> None:
    """Raise MemoryError if ``fit`` needs more memory than is free; accept any size if free memory is unknown."""
    of = f"{X.shape[1]:,} features and {n_labels:,} labels"
    remedy = "leave out labels that no row has and rare features, or set n_hidden or n_epochs to a smaller number"
    system.check_memory(needed_bytes(params, X.shape, n_labels, X.nnz), "FALS", of, remedy)


def needed_bytes(params, shape, n_labels: int, nnz: int) -> int:
    """Return the memory in bytes that ``fit`` needs at most, besides X and Y; see :func:`estimate`."""
    n_rows, n_features = shape
    sizes = sizes_of(params, n_features, n_labels)
    size, networks = network_size(params, shape, n_labels, nnz)
    order, scoring, _, rows_scored = plan(params, size, networks)
    dense = _is_dense(params, n_rows, n_features, nnz)
    batch, threads = batch_size(params.batch_size, n_rows), effective_jobs(params.n_jobs)
    weights = sum((a + 1) * b for a, b in zip(sizes[:-1], sizes[1:]))
    n_steps = params.n_epochs * steps_per_epoch(n_rows, batch)
    training_bytes = 12 * weights + 12 * batch * sum(sizes[1:]) + (4 * n_rows * n_features if dense else 0)
    if params.binary:
        training_bytes = 4 * weights * networks + threads * 8 * weights + 8 * params.n_epochs * n_rows
    training_bytes += STEP_BYTES * n_steps
    kept = min(score_bytes(params.pattern in SHARED, n_labels, n_features, scoring), params.max_score_bytes)
    width = 1 if params.activation == "relu" else 4
    slopes = width * n_rows * sum(sizes[1:-1]) if order in ("reference", "expanded", "direct") else 0
    scoring_bytes = 4 * weights * networks + slopes + kept + min(blocks.MEMORY, 8 * n_labels * n_rows)
    scoring_bytes += LABEL_BYTES * n_labels + _at_once_bytes(order, n_rows, n_features, n_labels, sizes[1], threads)
    if order == DRAWN:
        at_once = min(sampled.rows_at_once(n_features), 16 * (rows_scored + 1))
        scoring_bytes += threads * 12 * at_once * (n_features + sizes[1])
        scoring_bytes += min(blocks.MEMORY, 8 * n_labels * rows_scored)
    return int(max(training_bytes, scoring_bytes))


def _at_once_bytes(order, n_rows, n_features, n_labels, n_hidden, threads) -> int:
    """Return the memory of a block of labels whose scores are computed, and of what threads need for that."""
    of_label = BLOCK_BYTES.get(order, 4) * n_features
    of_thread = {"expanded": 4 * n_hidden + 24, "direct": 8 * rows_at_once(n_rows, n_features) + 16}.get(order, 0)
    return max(of_label, min(blocks.MEMORY, of_label * n_labels)) + threads * of_thread * n_features


def _shape(X, nnz):
    """Return the shape of X and its number of non-zero values; ``nnz`` None means all values if X is a shape."""
    nnz = None if nnz is None else check_count(nnz, "nnz", 0)
    if not isinstance(X, tuple):
        X = check_features(X)
        return X.shape, X.nnz
    if len(X) != 2:
        raise ValueError(f"X as a shape must be (rows, features), not {X!r:.200}")
    n_rows, n_features = (check_count(n, name) for n, name in zip(X, ("rows", "features")))
    most = n_rows * n_features
    return (n_rows, n_features), most if nnz is None else check_count(nnz, "nnz", 0, most)


@cache
def multiply_adds_per_second() -> float:
    """Return the multiply-adds per second of one core in float32 matrix products."""
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
