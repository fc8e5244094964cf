"""Scoring of all features for all labels in the cheapest order of computation, and the memory that a fit needs."""

import numpy as np

from xmlcore import system
from xmlcore.selection.fals import blocks, exact, label_networks, present, sampled
from xmlcore.selection.fals.network import ROW_SAMPLE, sizes_of
from xmlcore.selection.fals.orders import DRAWN, PRESENT, PRESENT_SAMPLED, Size, plan
from xmlcore.selection.fals.parameters import FISHER, SHARED
from xmlcore.selection.fals.selecting import BestFeatures, check_n_scored_rows
from xmlcore.selection.fals.training import DENSE, batch_size, steps_per_epoch
from xmlcore.system import effective_jobs
from xmlcore.validation import check_count, check_features

BLOCK_BYTES = {PRESENT: 20, PRESENT_SAMPLED: 48}  # of each score of a block, in these orders; else 4
BY_SLOPES = ("reference", "expanded", "direct")  # orders that need the derivatives of hidden units for all rows
LABEL_BYTES = 340  # that each label takes besides its weights and scores
STEP_BYTES = 40  # that each step of training takes while the lengths of all steps are computed


def score(params, network, X, k: int, seed: int, workers, progress) -> dict:
    """Compute the scores of all features for each label, and select the k best features."""
    n_features, n_labels = X.shape[1], network.biases[-1].size
    size, networks = network_size(params, X.shape, n_labels, X.nnz)
    shared = params.pattern in SHARED
    task = blocks.ScoringTask(network, X, params.attribution, params.pattern in FISHER, workers, progress, seed)
    chosen, slopes, references = plan(params, size, networks), None, None
    if not params.binary and chosen.order in BY_SLOPES:
        slopes = blocks.slopes(task)
        if "reference" in chosen.costs:
            task.progress("Comparing rows", 0.0, f"rows: {size.rows:,}")
            references = exact.find_references(slopes[0], seed)
            chosen = plan(params, size, networks, references.share)

    def some_rows():
        random = np.random.default_rng([seed, ROW_SAMPLE])
        return np.sort(random.choice(X.shape[0], chosen.n_rows, replace=False))

    in_order = {
        "closed form": lambda: exact.closed_form(task),
        "reference": lambda: exact.reference_order(task, references),
        "expanded": lambda: exact.expanded_order(task, slopes[0]),
        "direct": lambda: exact.direct_order(task, slopes),
        DRAWN: lambda: sampled.sampled_order(task, chosen.n_rows),
        PRESENT: lambda: present.present_order(task, rows=None),
        PRESENT_SAMPLED: lambda: present.present_order(task, some_rows(), shared),
    }
    score_blocks = label_networks.scores(task) if params.binary else in_order[chosen.order]()
    keep_scores = score_bytes(shared, n_labels, n_features, chosen.scoring) <= params.max_score_bytes
    selection = BestFeatures(n_labels, n_features, k, shared, keep_scores, chosen.scoring == "sampled")
    for block in score_blocks:
        selection.add(block)
    return selection.fitted() | {
        "order_": chosen.order,
        "scoring_": chosen.scoring,
        "n_scored_": int(chosen.n_rows),
        "costs_": chosen.costs,
    }


def network_size(params, shape: tuple, n_labels: int, nnz: int) -> tuple[Size, int]:
    """Return the sizes that costs depend on, and the number of networks."""
    _, *hidden, n_outputs = sizes_of(params, shape[1], n_labels)
    return Size(*shape, n_outputs, tuple(hidden), nnz), n_labels if params.binary else 1


def score_bytes(shared: bool, n_labels: int, n_features: int, scoring: str) -> int:
    """Return the size in bytes of the scores of all features, with their standard errors if scores are sampled."""
    return 4 * n_features * (1 if shared else n_labels) * (2 if scoring == "sampled" else 1)


# --- memory ---


def estimate(params, X, n_labels: int, nnz: int | None) -> dict:
    """Return the dict of :meth:`xmlcore.FALS.estimate`."""
    (n_rows, n_features), nnz = _shape(X, nnz)
    check_n_scored_rows(params, n_rows)
    sizes = sizes_of(params, n_features, n_labels)
    order, scoring, costs, _ = plan(params, *network_size(params, (n_rows, n_features), n_labels, nnz))
    return {
        "bytes": needed_bytes(params, (n_rows, n_features), n_labels, nnz),
        "order": order,
        "scoring": scoring,
        "n_hidden": sizes[1] if len(sizes) > 2 else 0,
        "n_steps": params.n_epochs * steps_per_epoch(n_rows, batch_size(params.batch_size, n_rows)),
        "costs": costs,
    }


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
    dense = nnz > DENSE * n_rows * n_features and not params.binary
    batch, threads = batch_size(params.batch_size, n_rows), effective_jobs(params.n_jobs)
    weights = sum((a + 1) * b for a, b in zip(sizes[:-1], sizes[1:]))
    n_steps = params.n_epochs * steps_per_epoch(n_rows, batch)
    training_bytes = 12 * weights + 12 * batch * sum(sizes[1:]) + (4 * n_rows * n_features if dense else 0)
    if params.binary:
        training_bytes = 4 * weights * networks + threads * 8 * weights + 8 * params.n_epochs * n_rows
    training_bytes += STEP_BYTES * n_steps
    kept = min(score_bytes(params.pattern in SHARED, n_labels, n_features, scoring), params.max_score_bytes)
    width = 1 if params.activation == "relu" else 4
    slopes = width * n_rows * sum(sizes[1:-1]) if order in BY_SLOPES else 0
    scoring_bytes = 4 * weights * networks + slopes + kept + min(blocks.MEMORY, 8 * n_labels * n_rows)
    # Of a block of labels whose scores are computed, and what threads need for that.
    of_label = BLOCK_BYTES.get(order, 4) * n_features
    of_thread = {"expanded": 4 * sizes[1] + 24, "direct": 8 * exact.rows_at_once(n_rows, n_features) + 16}.get(order, 0)
    scoring_bytes += max(of_label, min(blocks.MEMORY, of_label * n_labels)) + threads * of_thread * n_features
    scoring_bytes += LABEL_BYTES * n_labels
    if order == DRAWN:
        at_once = min(sampled.rows_at_once(n_features), 16 * (rows_scored + 1))
        scoring_bytes += threads * 12 * at_once * (n_features + sizes[1])
        scoring_bytes += min(blocks.MEMORY, 8 * n_labels * rows_scored)
    return int(max(training_bytes, scoring_bytes))


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
