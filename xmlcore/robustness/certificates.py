"""How much a row can change, in any way whatsoever, without another label becoming the first."""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels import certificates as kernels
from xmlcore.models.linear_nodes import LOSS_NUMBERS
from xmlcore.models.plt import PLT
from xmlcore.parallel import run_tasks
from xmlcore.progress import Progress, silent
from xmlcore.validation import csr_parts

FLOAT32_ROUNDING = 2.0**-24
FLOAT64_ROUNDING = 2.0**-53
MARGIN = 1e-6  # taken off the radius: rounding on the way to it, and never the whole length of the row
TASK_ROWS = 64


class Certificates(NamedTuple):
    """What is certified of n rows.

    Attributes
    ----------
    label : ndarray of int32, shape (n,)
        The label that is ranked first.
    radius : ndarray of float64, shape (n,)
        In the unit of the values of X: no change of the row of at most this L2 norm puts another label first.
    relative : ndarray of float64, shape (n,)
        The radius divided by the row's length, below 1; 0 for rows of zeros.
    rival : ndarray of int32, shape (n,)
        The label at which the bound ends, -1 where none does before the row could become zero.
    """

    label: np.ndarray
    radius: np.ndarray
    relative: np.ndarray
    rival: np.ndarray


def certified_radius(model, X, n_jobs: int | None = None, progress: Progress = silent) -> Certificates:
    """Lower bounds on the L2 norm of a change that can put another label first.

    They hold for every change of the row, found by no search and refuted by no attack: for any row x' of float32 values
    within the radius of x, ``model.predict_topk(x', k=1)`` has the same label. How the bound is made is said in
    ``xmlcore._kernels.certificates``; it is exact to first order, so for small radii close to the truth, and looser
    the further a row is from the border to another label.

    Parameters
    ----------
    model : PLT
        Fitted, of one tree, searched exactly; or an :class:`AdversarialTraining` of one.
    X : sparse or dense, shape (n, D)
    n_jobs : int, optional
        Threads; all cores when None. Without effect on the result.
    progress : callable, optional
        See :class:`xmlcore.progress.Progress`.

    Returns
    -------
    Certificates
        The radius is 0 for a row of zeros, which has no direction, and where the first label is tied with another one,
        or so near to it that rounding in float32 could decide. It stays below the row's length: a change of that
        length can make the row anything.

    Raises
    ------
    ValueError, TypeError
        Another model than a PLT of one tree without a beam, or data that do not fit it.

    Notes
    -----
    O(weights * depth) time once, then per row the weights of the nodes that cannot be ruled out as a whole, some
    milliseconds for thousands of labels. Memory beside the model's: the weights once more, in features, and per thread
    O(features of the label's path * depth + nodes * depth).
    """
    model = getattr(model, "model_", model)
    _check_model(model)
    X = model._check_input(X)
    labels = model.predict_topk(X, k=1).labels[:, 0]
    nodes, rounding = _nodes(model)
    linear = model._all_linear_nodes()[0]
    x, n = csr_parts(X), X.shape[0]
    angles, rivals = np.zeros(n), np.full(n, -1, np.int32)
    order = np.lexsort((np.arange(n), labels))

    def one_task(rows):
        angle, rival = np.zeros(rows.size), np.full(rows.size, -1, np.int32)
        kernels.certify_rows(
            nodes, linear.leaf_of_label, linear.root_has_factor, LOSS_NUMBERS[linear.loss], *x, rows, labels[rows],
            rounding, X.shape[1], angle, rival,
        )  # fmt: skip
        angles[rows], rivals[rows] = angle, rival

    tasks = [order[start : start + TASK_ROWS] for start in range(0, n, TASK_ROWS)]
    run_tasks(one_task, tasks, [rows.size for rows in tasks], n_jobs, progress, "Certifying", "blocks of rows")
    relative = np.sin(angles) * (1.0 - MARGIN)
    row = np.repeat(np.arange(n), np.diff(x[0]))
    lengths = np.sqrt(np.bincount(row, x[2].astype(np.float64) ** 2, n))
    return Certificates(labels, relative * lengths, relative, rivals)


def _check_model(model):
    supported = "certified are PLTs of one tree (n_estimators=1), searched exactly (beam=None)"
    if not isinstance(model, PLT):
        raise ValueError(f"a {type(model).__name__} cannot be certified: {supported}")
    model._check_fitted()
    if len(model.trees_) > 1:
        raise ValueError(f"the model is a mean of {len(model.trees_)} trees: {supported}")
    if model.beam is not None:
        raise ValueError(f"the model is searched with beam={model.beam}, which may miss labels: {supported}")


def _nodes(model) -> tuple[kernels.Nodes, float]:
    """The tree as the kernel reads it, and how far inner products of its weights may be off, relative."""
    tree, linear = model.trees_[0], model._all_linear_nodes()[0]
    ptr, features, values = csr_parts(linear.weights)
    depth = tree.depth
    gram_ptr, gram = kernels.ancestor_products(
        tree.first_child, tree.n_children, depth, ptr, features, values, linear.weights.shape[1]
    )
    # A sum of n products and the bias in float32, in any order, is off by at most n + 1 roundings of the sum of their
    # sizes; one more is that of the row's values.
    n_weights = np.diff(ptr)
    roundings = np.minimum(FLOAT32_ROUNDING * (n_weights + 3), 0.5)  # one half would be 8 million weights
    error = roundings / (1.0 - roundings)
    rounding = 4 * FLOAT64_ROUNDING * (int(n_weights.max(initial=0)) + 4 * (int(depth.max()) + 4) ** 2)
    nodes = kernels.Nodes(
        linear.parent, linear.label, tree.first_child, tree.n_children, depth, linear.bias.astype(np.float64), error,
        ptr, features, values, gram_ptr, gram,
    )  # fmt: skip
    return nodes, rounding
