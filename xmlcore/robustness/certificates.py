"""Certificates: how far a row can be changed in any way before another label is ranked first."""

from typing import NamedTuple

import numpy as np

from xmlcore._kernels import certificate_bounds, certificate_search
from xmlcore._kernels.arrays import CsrRows
from xmlcore.documented import documented
from xmlcore.models.plt import LOSS_NUMBERS, PLT
from xmlcore.models.plt.scaling import UNIT
from xmlcore.models.rows import rows_for
from xmlcore.parallel import run_tasks
from xmlcore.progress import ProgressLike, silent, to_progress
from xmlcore.typing import Matrix
from xmlcore.validation import check_fitted, csr_parts

FLOAT32_ROUNDING = 2.0**-24  # largest relative error of one float32 operation
FLOAT64_ROUNDING = 2.0**-53  # largest relative error of one float64 operation
# Share of the radius that is subtracted, so that rounding cannot make the radius too large or as long as the row.
MARGIN = 1e-6
TASK_ROWS = 64  # number of rows that a thread certifies at a time


class Certificates(NamedTuple):
    """Certified radii of n rows."""

    label: np.ndarray  # int32 (n,): the label that is ranked first
    radius: np.ndarray  # float64 (n,): no change of the row with at most this L2 norm ranks another label first
    relative: np.ndarray  # float64 (n,): the radius divided by the row's length, below 1; 0 for rows of zeros
    rival: np.ndarray  # int32 (n,): the label that limits the radius; -1 where only the row's length does


@documented
def certified_radius(model: PLT, X: Matrix, n_jobs: int | None = None, progress: ProgressLike = silent) -> Certificates:
    """Return lower bounds on the L2 norm of a change that ranks another label first.

    The bounds hold for every change, so that no attack can refute them: for each row x' of float32 values within the
    radius of x, ``model.predict_topk(x', k=1)`` has the same label. ``xmlcore._kernels.certificate_bounds`` derives
    the bound, which is exact to first order: docs/methods/robustness.md.

    Parameters
    ----------
    model : PLT
        A fitted PLT with one tree, exact search (``beam=None``) and rows of length 1 (``normalize="l2"``), or an
        :class:`AdversarialTraining` of one.
    {X, n_jobs, progress}

    Returns
    -------
    Certificates
        The radius is 0 for a row of zeros, which has no direction, and for a row whose first label is tied with another
        one, or so close to it that rounding in float32 could decide. It is below the row's length, because a change of
        that length can turn the row into any other row.
    """
    progress = to_progress(progress)
    model = getattr(model, "model_", model)
    _check_model(model)
    X = rows_for(model, X)
    labels = model.predict_topk(X, k=1).labels[:, 0]
    nodes, rounding = _nodes(model)
    linear = model.linear_nodes()
    search = certificate_bounds.Search(
        nodes, linear.leaf_of_label, linear.root_has_factor, LOSS_NUMBERS[linear.loss], rounding, X.shape[1]
    )
    x, n = CsrRows(*csr_parts(X)), X.shape[0]
    angles, rivals = np.zeros(n), np.full(n, -1, np.int32)
    order = np.lexsort((np.arange(n), labels))

    def one_task(rows):
        angle, rival = np.zeros(rows.size), np.full(rows.size, -1, np.int32)
        certificate_search.certify_rows(search, x, rows, labels[rows], angle, rival)
        angles[rows], rivals[rows] = angle, rival

    tasks = [order[start : start + TASK_ROWS] for start in range(0, n, TASK_ROWS)]
    run_tasks(one_task, tasks, [rows.size for rows in tasks], n_jobs, progress, "Certifying", "blocks of rows")
    relative = np.sin(angles) * (1.0 - MARGIN)
    row = np.repeat(np.arange(n), np.diff(x[0]))
    lengths = np.sqrt(np.bincount(row, x[2].astype(np.float64) ** 2, n))
    return Certificates(labels, relative * lengths, relative, rivals)


def _check_model(model):
    supported = "only PLTs with one tree (n_estimators=1) and exact search (beam=None) can be certified"
    if not isinstance(model, PLT):
        raise ValueError(f"a {type(model).__name__} cannot be certified: {supported}")
    check_fitted(model)
    if model.normalize_ != UNIT:
        raise ValueError(
            f"the model has normalize={model.normalize_!r:.200}: only models of rows of length 1 can be certified, "
            "which normalize='l2' trains"
        )
    if len(model.trees_) > 1:
        raise ValueError(f"the model is a mean of {len(model.trees_)} trees: {supported}")
    if model.beam is not None:
        raise ValueError(f"the model is searched with beam={model.beam}, which may miss labels: {supported}")


def _nodes(model) -> tuple[certificate_bounds.Nodes, float]:
    tree, linear = model.trees_[0], model.linear_nodes()
    ptr, features, values = csr_parts(linear.weights)
    depth = tree.depth
    gram_ptr, gram = certificate_bounds.ancestor_products(
        tree.first_child, tree.n_children, depth, ptr, features, values, linear.weights.shape[1]
    )
    # A float32 sum of n products and the bias has an error of at most n + 1 roundings of the sum of their absolute
    # values, in any order of summation. The row's values add one more rounding.
    n_weights = np.diff(ptr)
    roundings = np.minimum(FLOAT32_ROUNDING * (n_weights + 3), 0.5)  # one half is reached at 8 million weights
    error = roundings / (1.0 - roundings)
    rounding = 4 * FLOAT64_ROUNDING * (int(n_weights.max(initial=0)) + 4 * (int(depth.max()) + 4) ** 2)
    nodes = certificate_bounds.Nodes(
        linear.parent, linear.label, tree.first_child, tree.n_children, depth, linear.bias.astype(np.float64), error,
        ptr, features, values, gram_ptr, gram,
    )  # fmt: skip
    return nodes, rounding
