"""Scoring of all features for all labels in the cheapest order of computation, and selection of the best features."""

import numpy as np

from xmlcore.selection.fals import blocks, exact, label_networks, present, sampled
from xmlcore.selection.fals.network import ROW_SAMPLE, sizes_of
from xmlcore.selection.fals.orders import DRAWN, PRESENT, Size, plan
from xmlcore.selection.fals.parameters import FISHER, SHARED
from xmlcore.selection.fals.selecting import BestFeatures


def score(params, network, X, k: int, seed: int, workers, progress) -> dict:
    """Compute the scores of all features for each label, and select the k best features."""
    n_features, n_labels = X.shape[1], network.biases[-1].size
    size, networks = network_size(params, X.shape, n_labels, X.nnz)
    shared = params.pattern in SHARED
    task = blocks.ScoringTask(network, X, params.attribution, params.pattern in FISHER, workers, progress, seed)
    chosen = plan(params, size, networks)
    if params.binary:
        score_blocks = label_networks.scores(task)
    elif chosen.order in ("reference", "expanded", "direct"):
        chosen, score_blocks = _by_slopes(params, task, size, networks, chosen)
    elif chosen.order == "closed form":
        score_blocks = exact.closed_form(task)
    elif chosen.order == DRAWN:
        score_blocks = sampled.sampled_order(task, chosen.n_rows)
    elif chosen.order == PRESENT:
        score_blocks = present.present_order(task, rows=None)
    else:
        random = np.random.default_rng([seed, ROW_SAMPLE])
        rows = np.sort(random.choice(X.shape[0], chosen.n_rows, replace=False))
        score_blocks = present.present_order(task, rows, shared)
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


def _by_slopes(params, task, size, networks, chosen):
    """Return the plan and the blocks of scores for orders that need the derivatives of hidden units for all rows."""
    slopes, references = blocks.slopes(task), None
    if "reference" in chosen.costs:
        task.progress("Comparing rows", 0.0, f"{size.rows:,} rows")
        references = exact.find_references(slopes[0], task.seed)
        chosen = plan(params, size, networks, references.share)
    if chosen.order == "reference":
        return chosen, exact.reference_order(task, references)
    if chosen.order == "expanded":
        return chosen, exact.expanded_order(task, slopes[0])
    if chosen.order == DRAWN:
        return chosen, sampled.sampled_order(task, chosen.n_rows)
    return chosen, exact.direct_order(task, slopes)


def network_size(params, shape: tuple, n_labels: int, nnz: int) -> tuple[Size, int]:
    """Return the sizes that costs depend on, and the number of networks."""
    _, *hidden, n_outputs = sizes_of(params, shape[1], n_labels)
    return Size(*shape, n_outputs, tuple(hidden), nnz), n_labels if params.binary else 1


def score_bytes(shared: bool, n_labels: int, n_features: int, scoring: str) -> int:
    """Return the size in bytes of the scores of all features, with their standard errors if scores are sampled."""
    return 4 * n_features * (1 if shared else n_labels) * (2 if scoring == "sampled" else 1)
